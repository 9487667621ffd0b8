"""The standard streams of a program whose readers may be gone, whose disk may be full, or that was given none."""

import io
import os
import sys
from typing import Any, TextIO


class _Lossy(io.FileIO):
    """Drops what cannot be written: a progress line that nobody reads must not end the training."""

    def write(self, text: Any) -> int:
        try:
            written: int | None = super().write(text)  # None: a pipe that is full and does not wait
        except OSError:
            written = None
        return len(text) if written is None else written


def take_over() -> None:
    """Make the standard streams ours; to be called once, when the program starts.

    A stream that is closed is opened again, or the next file would take its place; reading and writing there then fail
    as they should. What cannot be written to standard error is lost.
    """
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            _redirect(number, mode)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)))
    encoding = None if sys.stderr is None else sys.stderr.encoding
    lossy = io.BufferedWriter(_Lossy(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(lossy, encoding, errors="backslashreplace", line_buffering=True)


def discard_unwritten(stream: TextIO) -> None:
    """Forget what a stream cannot write: at its end Python would try again, and replace our exit code by its own."""
    try:
        stream.flush()
    except OSError:
        _redirect(stream.fileno(), os.O_WRONLY)
        stream.flush()


def _redirect(number: int, mode: int) -> None:
    nowhere = os.open(os.devnull, mode)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
