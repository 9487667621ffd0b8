"""``python -m tests.oracle [--count N] [--seed S] [--seconds T] [--jobs J]``: exit code 1 if anything is false.

Case i has the seed S + i: ``python -m tests.oracle --seed SEED --count 1`` runs a single one again.
"""

import argparse
import sys
import time
from collections import Counter
from multiprocessing import get_context

from .run import run_block


def main():
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracle", description="Certificates against exact arithmetic."
    )
    parser.add_argument("--count", type=int, default=10_000, help="how many cases (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first case (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after that many seconds")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    arguments = parser.parse_args()
    started = time.perf_counter()
    block = 1000
    starts = range(arguments.seed, arguments.seed + arguments.count, block)
    blocks = ((start, min(block, arguments.seed + arguments.count - start)) for start in starts)
    cases, failures = Counter(), []
    with get_context("spawn").Pool(arguments.jobs) as pool:
        for counted, failed in pool.imap_unordered(run_block, blocks) if arguments.jobs > 1 else map(run_block, blocks):
            cases += counted
            failures += failed
            for seed, kind, sentence in failed:
                print(f"seed {seed}, {kind}: {sentence}", flush=True)
            if time.perf_counter() - started > arguments.seconds:
                pool.terminate()
                break
    seconds = time.perf_counter() - started
    for kind, number in sorted(cases.items()):
        print(f"{number:>10,}  {kind}")
    total = sum(cases.values())
    print(f"{total:>10,}  cases in {seconds:.0f} s, {total / seconds:.0f} per second; {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
