"""Several files as one: the parts of a data set, in the order of their names."""

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problem.statement import counted
from .archives import STDIN, name_of
from .columns import listed
from .dataset import Csr, DataError, Dataset


def files_of(path: str) -> list[str]:
    """Return the files that a pattern such as ``parts-*.svm`` stands for; a file of that very name is meant itself."""
    if path == STDIN or not glob.has_magic(path) or os.path.exists(path):
        return [path]
    found = sorted(glob.glob(path))
    if not found:
        raise DataError("no file matches this pattern", path)
    return found


def read_several(paths: Sequence[str], read: Callable[..., Dataset], **options: Any) -> Dataset:
    """Read files by `read(path, **options)` and put their rows together; all get the columns of the widest.

    Text may begin its indices with 0 or 1, which a single file need not show: if any file has an index 0, all do.
    """
    parts = [read(path, **options) for path in paths]
    files = tuple((name_of(path), part.X.shape[0]) for path, part in zip(paths, parts, strict=True))
    if len(parts) == 1:
        return replace(parts[0], files=files)
    begin_at = {part.first_index for part in parts if has_indices(part)}
    if len(begin_at) > 1:
        parts, begin_at = [read(path, **{**options, "zero_based": True}) for path in paths], {0}
    first = replace(parts[0], first_index=begin_at.pop() if begin_at else parts[0].first_index)
    for path, part in zip(paths[1:], parts[1:], strict=True):
        _require_alike(first, part, path, paths[0])
    parts = [part.aligned(first.feature_names) for part in parts]  # columns may stand in another order
    width = max(part.X.shape[1] for part in parts)
    matrices = [part.X for part in parts]
    rows = [X.with_columns(width) for X in matrices if isinstance(X, Csr)]
    tables = [X for X in matrices if not isinstance(X, Csr)]
    return replace(
        first,
        X=_stacked(rows, width) if rows else np.concatenate(tables),
        y=None if first.y is None else np.concatenate([part.y for part in parts if part.y is not None]),
        notices=tuple(dict.fromkeys(message for part in parts for message in part.notices)),
        files=files,
    )


def has_indices(part: Dataset) -> bool:
    """Whether a file shows where its indices begin: a text that has values."""
    return part.first_index is not None and isinstance(part.X, Csr) and len(part.X.data) > 0


def _require_alike(first: Dataset, part: Dataset, path: str, first_path: str) -> None:
    """Refuse a file whose rows cannot follow those of the first."""
    if isinstance(first.X, Csr) != isinstance(part.X, Csr):
        raise DataError(f"its rows are {_kind(part.X)}, and those of {first_path} are {_kind(first.X)}", path)
    if _names(first) != _names(part):
        names = f"{_columns(part)}, not {_columns(first)}"
        raise DataError(f"its columns are not those of {first_path}: {names}", path)
    if not isinstance(first.X, Csr) and first.X.shape[1] != part.X.shape[1]:
        raise DataError(f"it has {counted(part.X.shape[1], 'column')}, and {first_path} has {first.X.shape[1]}", path)
    if _labels(first.y) != _labels(part.y):
        raise DataError(f"its labels are {_labels(part.y)}, and those of {first_path} are {_labels(first.y)}", path)


def _names(part: Dataset) -> set[str] | None:
    return None if part.feature_names is None else set(part.feature_names.tolist())


def _columns(part: Dataset) -> str:
    return "without names" if part.feature_names is None else listed(part.feature_names.tolist())


def _kind(X: Csr | NDArray[Any]) -> str:
    return "sparse" if isinstance(X, Csr) else "dense"


def _labels(y: NDArray[Any] | None) -> str:
    return "missing" if y is None else "text" if y.dtype.kind == "U" else "numbers"


def _stacked(parts: Sequence[Csr], width: int) -> Csr:
    """Put sparse rows one below the other."""
    before = np.cumsum([0, *(len(part.data) for part in parts)])
    starts = [part.indptr[1:].astype(np.int64) + offset for part, offset in zip(parts, before[:-1], strict=True)]
    indptr = np.concatenate([[0], *starts])
    indices = np.concatenate([part.indices for part in parts])
    narrow = np.int32 if max(indptr[-1], width) <= np.iinfo(np.int32).max else np.int64
    return Csr(
        np.concatenate([part.data for part in parts]),
        indices.astype(narrow, copy=False),
        indptr.astype(narrow),
        (sum(part.shape[0] for part in parts), width),
    )
