"""Training over rows that are spread over shards: what a shard computes, how sums are merged, rounds, and the audit.

A shard is a block of rows, wherever it lies: in this process, on a worker of a cluster, on a disk. An executor takes a
function to the shards and brings sums back; nothing here depends on where they are.

It may import `problem`, `certificate`, `data`, `training` and `algorithms`, and needs NumPy only.
"""
