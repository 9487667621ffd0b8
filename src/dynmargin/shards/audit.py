"""The end of a run: counts where the rows are, and a certificate that anyone can check on all rows together.

Slacks are dual weights (``solve/newton.hpp``), so the last point holds both witnesses. Every shard turns its slacks
into counts, recomputes its part of both bounds from the rows themselves, in float64 and with a bound on its rounding
error, and returns that with the counts. The bounds are concluded from the parts of all shards, or not at all.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate.bounds import outward
from ..certificate.certificate import Certificate
from ..certificate.certify import certificate_from
from ..certificate.counts import LARGEST_WEIGHT, SMALLEST_WEIGHT, TOTAL_COUNT, SparseCounts
from .counted import Audited, CountedShard
from .path import Path, Vector
from .problem import ShardedProblem
from .shard import Shard
from .sums import Evidence


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
            counted.clear()  # those of a first, less careful pass
            found: Audited = problem.shards.sum(Shard.audit, stated, path, scale, weights, intercept, careful)
            counted.extend(found.counted)
            return found.evidence

        proof = problem.conclude(weights, intercept, evidence, confirming=False, epsilon=epsilon)
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
    """Return the rows with a count, in the order of all rows, their counts and their sides.

    Most rows may have one: each part is given back when it is copied, so that there is never a second copy of all.
    """
    size = sum(len(part.counts) for part in parts)
    rows, counts, sides = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int8)
    place = first = 0
    parts.reverse()
    for length in lengths:
        own_rows, own_counts, own_sides = parts.pop().unpacked(length)
        end = place + len(own_rows)
        rows[place:end], counts[place:end], sides[place:end] = own_rows + first, own_counts, own_sides
        place, first = end, first + length
    return rows, counts, sides
