"""What is proven about rows that pass by."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problem.problems import BinaryProblem, label_text
from .html import as_table
from .objective import lower_objective
from .verification import Verification, unproven

COMPLETE_IT = "the rows that it is about were not kept; certify(X, y) proves both bounds for rows that are there"


@dataclass(frozen=True, eq=False)
class OnlineCertificate:
    """What is proven while rows pass by and are not kept.

    The upper bound is true for all rows seen: it rests on the running sums of the updates, whose rounding errors are
    added to it. A margin needs every row to be scored with the present weights, and most rows are gone; ``margin`` is
    about the rows of the last call by themselves. So there is no gap between the two, and nothing is achieved until
    `certify` has seen the data. Unlike a `Certificate` it has no witness that others could check.

    Attributes
    ----------
    margin : float
        The weights have at least this margin on the rows of the last call, as if there were no others.
    upper_bound : float
        No classifier has a larger margin on all rows seen, each row as often as it was presented.
    rows_seen : int
        How many rows that is; rows of zero weight do not count.
    rows_of_margin : int
        How many rows the last call had.
    epsilon : float
        PDM's accuracy.
    weights, intercept : array of float64, float
        The model.
    problem : BinaryProblem
        What was asked: the positive label, the cost of slacks, the augmentation.

    Examples
    --------
    >>> from dynmargin import PDMClassifier
    >>> stream = PDMClassifier()
    >>> for x, label in [([0.0, 1.0], "left"), ([1.0, 0.0], "right"), ([2.0, 1.0], "right")]:
    ...     stream = stream.partial_fit([x], [label], classes=["left", "right"])
    >>> stream.certificate_.rows_seen
    3
    >>> stream.certificate_.achieved  # not before certify(X, y)
    False
    """

    margin: float
    upper_bound: float
    rows_seen: int
    rows_of_margin: int
    epsilon: float
    weights: NDArray[np.float64]
    intercept: float
    problem: BinaryProblem

    @property
    def gap(self) -> float:
        """Infinite: the two bounds are about different rows."""
        return math.inf

    @property
    def achieved(self) -> bool:
        """Never: see `gap`."""
        return False

    @property
    def dual(self) -> float:
        """A value that LinearSVC's objective over all rows seen cannot fall below, ``1 / (2 upper_bound²)``."""
        return lower_objective(self.upper_bound)

    @property
    def loss(self) -> str:
        """The loss that it is about."""
        return self.problem.loss

    def __str__(self) -> str:
        which = f"{self.problem.title}: " if self.problem.title else ""
        return (
            f"{which}upper bound proven: no classifier of the {self.rows_seen} rows seen has a margin above "
            f"{self.upper_bound:.6g}; margin {self.margin:.6g} only for the {self.rows_of_margin} rows of the last "
            "call; certify(X, y) completes it"
        )

    def __repr__(self) -> str:
        return f"<OnlineCertificate: {self}>"

    def _repr_html_(self) -> str:
        return as_table([self.row()])

    def row(self) -> dict[str, str]:
        """Return what is proven as a row of a table, column by column."""
        return {
            "class": label_text(self.problem.positive),
            f"no classifier of the {self.rows_seen} rows seen has more than": f"{self.upper_bound:.6g}",
            f"margin on the {self.rows_of_margin} rows of the last call": f"{self.margin:.6g}",
            "gap proven": "none before certify(X, y)",
        }

    def verify(self, X: Any, y: Any, sample_weight: Any = None, **expected: Any) -> Verification:
        """Say that there is nothing to verify yet, and how to get there.

        Parameters
        ----------
        X, y, sample_weight, **expected : see `Certificate.verify`
            The data and the problem; they are not used.

        Returns
        -------
        Verification
            "not proven"; the detail says what to call instead.
        """
        return unproven("not proven", COMPLETE_IT)
