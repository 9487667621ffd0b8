"""Files as partitions: every worker reads its own, and reads it again if it is lost."""

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import dask
import distributed
import numpy as np
from numpy.typing import NDArray

from ..data.dataset import NO_LABELS, Csr, DataError, Dataset
from ..data.formats import read_dataset
from ..data.several import has_indices
from ..problem.matrix import require_finite, row_of_file
from ..problem.problems import Weights
from ..problem.statement import counted, labels_text
from ..shards.sums import S, add_in_order, merge
from .cluster import Cluster, gathered
from .parts import Part


@dataclass(frozen=True)
class FileParts:
    """Partitions that are read from files.

    Attributes
    ----------
    client : distributed.Client
        The cluster whose workers read them.
    files : sequence of str
        Their names.
    X, y : list of delayed parts
        Rows and labels.
    lengths : list of int
        How many rows each file has.
    n_features : int
        Of all files together.
    dense : bool
        Whether the rows come from tables.
    classes : array
        The labels, in order.
    first : Dataset
        The first file, without its rows: names and where indices begin; with the messages of all files.
    """

    client: distributed.Client
    files: Sequence[str]
    X: list[Any]
    y: list[Any]
    lengths: list[int]
    n_features: int
    dense: bool
    classes: NDArray[Any]
    first: Dataset

    def sum(self, function: Callable[..., S], *arguments: Any, seconds: float = math.inf) -> S:
        """Return what a function of rows adds up to over all files; workers merge groups of them.

        TimeoutError if that takes longer than so many seconds.
        """
        task, join = dask.delayed(function), dask.delayed(add_in_order)
        values = [dask.delayed(argument) for argument in arguments]  # once, not per file
        total = merge([task(rows, *values) for rows in self.X], join)
        found: S = gathered(self.client, [self.client.compute(total)], seconds=seconds)[0]
        return found

    def shards(self, sample_weight: Weights | None) -> Cluster:
        """Return the partitions as shards; rows have weights, if there are any."""
        cuts = np.cumsum(self.lengths)[:-1]
        weights = [None] * len(self.X) if sample_weight is None else np.split(sample_weight, cuts)
        return Cluster(self.client, [Part(*part) for part in zip(self.X, self.y, weights, self.files, strict=True)])

    def each(self, function: Callable[[Any], NDArray[Any]]) -> "FileParts":
        """Return partitions whose rows are what a function makes of them; an error names the file."""
        apply = dask.delayed(_apply)
        return replace(self, X=[apply(function, path, rows) for path, rows in zip(self.files, self.X, strict=True)])

    def finite(self) -> "FileParts":
        """Return the same partitions; where a value is not finite, reading them fails."""
        return self.each(_finite)


def read_parts(
    client: distributed.Client,
    files: Sequence[str],
    format: Any = None,
    label: str | None = None,
    drop: Any = (),
    seconds: float = math.inf,
) -> FileParts:
    """Let the workers read files, one partition each; all of them get the columns of the widest.

    Text may begin its indices at 0 or 1, which a single file need not show: if any file has an index 0, all do.
    TimeoutError if reading takes longer than so many seconds.
    """
    began = time.monotonic()
    read, paths = dask.delayed(_read, pure=True), [os.path.abspath(path) for path in files]  # workers are elsewhere

    def begin(zero_based: Any) -> tuple[list[Any], list[_Head]]:
        parts = client.persist(
            [read(*names, format, label, drop, zero_based) for names in zip(paths, files, strict=True)]
        )
        heads = client.compute([dask.delayed(_head)(part) for part in parts])
        return parts, gathered(client, heads, seconds=seconds - (time.monotonic() - began))

    parts, heads = begin("auto")
    begin_at = {head.without_rows.first_index for head in heads if head.has_indices}
    if len(begin_at) > 1:
        (parts, heads), begin_at = begin(True), {0}
    first = heads[0]
    for path, head in zip(files, heads, strict=True):
        if head.dense != first.dense:
            raise ValueError(f"the rows of {path} are {head.kind}, and those of {files[0]} are {first.kind}")
        if head.columns != first.columns:
            raise ValueError(f"{path} has other columns than {files[0]}: {head.columns_text}, not {first.columns_text}")
        if (head.classes.dtype.kind == "U") != (first.classes.dtype.kind == "U"):
            kinds = ["text" if one.classes.dtype.kind == "U" else "numbers" for one in (head, first)]
            raise ValueError(f"the labels of {path} are {kinds[0]}, and those of {files[0]} are {kinds[1]}")
    n_features = max(head.shape[1] for head in heads)
    notices = [message for head in heads for message in head.without_rows.notices]
    return FileParts(
        client,
        files,
        [dask.delayed(_rows)(part, n_features, first.without_rows.feature_names) for part in parts],
        [dask.delayed(_labels)(part) for part in parts],
        [head.shape[0] for head in heads],
        n_features,
        first.dense,
        np.unique(np.concatenate([head.classes for head in heads])),
        replace(
            first.without_rows,
            first_index=begin_at.pop() if begin_at else first.without_rows.first_index,
            notices=tuple(dict.fromkeys(notices)),
        ),
    )


@dataclass(frozen=True)
class _Head:
    """What there is to know of a file before its rows are used."""

    shape: tuple[int, int]
    dense: bool
    classes: NDArray[Any]
    has_indices: bool
    without_rows: Dataset

    @property
    def columns(self) -> Any:
        """What all files must have in common: names, in any order, or the number of columns; of text, any number."""
        names = self.without_rows.feature_names
        return (self.shape[1] if self.dense else None) if names is None else sorted(names.tolist())

    @property
    def columns_text(self) -> str:
        """The columns in words."""
        names = self.without_rows.feature_names
        return counted(self.shape[1], "column") if names is None else labels_text(names)

    @property
    def kind(self) -> str:
        """Whether zeros are stored."""
        return "dense" if self.dense else "sparse"


def _read(path: str, name: str, format: Any, label: str | None, drop: Any, zero_based: Any) -> Dataset:
    """Read a file; messages have the name that the user gave it."""
    if not os.path.exists(path):
        raise DataError(f"a worker cannot find it; it looks for {path}", name)
    try:
        dataset = read_dataset(path, format, label=label, drop=drop, zero_based=zero_based, required=True)
    except DataError as error:
        raise DataError(error.reason.replace(path, name), name, error.line, error.column) from None
    if dataset.y is None:
        raise DataError(NO_LABELS, name)
    return replace(dataset, notices=tuple(message.replace(path, name) for message in dataset.notices))


def _head(dataset: Dataset) -> _Head:
    assert dataset.y is not None
    rows, columns = dataset.X.shape
    empty = replace(dataset, X=np.zeros((0, 0)), y=None)
    return _Head((rows, columns), not isinstance(dataset.X, Csr), np.unique(dataset.y), has_indices(dataset), empty)


def _apply(function: Callable[[Any], Any], path: str, rows: Any) -> Any:
    try:
        return function(rows)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _finite(rows: Any) -> Any:
    require_finite(rows, row_of_file)
    return rows


def _rows(dataset: Dataset, n_features: int, names: NDArray[np.str_] | None) -> Any:
    X = dataset.aligned(names).X
    return X.with_columns(n_features) if isinstance(X, Csr) else X


def _labels(dataset: Dataset) -> NDArray[Any]:
    assert dataset.y is not None
    return dataset.y
