"""Newton's method on LinearSVC's objective, with the same certificate; not in the paper, see ``newton.hpp``."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.packed import PackedProblem
from ..problem.wording import wording
from ..training.request import LARGEST_COUNT, Request
from ..training.result import Result
from ..training.run import Refinement, train

Vector = NDArray[np.float64]

SUBSET_FRACTION = 16  # with many more rows than columns, begin on a 16th of the rows
SUBSET_STEPS = 5

# Where slacks are expensive and few are needed, Newton's steps from far away are tiny: they soon meet a row that
# changes sides. So begin with cheaper slacks; near the solution of that problem let them cost ten times as much, and so
# on. (Digits, 6 or not, C=1e4: 24 steps instead of 1,496.)
STIFF = 3000.0  # mean squared length over Delta²: above this
SOFT = 100.0  # begin with this
CLOSE_ENOUGH = 0.1  # a gap to go on from
MOST_SOFT_STEPS = 60  # at each price
LARGEST_STIFFNESS = 1e250  # beyond, products of prices and squared lengths leave the doubles

# Every step raises the margin, but the upper bound goes up and down. So a run that takes long keeps the dual weights
# that have proven most. (4,795 rows of 352 columns: 220 ms instead of 310. Most runs take fewer steps than this, and
# have no need of a copy.)
KEEP_AFTER = 8

NUMBERS = 8  # of a snapshot, before the dual weights that are kept
DAMAGED = "the snapshot of the run is damaged, or of another run"


def n_prices(problem: PackedProblem) -> int:
    """Return at how many prices of slacks, each ten times the last, a run is to look for the solution."""
    return 1 + math.ceil(_core.log(problem.stiffness / SOFT) / _core.log(10)) if problem.stiffness > STIFF else 1


def begins_on_subset(problem: PackedProblem) -> bool:
    """Whether the solution on a subset of the rows costs little and is a good point to begin at."""
    return problem.n_rows // SUBSET_FRACTION >= 10 * (problem.rows.n_columns + 1)


def train_newton(problem: PackedProblem, request: Request) -> Result:
    """Run Newton's method; for soft margins only."""
    if problem.hard_margin:
        words = wording()
        raise ValueError(f"Newton's method needs a finite {words.name('C')}; {words.pdm} takes the hard margin")
    if not problem.stiffness <= LARGEST_STIFFNESS:
        raise ValueError(
            f"2 C weight times the squared length of a row is {problem.stiffness:.1g} on average, more than the "
            f"{LARGEST_STIFFNESS:g} that Newton's method can compute with; {wording().scaling}, or use a "
            f"smaller {wording().name('C')}"
        )
    result = train(problem, NewtonTrainer(problem, request.seed), request, Refinement.none())
    return replace(result, newton=True)


