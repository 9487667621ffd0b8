"""Newton's method on LinearSVC's objective, with the same certificate; not in the paper, see ``newton.hpp``."""

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..dual_weights import as_counts
from ..outcome import Bounds, Outcome
from ..task import OwnPace, Task
from ..training import Plan, train

Vector = NDArray[np.float64]

SUBSET_FRACTION = 16  # with many more rows than columns, begin on every 16th row
SUBSET_STEPS = 5


def train_newton(task: Task, plan: Plan) -> Outcome:
    """Run Newton's method; for soft margins only."""
    if task.core_problem.hard_margin:
        raise ValueError("Newton's method needs a finite C; PDMClassifier takes the hard margin")
    return train(task, NewtonTrainer(task, plan.seed), plan, rules=iter(()))


class NewtonTrainer(OwnPace):
    """A run of Newton's method, with the interface of the core's trainer: one step a full pass."""

    def __init__(self, task: Task, seed: int) -> None:
        self.members = np.flatnonzero(task.sides).astype(np.uint32)
        self.point = _core.Newton(task.rows, task.core_problem, self.members, self._start(task, seed))
        self.full_passes = self.updates = 0
        self.best_margin, self.best_upper_bound = -np.inf, np.inf

    def _start(self, task: Task, seed: int) -> Vector:
        """Begin at the solution on a subset of the rows when that costs little, else at zero."""
        w = np.zeros(task.matrix.n_columns + 1)
        size = len(self.members) // SUBSET_FRACTION
        if size < 10 * len(w):
            return w
        subset = np.sort(np.random.default_rng(seed).choice(self.members, size, replace=False))
        point = _core.Newton(task.rows, task.core_problem, subset, w, scale=len(self.members) / size)
        for _ in range(SUBSET_STEPS):
            point.step()
        return point.w()

    def advance(self, seconds: float, max_updates: int) -> _core.Event:
        """Make one step, however long it takes."""
        if self.updates >= max_updates:
            return _core.Event.max_updates
        if self.full_passes > 0:  # the starting point deserves a look too
            self.point.step()
            self.updates += 1
        self.full_passes += 1
        # Every step raises the margin, until rounding is all that is left; the upper bound may still have far to fall.
        better = self.point.margin > self.best_margin or self.point.upper_bound < self.best_upper_bound
        self.best_margin = max(self.best_margin, self.point.margin)
        self.best_upper_bound = min(self.best_upper_bound, self.point.upper_bound)
        return _core.Event.full_pass if better else _core.Event.converged

    def check(self) -> Bounds:
        """Give the bounds of the moment; the weights with their slacks are the state, so its margin is the margin."""
        return Bounds(self.point.margin, self.point.upper_bound, self.point.margin)

    def support(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Round the dual weights to integers."""
        return as_counts(self.members, self.point.dual_weights())

    def model(self) -> tuple[Vector, float]:
        """Hand out the weights, their augmented coordinate last, and their scale."""
        return self.point.w(), 1.0
