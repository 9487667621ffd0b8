"""How a run goes: the request, the trainer protocol, the loop, results, schedules, threads, fits, streams, checkpoints.

It may import `problem`, `certificate`, `data` and the core. Algorithms come in as functions: it does not know which
there are.
"""
