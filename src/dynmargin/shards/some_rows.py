"""Some rows of a shard, copied out of it, and those of several shards joined in one place."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.dataset import Csr

Integers = NDArray[np.int64]


class SomeRows(NamedTuple):
    """Rows as they are sent.

    Attributes
    ----------
    values, columns, lengths : array
        The non-zeros row by row, their columns in the matrix, and how many each row has.
    sides : array of int8
        On which side each is.
    weights : array of float64
        What each weighs.
    places : array of int64
        Which rows they are.
    """

    values: NDArray[Any]
    columns: NDArray[np.int32]
    lengths: Integers
    sides: NDArray[np.int8]
    weights: NDArray[np.float64]
    places: Integers

    def after(self, first: int) -> "SomeRows":
        """Return the same rows, counted among the rows of all shards."""
        return self._replace(places=self.places + first)


def join(parts: list[SomeRows], n_features: int) -> tuple[Csr, SomeRows]:
    """Return all rows as a matrix, and what else is known of them; the list is empty afterwards.

    An array at a time, each given back when it is copied: of rows that nobody else keeps there is never a second copy
    of all.
    """
    values, columns, lengths, sides, weights, places = (_joined(parts, field) for field in SomeRows._fields)
    parts.clear()
    index = np.int32 if len(values) < 2**31 else np.int64
    starts = np.append(0, np.cumsum(lengths)).astype(index)
    matrix = Csr(values, columns.astype(index, copy=False), starts, (len(lengths), n_features))
    return matrix, SomeRows(values, columns, lengths, sides, weights, places)


def _joined(parts: list[SomeRows], field: str) -> NDArray[Any]:
    dtype = np.result_type(*{getattr(part, field).dtype for part in parts})
    whole, place = np.empty(sum(len(getattr(part, field)) for part in parts), dtype), 0
    for i, part in enumerate(parts):
        piece = getattr(part, field)
        whole[place : place + len(piece)] = piece
        place += len(piece)
        parts[i] = part._replace(**{field: piece[:0].copy()})
    return whole
