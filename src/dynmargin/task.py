"""A two-class problem over packed data, ready to be trained on and certified."""

import math
from typing import Any

import numpy as np

from . import _core
from .certificate import Certificate, SparseCounts, certify
from .problem import BinaryProblem
from .schedule import Schedule

SMALLEST_LENGTH, LARGEST_LENGTH = 1e-100, 1e100  # squares of lengths outside this range may underflow or overflow


class Task:
    """One label against the rest, over rows that several tasks may share."""

    def __init__(
        self,
        matrix: _core.Matrix,
        rows: _core.PackedRows,
        problem: BinaryProblem,
        y: Any,
        sample_weight: Any = None,
        index: int = 0,
    ) -> None:
        self.matrix = matrix
        self.rows = rows
        self.problem = problem
        self.index = index
        self.sides = problem.sides(y, sample_weight)
        if not (self.sides > 0).any() or not (self.sides < 0).any():
            raise ValueError("without the rows of zero weight 1 class is left; a classifier needs two or more")
        self.over = problem.over(y, sample_weight)
        self.digests = self.over.digest(rows)

    def trainer(self, rule: _core.DynamicMargin | _core.FixedMargin, schedule: Schedule, seed: int) -> _core.Trainer:
        """Start a run of a rule; the order of presentation depends on the seed and the index of the task."""
        trainer = _core.Trainer(self.rows, self.over, rule, schedule.to_core(), (seed << 20) + self.index)
        if not SMALLEST_LENGTH <= trainer.largest_norm <= LARGEST_LENGTH:
            raise ValueError(
                f"the longest pattern has length {trainer.largest_norm:g}, intercept_scaling and the extension for C "
                f"included; it must be between {SMALLEST_LENGTH:g} and {LARGEST_LENGTH:g}: scale the features"
            )
        return trainer

    def certify(self, trainer: _core.Trainer, epsilon: float) -> Certificate:
        """Prove what the best weights and the present counts of a run are worth."""
        directional_margin = trainer.check().directional_margin
        indices, data = trainer.support()
        counts = SparseCounts(indices, data, (self.matrix.n_rows,))
        w, bias, scale = trainer.model()

        def scaled(factor: float) -> Certificate:
            return certify(
                self.matrix,
                self.problem,
                self.over,
                self.digests,
                w * factor,
                bias * factor * self.problem.rho,
                counts,
                epsilon=epsilon,
                directional_margin=directional_margin,
            )

        if scale > 0:
            return scaled(scale)
        # No positive scale is better than no weights at all. If no weights are proven to be good enough, so be it;
        # else nothing is separated yet, and the direction is all there is to hand out.
        length = math.hypot(bias, float(np.linalg.norm(w)))
        nothing = scaled(0.0)
        return nothing if nothing.achieved or length == 0 else scaled(1 / length)
