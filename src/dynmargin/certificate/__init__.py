"""What is proven: certificates of fits and of streams, their counts, proofs for weights found elsewhere, their HTML.

It may import `problem` and the core.
"""
