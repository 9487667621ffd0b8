"""A problem over rows that are spread over shards; to the training loop it looks like `PackedProblem`."""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..certificate.bounds import Proof, outward
from ..problem.packed import LARGEST_LENGTH, SMALLEST_LENGTH
from ..problem.problems import BinaryProblem
from .executor import Executor
from .shard import Digests, Shard
from .sums import Evidence, Facts

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]

# A rounding error of plain sums is worth a second pass if it is this part of the gap, unless it is negligible beside
# the bound and also less than this part of the gap that is asked for.
VISIBLE, NEGLIGIBLE = 1e-3, 1e-8


class Rows:
    """All rows, as far as their number goes."""

    def __init__(self, n_rows: int, n_columns: int) -> None:
        self.n_rows, self.n_columns = n_rows, n_columns


class ShardedProblem:
    """A two-class problem over all shards.

    Attributes
    ----------
    shards : Executor
        Where the rows are.
    problem : BinaryProblem
        What is asked.
    index : int
        The number of the problem in its fit.
    lengths : list of int
        How many rows each shard has.
    n_rows : int
        How many rows take part.
    nonzeros, R, stiffness : float
        As in `PackedProblem`.
    margin_of_nothing : float
        The margin of no weights at all.
    """

    def __init__(
        self,
        shards: Executor,
        problem: BinaryProblem,
        lengths: list[int],
        n_features: int,
        index: int = 0,
    ) -> None:
        self.shards, self.problem, self.index = shards, problem, index
        self.lengths, self.n_features = lengths, n_features
        self._digests: Callable[[], Digests] = shards.fold(Shard.digest, ((0, 0), ()), problem)
        facts: Facts = shards.sum(Shard.facts, problem)
        if facts.rows == 0:
            raise ValueError("no row has a weight above zero")
        self.n_rows, self.nonzeros, self.R = facts.rows, facts.nonzeros, facts.longest
        self.stiffness = facts.stiffness / facts.rows
        self.margin_of_nothing = 1 / math.sqrt(facts.prices)  # without any weights every slack is 1
        self.hard_margin = problem.hard_margin
        if not SMALLEST_LENGTH <= self.R <= LARGEST_LENGTH:
            raise ValueError(
                f"the longest pattern has length {self.R:g}, from its row, intercept_scaling and 1 / sqrt(2 C weight) "
                f"together; it must be between {SMALLEST_LENGTH:g} and {LARGEST_LENGTH:g}"
            )

    @property
    def matrix(self) -> Rows:
        """The shape of the data."""
        return Rows(sum(self.lengths), self.n_features)

    @property
    def core(self) -> "ShardedProblem":
        """Who proves something about it: itself."""
        return self

    @property
    def provable(self) -> Executor:
        """What it is proven from."""
        return self.shards

    @cached_property
    def _found(self) -> Digests:
        return self._digests()

    @property
    def digests(self) -> tuple[int, int]:
        """Of the data, with and without the order of the rows."""
        return self._found[0]

    def digest(self, _: Any) -> tuple[int, int]:
        """Return the digests, for whoever verifies."""
        return self.digests

    def pack(self, weights: Vector) -> Vector:
        """Return the weights as they are: every shard takes what it needs of them."""
        return weights

    def unpack(self, weights: Vector) -> Vector:
        """Return the weights as they are."""
        return weights

    def sides_of(self, places: Integers) -> NDArray[np.int8]:
        """Return on which side rows are."""
        parts = [rows for rows, _ in self._by_shard(places)]
        return np.concatenate(self.shards.map_each(Shard.sides_of, parts, self.problem))

    def _by_shard(self, places: Integers) -> list[tuple[Integers, slice]]:
        """Return for each shard which of its rows are meant, and where they are in the list."""
        offsets = np.append(0, np.cumsum(self.lengths)).astype(np.int64)
        if len(places) and not (places[0] >= 0 and places[-1] < offsets[-1] and (places[1:] > places[:-1]).all()):
            raise ValueError("the rows of counts must increase, and belong to the data")
        cuts = np.searchsorted(places, offsets).tolist()
        return [
            (places[begin:end] - first, slice(begin, end))
            for begin, end, first in zip(cuts[:-1], cuts[1:], offsets[:-1], strict=True)
        ]

    def prove(
        self, _: Any, w: Vector, b: float, places: Integers, counts: Integers, confirming: bool, epsilon: float = 0.0
    ) -> Proof:
        """Prove what weights and counts are worth, as the core's problems do; the counts go to where the rows are.

        What rounding leaves open may be a small part of `epsilon`, the gap that is asked for.
        """
        parts = [(rows, counts[cut]) for rows, cut in self._by_shard(places)]

        def evidence(careful: bool) -> Evidence:
            return self.shards.sum_each(Shard.evidence, parts, self.problem, w, b, careful)

        return self.conclude(w, b, evidence, confirming, epsilon)

    def published(self, proof: Proof) -> _core.Bounds:
        """Return the bounds of a proof as a certificate has them: rounded outward, so that they never cross."""
        margin, upper_bound, _ = outward(proof, self.problem, (self.n_features,), confirming=False)
        return _core.Bounds(margin, upper_bound, margin)

    def conclude(
        self, w: Vector, b: float, evidence: Callable[[bool], Evidence], confirming: bool, epsilon: float
    ) -> Proof:
        """Conclude from the sums of all shards; careful ones only where plain ones leave an error that shows."""
        stated = self.problem.to_core(np.zeros(0, dtype=np.int8))

        def concluded(careful: bool) -> Proof:
            found = evidence(careful)
            # A shard that was lost is read again; a file may have changed since, and its digest is published.
            changed = [i for i, (now, then) in enumerate(zip(found.rows, self._found[1], strict=True)) if now != then]
            if changed:
                raise ValueError(
                    f"the rows of partition {changed[0]} (counting from 0) have changed since training began"
                )
            return _core.prove_sums(stated, w, b, *found.for_core(), 1 if confirming else 3)

        if confirming:
            return concluded(True)
        plain = concluded(False)
        (margin, margin_error), (bound, bound_error) = plain[:2]
        negligible = min(NEGLIGIBLE, VISIBLE * epsilon) * bound
        shows = margin_error + bound_error > max(VISIBLE * (bound - margin), negligible)
        return concluded(True) if shows or not np.isfinite(bound - margin) else plain
