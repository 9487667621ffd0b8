"""The state that an algorithm ended in, found again from its counts: what the paper says of it beside its margin."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..theory import geometric_margin
from .readers import Rows, Sides


@dataclass(frozen=True)
class OwnState:
    """a = sum_k n_k y_k: its length, its augmented coordinate, and the part of the rows that it puts on the wrong side.

    `classifier.coef_` is not it: those weights are the best ones of all checks, with slacks repaired.
    """

    norm: float
    bias: float
    error: float

    def geometric(self, directional_margin: float) -> float:
        """Return gamma' of the state whose gamma'_d is given."""
        return geometric_margin(directional_margin, self.norm, self.bias)


def own_state(X: Rows, y: Sides, counts: NDArray[np.integer], rho: float, delta: float) -> OwnState:
    """Add up the patterns; the extension coordinates are implied by the counts.

    The intercept has to be an augmented coordinate: a free one cannot be found from the counts.
    """
    signed = y * counts.astype(np.float64)
    w, bias = X.T @ signed, rho * float(signed.sum())
    norm = math.sqrt(float(w @ w) + bias**2 + delta**2 * float(signed @ signed))
    return OwnState(norm, bias, float(np.mean(y * (X @ w + rho * bias) <= 0)))
