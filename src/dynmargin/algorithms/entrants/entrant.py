"""What every algorithm of a race has: its run once it has begun, and what its last check has found."""

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...problem.packed import PackedProblem
from ...training.request import Request
from ..newton import Vector

# A visit of coordinate descent or PDM, in random order and with an update now and then, costs as much as this many
# (perceptron/polish.hpp has the same numbers):
VISIT, VISIT_ENTRY = 60.0, 2.0  # to find a row, and per non-zero
TALL, VERY_TALL = 5, 15  # rows per feature: with more than the first of these, classes overlap
DENSE = 0.1  # of all entries are not zero
STIFFEST = 1e6  # for these forecasts; no algorithm is to wait longer for its turn
MOST_VISITS = 2.0**62
NOTHING = (-math.inf, math.inf)  # is proven before the first check
TINY = 1e-9
SMALLEST_SHARE = 0.1  # of the work so far, for what is left to be done


def require_intact(holds: bool) -> None:
    """Refuse a snapshot that cannot have been taken from such a run."""
    if not holds:
        raise ValueError("the snapshot of the run is damaged, or of another run")


class Entrant(ABC):
    """One of the algorithms: its run once it has begun, and what its last check has found."""

    name: str
    trainer: Any = None
    margin, upper_bound = NOTHING
    known_margin = -math.inf  # of others, if it may count on that
    over = False  # nothing is left to do for it
    allowed = 0.0  # work, after which another one may take over
    remembered: ClassVar[tuple[str, ...]] = ()  # numbers of its own that a snapshot has to hold, none of them negative

    def __init__(self, problem: PackedProblem, request: Request) -> None:
        self.problem, self.request = problem, request
        self.nonzeros = problem.nonzeros
        self.pass_work = VISIT_ENTRY * self.nonzeros + VISIT * problem.n_rows
        self.tall = problem.n_rows > TALL * problem.rows.n_columns
        self.very_tall = problem.n_rows > VERY_TALL * problem.rows.n_columns
        self.dense = self.nonzeros > DENSE * problem.n_rows * problem.rows.n_columns
        self.root = math.sqrt(min(problem.stiffness, STIFFEST))

    @abstractmethod
    def start(self, w: Vector | None) -> None:
        """Begin, at these weights if that is of use."""

    @abstractmethod
    def expected(self, spent: float) -> float:
        """Return the work that it will take to close the gap, when all have spent so much already."""

    @property
    @abstractmethod
    def least(self) -> float:
        """The least work that is worth a turn."""

    @property
    def gap(self) -> float:
        """What its own bounds leave open, or its upper bound and the weights that it may count on."""
        margin = max(self.margin, self.known_margin)
        return 1 - margin / self.upper_bound if 0 < self.upper_bound < math.inf else math.inf

    @property
    def work(self) -> float:
        """How much work it has done."""
        visits: int = self.trainer.visits if self.trainer is not None else 0
        return visits / self.problem.n_rows * self.pass_work

    @property
    def updates(self) -> int:
        """How many updates it has made."""
        updates: int = self.trainer.updates
        return updates

    @property
    def full_passes(self) -> int:
        """How many passes it has made."""
        passes: int = self.trainer.full_passes
        return passes

    @property
    def work_if_even(self) -> float:
        """The work to close the gap if it keeps falling as it has from 1, by the same factor for the same work."""
        epsilon = self.request.epsilon
        fallen = -_core.log(min(max(self.gap, epsilon), 1 - 1e-3))
        return self.work * _core.log(max(min(self.gap, 1.0) / epsilon, 1.0)) / fallen

    def allow(self, work: float) -> None:
        """Let it run until it has done that much more work."""
        self.allowed = self.work + work

    def pause(self) -> None:
        """Let the run return when it has done all the work that it is allowed."""
        visits = self.allowed / self.pass_work * self.problem.n_rows
        self.trainer.pause_at(math.ceil(min(visits, MOST_VISITS)))

    def has_spent(self, event: _core.Event) -> bool:
        """Whether it has done all the work that it is allowed."""
        return event is _core.Event.budget_spent

    def refine(self) -> bool:
        """Continue by a finer rule now that this one is satisfied; return whether there is one."""
        return False

    def numbers(self) -> list[float]:
        """Return what a snapshot has to hold beside the state of the run."""
        begun, own = float(self.trainer is not None), [getattr(self, name) for name in self.remembered]
        return [begun, self.margin, self.upper_bound, self.allowed, float(self.over), *own]

    def restore(self, numbers: list[float], snapshot: NDArray[np.uint8]) -> None:
        """Continue from a snapshot."""
        begun, margin, upper_bound, allowed, over, *own = numbers
        require_intact(begun in (0, 1) and over in (0, 1) and 0 <= allowed < math.inf)
        require_intact(all(0 <= number < math.inf for number in own))
        require_intact(margin < math.inf and upper_bound > 0 and (begun == 1 or (margin, upper_bound) == NOTHING))
        self.trainer = None
        if begun:
            self.start(np.zeros(self.problem.rows.n_columns + 1))
            self.trainer.restore(snapshot)
        self.margin, self.upper_bound, self.allowed = margin, upper_bound, allowed
        self.over = bool(over)
        for name, number in zip(self.remembered, own, strict=True):
            setattr(self, name, number)
