"""From two witnesses and the data to a certificate."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.packed_weights import PackedWeights
from ..problem.problems import Problem
from .ball import Ball
from .bounds import Bounds, prove
from .certificate import Certificate
from .counts import SparseCounts
from .joint import JointCertificate
from .witness_digest import digest_witnesses

Vector = NDArray[np.float64]


def certificate_type(problem: Problem) -> type[Certificate]:
    """Return the kind of certificate that a problem gets."""
    return JointCertificate if problem.joint else Certificate


def certify(
    data: _core.Matrix | _core.PackedRows,
    problem: Problem,
    core_problem: _core.Problem | _core.JointProblem,
    digests: tuple[int, int],
    weights: Vector | PackedWeights,
    intercept: float | Vector,
    counts: SparseCounts,
    *,
    epsilon: float,
    directional_margin: float = np.nan,
) -> Certificate:
    """Make the certificate of weights and counts, whatever they came from.

    The bounds are published three rounding errors outward, so that a verifier that sums in another order confirms them.
    `directional_margin` is that of a run's own state, where there is one. Weights are packed as the data are.
    """
    proven = weights.values if isinstance(weights, PackedWeights) else weights
    bounds = prove(data, core_problem, problem, proven, intercept, counts, confirming=False, epsilon=epsilon)
    return certificate_from(
        bounds,
        problem,
        digests,
        weights,
        intercept,
        counts,
        epsilon=epsilon,
        directional_margin=directional_margin,
    )


def certificate_from(
    bounds: Bounds,
    problem: Problem,
    digests: tuple[int, int],
    weights: Vector | PackedWeights,
    intercept: float | Vector,
    counts: SparseCounts,
    *,
    epsilon: float,
    directional_margin: float = np.nan,
) -> Certificate:
    """Make the certificate of weights and counts from the bounds that they have been proven to give."""
    margin, upper_bound, ball = bounds
    if margin > upper_bound:  # impossible, so something else is broken: nothing is published
        raise RuntimeError(f"the bounds contradict each other: a margin of {margin!r}, and none above {upper_bound!r}")
    if ball is not None and isinstance(weights, PackedWeights):
        ball = Ball(replace(weights, values=ball.centre), ball.intercept, ball.radius)  # type: ignore[arg-type]
    return certificate_type(problem)(
        margin=margin,
        upper_bound=upper_bound,
        directional_margin=directional_margin,
        epsilon=epsilon,
        weights=weights,  # type: ignore[arg-type]  # spread out when they are asked for
        intercept=intercept,
        counts=counts,
        problem=problem,
        data_digest=digests[0],
        rows_digest=digests[1],
        witness_digest=digest_witnesses(problem, weights, intercept, counts),
        ball=ball,
    )
