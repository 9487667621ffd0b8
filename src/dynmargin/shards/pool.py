"""The rows that coordinate descent keeps in memory between two passes over the disk."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.problems import Sides, Weights
from .path import Vector
from .rows_on_disk import RowsOnDisk
from .shard import ProblemOnShard

Integers = NDArray[np.int64]

LARGEST_SHARE = 0.25  # of the rows: what memory is left keeps whole blocks, which need not be read again
# Beside its entries: where it begins, its length, side and number, and what is kept of it while it is visited.
BYTES_PER_POOLED_ROW, BYTES_PER_POOLED_WEIGHT = 128, 24


@dataclass(frozen=True)
class PoolSize:
    """How many rows fit into a pool.

    Attributes
    ----------
    layout : PoolLayout
        How they are packed.
    share : float
        Of the rows of each block, and of their entries.
    n_rows, n_entries : int
        Of all blocks.
    nbytes : int
        What the pool takes.
    """

    layout: _core.PoolLayout
    share: float
    n_rows: int
    n_entries: int
    nbytes: int

    @classmethod
    def of(cls, room: int, rows: RowsOnDisk, *, weighted: bool) -> "PoolSize":
        """Return the size of a pool that takes so many bytes at most."""
        (n_rows, n_columns), layout = rows.shape, rows.pool_layout
        n_entries = n_rows * n_columns if layout == _core.PoolLayout.dense else rows.n_values
        per_row = BYTES_PER_POOLED_ROW + (BYTES_PER_POOLED_WEIGHT if weighted else 0)
        whole = n_entries * _core.pool_entry_bytes(layout, n_columns) + n_rows * per_row
        share = min(LARGEST_SHARE, room / max(1, whole))
        return cls(layout, share, int(share * n_rows), int(share * n_entries), int(share * whole))


class Pool:
    """Rows of all blocks, copied while these are visited.

    Attributes
    ----------
    places : list of array
        Which rows they are, among all.
    """

    def __init__(self, size: PoolSize, n_features: int) -> None:
        self.share = size.share
        self._rows = _core.RowPool(size.layout, n_features, size.n_rows, size.n_entries)
        self.places: list[Integers] = []
        self._sides: list[Sides] = []
        self._weights: list[Weights] = []

    def take(self, own: ProblemOnShard, gain: Vector, first: int) -> None:
        """Copy the rows of a shard that gained most; its first row has that number among all."""
        places: Integers = self._rows.take(own.shard.rows, gain, self.share)
        self.places.append(places + first)
        self._sides.append(own.sides[places])
        if own.shard.sample_weight is not None:
            self._weights.append(own.shard.sample_weight[places])

    def release(self) -> tuple[_core.PackedRows, Integers, NDArray[Any], Weights | None]:
        """Return the rows, their numbers among all, their sides and their weights; the pool is empty afterwards."""
        weights = np.concatenate(self._weights) if self._weights else None
        return self._rows.release(), np.concatenate(self.places), np.concatenate(self._sides), weights
