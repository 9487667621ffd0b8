"""The bytes of a file, decompressed if necessary; a damaged archive is an error, never a shorter file.

The decompressors of the standard library are driven by hand, because its file objects take whatever follows a complete
stream for padding: in an archive of several streams, a damaged one would end the data silently.
"""

import bz2
import lzma
import mmap
import os
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .dataset import DataError

Bytes = NDArray[np.uint8]

STDIN = "-"
SLICE_BYTES = 1 << 20


def _zstd() -> Any:
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj()


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
    Compression("xz", b"\xfd7zXZ\x00", lambda: lzma.LZMADecompressor(format=lzma.FORMAT_XZ), padded=True),
    Compression("zstd", b"\x28\xb5\x2f\xfd", _zstd, padded=False),
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
    """Return the decompressed bytes of a file, memory-mapped if it is not compressed; "-" is standard input."""
    name = name_of(source)
    try:
        packed = _raw(source)
    except OSError as error:
        raise DataError((error.strerror or str(error)).lower(), name) from error
    for compression in COMPRESSIONS:
        if packed[: len(compression.magic)].tobytes() == compression.magic:
            return np.frombuffer(_unpack(packed, compression, name), dtype=np.uint8)
    return packed


def _raw(source: str | os.PathLike[str] | BinaryIO) -> Bytes:
    if not isinstance(source, str | os.PathLike):
        return np.frombuffer(source.read(), dtype=np.uint8)
    if os.fspath(source) == STDIN:
        return np.frombuffer(sys.stdin.buffer.read(), dtype=np.uint8)
    with open(source, "rb") as file:
        try:
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint8)
        except (ValueError, OSError):  # empty, or a pipe
            return np.frombuffer(file.read(), dtype=np.uint8)


def _unpack(packed: Bytes, compression: Compression, name: str) -> bytearray:
    """Decompress one stream after the other to the last byte."""
    unpacked, position = bytearray(), 0
    try:
        while position < len(packed):
            stream = compression.decompressor()
            while not stream.eof:
                if position == len(packed):
                    raise DataError(f"the {compression.name} archive is truncated", name)
                piece = packed[position : position + SLICE_BYTES].tobytes()
                unpacked += stream.decompress(piece)
                position += len(piece)
            position -= len(stream.unused_data)
            while compression.padded and position < len(packed) and packed[position] == 0:
                position += 1
    except ImportError:
        raise DataError(f"{compression.name} needs another package: pip install dynmargin[zstd]", name) from None
    except DataError:
        raise
    except Exception as error:  # each library has its own
        raise DataError(f"the {compression.name} archive is damaged: {error}", name) from error
    return unpacked
