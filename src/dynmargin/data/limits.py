"""How much memory a file may take: what it unpacks to is limited, and a shortage is never blamed on the file."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from .. import _core
from .dataset import DataError

MAX_UNPACKED = "DYNMARGIN_MAX_UNPACKED"  # an environment variable, in bytes

# Real data compress 2 to 15 times (a9a by xz 15, w8a 10, covertype 9, random digits 2), a table of zeros with 1 % ones
# 77 to 120 times, bombs 1000 (gzip) to a million times. What is small may be compressed as well as it likes; a large
# table that is emptier still is refused with a sentence that says how to have it read.
LARGEST_RATIO, SMALL = 200, 256 << 20


def require_unpacked(unpacked: int, packed: int, name: str) -> None:
    """Refuse what unpacks to too much; to be called before memory is taken, and as it grows."""
    if unpacked <= SMALL and MAX_UNPACKED not in os.environ:
        return
    if unpacked > (limit := max_unpacked()):
        raise _too_much(f"it unpacks to more than {_core.in_units(limit)}", name)
    if MAX_UNPACKED not in os.environ and unpacked > LARGEST_RATIO * packed:
        raise _too_much(f"it unpacks to more than {LARGEST_RATIO} times its size, as data hardly do", name)


def require_end(n_bytes: int, limit: float, name: str) -> None:
    """Refuse a stream that does not end within `max_unpacked`."""
    if n_bytes > limit:
        raise _too_much(f"it does not end within {_core.in_units(limit)}", name)


def _too_much(what: str, name: str) -> DataError:
    return DataError(f"{what}; if it is to be trusted, set {MAX_UNPACKED} to the bytes that it may take", name)


def max_unpacked() -> float:
    """Return the most bytes that a file may unpack to: the user's limit, or half of the available memory."""
    text = os.environ.get(MAX_UNPACKED)
    if text is None:
        return _core.available_memory() / 2
    try:
        limit = int(text)
    except ValueError:
        limit = -1
    if limit < 0:
        raise ValueError(f"{MAX_UNPACKED} must be a number of bytes, it is {text!r}")
    return limit


def require_memory(purpose: str, n_bytes: float) -> None:
    """Refuse to take more than there is; the system itself may promise it, and end the process later."""
    if n_bytes > _core.available_memory():
        raise MemoryError(_core.shortage(purpose, n_bytes))


@contextmanager
def taking_memory(purpose: str, n_bytes: float) -> Iterator[None]:
    """Name the purpose and the size where memory is not enough."""
    try:
        yield
    except MemoryError as error:
        raise MemoryError(_core.shortage(purpose, n_bytes)) from error
