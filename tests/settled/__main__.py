"""``python -m tests.settled [--count N] [--seed S]``: exit code 1 if anything is false.

Case i has the seed S + i: ``python -m tests.settled --seed SEED --count 1`` runs a single one again.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # as pytest does

from settled.check import run


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.settled", description="Settled rows against exact optima.")
    parser.add_argument("--count", type=int, default=20_000, help="how many problems (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first problem (default: %(default)s)")
    arguments = parser.parse_args()
    started = time.perf_counter()
    totals, n_failures, block = (Counter(), Counter(), Counter()), 0, 500
    for first in range(arguments.seed, arguments.seed + arguments.count, block):
        *counted, failures = run(first, min(block, arguments.seed + arguments.count - first))
        for total, more in zip(totals, counted, strict=True):
            total.update(more)
        n_failures += len(failures)
        for seed, kind, sentence in failures:
            print(f"seed {seed}, {kind}: {sentence}", flush=True)
        print(f"{sum(totals[0].values()):,} problems, {n_failures} failures", file=sys.stderr, flush=True)
    cases, rows, settled = totals
    for kind, number in sorted(cases.items()):
        print(f"{number:>8,}  {kind}: {settled[kind]:,} of {rows[kind]:,} rows settled")
    print(f"{arguments.count:,} problems in {time.perf_counter() - started:.0f} s; {n_failures} failures")
    return 1 if n_failures else 0


if __name__ == "__main__":
    sys.exit(main())
