"""The entry point: parses the command line, runs a command, turns errors into one sentence and an exit code."""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..problem.wording import SHELL, speaking
from . import streams
from .options import BROKEN_PIPE, FAILED, INTERRUPTED
from .parser import parse
from .signals import ending_on_signals


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
        what = (error.strerror or "").lower()  # as other messages begin
        message = f"{error.filename}: {what}" if error.filename else what or str(error)
    except (ValueError, ImportError) as error:
        message = str(error)
    finally:
        streams.discard_unwritten(sys.stdout)
    print(f"dynmargin {words[0]}: {' '.join(message.split())}", file=sys.stderr)
    return FAILED


def run(words: list[str], arguments: argparse.Namespace) -> None:
    """Parse a command line and run its command; it has not succeeded before its output is written."""
    try:
        arguments.started = time.perf_counter()
        parse(words, arguments)
        with signs_of_life(quiet=getattr(arguments, "quiet", False)):
            arguments.code = arguments.run(arguments)
    except SystemExit as end:  # argparse has said what there is to say
        arguments.code = end.code
        flush()
        raise
    flush()


@contextmanager
def signs_of_life(quiet: bool) -> Iterator[None]:
    """Let a terminal show what goes on during a long silence."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from ..progress.live import TerminalLine
    from ..progress.ticker import Ticker

    line = TerminalLine()
    try:
        with Ticker(line.rewrite):
            yield
    finally:
        line.rewrite("")


def flush() -> None:
    """Write what has been printed; say so if it cannot be written."""
    try:
        sys.stdout.flush()
    except OSError as error:  # also of a broken pipe, which stays one
        raise OSError(error.errno, error.strerror, "standard output") from error
