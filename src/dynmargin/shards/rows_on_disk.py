"""Rows that stay on the disk: what `dynmargin data convert` wrote, used block by block."""

import os
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..certificate.certificate import Certificate
from ..certificate.verification import Verification
from ..data.binary import Block, Folder, open_folder
from ..data.dataset import Csr
from ..data.limits import bytes_of
from ..problem.matrix import as_matrix
from ..problem.problems import Weights
from ..problem.statement import counted
from .on_disk import OnDisk, sum_in_turn
from .room import LimitTooSmall, memory_of, to_predict, to_verify
from .shard import Shard
from .sums import S, T
from .verification import verify_shards

BYTES_PER_SCALED_VALUE = 12  # a double and its column
BYTES_WHILE_SCALED = 36  # of a value: read, written out with its column, scaled


class Scales(Protocol):
    """What is done to rows before training: ``Scaling``, which stands above."""

    @property
    def shift(self) -> NDArray[np.float64]:
        """What is subtracted from each column."""

    def of(self, X: Any) -> Any:
        """Return the scaled rows."""


class RowsOnDisk:
    r"""Rows and labels in a folder, of which a few blocks at a time are in memory; see `open_data`.

    Attributes
    ----------
    shape : tuple of int
        The number of rows and of features.
    classes : array
        The labels, in order.
    feature_names : array of str or None
        The names of the features, where they have any.
    nbytes : int
        The size of all blocks on the disk.
    memory_limit : int
        The bytes that training may take.

    Examples
    --------
    >>> import tempfile, dynmargin
    >>> from dynmargin.cli.main import main
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/text", "w") as file:
    ...         _ = file.write("+1 1:0.5 3:2\n-1 2:1\n")
    ...     _ = main(["data", "convert", f"{folder}/text", f"{folder}/rows.dm/"])
    ...     rows = dynmargin.open_data(f"{folder}/rows.dm")
    ...     rows.shape, rows.classes
    ((2, 3), array([-1.,  1.]))
    """

    stays_on_disk: ClassVar[bool] = True

    def __init__(self, folder: Folder, memory_limit: int, scaling: Scales | None = None) -> None:
        self.folder, self.memory_limit, self.scaling = folder, memory_limit, scaling

    def scaled_by(self, scaling: Scales) -> "RowsOnDisk":
        """Return the same rows, scaled whenever they are read."""
        return RowsOnDisk(self.folder, self.memory_limit, scaling)

    def with_less(self, taken: int) -> "RowsOnDisk":
        """Return the same rows, to be trained on in less memory: some is taken by something else."""
        return RowsOnDisk(self.folder, max(0, self.memory_limit - taken), self.scaling)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of features."""
        return self.folder.shape

    @property
    def classes(self) -> NDArray[Any]:
        """The labels, in order."""
        if self.folder.labels is None:
            raise ValueError(
                f"the data in {self.folder.path} have no labels; convert a source that has them, tables with --label"
            )
        return np.sort(self.folder.labels)

    @property
    def feature_names(self) -> NDArray[np.str_] | None:
        """The names of the features, where they have any."""
        return self.folder.feature_names

    @property
    def nbytes(self) -> int:
        """The size of all blocks on the disk."""
        return self.folder.nbytes

    @property
    def sizes(self) -> list[int]:
        """The bytes of each block, packed; scaled values are doubles, and where rows are centred, zeros are values."""
        if self.scaling is None:
            return [block.nbytes for block in self.folder.blocks]
        return [BYTES_PER_SCALED_VALUE * values + 8 * block.rows for values, block in self._scaled_values()]

    @property
    def at_work(self) -> int:
        """The bytes that a block takes while it is scaled."""
        if self.scaling is None:
            return 0
        return max((BYTES_WHILE_SCALED * values for values, _ in self._scaled_values()), default=0)

    @property
    def n_values(self) -> int:
        """How many values the rows have, scaled or not."""
        return self.folder.nonzeros if self.scaling is None else sum(values for values, _ in self._scaled_values())

    @property
    def pool_layout(self) -> _core.PoolLayout:
        """How some rows of all blocks are packed together."""
        if self.scaling is not None:
            return _core.PoolLayout.dense if self.scaling.shift.any() else _core.PoolLayout.sparse
        layouts = [block.layout for block in self.folder.blocks if block.rows]
        return _core.common_pool_layout(np.array(layouts, np.uint64))

    def _scaled_values(self) -> list[tuple[int, Block]]:
        assert self.scaling is not None
        centred = bool(self.scaling.shift.any())
        return [(block.rows * self.shape[1] if centred else block.nonzeros, block) for block in self.folder.blocks]

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        rows, columns = self.shape
        size, limit = _core.in_units(self.nbytes), _core.in_units(self.memory_limit)
        blocks = counted(len(self.folder.blocks), "block")
        return f"<RowsOnDisk: {rows} x {columns}, {size} in {blocks}; memory_limit={limit}>"

    def __iter__(self) -> Iterator[tuple[Any, NDArray[Any] | None]]:
        """Yield the blocks, each a scipy.sparse.csr_matrix and its labels."""
        for X, y in self.blocks():
            yield X.to_scipy() if isinstance(X, Csr) else X, y

    def blocks(self) -> Iterator[tuple[Any, NDArray[Any] | None]]:
        """Yield the blocks, each a sparse matrix without scipy (an array, if rows are centred) and its labels."""
        for i in range(len(self.folder.blocks)):
            yield self._block(i)

    def _block(self, i: int) -> tuple[Any, NDArray[Any] | None]:
        rows, y = self.folder.read(i)
        return self._scaled(rows), y

    def _scaled(self, rows: _core.PackedRows) -> Any:
        X = Csr(*_core.unpack(rows), (rows.n_rows, self.shape[1]))
        return X if self.scaling is None else self.scaling.of(X)

    def labels(self) -> NDArray[Any]:
        """Return the labels of all rows."""
        found = [y for _, y in (self.folder.read(i) for i in range(len(self.folder.blocks))) if y is not None]
        return np.concatenate(found) if found else self.classes[:0]

    def each(self, function: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
        """Return what a function says of the rows of every block, one after the other."""
        return np.concatenate(list(self._of_each(function)))

    def sum(self, function: Callable[..., S], *arguments: Any) -> S:
        """Return what a function of rows adds up to over all blocks."""
        return sum_in_turn(self._of_each(function, *arguments))

    def _of_each(self, function: Callable[..., T], *arguments: Any) -> Iterator[T]:
        """Yield what a function says of every block, which is dropped before the next one is read."""
        for i in range(len(self.folder.blocks)):
            yield function(self._block(i)[0], *arguments)

    def shards(self, sample_weight: Weights | None = None, room: int = 0, *, anew: bool = False) -> OnDisk:
        """Return the blocks as shards, of which as many stay in memory as there is room for.

        `anew` computes the digests of rows when they are read: those that a block holds are not trusted then.
        """
        folder, offsets = self.folder, np.append(0, np.cumsum(self.folder.lengths))
        memory = _core.BlockMemory()
        if folder.labels is None:
            raise ValueError(
                f"the data in {folder.path} have no labels; convert a source that has them, tables with --label"
            )
        if sample_weight is not None and len(sample_weight) != len(self):
            raise ValueError(f"there are {counted(len(sample_weight), 'weight')} for {counted(len(self), 'row')}")

        def read(i: int) -> Shard:
            packed, y = folder.read(i, trust_digests=not anew, memory=memory)
            assert y is not None
            if self.scaling is not None:
                packed = _core.pack(as_matrix(self._scaled(packed)))
            weight = None if sample_weight is None else np.array(sample_weight[offsets[i] : offsets[i + 1]])
            return Shard.of_rows(packed, y, weight)

        sizes = [memory_of(size, n_rows) for size, n_rows in zip(self.sizes, folder.lengths, strict=True)]
        return OnDisk(read, sizes, room)

    def require_room_to_predict(self, n_scores: int, *, labels_kept: bool = False) -> None:
        """Refuse a limit that is too small for so many scores per row, block by block."""
        needs = to_predict(self.folder.blocks, self.shape[1], n_scores, self.at_work, labels_kept=labels_kept)
        self._require_room("predicting", needs)

    def _require_room(self, what: str, needs: dict[str, int]) -> None:
        if (least := sum(needs.values())) > self.memory_limit:
            raise LimitTooSmall(self.memory_limit, f"{what} on these {len(self)} rows", needs, least)

    def verify(self, certificate: Certificate, sample_weight: Any = None, **expected: Any) -> Verification:
        """Verify a certificate block by block; see `Certificate.verify`, which calls this."""
        if certificate.problem.joint:
            raise ValueError("a joint certificate needs rows that fit into memory; these stay on the disk")
        weight = None if sample_weight is None else np.broadcast_to(np.asarray(sample_weight, np.float64), len(self))
        sizes, n_counts = self.sizes, certificate.counts.nnz
        self._require_room("verifying", to_verify(sizes, self.folder.lengths, self.shape[1], n_counts, self.at_work))
        return verify_shards(certificate, self.shards(weight, anew=True), **expected)


def open_data(path: str | os.PathLike[str], *, memory_limit: int | str | None = None) -> RowsOnDisk:
    r"""Open a folder that ``dynmargin data convert`` has written; its rows are read when they are needed.

    Parameters
    ----------
    path : path
        The folder.
    memory_limit : int or str, optional
        The bytes that training may take, as in ``"2GB"``; half of the memory that is available by default. What would
        not fit is said before training begins.

    Returns
    -------
    RowsOnDisk
        To be passed to ``MaxMarginClassifier.fit`` in the place of X and y, and to ``predict``. Iterating over it gives
        pairs of a CSR matrix and labels, block by block.

    Examples
    --------
    >>> import tempfile, dynmargin
    >>> from dynmargin.cli.main import main
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/text", "w") as file:
    ...         _ = file.write("+1 1:0.5 3:2\n-1 2:1\n")
    ...     _ = main(["data", "convert", f"{folder}/text", f"{folder}/rows.dm/"])
    ...     data = dynmargin.open_data(f"{folder}/rows.dm", memory_limit="100MB")
    ...     classifier = dynmargin.MaxMarginClassifier().fit(data)
    ...     classifier.predict(data)
    array([ 1., -1.])
    """
    folder = open_folder(os.fspath(path))
    limit = _core.available_memory() / 2 if memory_limit is None else bytes_of(memory_limit)
    return RowsOnDisk(folder, int(limit))
