"""From whatever holds the data to the borrowed view that the core reads, without scipy or scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .wording import wording

_FLOATS = (np.float32, np.float64)


def as_floats(values: Any) -> NDArray[Any]:
    """Return float32 or float64 as it is, anything else as float64."""
    array = np.asarray(values)
    return array if array.dtype in _FLOATS else array.astype(np.float64)


def stays_on_disk(X: Any) -> bool:
    """Whether rows are read block by block, and have labels of their own: ``RowsOnDisk``, which stands above."""
    return getattr(type(X), "stays_on_disk", False) is True


def require_sound(X: Any) -> None:
    """Refuse a sparse matrix that scipy would have to convert, if that is not safe: it trusts the indices."""
    if not hasattr(X, "indptr"):
        return
    if getattr(X, "format", "csr") != "csr":
        X.check_format(full_check=True)
    elif X.data.dtype not in _FLOATS:
        as_matrix(X)


def for_products(X: Any) -> Any:
    """Return a CSR matrix whose products are safe: indices within range, and of types that scipy can multiply."""
    as_matrix(X)
    kinds = X.indices.dtype, X.indptr.dtype
    if hasattr(X, "check_format") and (kinds[0] != kinds[1] or kinds[0] not in (np.int32, np.int64)):
        X = X.copy()
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def as_matrix(X: Any) -> _core.Matrix:
    """Borrow a dense array or a sparse matrix; float32 and float64 are not copied, whether dense or CSR.

    Sparse formats other than CSR are converted by their own ``tocsr``.
    """
    if hasattr(X, "tocsr"):
        if len(X.shape) != 2:
            raise ValueError(f"X must have two dimensions, got {len(X.shape)}")
        if getattr(X, "format", "csr") != "csr":
            require_sound(X)
        X = X.tocsr()
        values, columns, starts = as_floats(X.data), X.indices, X.indptr
        if columns.dtype != starts.dtype or columns.dtype not in (np.int32, np.int64):
            columns, starts = columns.astype(np.int64), starts.astype(np.int64)
        values, columns, starts = (np.require(array, requirements=["A", "C"]) for array in (values, columns, starts))
        return _core.csr(values, columns, starts, int(X.shape[1]))
    array = np.require(as_floats(X), requirements=["A"])
    if array.ndim != 2:
        raise ValueError(f"X must have two dimensions, got {array.ndim}")
    return _core.dense(array)


def require_finite(X: Any, name: Callable[[int], str]) -> None:
    """Refuse NaN and infinities; the first row that has one is named, given its place from 0 on."""
    values, starts = _values_by_row(X)
    if len(wrong := np.flatnonzero(~np.isfinite(values))):
        row = int(np.searchsorted(starts, wrong[0], side="right")) - 1
        raise ValueError(f"{name(row)} has the value {values[wrong[0]]}; all values must be finite")


def require_lengths(X: Any, name: Callable[[int], str]) -> None:
    """Refuse rows that cannot be packed: those with NaN, infinities, or values whose squares overflow."""
    require_finite(X, name)
    values, starts = _values_by_row(X)
    with np.errstate(over="ignore"):
        rows, squares = np.repeat(np.arange(len(starts) - 1), np.diff(starts)), np.square(values, dtype=np.float64)
        lengths = np.bincount(rows, weights=squares, minlength=len(starts) - 1)
    if len(wrong := np.flatnonzero(~np.isfinite(lengths))):
        what = f"{name(int(wrong[0]))} has values so large that their squares overflow"
        raise ValueError("; ".join(filter(None, [what, wording().scaling])))


def row_of_array(row: int) -> str:
    """Name a row of an array."""
    return f"row {row} (counting from 0)"


def row_of_file(row: int) -> str:
    """Name a row of a file: they are counted as lines are."""
    return f"row {row + 1} (counting from 1)"


def _values_by_row(X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return all values, and where those of each row begin."""
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        return as_floats(X.data), X.indptr
    table = as_floats(X)
    return table.ravel(), np.arange(len(table) + 1) * table.shape[1]
