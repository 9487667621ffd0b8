"""The bytes of a file, decompressed if necessary; a damaged archive is an error, never a shorter file.

The decompressors of the standard library are driven by hand, because its file objects take whatever follows a complete
stream for padding: in an archive of several streams, a damaged one would end the data silently.
"""

import bz2
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from io import RawIOBase
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .dataset import DataError
from .limits import (
    max_unpacked,
    require_end,
    require_memory,
    require_plausible,
    require_unpacked,
    taking_memory,
)
from .npy import SLICE_BYTES, read_into

Bytes = NDArray[np.uint8]

STDIN = "-"
LARGEST_DICTIONARY = 1 << 30  # of xz; xz -9 needs 64 MB


class _Zstd:
    """A stream of zstd with the interface of zlib's, whose output can be bounded."""

    MORSEL = 1024  # makes at most 32 MB

    def __init__(self) -> None:
        self._stream = _zstd()
        self.unconsumed_tail = b""

    @property
    def eof(self) -> bool:
        return bool(self._stream.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._stream.unused_data) + self.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Decompress a little at a time: no block of 4 bytes becomes more than 128 KB."""
        found, place = bytearray(), 0
        while place < len(data) and len(found) < max_length and not self.eof:
            found += self._stream.decompress(data[place : place + self.MORSEL])
            place += self.MORSEL
        self.unconsumed_tail = data[place:]
        return bytes(found)


def _zstd() -> Any:
    """Start a stream of zstd, which the standard library knows from Python 3.14 on, where it was built with it."""
    if sys.version_info >= (3, 14):
        try:
            from compression.zstd import ZstdDecompressor
        except ImportError:
            pass
        else:
            return ZstdDecompressor()
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj()


def _xz() -> lzma.LZMADecompressor:
    """Start a stream of xz; archives say themselves how large a dictionary they need, and may say anything."""
    return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=LARGEST_DICTIONARY)


@dataclass(frozen=True)
class Compression:
    """How files of a kind begin, and how one of their streams is decompressed."""

    name: str
    magic: bytes
    decompressor: Callable[[], Any]
    padded: bool  # zeros may follow a stream


COMPRESSIONS = (
    Compression("gzip", b"\x1f\x8b", lambda: zlib.decompressobj(wbits=31), padded=True),
    Compression("bzip2", b"BZh", bz2.BZ2Decompressor, padded=False),
    Compression("xz", b"\xfd7zXZ\x00", _xz, padded=True),
    Compression("zstd", b"\x28\xb5\x2f\xfd", _Zstd, padded=False),
)
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def name_of(source: str | os.PathLike[str] | BinaryIO) -> str:
    """Return what messages call a source."""
    if hasattr(source, "read"):
        return str(getattr(source, "name", "data"))
    path = os.fspath(source)
    return "standard input" if path == STDIN else path


def without_compression(path: str) -> str:
    """Drop the suffix of a compressed file."""
    stem, suffix = os.path.splitext(path)
    return stem if suffix.lower() in SUFFIXES else path


def contents(source: str | os.PathLike[str] | BinaryIO) -> Bytes:
    """Return the decompressed bytes of a file, in memory of our own; "-" is standard input.

    Files are not mapped: others may shorten a mapped file, which kills the process, or write to it while it is parsed.
    """
    name = name_of(source)
    try:
        packed = _raw(source, name)
    except OSError as error:
        raise DataError((error.strerror or str(error)).lower(), name) from error
    for compression in COMPRESSIONS:
        if packed[: len(compression.magic)].tobytes() == compression.magic:
            return np.frombuffer(_unpack(packed, compression, name), dtype=np.uint8)
    return packed


def head(path: str, n_bytes: int) -> bytes:
    """Return the first bytes of a file, decompressed; nothing of a stream, nor of what `contents` will refuse."""
    if path == STDIN or not os.path.isfile(path):
        return b""
    try:
        with open(path, "rb") as file:
            packed = file.read(n_bytes)
    except OSError:
        return b""
    for compression in COMPRESSIONS:
        if packed.startswith(compression.magic):
            try:
                return bytes(compression.decompressor().decompress(packed, n_bytes))
            except Exception:  # each library has its own
                return b""
    return packed


def _raw(source: str | os.PathLike[str] | BinaryIO, name: str) -> Bytes:
    if not isinstance(source, str | os.PathLike):
        return _rest(source, name)
    if os.fspath(source) == STDIN:
        return _rest(sys.stdin.buffer, name)
    with open(source, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        require_memory("the file", size)  # it may have holes: its size says nothing about the disk
        with taking_memory("the file", size):
            content = np.empty(size, dtype=np.uint8)
            content = content[: read_into(content, file)]
        rest = _rest(file, name)  # of a pipe, or of a file that grows
        with taking_memory("the file", len(content) + len(rest)):
            return np.concatenate([content, rest]) if len(rest) else content


def _rest(file: BinaryIO | RawIOBase, name: str) -> Bytes:
    """Read to the end, which a pipe or a device may not have."""
    content, limit = bytearray(), max_unpacked()
    while piece := file.read(SLICE_BYTES):
        size = len(content) + len(piece)
        require_end(size, limit, name)
        with taking_memory("the file", size):
            content += piece
    return np.frombuffer(content, dtype=np.uint8)


def pieces(path: str, name: str) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file piece by piece, in memory that does not grow with the file."""
    try:
        with _opened(path) as file:
            read = _Slices(file)
            for compression in COMPRESSIONS:
                if read.begins_with(compression.magic):
                    yield from _unpacked(read, compression, name, require_plausible)
                    return
            while piece := read.next():
                yield piece
    except OSError as error:
        raise DataError((error.strerror or str(error)).lower(), name) from error


