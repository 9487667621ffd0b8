"""Algorithms that also take back, with the interface of the core's trainer."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..dual_weights import as_counts
from ..outcome import Outcome
from ..task import OwnPace, Task
from ..training import Plan, train

FINER = 10.0  # how much finer MPU's rule becomes when it is content and the certificate is not


def train_dual(task: Task, plan: Plan, trainer: "DualTrainer") -> Outcome:
    """Run an algorithm that also takes back to the certificate, or until its own rule is content."""
    outcome = train(task, trainer, plan, rules=iter(())).by_own_rule()
    total = outcome.certificate.counts.sum()
    scale = float(trainer.core.dual_weights().sum()) / trainer.core.target / total if total else 0.0
    return replace(outcome, dual_scale=scale)


class DualTrainer(OwnPace):
    """A run of an algorithm that also takes back; the core itself says when a look is worth its cost."""

    def __init__(
        self,
        task: Task,
        step: _core.CoordinateDescent | _core.MarginUnlearning,
        schedule: _core.GainSchedule,
        plan: Plan,
        tolerance: float = 0.0,
    ) -> None:
        self.core = _core.DualTrainer(
            task.rows, task.core_problem, step, schedule, plan.epsilon, tolerance, task.key(plan.seed)
        )
        self.integers = isinstance(step, _core.MarginUnlearning) and task.problem.loss == "squared_hinge"
        self.stop = plan.stop
        self.content = False  # by the algorithm's own rule, before the certificate was
        self.bounds: _core.Bounds | None = None

    @property
    def updates(self) -> int:
        """Changes of a dual weight, as the algorithm counts them."""
        return self.core.updates

    @property
    def full_passes(self) -> int:
        """Passes over all rows completed."""
        return self.core.full_passes

    def advance(self, seconds: float, max_updates: int) -> _core.Event:
        """Train for about that many seconds, or until something happens."""
        if self.content and not self.core.refine(FINER):
            return _core.Event.converged
        self.bounds, self.content = None, False
        event = self.core.advance(seconds, max_updates)
        self.content = event is _core.Event.converged and self.stop == "certificate"
        return _core.Event.full_pass if self.content else event

    def check(self) -> _core.Bounds:
        """Give the bounds of the moment; a second look at the same state costs nothing."""
        self.bounds = self.bounds or self.core.check()
        return self.bounds

    def support(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give MPU's counts as they are; round other dual weights to integers."""
        alpha = self.core.dual_weights()
        if self.integers:
            rows = np.flatnonzero(alpha)
            return rows, alpha[rows].astype(np.int64)
        return as_counts(np.arange(len(alpha)), alpha)

    def model(self) -> tuple[NDArray[np.float64], float]:
        """Hand out the best weights, their augmented coordinate last, and their scale."""
        return self.core.model()
