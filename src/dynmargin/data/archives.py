"""The bytes of a file, decompressed if necessary; a damaged archive is an error, never a shorter file.

The decompressors of the standard library are driven by hand, because its file objects take whatever follows a complete
stream for padding: in an archive of several streams, a damaged one would end the data silently.
"""

import bz2
import lzma
import os
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from io import RawIOBase
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .dataset import DataError
from .limits import max_unpacked, require_end, require_memory, require_unpacked, taking_memory
from .npy import SLICE_BYTES, read_into

Bytes = NDArray[np.uint8]

STDIN = "-"
LARGEST_DICTIONARY = 1 << 30  # of xz; xz -9 needs 64 MB


class _Zstd:
    """A stream of zstd with the interface of zlib's, whose output can be bounded."""

    MORSEL = 1024  # makes at most 32 MB

    def __init__(self) -> None:
        import zstandard

        self._stream = zstandard.ZstdDecompressor().decompressobj()
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


def _unpack(packed: Bytes, compression: Compression, name: str) -> bytearray:
    """Decompress one stream after the other to the last byte, a bounded piece at a time."""
    unpacked, position = bytearray(), 0
    try:
        while position < len(packed):
            stream, piece, hungry = compression.decompressor(), b"", True
            while not stream.eof:
                if hungry:
                    if position == len(packed):
                        raise DataError(f"the {compression.name} archive is truncated", name)
                    piece = packed[position : position + SLICE_BYTES].tobytes()
                    position += len(piece)
                with taking_memory("unpacking the file", len(unpacked) + 2 * SLICE_BYTES):
                    found = stream.decompress(piece, SLICE_BYTES)
                    require_unpacked(len(unpacked) + len(found), position, name)
                    unpacked += found
                piece = getattr(stream, "unconsumed_tail", b"")  # the others keep it themselves
                hungry = len(found) < SLICE_BYTES
            position -= len(stream.unused_data)
            while compression.padded and position < len(packed) and packed[position] == 0:
                position += 1
    except ImportError:
        raise DataError(f"{compression.name} needs another package: pip install dynmargin[zstd]", name) from None
    except (DataError, MemoryError):
        raise
    except Exception as error:  # each library has its own
        raise DataError(f"the {compression.name} archive is damaged: {error}", name) from error
    return unpacked
