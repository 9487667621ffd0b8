"""DCD, dual coordinate descent (Hsieh and others 2008; LIBLINEAR -s 1), with the certificate as its stop rule."""

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..dual_weights import as_counts
from ..outcome import Outcome
from ..task import Task
from ..training import Plan, train


def train_dcd(task: Task, plan: Plan) -> Outcome:
    """Run dual coordinate descent; with ``stop="convergence"`` to LIBLINEAR's rule with tolerance epsilon."""
    tolerance = plan.epsilon if plan.stop == "convergence" else 0.0
    trainer = DualTrainer(task, _core.CoordinateDescent(), plan, tolerance)
    return train(task, trainer, plan, accuracies=iter(())).by_own_rule()


class DualTrainer:
    """A run of the core's trainer for algorithms that also take back."""

    visits = 0  # the core itself says when a look is worth its cost

    def __init__(self, task: Task, step: _core.CoordinateDescent, plan: Plan, tolerance: float) -> None:
        seed = (plan.seed << 20) + task.index
        self.core = _core.DualTrainer(task.rows, task.core_problem, step, plan.epsilon, tolerance, seed)
        self.bounds: _core.Bounds | None = None

    @property
    def updates(self) -> int:
        """Changes of a dual weight."""
        return self.core.updates

    @property
    def full_passes(self) -> int:
        """Passes over all rows completed."""
        return self.core.full_passes

    def advance(self, seconds: float, max_updates: int) -> _core.Event:
        """Train for about that many seconds, or until something happens."""
        self.bounds = None
        return self.core.advance(seconds, max_updates)

    def check(self) -> _core.Bounds:
        """Give the bounds of the moment; a second look at the same state costs nothing."""
        self.bounds = self.bounds or self.core.check()
        return self.bounds

    def support(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Round the dual weights to integers."""
        alpha = self.core.dual_weights()
        return as_counts(np.arange(len(alpha)), alpha)

    def model(self) -> tuple[NDArray[np.float64], float]:
        """Hand out the best weights, their augmented coordinate last, and their scale."""
        return self.core.model()
