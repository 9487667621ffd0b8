"""python -m benchmarks compare --sets adult,web --epsilon 0.01: see --help."""

import argparse
import os

from . import c_path as path
from . import classes as many
from . import command as end_to_end
from . import compare as comparison
from . import joint as jointly
from . import reading as reader
from . import scaling
from . import stream as streaming
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
    scale = commands.add_parser("scaling", help=scaling.__doc__.splitlines()[0], description=scaling.__doc__)
    scale.add_argument("--series", default="rows,features,features-tall,epsilon,epsilon-tall,C,C-tall")
    scale.add_argument("--rows", default="1e4,3e4,1e5,3e5,1e6", help="for the series of rows; 3e6 needs 12 GB")
    scale.add_argument("--limit", type=float, default=60.0, help="seconds after which an algorithm is given up")
    scale.add_argument("--out", default="benchmark-results", help="folder for raw figures and the picture")
    scale.set_defaults(run=scaling.run)
    reading = commands.add_parser("reading", help=reader.__doc__, description=reader.__doc__)
    reading.add_argument("--megabytes", type=float, default=200.0)
    reading.add_argument("--runs", type=int, default=3)
    reading.set_defaults(run=reader.reading)
    command = commands.add_parser("command", help=end_to_end.__doc__, description=end_to_end.__doc__)
    command.add_argument("--runs", type=int, default=15)
    command.add_argument("--data-dir", default=os.environ.get("DYNMARGIN_DATA"), help="default: DYNMARGIN_DATA")
    command.set_defaults(run=end_to_end.command)
    classes = commands.add_parser("classes", help=many.__doc__.splitlines()[0], description=many.__doc__)
    classes.add_argument("--C", type=float, default=1.0)
    classes.add_argument("--runs", type=int, default=3)
    classes.add_argument("--limit", type=float, default=60.0, help="seconds after which a peer's ladder is given up")
    classes.add_argument("--data-dir", default=os.environ.get("DYNMARGIN_DATA"), help="default: DYNMARGIN_DATA")
    classes.set_defaults(run=many.classes)
    joint = commands.add_parser("joint", help=jointly.__doc__.splitlines()[0], description=jointly.__doc__)
    joint.add_argument("--runs", type=int, default=3)
    joint.add_argument("--data-dir", default=os.environ.get("DYNMARGIN_DATA"), help="default: DYNMARGIN_DATA")
    joint.set_defaults(run=jointly.joint)
    c_path = commands.add_parser("c-path", help=path.__doc__, description=path.__doc__)
    c_path.add_argument("--Cs", type=int, default=10)
    c_path.add_argument("--runs", type=int, default=1)
    c_path.add_argument("--only", help="problems whose name contains this")
    c_path.add_argument("--data-dir", default=os.environ.get("DYNMARGIN_DATA"), help="default: DYNMARGIN_DATA")
    c_path.set_defaults(run=path.c_path)
    stream = commands.add_parser("stream", help=streaming.__doc__.splitlines()[0], description=streaming.__doc__)
    stream.add_argument("--rows", type=int, default=1_000_000)
    stream.add_argument("--block", type=int, default=1_000)
    stream.add_argument("--features", type=int, default=20)
    stream.set_defaults(run=streaming.stream)
    arguments = parser.parse_args()
    if hasattr(arguments, "sets"):
        arguments.sets = ",".join(GROUPS.get(name, name) for name in arguments.sets.split(","))
    arguments.run(arguments)


if __name__ == "__main__":
    main()
