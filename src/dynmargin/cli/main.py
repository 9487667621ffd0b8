"""The entry point: parses the command line, runs a command, turns errors into one sentence and an exit code."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from . import compare, convert, data, demo, info, paper, predict, train, verify
from .exit_codes import DONE, FAILED, INTERRUPTED

COMMANDS = (train, predict, verify, info, convert, compare, data, paper, demo)

EPILOG = """exit codes:
  0    done; verify: proven
  1    train: the model is written, but epsilon is not proven; verify: not proven; paper: a cell failed
  2    verify: not the data that the model was trained on
  3    failed: the command line, a file or its contents are wrong (one sentence on stderr)
  130  interrupted"""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence and ends with our own code: 2 means something else here."""

    def __init__(self, **options: Any) -> None:
        options |= {"allow_abbrev": False, "formatter_class": argparse.RawDescriptionHelpFormatter}
        super().__init__(**options)

    def error(self, message: str) -> NoReturn:
        """End with a sentence."""
        self.exit(FAILED, f"{self.prog}: {message}; see {self.prog} --help\n")


class Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        """Print it and end."""
        from importlib.metadata import version

        print(f"dynmargin {version('dynmargin')}")
        parser.exit(DONE)


def parser() -> Parser:
    """Make the parser of all commands."""
    top = Parser(prog="dynmargin", description="Maximum-margin linear classification with a proof.", epilog=EPILOG)
    top.add_argument("--version", action=Version, nargs=0, help="print the version")
    commands = top.add_subparsers(metavar="COMMAND", required=True, dest="command")
    for command in COMMANDS:
        command.add_to(commands)
    return top


def parse(words: list[str]) -> argparse.Namespace:
    """Parse a command line; the last, optional file may follow options, which argparse alone would not have."""
    top = parser()
    arguments, rest = top.parse_known_args(words)
    optional = getattr(arguments, "optional", None)
    if len(rest) == 1 and optional and getattr(arguments, optional) is None and not rest[0].startswith("-"):
        setattr(arguments, optional, rest.pop())
    if rest:
        top.error(f"unrecognized arguments: {' '.join(rest)}")
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; gives the exit code."""
    if "numpy" not in sys.modules:  # the threads of its linear algebra take longer to start than we can use them
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        words, class_weights = train.take_class_weights(words)
    except ValueError as error:
        return fail("train", str(error))
    arguments = parse(words)
    arguments.class_weights = class_weights
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # whoever read our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError:
        return fail(arguments.command, "there is not enough memory for this")
    except OSError as error:
        return fail(arguments.command, f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (ValueError, ImportError) as error:
        return fail(arguments.command, str(error))


def fail(command: str, message: str) -> int:
    """Say what is wrong, in one line."""
    print(f"dynmargin {command}: {' '.join(message.split())}", file=sys.stderr)
    return FAILED
