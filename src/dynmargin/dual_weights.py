"""Dual weights are reals; the certificate takes integers."""

import numpy as np
from numpy.typing import NDArray

TOTAL_COUNT = 2.0**52


def as_counts(rows: NDArray[np.integer], alpha: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the rows with a count, and the counts: the weights scaled to add up to about 2^52, and rounded.

    The upper bound does not depend on the scale and is stationary at the optimum, so rounding does not move it.
    """
    total = alpha.sum()
    counts = np.rint(alpha * (TOTAL_COUNT / total)).astype(np.int64) if total > 0 else np.zeros(len(alpha), np.int64)
    kept = counts > 0
    return rows[kept].astype(np.int64), counts[kept]


def balance(counts: NDArray[np.int64], sides: NDArray[np.int8]) -> NDArray[np.int64]:
    """Give counts whose sums over the two sides agree, by lowering the largest of the heavier side.

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