def _opened(path: str) -> AbstractContextManager[Any]:
    return nullcontext(sys.stdin.buffer) if path == STDIN else open(path, "rb", buffering=0)


class _Slices:
    """A file, slice by slice, of which the last may be put back."""

    def __init__(self, file: Any) -> None:
        self._file, self._back = file, b""
        self.position = 0  # of what was taken

    def next(self) -> bytes:
        """Take the next slice; empty at the end."""
        found: bytes = self._back or self._file.read(SLICE_BYTES)
        self._back = b""
        self.position += len(found)
        return found

    def put_back(self, rest: bytes) -> None:
        """Give back what was not used of the last slice."""
        self._back = rest
        self.position -= len(rest)

    def begins_with(self, magic: bytes) -> bool:
        """Whether the rest of the file begins like that."""
        while len(self._back) < len(magic) and (more := self._file.read(SLICE_BYTES)):
            self._back += more
        return self._back.startswith(magic)


def _unpack(packed: Bytes, compression: Compression, name: str) -> bytearray:
    """Decompress an archive that is in memory."""
    unpacked = bytearray()
    with taking_memory("unpacking the file", 2 * SLICE_BYTES):
        for found in _unpacked(_Slices(_Memory(packed)), compression, name, require_unpacked):
            with taking_memory("unpacking the file", len(unpacked) + 2 * SLICE_BYTES):
                unpacked += found
    return unpacked


class _Memory:
    """Bytes in memory as a file."""

    def __init__(self, content: Bytes) -> None:
        self._content, self._place = content, 0

    def read(self, size: int) -> bytes:
        found = self._content[self._place : self._place + size].tobytes()
        self._place += len(found)
        return found


def _unpacked(
    packed: _Slices, compression: Compression, name: str, require: Callable[[int, int, str], None]
) -> Iterator[bytes]:
    """Decompress one stream after the other to the last byte, a bounded piece at a time."""
    total = 0
    try:
        while piece := packed.next():
            stream = compression.decompressor()
            while not stream.eof:
                found = stream.decompress(piece, SLICE_BYTES)
                total += len(found)
                require(total, packed.position, name)
                if found:
                    yield found
                piece = getattr(stream, "unconsumed_tail", b"")  # the others keep it themselves
                if len(found) < SLICE_BYTES and not stream.eof and not piece and not (piece := packed.next()):
                    raise DataError(f"the {compression.name} archive is truncated", name)
            rest = stream.unused_data
            while compression.padded and not (rest := rest.lstrip(b"\0")) and (rest := packed.next()):
                pass
            packed.put_back(rest)
    except ImportError:
        raise DataError(f"{compression.name} needs another package: pip install zstandard", name) from None
    except (DataError, MemoryError):
        raise
    except Exception as error:  # each library has its own
        raise DataError(f"the {compression.name} archive is damaged: {error}", name) from error
