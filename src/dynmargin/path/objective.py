"""LinearSVC's objective over packed rows, for every C: points, their gradients, and the lowest point at a C.

With ``c_k = 2 weight_k`` and ``m_k = 1 - w.y_k``, the shortfall of row k,

    P_C(w) = ½‖w‖² + ½ C sum_k c_k max(0, m_k)²,    gradient  g = w - C v(w),    v(w) = sum_k c_k max(0, m_k) y_k

so what the rows pull with, v, is the same for every C. Vectors are those of the packed columns, with the augmented
coordinate last.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..algorithms.newton import CLOSE_ENOUGH, SOFT
from ..problem.problems import BinaryProblem, Weights

Vector = NDArray[np.float64]

TWO_U = float(np.finfo(np.float64).eps)
EXACT = 1e-14  # a gap that leaves nothing to gain
# Added to lengths: more than squares lose by underflow. The least that rounding then adds to a product of two vectors,
# UNDERFLOW² TWO_U per term, is more than its terms lose.
UNDERFLOW = 1e-150
LEAST_C, MOST_C = 1e-100, 1e100
MOST_STEPS = 1000
CLIMB = 10.0  # from cheap slacks to expensive ones, by at most this factor


class OutOfTime(Exception):
    """Raised where a search has to end."""


@dataclass(frozen=True, eq=False)
class Point:
    """Weights, and what the rows do there.

    Attributes
    ----------
    w : array
        The weights.
    shortfalls : array
        ``m_k``, one per row; 0 for rows that are left out.
    pull : array
        ``v(w)``.
    error : float
        Rounding has moved v, and the sum of all shortfalls weighted by ``c_k ‖y_k‖``, by no more than this together.
    """

    w: Vector
    shortfalls: Vector
    pull: Vector
    error: float

    def gradient(self, C: float) -> tuple[Vector, float]:
        """Return the gradient at C, and the length of what rounding may have added to it."""
        rounding = 8 * TWO_U * (length(self.w) + C * length(self.pull))
        return self.w - C * self.pull, C * self.error + rounding


def length(vector: Vector) -> float:
    """Return the length of a vector, rounded up."""
    return float(np.sqrt(np.square(vector).sum())) * (1 + (len(vector) + 8) * TWO_U) + UNDERFLOW


def require_range(low: float, high: float) -> None:
    """Refuse a range of C whose squares and quotients have no place among doubles."""
    if not LEAST_C <= low <= high <= MOST_C:
        raise ValueError(
            f"C from {low:g} to {high:g} is beyond what double precision can prove; keep it between {LEAST_C:g} and "
            f"{MOST_C:g}"
        )


class Objective:
    """The objective of one two-class problem over rows that several problems share.

    Attributes
    ----------
    problem : BinaryProblem
        The problem with C = 1: class weights are its prices.
    sides : array of int
        Where each row stands; 0 for those left out.
    """

    def __init__(
        self,
        matrix: _core.Matrix,
        rows: _core.PackedRows,
        problem: BinaryProblem,
        y: Any,
        sample_weight: Weights | None = None,
    ) -> None:
        if rows.summed:
            raise ValueError("a row stores a column twice; proofs for every C need each of them once")
        self.matrix = matrix
        self.rows = rows
        self.problem = problem
        self.sample_weight = sample_weight
        self.sides = problem.sides(y, sample_weight)
        self.core: _core.Problem = problem.to_core(self.sides, sample_weight)
        self.members = np.flatnonzero(self.sides).astype(np.uint32)

    @cached_property
    def leverages(self) -> Vector:
        """``c_k ‖y_k‖`` per row, 0 for those left out."""
        return _core.leverages(self.rows, self.core)

    @cached_property
    def penalties(self) -> Vector:
        """``c_k`` per row; NaN for those left out."""
        prices = np.array([self.problem.C_negative, np.nan, self.problem.C_positive])[self.sides + 1]
        return 2 * (prices if self.sample_weight is None else prices * self.sample_weight)

    @cached_property
    def columns(self) -> NDArray[np.int64] | None:
        """The columns of the matrix that are packed; None if all are, as they stand."""
        return None if self.rows.columns is None else self.rows.columns.astype(np.int64)

    def at_price(self, C: float) -> BinaryProblem:
        """State the problem for a C."""
        one = self.problem
        return replace(one, C_positive=C * one.C_positive, C_negative=C * one.C_negative)

    def unpacked(self, w: Vector) -> tuple[Vector, Vector | float]:
        """Return weights of all columns, and intercepts, for weights of the packed ones; any number at once."""
        weights, intercept = w[..., :-1], w[..., -1] * self.problem.rho
        if self.columns is None:
            return weights, intercept
        unpacked = np.zeros((*weights.shape[:-1], self.matrix.n_columns))
        unpacked[..., self.columns] = weights
        return unpacked, intercept

    def point(self, w: Vector) -> Point:
        """Measure what the rows do at some weights."""
        return Point(w, *_core.pull(self.rows, self.core, w))

    def lowest(
        self, C: float, start: Vector, accuracy: float = EXACT, ended: Callable[[], bool] | None = None
    ) -> Vector:
        """Return the weights of the lowest point, by Newton's method from others that are near it."""
        newton = _core.Newton(self.rows, self.core, self.members, start, C)
        margin, upper_bound = newton.margin, newton.upper_bound
        for _ in range(MOST_STEPS):
            if ended is not None and ended():
                raise OutOfTime
            newton.step()
            # Every step raises the margin, until rounding is all that is left.
            better = newton.margin > margin or newton.upper_bound < upper_bound
            margin, upper_bound = max(margin, newton.margin), min(upper_bound, newton.upper_bound)
            # By the upper bound that these very weights prove, not by the best one on the way.
            if not better or newton.margin >= (1 - accuracy) * newton.upper_bound:
                break
        return newton.w()

    def first(self, C: float, accuracy: float = EXACT, ended: Callable[[], bool] | None = None) -> Vector:
        """Return the weights of the lowest point from nothing; where slacks are expensive, from cheap ones upwards."""
        w, stiffness = np.zeros(self.rows.n_columns + 1), self.core.stiffness(self.rows)
        price = SOFT / stiffness if stiffness > 0 else C
        while price < C:
            w = self.lowest(price, w, CLOSE_ENOUGH, ended)
            price *= CLIMB
        return self.lowest(C, w, accuracy, ended)


def combined(C: float, a: Point, b: Point) -> Vector:
    """Return the combination of two points whose gradient at C is shortest, as far as no row crosses the margin.

    Shortfalls of a combination are the same combination of shortfalls. As long as each keeps its sign, so is the
    gradient, and the shortest combination of two vectors has a closed form.
    """
    of_a, of_b = a.w - C * a.pull, b.w - C * b.pull
    apart = of_b - of_a
    square = float((apart * apart).sum())  # not by BLAS, whose sums differ from machine to machine
    share = -float((of_a * apart).sum()) / square if square > 0 else 0.0
    return a.w + min(1.0, max(0.0, share)) * (b.w - a.w)
