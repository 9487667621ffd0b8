"""The cross-validation error at every C of a range, between two proven bounds."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ended = Literal["tolerance", "max_fits", "max_time", "interrupted", "rounding"]


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """The cross-validation error of the exact optimum, bounded at every C of a range.

    The error is that of all folds together: the fraction of held-out rows (by weight, with sample weights) that the
    exact optimum of its fold gets wrong. ``lower`` counts the rows that are proven to be wrong, ``upper`` also those
    that are not proven either way.

    Attributes
    ----------
    edges : array of shape (n_pieces + 1,)
        Where the pieces of the range begin and end.
    lower, upper : array of shape (n_pieces,)
        In a piece, ends included, no C has an error below the one and above the other.
    Cs : array of shape (n_fits,)
        Where all folds were trained, in increasing order.
    errors : array of shape (n_fits, 2)
        The same two bounds at these values themselves.
    C, error : float
        The C whose upper bound is smallest, the smallest of several; and that bound.
    tolerance : float
        What was asked for.
    ended : str
        Why the search ended: "tolerance" if it was reached, else "max_fits", "max_time", "interrupted", or "rounding"
        where rows are too close to the boundary for the arithmetic.
    """

    edges: Floats
    lower: Floats
    upper: Floats
    Cs: Floats
    errors: Floats
    C: float
    error: float
    tolerance: float
    ended: Ended

    @property
    def proven(self) -> float:
        """No C in the range has an error lower than that of ``C`` by more than this."""
        return max(0.0, self.error - float(self.lower.min()))

    def at(self, C: float) -> tuple[float, float]:
        """Return the bounds of the error at a C of the range.

        Parameters
        ----------
        C : float
            The price of a squared slack.

        Returns
        -------
        tuple of float
            The lower and the upper bound.
        """
        if not self.edges[0] <= C <= self.edges[-1]:
            raise ValueError(f"C={C:g} is outside the range from {self.edges[0]:g} to {self.edges[-1]:g}")
        first = max(0, int(np.searchsorted(self.edges, C)) - 1)
        last = min(len(self.lower), int(np.searchsorted(self.edges, C, side="right")))
        return float(self.lower[first:last].max()), float(self.upper[first:last].min())

    def __str__(self) -> str:
        low, high = self.edges[0], self.edges[-1]
        text = (
            f"C = {self.C:.4g} has a cross-validation error of at most {self.error:.2%}; no C from {low:g} to {high:g}"
        )
        if self.error <= self.lower.min():
            text += " has less"
        else:
            text += f" is better by more than {self.proven:.2%} (of all held-out rows)"
        why = {"max_fits": "max_fits was reached", "max_time": "max_time was over", "interrupted": "it was interrupted"}
        rounding = "some rows are too close to the boundary to be told apart from it"
        missed = f"; asked was {self.tolerance:.2%}, but {why.get(self.ended, rounding)}"
        return text + ("" if self.ended == "tolerance" else missed) + f"; {len(self.Cs)} values of C were trained"
