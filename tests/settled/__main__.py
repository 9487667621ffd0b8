"""``python -m tests.settled [--count N] [--seed S]``: exit code 1 if anything is false.

Case i has the seed S + i: ``python -m tests.settled --seed SEED --count 1`` runs a single one again.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # as pytest does

from settled.check import run


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.settled", description="Settled rows against exact optima.")
    parser.add_argument("--count", type=int, default=20_000, help="how many problems (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first problem (default: %(default)s)")
    arguments = parser.parse_args()
    started = time.perf_counter()
    cases, rows, settled, failures = run(arguments.seed, arguments.count)
    for seed, kind, sentence in failures:
        print(f"seed {seed}, {kind}: {sentence}")
    for kind, number in sorted(cases.items()):
        print(f"{number:>8,}  {kind}: {settled[kind]:,} of {rows[kind]:,} rows settled")
    print(f"{arguments.count:,} problems in {time.perf_counter() - started:.0f} s; {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
