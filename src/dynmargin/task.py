"""A two-class problem over packed data, ready to be trained on and certified."""

import math
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from . import _core
from .certificate import Certificate, SparseCounts, certify
from .outcome import Bounds
from .problem import BinaryProblem
from .schedule import Schedule

SMALLEST_LENGTH, LARGEST_LENGTH = 1e-100, 1e100  # squares of lengths outside this range may underflow or overflow

Rule = _core.DynamicMargin | _core.FixedMargin | _core.ConstantThreshold | _core.MargitronUpdates | _core.MargitronNorm


class Trainer(Protocol):
    """What every algorithm offers to the loop that trains it; the core's trainer is one."""

    @property
    def updates(self) -> int:
        """Steps taken."""

    @property
    def full_passes(self) -> int:
        """Passes over all rows completed."""

    @property
    def visits(self) -> int:
        """Rows visited; 0 for a trainer at its `OwnPace`."""

    @property
    def upper_bound(self) -> float:
        """The upper bound of the moment, before any proof."""

    def advance(self, seconds: float, max_updates: int, /) -> _core.Event:
        """Train for about that many seconds, or until something happens."""

    def wait_for(self, upper_bound: float, /) -> None:
        """Let `advance` come back when the upper bound has fallen to this."""

    def check(self) -> Any:
        """Bounds of the moment; see `Bounds`."""

    def support(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows with a count, and their counts."""

    def model(self) -> tuple[NDArray[np.float64], float]:
        """Weights, their augmented coordinate last, and the scale that is best for them."""


class OwnPace:
    """What a trainer inherits when it comes back exactly at the moments that are worth a look at the bounds."""

    visits = 0
    upper_bound = math.inf

    def wait_for(self, upper_bound: float) -> None:
        """Do nothing: there is no other moment to wait for."""


class Task:
    """One label against the rest, over rows that several tasks may share."""

    certificate_type: ClassVar[type[Certificate]] = Certificate

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
        self.n_rows = int(np.count_nonzero(self.sides))  # that take part
        self.core_problem = problem.to_core(self.sides, sample_weight)
        self.digests = self.core_problem.digest(rows)
        self.R = _core.largest_norm(rows, self.core_problem)
        if not SMALLEST_LENGTH <= self.R <= LARGEST_LENGTH:
            raise ValueError(
                f"the longest pattern has length {self.R:g}, from its row, intercept_scaling and 1 / sqrt(2 C weight) "
                f"together; it must be between {SMALLEST_LENGTH:g} and {LARGEST_LENGTH:g}"
            )

    @cached_property
    def stiffness(self) -> float:
        """How much the rows share with each other: the mean of ‖ybar_k‖² / Delta_k²."""
        return _core.stiffness(self.rows, self.core_problem)

    def schedule(self, schedule: str | Schedule) -> Schedule:
        """Look up a schedule by its name, for this task."""
        if isinstance(schedule, Schedule):
            return schedule
        return Schedule.named(schedule, wide=self.wide, hard_margin=self.core_problem.hard_margin)

    @property
    def wide(self) -> bool:
        """Whether columns are more than rows."""
        return self.matrix.n_columns > self.n_rows

    def trainer(self, rule: Rule, schedule: Schedule, seed: int) -> _core.Trainer:
        """Start a run of a rule that adds patterns, one after the other."""
        return _core.Trainer(self.rows, self.core_problem, rule, schedule.to_core(), self.key(seed))

    def key(self, seed: int) -> int:
        """Give the key of the order of presentation, which depends on the seed and the index of the task."""
        return (seed << 20) + self.index

    def certify(self, trainer: Trainer, epsilon: float, bounds: Bounds | None = None) -> Certificate:
        """Prove what the best weights and counts of a run are worth; `bounds` are of a fresh check."""
        directional_margin = (bounds or trainer.check()).directional_margin
        indices, data = trainer.support()
        counts = SparseCounts(indices, data, self.problem.counts_shape(self.matrix.n_rows))
        w, scale = trainer.model()

        def scaled(factor: float) -> Certificate:
            return certify(
                self.matrix,
                self.problem,
                self.core_problem,
                self.digests,
                *self.problem.split(w * factor),
                counts,
                epsilon=epsilon,
                directional_margin=directional_margin,
                certificate_type=self.certificate_type,
            )

        if scale > 0:
            return scaled(scale)
        # No positive scale is better than no weights at all. If no weights are proven to be good enough, so be it;
        # else nothing is separated yet, and the direction is all there is to hand out.
        length = float(np.linalg.norm(w))
        nothing = scaled(0.0)
        return nothing if nothing.achieved or length == 0 else scaled(1 / length)
