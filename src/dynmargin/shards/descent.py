"""Dual coordinate descent over shards on a disk, for many features; see ``dual/dual_trainer.hpp`` for the visits.

    a pass over the disk   every shard in turn: two visits per row, in random order, to the same w; of each shard, the
                           rows whose weights these visits changed most are copied into a pool in memory
    the pool               sixteen visits per row, where they gain most; then the next pass

A row's dual weight and w are all that has to be kept of a visit, so w is that of all rows at any time. Without the pool
a shard only adapts w to its own rows, and the next one undoes that: the pool has to be of all shards, and large.
(rcv1-like, 600,000 x 47,236, passes to a gap of 1 %, with twelve visits: 33 with 3 % of the rows in the pool, 15 with
10 %, 9 with 17 %, 7 with 25 %. With 17 % and 24 visits 8, with 40 visits 7, with rows chosen at random 9. With a pool
for every half of the file above 14, with one for every quarter the gap is 2.9 % then. 60,000 rows without a pool: 2.8 %
after 40 passes.)
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..certificate.bounds import Proof
from ..certificate.counts import LARGEST_WEIGHT, SMALLEST_WEIGHT, TOTAL_COUNT
from ..problem.problems import Weights
from .forecast import Forecast
from .on_disk import OnDisk, sum_in_turn
from .path import DAMAGED, Vector
from .pool import Pool, PoolSize
from .problem import ShardedProblem
from .sums import Evidence

VISITS, POOL_VISITS = 2, 16  # per row
NEVER = 1e18  # seconds
NUMBERS = 7  # of a snapshot, before w and the dual weights

Integers = NDArray[np.int64]


class DiskDescent:
    """A run of dual coordinate descent over shards on a disk, with the interface of the core's trainers.

    Attributes
    ----------
    w : array of float64
        The weights of all columns, the augmented coordinate last.
    alpha, sides : array of float64, array of int8
        The dual weights of all rows, and their sides.
    """

    def __init__(self, problem: ShardedProblem, shards: OnDisk, seed: int, epsilon: float, pool: PoolSize) -> None:
        self.problem, self.shards, self.seed, self.epsilon, self.pool = problem, shards, seed, epsilon, pool
        self.offsets = np.append(0, np.cumsum(problem.lengths)).tolist()
        self.sides = np.zeros(self.offsets[-1], np.int8)  # of all rows, known after a check
        self.alpha, self.w = np.zeros(self.offsets[-1]), np.zeros(problem.n_features + 1)
        self.full_passes = self.updates = 0
        self.forecast = Forecast()
        self.proof: Proof | None = None  # of this state

    def advance(self, seconds: float, max_updates: int) -> _core.Event:
        """Make a pass over the disk, and visits to the pool, however long they take."""
        if self.updates >= max_updates:
            return _core.Event.max_updates
        self.proof = None
        pool, changed, extension = self._visit_all()
        extension += self._visit_pool(pool)
        total = float(self.alpha.sum())
        self.forecast.passed(math.sqrt(float(self.w @ self.w) + extension) / total if total > 0 else math.inf)
        self.full_passes += 1
        self.updates += changed
        if not np.isfinite(self.w).all():
            return _core.Event.exhausted
        if changed == 0:
            return _core.Event.converged
        due = self.forecast.due(self.full_passes, self.epsilon)
        return _core.Event.check_due if due else _core.Event.slice_over

    def _visit_all(self) -> tuple[Pool, int, float]:
        """Visit the rows of every shard.

        Return those that are worth more visits, how many rows have changed, and the extension of all.
        """
        pool, changed, extension = Pool(self.pool, self.problem.n_features), 0, 0.0
        for i, shard in self.shards.visit():
            own, mine = shard.of(self.problem.problem), slice(self.offsets[i], self.offsets[i + 1])
            before = self.alpha[mine].copy()
            self._descend(shard.rows, own.core, shard.columns, mine, VISITS, i)
            gain = np.abs(self.alpha[mine] - before)
            changed += int(np.count_nonzero(gain))
            extension += self._extension(mine, own.sides, shard.sample_weight)
            pool.take(own, gain, self.offsets[i])
        return pool, changed, extension

    def _visit_pool(self, pool: Pool) -> float:
        """Visit the rows of the pool, where that gains most; return what that adds to the extension."""
        rows, places, sides, weights = pool.release()
        columns = None if rows.columns is None else rows.columns.astype(np.int64)
        core = self.problem.problem.to_core(sides, weights)
        before = self._extension(places, sides, weights)
        self._descend(rows, core, columns, places, POOL_VISITS, len(self.offsets))
        return self._extension(places, sides, weights) - before

    def _extension(self, places: Any, sides: NDArray[Any], weights: Weights | None) -> float:
        """Return the part of the squared length of a that slacks have: the sum of alpha² Delta²."""
        stated, alpha = self.problem.problem, self.alpha[places]
        squares = alpha * alpha
        if weights is not None:
            squares = np.divide(squares, weights, out=np.zeros_like(squares), where=weights > 0)
        positive = sides > 0
        on_positive = float(squares @ positive)
        return on_positive / (2 * stated.C_positive) + (float(squares.sum()) - on_positive) / (2 * stated.C_negative)

    def _descend(
        self,
        rows: _core.PackedRows,
        core: _core.Problem,
        columns: Integers | None,
        places: Any,
        visits: int,
        index: int,
    ) -> None:
        """Visit rows that often, and write their dual weights and w back."""
        if core.n_members == 0:
            return
        key = ((self.seed << 20) + self.problem.index << 20) + (self.full_passes * (len(self.offsets) + 1) + index)
        step, schedule = _core.CoordinateDescent(), _core.GainSchedule()
        trainer = _core.DualTrainer(rows, core, step, schedule, self.epsilon, 0.0, False, key % 2**64)
        w = self.w if columns is None else np.append(self.w[columns], self.w[-1])
        trainer.begin(self.alpha[places], w)
        most = visits * core.n_members
        trainer.pause_at(most)
        while trainer.visits < most and trainer.advance(NEVER) != _core.Event.converged:
            pass
        self.alpha[places] = trainer.dual_weights()
        if columns is None:
            self.w = trainer.weights()
        else:
            found = trainer.weights()
            self.w[columns], self.w[-1] = found[:-1], found[-1]

    def check(self) -> _core.Bounds:
        """Prove what the state is worth: one pass over the disk."""
        if self.proof is None:
            weights, intercept = self.problem.problem.split(self.w)
            weights = np.ascontiguousarray(weights)
            self.proof = self.problem.conclude(
                weights,
                intercept,
                lambda careful: self._evidence(weights, intercept, careful),
                confirming=False,
                epsilon=self.epsilon,
            )
            bounds = self.problem.published(self.proof)
            gap = 1 - bounds.margin / bounds.upper_bound if bounds.upper_bound > 0 else math.inf
            self.forecast.checked(self.full_passes, gap)
        return self.problem.published(self.proof)

    @property
    def scale(self) -> float:
        """What makes counts of dual weights."""
        total = float(self.alpha.sum())
        return TOTAL_COUNT / total if SMALLEST_WEIGHT < total < LARGEST_WEIGHT else 0.0

    def counts(self, i: int) -> tuple[Integers, Integers]:
        """Return the rows of a shard that have a count, and their counts."""
        counts = np.rint(self.alpha[self.offsets[i] : self.offsets[i + 1]] * self.scale_now).astype(np.int64)
        rows = np.flatnonzero(counts)
        return rows, counts[rows]

    def _evidence(self, weights: Vector, intercept: float, careful: bool) -> Evidence:
        self.scale_now = self.scale
        stated = self.problem.problem

        def parts() -> Any:
            for i, shard in self.shards.visit():
                own = shard.of(stated)
                self.sides[self.offsets[i] : self.offsets[i + 1]] = own.sides
                yield own.evidence(*self.counts(i), weights, intercept, careful)

        found: Evidence = sum_in_turn(parts())
        return found

    def all_counts(self) -> tuple[Integers, Integers]:
        """Return the rows that have a count, and their counts, in memory for these and no more."""
        self.scale_now = self.scale
        shards = range(len(self.offsets) - 1)
        size = sum(len(self.counts(i)[0]) for i in shards)
        rows, counts, place = np.empty(size, np.int64), np.empty(size, np.int64), 0
        for i in shards:
            own_rows, own_counts = self.counts(i)
            end = place + len(own_rows)
            rows[place:end], counts[place:end] = own_rows + self.offsets[i], own_counts
            place = end
        return rows, counts

    def checked(self, gap: float, enough: float | None) -> None:
        """Do nothing: a check itself says when the next one is due."""

    def renew(self) -> None:
        """Do nothing: there are no counts to renew."""

    def model(self) -> tuple[Vector, float]:
        """Return the weights, their augmented coordinate last, and their scale."""
        return self.w, 1.0

    def support(self) -> tuple[Integers, Integers]:
        """Return the rows that have a count, and their counts."""
        return self.all_counts()

    def snapshot(self) -> NDArray[np.uint8]:
        """Return the state as bytes."""
        numbers = [self.full_passes, self.updates, *self.forecast.numbers()]
        return np.concatenate([np.array(numbers, dtype=np.float64), self.w, self.alpha]).view(np.uint8)

    def restore(self, snapshot: NDArray[np.uint8]) -> None:
        """Continue from a snapshot."""
        if len(snapshot) != 8 * (NUMBERS + len(self.w) + len(self.alpha)):
            raise ValueError(DAMAGED)
        numbers = np.ascontiguousarray(snapshot).view(np.float64)
        state, w, alpha = np.split(numbers, [NUMBERS, NUMBERS + len(self.w)])
        counted = (state >= 0).all() and np.isfinite(state[[0, 1, -1]]).all()
        if not (np.isfinite(w).all() and (alpha >= 0).all() and np.isfinite(alpha).all() and counted):
            raise ValueError(DAMAGED)
        self.full_passes, self.updates = int(state[0]), int(state[1])
        self.forecast = Forecast.from_numbers(state[2:].tolist())
        self.w, self.alpha, self.proof = w.copy(), alpha.copy(), None
