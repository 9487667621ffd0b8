"""Real dual weights as the integer counts of a certificate.

Scaled to add up to about 2^52 and rounded they are counts like any others: the upper bound that they prove holds
whatever made them, and rounding moves it by next to nothing.
"""

import numpy as np
from numpy.typing import NDArray

TOTAL_COUNT = 2.0**52


def rounded_counts(weights: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the places of non-negative weights that keep a count, and their counts."""
    total = weights.sum()
    counts = np.rint(weights * (TOTAL_COUNT / total if total > 0 else 0.0)).astype(np.int64)
    places = np.flatnonzero(counts)
    return places, counts[places]
