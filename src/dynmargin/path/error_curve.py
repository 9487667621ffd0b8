"""The cross-validation error at every C of a range, between two proven bounds."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..problem.statement import counted, in_percent
from ..problem.wording import wording

Floats = NDArray[np.float64]
Ended = Literal["tolerance", "max_fits", "max_time", "interrupted", "rounding"]


def percent(bound: float, *, up: bool) -> str:
    """Write a bound in percent with two decimals, rounded up or down; one that has no more keeps them."""
    steps = round(1e4 * bound)
    if up and steps / 1e4 < bound:
        steps += 1
    if not up and steps / 1e4 > bound:
        steps -= 1
    return f"{steps / 100:.2f} %"


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

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dynmargin import MaxMarginClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> search = MaxMarginClassifierCV(tolerance=0.05, C_range=(0.01, 10.0), cv=3, random_state=0).fit(X, y)
    >>> low, high = search.curve_.at(0.5)  # of the error at a C that need not have been tried
    >>> bool(low <= high)
    True
    >>> bool(search.curve_.proven <= 0.05)
    True
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
        chosen = repr(self.C).removesuffix(".0")  # all digits: it is the one that was trained
        text = (
            f"C = {chosen} has a cross-validation error of at most {percent(self.error, up=True)}; "
            f"no C from {low:g} to {high:g}"
        )
        if self.error <= self.lower.min():
            text += " has less"
        else:
            text += f" is better by more than {percent(self.proven, up=True)} (of all held-out rows)"
        why = {
            "interrupted": "it was interrupted",
            "rounding": "some rows are too close to the boundary for double precision",
        }
        reason = why.get(self.ended) or f"{wording().name(self.ended)} was reached"
        missed = f"; {in_percent(self.tolerance, 2)} was asked for, but {reason}"
        trained = f"; {counted(len(self.Cs), 'value')} of C {'was' if len(self.Cs) == 1 else 'were'} trained"
        return text + ("" if self.ended == "tolerance" else missed) + trained
