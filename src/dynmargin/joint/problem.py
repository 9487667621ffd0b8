"""The problem: for each row its own class is to score more than every other."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem import Loss


@dataclass(frozen=True)
class JointProblem:
    """Every class against every other, in one space (Kesler's construction).

    The margin of a row is what its own class scores more than the best of the others. One slack a row makes up for what
    is missing: Crammer and Singer's problem, with squared slacks. Where nothing else is said it can stand in for a
    `BinaryProblem`.

    Attributes
    ----------
    classes : tuple
        The labels, in the order of the rows of weights.
    costs : tuple of float
        The price of a squared slack of each class's rows, class weights included; infinite for the hard margin.
    rho : float
        ``intercept_scaling``; 0 without an intercept.
    """

    classes: tuple[Any, ...]
    costs: tuple[float, ...]
    rho: float

    loss: ClassVar[Loss] = "squared_hinge"
    free_bias: ClassVar[bool] = False
    positive: ClassVar[str] = "all"  # where a class is named

    @classmethod
    def of(cls, classes: NDArray[Any], C: float, class_weights: NDArray[np.float64], rho: float) -> "JointProblem":
        """State the problem; a class weight counts for the rows of its class."""
        return cls(tuple(classes.tolist()), tuple(float(cost) for cost in C * class_weights), rho)

    @property
    def hard_margin(self) -> bool:
        """Whether no slack is allowed."""
        return bool(np.isinf(self.costs[0]))

    def numbers(self) -> list[float]:
        """Give the numbers that a digest is to cover."""
        return [self.rho, *self.costs]

    def counts_shape(self, n_rows: int) -> tuple[int, int]:
        """Say of which shape counts are: one a row and wrong class."""
        return n_rows, len(self.classes)

    def sides(self, y: Any, sample_weight: NDArray[np.float64] | None) -> NDArray[np.int32]:
        """Give the number of each row's class, from 1; 0 for rows of zero weight, left out, and other labels."""
        labels = np.asarray(y)
        sides: NDArray[np.int32] = np.zeros(len(labels), dtype=np.int32)
        for number, label in enumerate(self.classes, start=1):
            sides[labels == label] = number
        if sample_weight is not None:
            sides[sample_weight == 0] = 0
        return sides

    def to_core(self, sides: NDArray[np.int32], sample_weight: NDArray[np.float64] | None = None) -> _core.JointProblem:
        """State the problem over rows of these classes."""
        return _core.JointProblem(sides, self.rho, np.array(self.costs), sample_weight)

    def margins(self, scores: NDArray[np.float64], y: Any) -> NDArray[np.float64]:
        """Give what the own class of each row scores more than the best of the others; NaN for other labels."""
        rows, place = np.arange(len(scores)), self.sides(y, None) - 1
        others = scores.copy()
        others[rows, place] = -np.inf
        return np.where(place < 0, np.nan, scores[rows, place] - others.max(axis=1))

    def split(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Take weights, a row a class and the augmented coordinate last, apart into weights and intercepts."""
        return np.ascontiguousarray(w[:, :-1]), w[:, -1] * self.rho
