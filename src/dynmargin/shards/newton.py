"""Newton's method over shards: a few rounds, whatever the number of shards and however rows are spread over them."""

import math

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..algorithms.newton import CLOSE_ENOUGH, LARGEST_STIFFNESS, MOST_SOFT_STEPS, SOFT, STIFF
from ..problem.wording import any_of, wording
from ..training.request import LARGEST_COUNT
from .gradients import approximate_direction
from .path import DAMAGED, Path, Vector
from .point import Point, zeros
from .problem import ShardedProblem
from .start import start_on_sample, start_on_shards
from .sums import square_of


class ShardedNewton:
    """A run of Newton's method over shards, with the interface of the core's trainers.

    A round asks every shard for its sums once: gradient, loss and, where it is to go on from there, the Hessian. Where
    that is too large, conjugate gradients take a round per product with it.

    Attributes
    ----------
    exact : bool
        Whether the Hessian is formed.
    full_passes : int
        Rounds so far.
    updates : int
        Steps so far.
    """

    def __init__(self, problem: ShardedProblem, seed: int) -> None:
        if not problem.stiffness <= LARGEST_STIFFNESS:
            words = wording()
            advice = any_of([words.scaling, f"use a smaller {words.name('C')}"])
            raise ValueError(
                f"2 C weight times the squared length of a row is {problem.stiffness:.1g} on average, more than the "
                f"{LARGEST_STIFFNESS:g} that Newton's method can compute with; {advice}"
            )
        self.problem = problem
        self.seed = seed
        self.exact = problem.n_features <= _core.MOST_HESSIAN_COLUMNS
        self.price = SOFT / problem.stiffness if problem.stiffness > STIFF else 1.0
        self.point: Point | None = None
        self.steps_left = MOST_SOFT_STEPS
        self.full_passes = self.updates = 0
        self.best_margin, self.best_upper_bound = -math.inf, math.inf

    def advance(self, seconds: float, max_updates: int) -> _core.Event:
        """Make one step, however long it takes; a check costs nothing after it."""
        if self.updates >= max_updates:
            return _core.Event.max_updates
        if self.point is None:
            self._begin()
            return _core.Event.check_due if self.price == 1 else _core.Event.slice_over
        if self.price < 1:
            return self._approach()
        moved = self.step()
        better = self.point.margin > self.best_margin or self.point.upper_bound < self.best_upper_bound
        return _core.Event.check_due if moved and better else _core.Event.converged

    def _begin(self) -> None:
        if self.exact:
            start = start_on_sample(self.problem, self.price, self.seed)
            self.point = Point(self.problem, start, self.price, hessian=not start.any())
        else:
            start = start_on_shards(self.problem, self.seed) if self.price == 1 else zeros(self.problem)
            self.point = Point(self.problem, start, self.price)
            if start.any() and not self.point.margin > self.problem.margin_of_nothing:
                self.point.begin(zeros(self.problem), self.price)  # as when every shard has rows of one class only
        self.updates, self.full_passes = 1, self.point.rounds

    def _approach(self) -> _core.Event:
        """Make one step where slacks cost less; there is nothing to check yet."""
        point = self._point()
        if self.steps_left > 0 and point.margin < (1 - CLOSE_ENOUGH) * point.upper_bound and self.step():
            self.steps_left -= 1
            return _core.Event.slice_over
        self.price, self.steps_left = min(1.0, 10 * self.price), MOST_SOFT_STEPS
        point.begin(point.w, self.price)
        return _core.Event.check_due if self.price == 1 else _core.Event.slice_over

    def step(self) -> bool:
        """Go to a low point along Newton's direction; return whether there was one."""
        point = self._point()
        if self.exact and point.sums.hessian is None:  # of the first point, which may have been good enough without
            point.ask_for_hessian()
        direction = self._direction(point) if self.exact else approximate_direction(self.problem, point)
        moved = point.move_along(direction, hessian=self.exact) > 0
        self.updates += 1
        self.full_passes = point.rounds
        return moved

    @staticmethod
    def _direction(point: Point) -> Vector:
        assert point.sums.hessian is not None
        hessian = square_of(point.sums.hessian, len(point.w))
        hessian[np.diag_indices(len(point.w))] += 1
        gradient = point.gradient
        solution = _core.solve_positive_definite(hessian, -gradient)
        return -gradient if solution is None or not np.isfinite(solution).all() else solution

    def _point(self) -> Point:
        if self.point is None:
            raise RuntimeError("the run has not begun")
        return self.point

    def check(self) -> _core.Bounds:
        """Return the bounds of the moment."""
        point = self._point()
        if self.price == 1:
            self.best_margin = max(self.best_margin, point.margin)
            self.best_upper_bound = min(self.best_upper_bound, point.upper_bound)
        return _core.Bounds(point.true_margin, point.true_upper_bound, point.true_margin)

    def checked(self, gap: float, enough: float | None) -> None:
        """Do nothing: the next check is due after the next step in any case."""

    def renew(self) -> None:
        """Do nothing: there are no counts to renew."""

    def snapshot(self) -> NDArray[np.uint8]:
        """Return the state as bytes: the path is all there is, shards follow it again."""
        numbers = [self.price, self.steps_left, self.full_passes, self.updates, self.best_margin, self.best_upper_bound]
        if self.point is not None:
            numbers += [self.point.rounds, self.point.sums.hessian is not None, *self.point.path.numbers()]
        return np.array(numbers, dtype=np.float64).view(np.uint8)

    def restore(self, snapshot: NDArray[np.uint8]) -> None:
        """Continue from a snapshot."""
        if len(snapshot) % 8 or len(snapshot) < 6 * 8:
            raise ValueError(DAMAGED)
        numbers = np.ascontiguousarray(snapshot).view(np.float64)
        counts = numbers[1:4]
        if not (0 < numbers[0] <= 1 and ((counts >= 0) & (counts <= LARGEST_COUNT)).all()):
            raise ValueError(DAMAGED)
        self.price, self.point = float(numbers[0]), None
        self.steps_left, self.full_passes, self.updates = (int(count) for count in counts)
        self.best_margin, self.best_upper_bound = (float(number) for number in numbers[4:6])
        if len(numbers) > 6:
            path = Path.from_numbers(numbers[8:], self.problem.n_features + 1)
            self.point = Point.at(self.problem, path, int(numbers[6]), hessian=numbers[7] == 1)

    def model(self) -> tuple[Vector, float]:
        """Return the weights, their augmented coordinate last, and their scale."""
        return self._point().w, 1.0

    def support(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Refuse: dual weights stay with their rows, and become counts there."""
        raise NotImplementedError("the counts of shards come from an audit")
