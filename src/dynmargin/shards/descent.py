"""Dual coordinate descent over shards on a disk, for many features; see ``dual/dual_trainer.hpp`` for the visits.

    a pass over the disk   every shard in turn: two visits per row, in random order, to the same w; of each shard, the
                           rows whose weights these visits changed most are copied into a pool in memory
    the pool               twelve visits per row, where they gain most; then the next pass

A row's dual weight and w are all that has to be kept of a visit, so w is that of all rows at any time. Without the pool
a shard only adapts w to its own rows, and the next one undoes that. (rcv1-like, 60,000 x 47,236 in 16 shards, passes to
a gap of 1 %: 9 with a pool of 15 % of the rows, 9 with 25 % and one visit per row, 13 with 12 % and one. Without a pool
the gap is 2.8 % after 40 passes, with two visits per row or with five. In memory: 17 visits per row.)
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..certificate.bounds import Proof
from ..certificate.counts import LARGEST_WEIGHT, SMALLEST_WEIGHT, TOTAL_COUNT
from ..problem.matrix import as_matrix
from .on_disk import OnDisk, sum_in_turn
from .path import DAMAGED, Vector
from .problem import ShardedProblem
from .shard import ProblemOnShard
from .some_rows import SomeRows, join
from .sums import Evidence

VISITS, POOL_VISITS = 2, 12  # per row
LARGEST_POOL = 0.25  # of the rows
POOL_COPIES = 2  # of the pool while it is put together: rows of each shard and of all, or these packed
FIRST_CHECK = 5  # passes; a check is one more
FACTOR = 0.72  # by which a pass reduces the gap, until checks tell
NEVER = 1e18  # seconds

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

    def __init__(self, problem: ShardedProblem, shards: OnDisk, seed: int, epsilon: float, share: float) -> None:
        self.problem, self.shards, self.seed, self.epsilon = problem, shards, seed, epsilon
        self.share = min(share, LARGEST_POOL)
        self.offsets = np.append(0, np.cumsum(problem.lengths)).tolist()
        self.sides = np.zeros(self.offsets[-1], np.int8)  # of all rows, known after a check
        self.alpha, self.w = np.zeros(self.offsets[-1]), np.zeros(problem.n_features + 1)
        self.full_passes = self.updates = 0
        self.next_check, self.last_check = FIRST_CHECK, (0, math.inf)  # passes, and the gap then
        self.proof: Proof | None = None  # of this state

    def advance(self, seconds: float, max_updates: int) -> _core.Event:
        """Make a pass over the disk, and visits to the pool, however long they take."""
        if self.updates >= max_updates:
            return _core.Event.max_updates
        self.proof = None
        changed = self._visit_pool(self._visit_all())
        self.full_passes += 1
        self.updates += changed
        if not np.isfinite(self.w).all():
            return _core.Event.exhausted
        if changed == 0:
            return _core.Event.converged
        return _core.Event.check_due if self.full_passes >= self.next_check else _core.Event.slice_over

    def _visit_all(self) -> "Pool":
        """Visit the rows of every shard; return those that are worth more visits."""
        pool = Pool(self.problem.n_features)
        for i, shard in self.shards.visit():
            own, mine = shard.of(self.problem.problem), slice(self.offsets[i], self.offsets[i + 1])
            before = self.alpha[mine].copy()
            self._descend(shard.rows, own.core, shard.columns, mine, VISITS, i)
            pool.changed += int(np.count_nonzero(before != self.alpha[mine]))
            pool.take(own, self._most_changed(before, self.alpha[mine]), self.offsets[i])
        return pool

    def _most_changed(self, before: Vector, after: Vector) -> Integers:
        """Return the rows that gained most, as many as the pool has room for."""
        gain = np.abs(after - before)
        most = int(self.share * len(gain))
        places = (
            np.argpartition(gain, len(gain) - most)[len(gain) - most :] if 0 < most < len(gain) else np.arange(most)
        )
        found: Integers = np.sort(places[gain[places] > 0]).astype(np.int64)
        return found

    def _visit_pool(self, pool: "Pool") -> int:
        """Visit the rows of the pool, where that gains most; return how many rows have changed."""
        if pool.parts:
            rows, sides, weights, places = pool.packed()
            columns = None if rows.columns is None else rows.columns.astype(np.int64)
            core = self.problem.problem.to_core(sides, weights)
            self._descend(rows, core, columns, places, POOL_VISITS, len(self.offsets))
        return pool.changed

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
            self._expect(gap if math.isfinite(gap) else 1.0)
        return self.problem.published(self.proof)

    def _expect(self, gap: float) -> None:
        """Say when the gap will be closed, if every pass reduces it as those before did."""
        passes, before = self.last_check
        factor = FACTOR
        if 0 < gap < before < math.inf and passes < self.full_passes:
            factor = max(0.3, min(0.95, (gap / before) ** (1 / (self.full_passes - passes))))
        left = math.log(gap / self.epsilon) / -math.log(factor) if gap > self.epsilon else 1.0
        self.next_check, self.last_check = self.full_passes + max(1, math.ceil(left)), (self.full_passes, gap)

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
        numbers = [self.full_passes, self.updates, self.next_check, *self.last_check]
        return np.concatenate([np.array(numbers, dtype=np.float64), self.w, self.alpha]).view(np.uint8)

    def restore(self, snapshot: NDArray[np.uint8]) -> None:
        """Continue from a snapshot."""
        if len(snapshot) != 8 * (5 + len(self.w) + len(self.alpha)):
            raise ValueError(DAMAGED)
        numbers = np.ascontiguousarray(snapshot).view(np.float64)
        state, w, alpha = np.split(numbers, [5, 5 + len(self.w)])
        if not (np.isfinite(w).all() and (alpha >= 0).all() and np.isfinite(alpha).all() and (state >= 0).all()):
            raise ValueError(DAMAGED)
        self.full_passes, self.updates, self.next_check = (int(number) for number in state[:3])
        self.last_check = int(state[3]), float(state[4])
        self.w, self.alpha, self.proof = w.copy(), alpha.copy(), None


class Pool:
    """Rows of all shards, copied while they are visited."""

    def __init__(self, n_features: int) -> None:
        self.n_features, self.changed = n_features, 0
        self.parts: list[SomeRows] = []

    def take(self, own: ProblemOnShard, places: Integers, first: int) -> None:
        """Copy some rows of a shard, whose first row is that of all."""
        if len(places):
            self.parts.append(own.some(places).after(first))

    def packed(self) -> tuple[_core.PackedRows, NDArray[Any], Vector, Integers]:
        """Return the rows, their sides, weights and places among all rows; the copies are given back."""
        matrix, pool = join(self.parts, self.n_features)
        return _core.pack(as_matrix(matrix)), pool.sides, pool.weights, pool.places
