"""LinearSVC's objective over all shards, at a point that moves; see ``solve/newton.hpp`` for the formulas."""

import math

import numpy as np

from .path import Path, Step, Vector
from .problem import ShardedProblem
from .shard import Shard
from .sums import PointSums

MOST_TRIALS = 30  # along one direction
FLATTER = 0.5  # a point is good enough when the slope along the direction has fallen to this part
FARTHEST = 4.0  # times the step before, where the slope does not change its sign


class Point:
    """The objective at the end of a path, from the sums of all shards.

    Attributes
    ----------
    path : Path
        How it was reached.
    w : array of float64
        The weights, the augmented coordinate last.
    sums : PointSums
        What the rows add up to there.
    rounds : int
        How often all shards were asked so far.
    """

    def __init__(self, problem: ShardedProblem, start: Vector, price: float = 1.0, *, hessian: bool = False) -> None:
        self.problem = problem
        self.rounds = 0
        self.begin(start, price, hessian=hessian)

    def begin(self, start: Vector, price: float, *, hessian: bool = False) -> None:
        """Begin a new path."""
        self._evaluate(Path(start, price), hessian)

    @classmethod
    def at(cls, problem: ShardedProblem, path: Path, rounds: int, *, hessian: bool) -> "Point":
        """Return the point at the end of a path that was followed before."""
        point = cls.__new__(cls)
        point.problem, point.rounds = problem, rounds - 1
        point._evaluate(path, hessian)
        return point

    def _evaluate(self, path: Path, hessian: bool) -> None:
        # Where there is no Hessian to keep up to date, scores of the weights cost no more than those of a direction.
        if path.steps and not (self.problem.shards.keeps and hessian):
            path = Path(path.end, path.price)
        path = path.with_hessian() if hessian else path
        sums: PointSums = self.problem.shards.sum(Shard.point, self.problem.problem, path, hessian)
        self.path, self.sums, self.w = path, sums, path.end
        self.rounds += 1

    def ask_for_hessian(self) -> None:
        """Ask for the Hessian at this point, which was not needed before."""
        self._evaluate(self.path, hessian=True)

    @property
    def gradient(self) -> Vector:
        """Of the objective."""
        return self.w - self.sums.pull

    @property
    def margin(self) -> float:
        """At this price of slacks."""
        return _inverse_root(dot(self.w, self.w) + self.sums.loss)

    @property
    def upper_bound(self) -> float:
        """At this price of slacks."""
        return self._bound(1.0)

    @property
    def true_margin(self) -> float:
        """At the full price of slacks."""
        return _inverse_root(dot(self.w, self.w) + self.sums.loss / self.path.price)

    @property
    def true_upper_bound(self) -> float:
        """At the full price of slacks."""
        return self._bound(self.path.price)

    def _bound(self, price: float) -> float:
        pull, total = self.sums.pull, self.sums.total
        return math.sqrt(dot(pull, pull) + price * self.sums.loss) / total if total > 0 else math.inf

    def move_along(self, direction: Vector, *, hessian: bool) -> float:
        """Go along a direction of descent until it is flat there; return how far.

        The first trial is the full step, whose sums are those of the next round: mostly there is no other. Slopes at
        two points tell where the lowest one is, as the objective is convex and piecewise quadratic.
        """
        before = slope = dot(self.gradient, direction)
        if not before < 0:
            return 0.0
        low, length, step = 0.0, 0.0, Step(direction, 1.0)
        high = math.inf
        for _ in range(MOST_TRIALS):
            self._evaluate(self._path_with(step, direction), hessian)
            length += step.length
            behind, slope = slope, dot(self.gradient, direction)
            if not abs(slope) > FLATTER * -before:  # also where it is not a number
                break
            low, high = (length, high) if slope < 0 else (low, length)
            # Where the line through the last two slopes is zero; within the bracket, and not too far.
            change = -slope * step.length / (slope - behind) if slope != behind else math.inf
            farthest = length + FARTHEST * abs(step.length)
            target = length + change
            if not low < target < min(high, farthest):
                target = 0.5 * (low + high) if high < math.inf else farthest
            step = Step(None, target - length)
        return length

    def _path_with(self, step: Step, direction: Vector) -> Path:
        """Return the path with one step more; a new path knows no direction yet."""
        if step.direction is None and not self.path.steps:
            step = Step(direction, step.length)
        return self.path.then(step)


def dot(u: Vector, v: Vector) -> float:
    """Return u.v, the same on every machine, unlike a sum by BLAS."""
    return float((u * v).sum())


def _inverse_root(F: float) -> float:
    return 1 / math.sqrt(F) if F > 0 else math.inf if F == 0 else math.nan


def zeros(problem: ShardedProblem) -> Vector:
    """Return no weights at all."""
    return np.zeros(problem.n_features + 1)
