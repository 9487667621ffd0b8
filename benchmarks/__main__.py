"""python -m benchmarks compare --sets adult,web --epsilon 0.01: see --help."""

import argparse

from . import (
    c_path,
    classes,
    cluster,
    command,
    compare,
    every_c,
    joint,
    larger_than_memory,
    picture,
    reading,
    scaling,
    settled,
    stream,
    threads,
)

MODULES = (compare, picture, scaling, settled, reading, command, classes, joint, c_path, every_c, stream)
MODULES += (threads, cluster, larger_than_memory)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Benchmarks; they print raw figures.")
    commands = parser.add_subparsers(required=True)
    for module in MODULES:
        name = module.__name__.rpartition(".")[2].replace("_", "-")
        summary = module.__doc__.splitlines()[0]
        benchmark = commands.add_parser(name, help=summary, description=module.__doc__)
        module.add_arguments(benchmark)
        benchmark.set_defaults(run=module.run)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
