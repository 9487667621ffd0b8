"""python -m benchmarks compare --sets adult,web --epsilon 0.01: see --help."""

import argparse
import os

from . import compare as comparison
from .sets import HARD, VARIED

GROUPS = {"varied": ",".join(VARIED), "hard": ",".join(HARD)}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Benchmarks; they print raw figures.")
    commands = parser.add_subparsers(required=True)
    compare = commands.add_parser("compare", help=comparison.__doc__.splitlines()[0], description=comparison.__doc__)
    compare.add_argument("--sets", default="adult,web,covertype", help="names, LIBSVM files, or a group: varied, hard")
    compare.add_argument("--epsilon", type=float, default=0.01)
    compare.add_argument("--C", type=float, help="instead of the problem's own")
    compare.add_argument("--runs", type=int, default=5)
    compare.add_argument("--only", help="libraries whose name contains one of these, by commas")
    compare.add_argument("--limit", type=float, default=60.0, help="seconds after which a peer's ladder is given up")
    compare.add_argument("--data-dir", default=os.environ.get("DYNMARGIN_DATA"), help="default: DYNMARGIN_DATA")
    compare.add_argument("--out", default="benchmark-results", help="folder for raw figures and pictures")
    compare.set_defaults(run=comparison.compare)
    arguments = parser.parse_args()
    arguments.sets = ",".join(GROUPS.get(name, name) for name in arguments.sets.split(","))
    arguments.run(arguments)


if __name__ == "__main__":
    main()
