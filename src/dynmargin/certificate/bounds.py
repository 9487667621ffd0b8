"""What the core proves of two witnesses, rounded outward so that it is true in real arithmetic."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.problems import Problem
from .ball import Ball, ball_from
from .counts import SparseCounts

Vector = NDArray[np.float64]
# What the core proves: both bounds with their errors, and the ball (centre, intercept, radius).
Proof = tuple[tuple[float, float], tuple[float, float], Vector, Vector, float]
Bounds = tuple[float, float, Ball | None]  # the same, rounded outward


def prove(
    data: Any,
    core_problem: _core.Problem | _core.JointProblem,
    problem: Problem,
    weights: Vector,
    intercept: float | Vector,
    counts: SparseCounts,
    *,
    confirming: bool,
    epsilon: float = 0.0,
) -> Bounds:
    """Return both bounds and the ball, rounded outward; `data` is a matrix, or its rows as packed."""
    proof = core_problem.prove(data, weights, intercept, counts.indices, counts.data, confirming, epsilon)
    return outward(proof, problem, weights.shape, confirming=confirming)


def outward(proof: Proof, problem: Problem, shape: tuple[int, ...], *, confirming: bool) -> Bounds:
    """Round what the core has proven outward: what is published three error bounds, what confirms it one."""
    errors = 1 if confirming else 3
    (margin, margin_error), (upper_bound, bound_error), centre, of_centre, radius = proof
    margin -= errors * margin_error
    if not problem.hard_margin and np.isfinite(margin):
        margin = max(0.0, margin)  # a soft margin is never negative
    return margin, upper_bound + errors * bound_error, ball_from(problem, centre, of_centre, radius, shape)
