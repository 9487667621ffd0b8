"""The end of a run: counts where the rows are, and a certificate that anyone can check on all rows together.

Slacks are dual weights (``solve/newton.hpp``), so the last point holds both witnesses. Every shard turns its slacks
into counts, recomputes its part of both bounds from the rows themselves, in float64 and with a bound on its rounding
error, and returns that with the counts. The bounds are concluded from the parts of all shards, or not at all.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate.certificate import Certificate, certificate_from, outward
from ..certificate.counts import LARGEST_WEIGHT, SMALLEST_WEIGHT, TOTAL_COUNT, SparseCounts
from .path import Path, Vector
from .problem import ShardedProblem
from .shard import CountedShard, Shard
from .sums import Evidence, tree_sum


class Audit:
    """The certificate of a point, and the sides of the rows that have a count."""

    def __init__(self, problem: ShardedProblem, path: Path, total: float, w: Vector, *, epsilon: float) -> None:
        stated = problem.problem
        weights, intercept = stated.split(w)
        weights = np.ascontiguousarray(weights)
        usable = SMALLEST_WEIGHT < total < LARGEST_WEIGHT
        scale = TOTAL_COUNT / total if usable else 0.0
        counted: list[CountedShard] = []

        def evidence(careful: bool) -> Evidence:
            nonlocal counted
            answers = problem.shards.map(Shard.audit, stated, path, scale, weights, intercept, careful)
            counted = [counts for _, counts in answers]
            return tree_sum([sums for sums, _ in answers])

        proof = problem.conclude(weights, intercept, evidence, confirming=False)
        rows, counts, sides = _gathered(counted, problem.lengths)
        self.sides: NDArray[np.int8] = sides
        self.certificate: Certificate = certificate_from(
            outward(proof, stated, weights.shape, confirming=False),
            stated,
            problem.digests,
            weights,
            intercept,
            SparseCounts(rows, counts, (sum(problem.lengths),)),
            epsilon=epsilon,
        )


def _gathered(parts: list[CountedShard], lengths: list[int]) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int8]]:
    """Return the rows with a count, in the order of all rows, their counts and their sides."""
    first = 0
    rows, counts, sides = [], [], []
    for part, length in zip(parts, lengths, strict=True):
        own_rows, own_counts, own_sides = part.unpacked(length)
        rows.append(own_rows + first)
        counts.append(own_counts)
        sides.append(own_sides)
        first += length
    return np.concatenate(rows), np.concatenate(counts), np.concatenate(sides)