class NewtonTrainer:
    """A run of Newton's method, with the interface of the core's trainers: one step per full pass."""

    def __init__(self, problem: PackedProblem, seed: int, start: Vector | None = None) -> None:
        self.problem = problem
        self.members = (
            np.arange(problem.n_rows, dtype=np.uint32)
            if problem.n_rows == len(problem.sides)
            else np.flatnonzero(problem.sides).astype(np.uint32)
        )
        # Of a slack, as a fraction of what it really costs.
        self.price = SOFT / problem.stiffness if problem.stiffness > STIFF else 1.0
        self._begin_at(self._start(seed) if start is None else start)
        self.full_passes = self.updates = 0
        self.best_margin, self.best_upper_bound = -np.inf, np.inf
        self.kept_bound, self.kept = np.inf, np.zeros(0)  # dual weights, and what they prove

    def _begin_at(self, w: Vector) -> None:
        self.point = _core.Newton(self.problem.rows, self.problem.binary, self.members, w, self.price)
        self.steps_left = MOST_SOFT_STEPS

    @property
    def work(self) -> float:
        """The multiplications made so far, those on the subset not counted."""
        return self.point.work

    def _start(self, seed: int) -> Vector:
        """Begin at the solution on a subset of the rows when that costs little, else at zero."""
        problem = self.problem
        w = np.zeros(problem.rows.n_columns + 1)
        if not begins_on_subset(problem):
            return w
        size = len(self.members) // SUBSET_FRACTION
        # One at random of every 16 rows in sequence: to draw from all of them takes as long as a step on the subset.
        within = np.random.default_rng(seed).integers(SUBSET_FRACTION, size=size)
        subset = self.members[SUBSET_FRACTION * np.arange(size) + within]
        point = _core.Newton(problem.rows, problem.binary, subset, w, scale=len(self.members) / size)
        for _ in range(SUBSET_STEPS):
            point.step()
        return point.w()

    def advance(self, seconds: float, max_updates: int) -> _core.Event:
        """Make one step, however long it takes; a check costs nothing after it."""
        if self.updates >= max_updates:
            return _core.Event.max_updates
        if self.price < 1:
            return self._approach()
        if self.best_margin >= 0:  # the starting point deserves a check too
            self.point.step()
            self.updates += 1
        self.full_passes += 1
        # Every step raises the margin, until rounding is all that is left; the upper bound may still have far to fall.
        better = self.point.margin > self.best_margin or self.point.upper_bound < self.best_upper_bound
        self.best_margin = max(self.best_margin, self.point.margin)
        self.best_upper_bound = min(self.best_upper_bound, self.point.upper_bound)
        if self.updates > KEEP_AFTER and self.point.upper_bound < self.kept_bound:
            self.kept_bound, self.kept = self.point.upper_bound, self.point.dual_weights()
        return _core.Event.check_due if better else _core.Event.converged

    def _approach(self) -> _core.Event:
        """Make one step where slacks cost less; there is nothing to check yet."""
        if self.steps_left > 0 and self.point.margin < (1 - CLOSE_ENOUGH) * self.point.upper_bound:
            self.point.step()
            self.updates += 1
            self.full_passes += 1
            self.steps_left -= 1
        else:
            self.price, self.steps_left = min(1.0, 10 * self.price), MOST_SOFT_STEPS
            self.point.reprice(self.price)
        return _core.Event.slice_over

    def check(self) -> _core.Bounds:
        """Return the best bounds; the weights with their slacks are the state, so its margin is the margin."""
        margin = self.point.true_margin
        return _core.Bounds(margin, min(self.point.true_upper_bound, self.kept_bound), margin)

    def checked(self, gap: float, enough: float | None) -> None:
        """Do nothing: the next check is due after the next step in any case."""

    def renew(self) -> None:
        """Do nothing: there are no counts to renew."""

    def snapshot(self) -> NDArray[np.uint8]:
        """Return the state as bytes."""
        counts = (self.steps_left, self.full_passes, self.updates)
        bounds = (self.best_margin, self.best_upper_bound, self.kept_bound)
        numbers = np.concatenate([[self.price, *counts, *bounds, len(self.kept)], self.kept])
        return np.concatenate([numbers.view(np.uint8), self.point.snapshot()])

    def restore(self, snapshot: NDArray[np.uint8]) -> None:
        """Continue from a snapshot."""
        numbers = snapshot[: 8 * NUMBERS].view(np.float64)
        if len(numbers) != NUMBERS or numbers[-1] not in (0, len(self.members)):
            raise ValueError(DAMAGED)
        counts, n_kept = numbers[1:4], int(numbers[-1])
        end = 8 * (NUMBERS + n_kept)
        if len(snapshot) < end:
            raise ValueError(DAMAGED)
        kept = snapshot[8 * NUMBERS : end].view(np.float64).copy()
        counted = bool(((counts >= 0) & (counts <= LARGEST_COUNT)).all())
        sound = bool(((kept >= 0) & (kept < np.inf)).all()) and (n_kept == 0) == (numbers[6] == np.inf)
        if not (0 < numbers[0] <= 1 and counted and sound):
            raise ValueError(DAMAGED)
        self.price = float(numbers[0])
        self._begin_at(self.point.w())
        self.point.restore(np.ascontiguousarray(snapshot[end:]))
        self.steps_left, self.full_passes, self.updates = (int(count) for count in counts)
        self.best_margin, self.best_upper_bound, self.kept_bound = (float(number) for number in numbers[4:7])
        self.kept = kept

    def support(self) -> tuple[NDArray[np.int64], Vector]:
        """Return rows and the dual weights that prove most; where no slack is left, which proves nothing, ones."""
        found = self.kept if self.kept_bound < self.point.true_upper_bound else self.point.dual_weights()
        return self.members.astype(np.int64), found if found.any() else np.ones(len(found))

    def dual_weights(self) -> Vector:
        """Return the dual weights of the moment, one per row; 0 for those that are left out."""
        found = np.zeros(len(self.problem.sides))
        found[self.members] = self.point.dual_weights()
        return found

    def combination(self) -> Vector:
        """Return the sum of the patterns, times their dual weights, its augmented coordinate last."""
        return self.point.w() - self.point.gradient()

    def model(self) -> tuple[Vector, float]:
        """Return the weights, their augmented coordinate last, and their scale."""
        return self.point.w(), 1.0
