"""The entry point: parses the command line, runs a command, turns errors into one sentence and an exit code."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from ..problem.wording import SHELL, speaking
from . import streams
from .options import BROKEN_PIPE, DONE, EXIT_CODES, FAILED, INTERRUPTED
from .signals import ending_on_signals

COMMANDS = {  # a module each
    "train": "train a model and prove how good it is",
    "predict": "predict labels or scores",
    "verify": "prove a model's certificate again from the data",
    "info": "show what is in a model file",
    "report": "write a page about a model, for people to read",
    "convert": "convert a model to or from LIBLINEAR's text",
    "compare": "compare algorithms and other libraries on a file",
    "data": "list the paper's data; convert between formats",
    "paper": "the paper's tables beside ours, and figures",
    "demo": "see it at work on a small real data set",
}


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


def parse(words: list[str], arguments: argparse.Namespace) -> None:
    """Parse a command line; only the module of its command is loaded."""
    top = Parser(prog="dynmargin", description="Maximum-margin linear classification with a proof.", epilog=EXIT_CODES)
    top.add_argument("--version", action=Version, nargs=0, help="print the version")
    commands = top.add_subparsers(metavar="COMMAND", required=True, dest="command")
    chosen = top
    for name, summary in COMMANDS.items():
        if words[:1] != [name]:
            commands.add_parser(name, help=summary)
            continue
        command: Any = import_module(f".{name}", __package__)
        epilog = (command.__doc__ or "").partition("\n\n")[2]
        parser: Parser = commands.add_parser(name, help=summary, epilog=epilog, parents=getattr(command, "OPTIONS", ()))
        command.add_arguments(parser)
        chosen = parser
        if name == "train":
            words, class_weights = command.take_class_weights(words)
            parser.set_defaults(class_weights=class_weights)
    _, rest = top.parse_known_args(words, arguments)
    # The last, optional file may follow options, which argparse alone would not accept.
    optional = getattr(arguments, "optional", None)
    if len(rest) == 1 and optional and getattr(arguments, optional) is None and not rest[0].startswith("-"):
        setattr(arguments, optional, rest.pop())
    if rest:  # files are among them only because an option before them is unknown
        unknown = [word for word in rest if word.startswith("-")] or rest
        chosen.error(f"unrecognized arguments: {' '.join(unknown)}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; return the exit code, which is that of the verdict even if it could not be printed."""
    if argv is None:
        streams.take_over()
    if "numpy" not in sys.modules:  # starting the threads of its linear algebra takes longer than they save
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = list(sys.argv[1:] if argv is None else argv)
    arguments = argparse.Namespace(code=BROKEN_PIPE)  # until the command knows better
    try:
        with ending_on_signals(), speaking(SHELL):
            run(words, arguments)
        return int(arguments.code)
    except BrokenPipeError:  # the reader of our output closed it
        return int(arguments.code)
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError as error:
        message = str(error) if str(error) not in ("", "std::bad_alloc") else "there is not enough memory for this"
    except OSError as error:
        message = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
    except (ValueError, ImportError) as error:
        message = str(error)
    finally:
        streams.discard_unwritten(sys.stdout)
    print(f"dynmargin {words[0]}: {' '.join(message.split())}", file=sys.stderr)
    return FAILED


def run(words: list[str], arguments: argparse.Namespace) -> None:
    """Parse a command line and run its command; it has not succeeded before its output is written."""
    try:
        parse(words, arguments)
        arguments.code = arguments.run(arguments)
    except SystemExit as end:  # argparse has said what there is to say
        arguments.code = end.code
        flush()
        raise
    flush()


def flush() -> None:
    """Write what has been printed; say so if it cannot be written."""
    try:
        sys.stdout.flush()
    except OSError as error:  # also of a broken pipe, which stays one
        raise OSError(error.errno, error.strerror, "standard output") from error
