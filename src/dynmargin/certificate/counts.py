"""Counts, the witness of the upper bound: stored sparsely, rounded from dual weights, found again by row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core

TOTAL_COUNT = 2.0**52
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-290, 1e290  # of a dual weight, for its scale to be a number of full precision

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SparseCounts:
    """The counts of the rows that have one: how often each was added, as far as it proves the upper bound.

    Attributes
    ----------
    indices : array of int64
        The rows, in increasing order; for a joint margin ``row * n_classes + wrong class``.
    data : array of int64
        Their counts.
    shape : tuple of int
        The number of all rows; for a joint margin also that of the classes.

    Examples
    --------
    >>> from dynmargin import MaxMarginClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [5.0, 0.0]], ["left", "right", "right"]
    >>> counts = MaxMarginClassifier(C=float("inf")).fit(X, y).certificate_.counts
    >>> len(counts.toarray()) == counts.shape[0] == len(y)
    True
    >>> counts.sum() == int(counts.toarray().sum())
    True
    """

    indices: Integers
    data: Integers
    shape: tuple[int, ...]

    @property
    def nnz(self) -> int:
        """The number of counts."""
        return len(self.indices)

    @property
    def rows(self) -> Integers:
        """The rows with a count, each once and in increasing order."""
        return self.indices if len(self.shape) == 1 else np.unique(self.indices // self.shape[1])

    def sum(self) -> int:
        """Add all counts: t of the run, or of the part of it that proves the upper bound."""
        return int(self.data.sum())

    def toarray(self) -> Integers:
        """Return one count per row, zeros included."""
        counts = np.zeros(self.shape, dtype=np.int64)
        counts.flat[self.indices] = self.data
        return counts


def as_counts(
    rows: NDArray[np.integer], alpha: NDArray[np.float64], balanced_sides: NDArray[Any] | None = None
) -> tuple[Integers, Integers]:
    """Return the rows with a count, and the counts: dual weights scaled to add up to about 2^52, and rounded.

    The upper bound does not depend on the scale and is stationary at the optimum, so rounding does not move it. With
    `balanced_sides` the counts of the two sides have the same sum.
    """
    largest = alpha.max(initial=0.0)
    if not SMALLEST_WEIGHT < largest < LARGEST_WEIGHT:  # keep sums and quotients within the doubles
        alpha = alpha / largest if 0 < largest < np.inf else np.isposinf(alpha).astype(np.float64)
    total = alpha.sum()
    scale = TOTAL_COUNT / total if total > 0 else 0.0
    places: Integers = np.ascontiguousarray(rows, dtype=np.int64)
    if balanced_sides is None:
        return _core.rounded_counts(places, np.ascontiguousarray(alpha, dtype=np.float64), scale)
    counts = balance(np.rint(alpha * scale).astype(np.int64), balanced_sides)
    kept = np.flatnonzero(counts > 0)
    return places[kept], counts[kept]


def balance(counts: Integers, sides: NDArray[Any]) -> Integers:
    """Return counts whose sums over the two sides agree, by lowering the largest of the heavier side.

    Rounding leaves sums that differ by a few of 2^52; a free bias needs them to be the same.
    """
    counts = counts.copy()
    excess = int((counts * sides).sum())
    heavier = np.flatnonzero(sides == np.sign(excess))
    for k in heavier[np.argsort(-counts[heavier], kind="stable")]:
        if excess == 0:
            break
        taken = min(int(counts[k]), abs(excess))
        counts[k] -= taken
        excess -= taken if excess > 0 else -taken
    return counts


def find_counts(keys: NDArray[np.uint64], known: NDArray[np.uint64], counts: Integers) -> tuple[Integers, Integers]:
    """Bring known counts to the rows with the same key; return the rows that have a count, and their counts.

    Equal rows share theirs in turn. Counts that belong to no row are dropped: any counts prove a bound, these a weaker
    one.
    """
    order = np.argsort(keys, kind="stable")
    first, last = (np.searchsorted(keys, known, side, sorter=order) for side in ("left", "right"))
    copies = last - first
    turn = np.empty(len(known), dtype=np.int64)  # which of the equal known ones this is
    known_order = np.argsort(known, kind="stable")
    turn[known_order] = np.arange(len(known)) - np.searchsorted(known, known, sorter=known_order)[known_order]
    there = copies > 0
    total = np.zeros(len(keys), dtype=np.int64)
    np.add.at(total, order[first[there] + turn[there] % copies[there]], counts[there])
    rows = np.flatnonzero(total).astype(np.int64)
    return rows, total[rows]
