"""From Dask arrays, data frames and lists of delayed parts to the partitions that shards are made of."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..problem.matrix import require_lengths, require_sound, row_of_array, row_of_file
from ..problem.statement import counted
from ..shards.shard import Shard


class Part(NamedTuple):
    """One partition: rows, labels and weights, all still to be computed; and a name for messages."""

    X: Any
    y: Any
    sample_weight: Any = None
    file: str | None = None  # that it is read from


def is_distributed(X: Any) -> bool:
    """Whether data are a Dask collection, or a list of delayed parts or futures."""
    if isinstance(X, list | tuple):
        return bool(X) and all(hasattr(part, "key") or hasattr(part, "__dask_graph__") for part in X)
    return hasattr(X, "__dask_graph__")


def partitions(X: Any, y: Any, sample_weight: Any = None) -> list[Part]:
    """Return the partitions of rows with their labels and weights, in order."""
    rows = rows_of(X)
    lengths = X.chunks[0] if hasattr(X, "chunks") else None
    labels = column_of(y, len(rows), lengths, "y")
    weights = (
        [None] * len(rows) if sample_weight is None else column_of(sample_weight, len(rows), lengths, "sample_weight")
    )
    return [Part(*part) for part in zip(rows, labels, weights, strict=True)]


def rows_of(X: Any) -> list[Any]:
    """Return the partitions of rows."""
    if isinstance(X, list | tuple):
        return _require_parts(X, "X")
    if hasattr(X, "chunks"):
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got {X.ndim}")
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        return list(X.to_delayed().ravel())
    if hasattr(X, "to_delayed"):
        _require_numbers(X)
        return list(X.to_delayed())
    raise TypeError(
        f"X is a {type(X).__name__}; it must be a Dask array, a Dask data frame or a list of delayed parts. For data "
        "in memory there is MaxMarginClassifier"
    )


def column_of(values: Any, n_parts: int, lengths: Any, name: str) -> list[Any]:
    """Return the partitions of labels or weights, cut as the rows are."""
    if isinstance(values, list | tuple):
        parts = _require_parts(values, name)
    elif hasattr(values, "chunks"):
        if values.ndim != 1:
            raise ValueError(f"{name} must have one dimension, got {values.ndim}")
        known = lengths is not None and not np.isnan(np.array([*lengths, *values.chunks[0]], dtype=float)).any()
        if known and sum(lengths) != values.shape[0]:
            raise ValueError(f"X has {counted(sum(lengths), 'row')}, but {name} has {values.shape[0]}")
        if known and values.chunks[0] != lengths:
            values = values.rechunk((lengths,))
        parts = list(values.to_delayed().ravel())
    elif hasattr(values, "to_delayed"):
        parts = list(values.to_delayed())
    elif lengths is not None and not np.isnan(np.array(lengths, dtype=float)).any():
        array = np.asarray(values)
        if array.shape != (sum(lengths),):
            raise ValueError(f"X has {counted(sum(lengths), 'row')}, but {name} has the shape {array.shape}")
        parts = np.split(array, np.cumsum(lengths)[:-1])
    else:
        raise TypeError(
            f"{name} is a {type(values).__name__}, and the partitions of X have unknown lengths; pass {name} as a Dask "
            "array or series with the same partitions as X"
        )
    if len(parts) != n_parts:
        raise ValueError(
            f"X has {counted(n_parts, 'partition')}, but {name} has {len(parts)}; cut both at the same rows"
        )
    return parts


def _require_numbers(frame: Any) -> None:
    """Refuse columns of a data frame that are known to be no numbers; what is in objects is seen later."""
    kinds = dict(getattr(frame, "dtypes", {}))
    if text := [name for name, kind in kinds.items() if str(kind) != "object" and kind.kind not in "fiub"]:
        raise ValueError(
            f"column {text[0]!r} is {kinds[text[0]]}, not numbers; leave it out, or encode it first, as by "
            "dask.dataframe.get_dummies"
        )


def _require_parts(parts: Iterable[Any], name: str) -> list[Any]:
    found = list(parts)
    if not is_distributed(found):
        raise TypeError(f"a list {name} must hold delayed parts or futures")
    return found


def as_shard(number: int, X: Any, y: Any, sample_weight: Any, file: str | None = None) -> Shard:
    """Pack a partition, on the worker that has it."""
    name = row_of_array if file is None else row_of_file
    try:
        labels = np.asarray(y).ravel()
        rows = as_rows(X)
        if rows.shape[0] != len(labels):
            raise ValueError(f"there are {counted(rows.shape[0], 'row')} and {counted(len(labels), 'label')}")
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError(f"the label of {name(int(np.flatnonzero(~np.isfinite(labels))[0]))} is NaN or infinity")
        if labels.dtype.kind == "O" and any(one is None or one != one for one in labels.tolist()):
            missing = next(k for k, one in enumerate(labels.tolist()) if one is None or one != one)
            raise ValueError(f"the label of {name(missing)} is missing")
        weights = _as_weights(sample_weight, len(labels))
        try:
            return Shard(rows, labels, weights)
        except ValueError:  # it has met a row of infinite length
            require_lengths(rows, name)
            raise
    except (ValueError, TypeError) as error:
        where = f"partition {number} (counting from 0)" if file is None else file
        raise ValueError(f"{where}: {error}") from error


def as_rows(X: Any) -> Any:
    """Return the rows of a partition as an array or a CSR matrix."""
    if hasattr(X, "to_numpy"):
        values = X.to_numpy()
        X = X.to_numpy(dtype=np.float64, na_value=np.nan) if values.dtype.kind == "O" else values
    if hasattr(X, "tocsr"):
        require_sound(X)
        return X
    rows = np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"X must have two dimensions, got {rows.ndim}")
    return rows


def _as_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64).ravel()
    if len(weights) != n_rows:
        raise ValueError(f"there are {counted(n_rows, 'row')} and {counted(len(weights), 'weight')}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("sample_weight must be finite and not negative")
    return weights
