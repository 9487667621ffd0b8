"""A decomposition SVM after SVM-light, linear kernel and unregularised bias; see ``decomposition.hpp``."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..dual_weights import as_counts, balance
from ..outcome import Outcome
from ..task import Task
from ..training import Plan, train


def train_decomposition(task: Task, plan: Plan) -> Outcome:
    """Run the decomposition SVM; with ``stop="convergence"`` to SVM-light's rule with tolerance epsilon."""
    trainer = DecompositionTrainer(task, plan)
    outcome = train(task, trainer, plan, rules=iter(())).by_own_rule()
    total = outcome.certificate.counts.sum()
    return replace(outcome, dual_scale=float(trainer.core.dual_weights().sum()) / total if total else 0.0)


class DecompositionTrainer:
    """A run of the decomposition SVM, with the interface of the core's trainer."""

    upper_bound = math.inf  # not known between looks

    def __init__(self, task: Task, plan: Plan) -> None:
        tolerance = plan.epsilon if plan.stop == "convergence" else 0.0
        self.sides = task.sides
        self.core = _core.Decomposition(task.rows, task.core_problem, tolerance, task.key(plan.seed))

    @property
    def updates(self) -> int:
        """Working sets solved."""
        return self.core.updates

    @property
    def full_passes(self) -> int:
        """How often a row has been in a working set, on the average."""
        return self.core.full_passes

    @property
    def visits(self) -> int:
        """Rows whose score was brought up to date."""
        return self.core.visits

    def advance(self, seconds: float, max_updates: int) -> _core.Event:
        """Train for about that many seconds, or until something happens."""
        return self.core.advance(seconds, max_updates)

    def wait_for(self, upper_bound: float) -> None:
        """Do nothing: only a look tells the upper bound."""

    def check(self) -> _core.Bounds:
        """Bounds of the moment; margins are geometric."""
        return self.core.check()

    def support(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Round the dual weights to integers, with the same sum on both sides."""
        alpha = self.core.dual_weights()
        rows, counts = as_counts(np.arange(len(alpha)), alpha)
        counts = balance(counts, self.sides[rows])
        return rows[counts > 0], counts[counts > 0]

    def model(self) -> tuple[NDArray[np.float64], float]:
        """Hand out the best weights, their bias last, and their scale."""
        return self.core.model()
