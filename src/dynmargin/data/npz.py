"""Data in one .npz file: ``X`` or the arrays of a CSR matrix as scipy.sparse.save_npz writes them, and ``y``."""

import io
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .dataset import Csr, DataError, Dataset


def parse(content: NDArray[np.uint8], name: str) -> Dataset:
    """Read the arrays; pickled objects are refused."""
    try:
        with np.load(io.BytesIO(content.data), allow_pickle=False) as archive:
            arrays: dict[str, NDArray[Any]] = {key: archive[key] for key in archive.files}
    except Exception as error:  # zip, zlib and npy each have their own
        raise DataError(f"not a readable .npz file: {error}", name) from error
    y = arrays.get("y")
    names = arrays.get("feature_names")
    if "X" in arrays:
        return Dataset(require_table(arrays["X"], name), y, names)
    if missing := {"data", "indices", "indptr", "shape"} - arrays.keys():
        raise DataError(f"it holds neither X nor a whole CSR matrix: {', '.join(sorted(missing))} is missing", name)
    if arrays.get("format", np.array(b"csr")).item() not in (b"csr", "csr"):
        raise DataError(f"its sparse format is {arrays['format'].item()!r}; save it as CSR", name)
    rows, columns = (int(n) for n in arrays["shape"])
    return Dataset(Csr(arrays["data"], arrays["indices"], arrays["indptr"], (rows, columns)), y, names)


def require_table(X: NDArray[Any], name: str) -> NDArray[Any]:
    """Refuse what is not a table of numbers."""
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise DataError(f"X must be a two-dimensional array of numbers, it is {X.ndim}-dimensional {X.dtype}", name)
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
    np.savez(file, allow_pickle=False, **arrays)
