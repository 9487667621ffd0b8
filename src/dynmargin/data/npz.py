"""Data in one .npz file: ``X`` or the arrays of a CSR matrix as scipy.sparse.save_npz writes them, and ``y``."""

import hashlib
import os
import zipfile
from collections.abc import Callable, Mapping
from typing import IO, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from .dataset import Csr, DataError, Dataset
from .limits import require_unpacked
from .npy import DamagedArray, read_array

ENTRIES = ("X", "format", "shape", "data", "indices", "indptr", "y", "feature_names")
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # an LZMA entry may ask for a dictionary of 4 GB


def read_arrays(
    content: NDArray[np.uint8], name: str, wanted: Callable[[str], bool], digests: dict[str, str] | None = None
) -> dict[str, NDArray[Any]]:
    """Read the wanted arrays of an .npz archive; nothing else in it is unpacked.

    Pickled objects, structured arrays and everything else that is neither numbers nor text are refused, and so is an
    array that is not as large as its entry. `name` is for messages; `digests` gets the SHA-256 of each wanted entry.
    """
    arrays: dict[str, NDArray[Any]] = {}
    key, packed, unpacked = "", 0, 0
    try:
        with zipfile.ZipFile(cast("IO[bytes]", _View(content))) as archive:
            for entry in archive.infolist():
                key = entry.filename.removesuffix(".npy")
                if not wanted(key):
                    continue
                if key in arrays:
                    raise DamagedArray("duplicate entry")
                if entry.compress_type not in COMPRESSIONS:
                    raise DamagedArray("it is compressed in a way that NumPy never uses")
                packed, unpacked = packed + entry.compress_size, unpacked + entry.file_size
                require_unpacked(unpacked, min(packed, len(content)), name)
                with archive.open(entry) as file:
                    arrays[key] = read_array(cast("zipfile.ZipExtFile", file), entry.file_size)
                if digests is not None:
                    with archive.open(entry) as file:
                        digests[key] = hashlib.file_digest(cast("zipfile.ZipExtFile", file), "sha256").hexdigest()
    except (DataError, MemoryError):
        raise
    except DamagedArray as error:
        raise DataError(f"the array {key!r} cannot be read: {error}", name) from error
    except Exception as error:  # zip and zlib each have their own
        raise DataError(f"not a readable .npz file: {error}", name) from error
    return arrays


def write_arrays(file: BinaryIO, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an .npz archive, uncompressed; the same arrays are the same file, whatever the time of day.

    Not by numpy.savez: the versions before it knew ``allow_pickle`` store that as an array, and pickle objects.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.external_attr = 0o644 << 16  # for those who unzip it
            entry.file_size = array.nbytes  # at least; large ones need another header
            with archive.open(entry, "w") as out:
                _write_array(out, array)


def digest_of(array: NDArray[Any]) -> str:
    """Return the SHA-256 of the entry that `write_arrays` makes of an array."""
    file = _Digest()
    _write_array(cast("IO[bytes]", file), array)
    return file.sha256.hexdigest()


class _Digest:
    """A file that keeps nothing but the digest of what is written to it."""

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        return len(data)


def _write_array(file: IO[bytes], array: NDArray[Any]) -> None:
    np.lib.format.write_array(cast("BinaryIO", file), array, allow_pickle=False)


class _View:
    """Bytes in memory as a file for zipfile, without the copy that io.BytesIO makes."""

    def __init__(self, content: NDArray[np.uint8]) -> None:
        self._content, self._place = content.data, 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: len(self._content)}[whence]
        self._place = max(0, begin + offset)
        return self._place

    def read(self, n: int = -1) -> bytes:
        piece = self._content[self._place :] if n < 0 else self._content[self._place : self._place + n]
        self._place += len(piece)
        return bytes(piece)


def parse(content: NDArray[np.uint8], name: str) -> Dataset:
    """Read the arrays; pickled objects are refused."""
    arrays = read_arrays(content, name, ENTRIES.__contains__)
    y = arrays.get("y")
    names = arrays.get("feature_names")
    if "X" in arrays:
        return Dataset(require_table(arrays["X"], name), y, names)
    if missing := {"data", "indices", "indptr", "shape"} - arrays.keys():
        are = "is" if len(missing) == 1 else "are"
        raise DataError(f"it holds neither X nor a whole CSR matrix: {', '.join(sorted(missing))} {are} missing", name)
    format = arrays.get("format", np.array(b"csr"))
    if format.tolist() not in (b"csr", "csr"):
        raise DataError(f"its sparse format is {format.tolist()!r}; save it as CSR", name)
    shape = arrays["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise DataError("the shape of its CSR matrix is not two whole numbers", name)
    rows, columns = shape.tolist()
    return Dataset(Csr(arrays["data"], arrays["indices"], arrays["indptr"], (rows, columns)), y, names)


def require_table(X: NDArray[Any], name: str) -> NDArray[Any]:
    """Refuse what is not a table of numbers."""
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise DataError(f"X must be a two-dimensional array of numbers, got {X.ndim}-dimensional {X.dtype}", name)
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def write(dataset: Dataset, file: BinaryIO) -> None:
    """Write the arrays uncompressed."""
    arrays: dict[str, Any] = {}
    if isinstance(dataset.X, Csr):
        X = dataset.X
        arrays |= {"format": b"csr", "shape": X.shape, "data": X.data, "indices": X.indices, "indptr": X.indptr}
    else:
        arrays["X"] = dataset.X
    if dataset.y is not None:
        arrays["y"] = dataset.y
    if dataset.feature_names is not None:
        arrays["feature_names"] = dataset.feature_names
    write_arrays(file, {name: np.asanyarray(array) for name, array in arrays.items()})
