"""How much memory a file may take: what it unpacks to is limited, and a shortage is never blamed on the file."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
        raise _too_much(f"it unpacks to more than {LARGEST_RATIO} times its size, which data hardly ever do", name)


def require_plausible(unpacked: int, packed: int, name: str) -> None:
    """Refuse what unpacks to too much for what it is; for a file of which only a piece is in memory at a time."""
    if MAX_UNPACKED in os.environ:
        require_unpacked(unpacked, packed, name)
    elif unpacked > max(SMALL, LARGEST_RATIO * packed):
        raise _too_much(f"it unpacks to more than {LARGEST_RATIO} times its size, which data hardly ever do", name)


def require_end(n_bytes: int, limit: float, name: str) -> None:
    """Refuse a stream that does not end within `max_unpacked`."""
    if n_bytes > limit:
        raise _too_much(f"it does not end within {_core.in_units(limit)}", name)


def _too_much(what: str, name: str) -> DataError:
    return DataError(f"{what}; if you trust it, set {MAX_UNPACKED} to the number of bytes that it may take", name)


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
        raise ValueError(f"{MAX_UNPACKED} must be a number of bytes, got {text!r}")
    return limit


UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


def bytes_of(limit: int | float | str) -> int:
    """Return a number of bytes, written as in 2GB, 500 MB or 1.5GiB."""
    text = str(limit).strip().upper()
    number = text.removesuffix("B").rstrip("KMGTI")
    unit = text.removesuffix("B")[len(number) :]
    try:
        size = float(number) * UNITS[unit]
    except (ValueError, KeyError):
        size = float("nan")
    if not 1 <= size < 2**63:
        raise ValueError(f"{limit!r} is not an amount of memory; write it as 2GB or 500MB")
    return int(size)


def resident_memory() -> int:
    """Return the bytes that this process has in memory, 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


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
        # Without the frames of the failure, which hold on to memory.
        raise MemoryError(_core.shortage(purpose, n_bytes)) from error.with_traceback(None)
