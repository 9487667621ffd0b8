"""The hinge and the hard margin over shards: the rows that decide are sent to one place and trained on there.

Newton's method needs squared slacks. Without them the optimum is that of its support rows, so these are collected:

    begin     with a sample of all rows
    solve     the problem of the rows collected so far, by dual coordinate descent, to half the gap that is asked for
    prove     its weights and counts over all rows: counts of some rows bound the margin of all, weights are scored by
              every shard
    collect   the other rows that stand in the way: for the hinge all that have a slack, for the hard margin all whose
              margin is too small for the gap; then solve again

Where there is no such row, the gap over all rows is that over those collected; so every round adds some, or is the
last. A hard margin has few such rows. The hinge has all that have a slack, which may be most rows: then one machine
holds most of the data, and `algorithm_` says so.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..algorithms.dual import start_dcd
from ..certificate.bounds import Proof, outward
from ..certificate.certificate import Certificate
from ..certificate.certify import certificate_from
from ..certificate.counts import SparseCounts
from ..data.dataset import Csr
from ..data.limits import require_memory
from ..problem.matrix import as_matrix
from ..problem.packed import PackedProblem
from ..problem.problems import BinaryProblem
from ..training.request import LARGEST_COUNT, Request
from ..training.result import Check
from ..training.run import Refinement, Run, complete
from .path import DAMAGED, Vector
from .problem import ShardedProblem
from .shard import Shard
from .some_rows import SomeRows, join

Integers = NDArray[np.int64]

FEWEST_ROWS, ROWS_PER_FEATURE = 2000, 20  # of the sample to begin with
BYTES_PER_VALUE = 40  # of a row that is collected: sent, joined, packed, with its column


class Shipping:
    """A run that trains on the rows that decide, with the interface of the core's trainers.

    Attributes
    ----------
    shipped : int
        How many rows have been collected.
    full_passes : int
        How often all shards were asked.
    updates : int
        Of coordinate descent, so far.
    """

    def __init__(self, problem: ShardedProblem, request: Request) -> None:
        self.problem, self.request = problem, request
        self.offsets = np.append(0, np.cumsum(problem.lengths)).astype(np.int64)
        self.parts: list[SomeRows] = []  # of each shard and round
        self.weights: Vector | None = None
        self.intercept = 0.0
        self.counted: tuple[Integers, Integers, NDArray[np.int8]] = _no_counts()
        self.proof: Proof | None = None
        self.full_passes = self.updates = 0

    @property
    def shipped(self) -> int:
        """How many rows have been collected."""
        return sum(len(part.places) for part in self.parts)

    def advance(self, seconds: float, max_updates: int) -> _core.Event:
        """Collect rows and solve again, however long that takes."""
        if self.updates >= max_updates:
            return _core.Event.max_updates
        before = self.shipped
        if self.weights is None:
            self._begin()
        else:
            self._collect(_in_the_way, self._taken(), self.weights, self.intercept, self._threshold())
        if self.shipped == before:
            return _core.Event.converged
        self._solve()
        return _core.Event.check_due

    def _begin(self) -> None:
        rows = self.problem.n_rows
        share = min(1.0, max(FEWEST_ROWS, ROWS_PER_FEATURE * (self.problem.n_features + 1)) / rows)
        seeds = [(self.request.seed, self.problem.index, i) for i in range(len(self.problem.lengths))]
        self._collect(_sample, seeds, share)

    def _collect(self, function: Callable[..., SomeRows], parts: list[Any], *arguments: Any) -> None:
        found = self.problem.shards.map_each(function, parts, self.problem.problem, *arguments)
        self.full_passes += 1
        for first, part in zip(self.offsets, found, strict=False):
            if len(part.places):
                self.parts.append(part.after(int(first)))
        require_memory("the rows that decide", BYTES_PER_VALUE * sum(len(part.values) for part in self.parts))

    def _taken(self) -> list[Integers]:
        """Return for each shard which of its rows are here."""
        places = np.sort(np.concatenate([part.places for part in self.parts]))
        return [
            rows - first
            for rows, first in zip(
                np.split(places, np.searchsorted(places, self.offsets[1:-1])), self.offsets, strict=False
            )
        ]

    def _threshold(self) -> float:
        """Return the score below which a row stands in the way."""
        stated = self.problem.problem
        if not stated.hard_margin:
            return 1.0
        assert self.weights is not None
        constant = self.intercept / stated.rho if stated.rho > 0 else 0.0
        length = math.sqrt(math.fsum([*(self.weights * self.weights).tolist(), constant * constant]))
        return (1 - self.request.epsilon) * self.check().upper_bound * length

    def _solve(self) -> None:
        """Train on the rows that are here."""
        joined, here = join(list(self.parts), self.problem.n_features)
        matrix, sides, places = as_matrix(joined), here.sides, here.places
        stated, rows = self.problem.problem, _core.pack(matrix)
        others = next(label for label in (*stated.classes, None) if label != stated.positive)
        labels = np.array([others, stated.positive], dtype=object)[(sides > 0).astype(int)]
        packed = PackedProblem(matrix, rows, stated, labels, here.weights, self.problem.index)
        asked = replace(
            self.request,
            epsilon=self.request.epsilon / 2,
            stop="certificate",
            max_updates=LARGEST_COUNT,
            checkpoint=None,
            snapshots=None,
            watch=None,
            warn=_say_nothing,  # the gap of some rows, and half the epsilon, mean nothing to anyone else
        )
        result = complete(QuietRun(packed, start_dcd(packed, asked), asked, Refinement.none()))
        certificate, self.proof = result.certificate, None
        self.updates += max(1, result.updates)
        self.weights, self.intercept = np.ascontiguousarray(certificate.weights), float(certificate.intercept)
        of_pool = certificate.counts.indices
        order = np.argsort(places[of_pool])
        self.counted = places[of_pool][order], certificate.counts.data[order], sides[of_pool][order]

    def check(self) -> _core.Bounds:
        """Prove over all rows what the solution is worth."""
        if self.weights is None:
            self.weights = np.zeros(self.problem.n_features)
        if self.proof is None:
            witnesses, epsilon = (self.weights, self.intercept, *self.counted[:2]), self.request.epsilon
            self.proof = self.problem.prove(None, *witnesses, confirming=False, epsilon=epsilon)
            self.full_passes += 1
        return self.problem.published(self.proof)

    def checked(self, gap: float, enough: float | None) -> None:
        """Do nothing: the next check is due after the next solution."""

    def renew(self) -> None:
        """Do nothing: there are no counts to renew."""

    def model(self) -> tuple[Vector, float]:
        """Refuse: weights and intercept are published as they are."""
        raise NotImplementedError("the certificate holds the weights")

    def support(self) -> tuple[Integers, Integers]:
        """Return the rows that have a count, and their counts."""
        return self.counted[:2]

    def snapshot(self) -> NDArray[np.uint8]:
        """Return the state as bytes: which rows are here, in the order in which they came."""
        places = [part.places for part in self.parts]
        numbers = np.array([self.full_passes, self.updates], dtype=np.int64)
        return np.concatenate([numbers, *places]).view(np.uint8)

    def restore(self, snapshot: NDArray[np.uint8]) -> None:
        """Continue from a snapshot: fetch the rows and solve again."""
        if len(snapshot) % 8 or len(snapshot) < 16:
            raise ValueError(DAMAGED)
        numbers = np.ascontiguousarray(snapshot).view(np.int64)
        passes, updates, places = int(numbers[0]), int(numbers[1]), numbers[2:]
        known = len(np.unique(places)) == len(places) and ((places >= 0) & (places < self.offsets[-1])).all()
        if not (known and min(passes, updates) >= 0):
            raise ValueError(DAMAGED)
        self.parts = []
        if len(places):
            # The order of the rows decides in which order they are visited: first by round, then as they stand.
            for part in np.split(places, np.flatnonzero(np.diff(places) < 0) + 1):
                cuts = np.searchsorted(part, self.offsets[1:-1])
                own = [rows - first for rows, first in zip(np.split(part, cuts), self.offsets, strict=False)]
                self._collect(_fetched, own)
            self._solve()
            self.check()
        self.full_passes, self.updates = passes, updates


def _say_nothing(_: str) -> None:
    pass


def _no_counts() -> tuple[Integers, Integers, NDArray[np.int8]]:
    return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int8)


def _fetched(shard: Shard, places: Integers, problem: BinaryProblem) -> SomeRows:
    return shard.of(problem).some(places)


def _sample(shard: Shard, seed: tuple[int, ...], problem: BinaryProblem, share: float) -> SomeRows:
    own = shard.of(problem)
    return own.sample(seed, math.ceil(share * len(own.members)))


def _in_the_way(
    shard: Shard, taken: Integers, problem: BinaryProblem, weights: Vector, intercept: float, threshold: float
) -> SomeRows:
    own = shard.of(problem)
    rows = Csr(*_core.unpack(shard.rows), (len(shard.y), shard.n_features))
    scores = own.sides * (_core.score_rows(as_matrix(rows), weights[None])[0][:, 0] + intercept)
    found = (own.sides != 0) & ~(scores >= threshold)
    found[taken] = False
    return own.some(np.flatnonzero(found).astype(np.int64))


class QuietRun(Run):
    """A run on some of the rows: nobody hears of its bounds, which are not those of all."""

    def record(self, margin: float, upper_bound: float, certify: Callable[[], Certificate]) -> Check:
        """Return a check without a word."""
        return Check(0.0, self.trainer.full_passes, self.trainer.updates, margin, upper_bound, self.problem.index)


class ShippingRun(Run):
    """A run over shards whose rows that decide are collected; it is proven over all rows."""

    problem: Any  # a ShardedProblem
    trainer: Any  # a Shipping

    def certify(self, bounds: Any = None) -> Certificate:
        """Make the certificate of the last check; if there is none for this state, check it."""
        trainer, problem = self.trainer, self.problem
        trainer.check()
        rows, counts, _ = trainer.counted
        proof = outward(trainer.proof, problem.problem, trainer.weights.shape, confirming=False)
        return certificate_from(
            proof,
            problem.problem,
            problem.digests,
            trainer.weights,
            trainer.intercept,
            SparseCounts(rows, counts, (sum(problem.lengths),)),
            epsilon=self.request.epsilon,
            directional_margin=proof[0],
        )
