"""Files as partitions: every worker reads its own, and reads it again if it is lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask
import distributed
import numpy as np
from numpy.typing import NDArray

from ..data.dataset import Csr, Dataset
from ..data.formats import read_dataset


@dataclass(frozen=True)
class FileParts:
    """Partitions that are read from files.

    Attributes
    ----------
    X, y : list of delayed parts
        Rows and labels.
    n_rows, n_features : int
        Of all files together.
    classes : array
        The labels, in order.
    first : Dataset
        The first file, without its rows: names and where indices begin.
    notices : tuple of str
        Messages for the user.
    """

    X: list[Any]
    y: list[Any]
    n_rows: int
    n_features: int
    classes: NDArray[Any]
    first: Dataset
    notices: tuple[str, ...]


def read_parts(client: distributed.Client, files: Sequence[str], format: Any, label: str | None) -> FileParts:
    """Let the workers read files, one partition each; all of them get the columns of the widest.

    Text may begin its indices at 0 or 1, which a single file need not show: if any file has an index 0, all do.
    """
    read = dask.delayed(_read, pure=True)
    parts = [read(path, format, label, "auto") for path in files]
    heads = client.gather(client.compute([dask.delayed(_head)(part) for part in parts]))
    if len({head.first_index for head in heads}) > 1:
        parts = [read(path, format, label, True) for path in files]
        heads = client.gather(client.compute([dask.delayed(_head)(part) for part in parts]))
    for path, head in zip(files, heads, strict=True):
        if head.names is not None and not np.array_equal(head.names, heads[0].names):
            raise ValueError(f"{path} has other columns than {files[0]}")
    n_features = max(head.shape[1] for head in heads)
    parts = client.persist(parts)
    first = Dataset(np.zeros((0, 0)), None, heads[0].names, heads[0].first_index, label_name=heads[0].label_name)
    return FileParts(
        [dask.delayed(_rows)(part, n_features) for part in parts],
        [dask.delayed(_labels)(part) for part in parts],
        sum(head.shape[0] for head in heads),
        n_features,
        np.unique(np.concatenate([head.classes for head in heads])),
        first,
        tuple(dict.fromkeys(message for head in heads for message in head.notices)),
    )


@dataclass(frozen=True)
class _Head:
    shape: tuple[int, int]
    classes: NDArray[Any]
    names: NDArray[Any] | None
    first_index: int | None
    label_name: str | None
    notices: tuple[str, ...]


def _read(path: str, format: Any, label: str | None, zero_based: Any) -> Dataset:
    dataset = read_dataset(path, format, label=label, zero_based=zero_based)
    if dataset.y is None:
        raise ValueError(f"{path} has no labels; name their column by --label")
    return dataset


def _head(dataset: Dataset) -> _Head:
    assert dataset.y is not None
    rows, columns = dataset.X.shape
    classes = np.unique(dataset.y)
    found = dataset.feature_names, dataset.first_index, dataset.label_name, dataset.notices
    return _Head((rows, columns), classes, *found)


def _rows(dataset: Dataset, n_features: int) -> Any:
    X = dataset.X
    if isinstance(X, Csr):
        return X.with_columns(n_features)
    if X.shape[1] != n_features:
        raise ValueError(f"a table has {X.shape[1]} columns, and another {n_features}")
    return X


def _labels(dataset: Dataset) -> NDArray[Any]:
    assert dataset.y is not None
    return dataset.y
