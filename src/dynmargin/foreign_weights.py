"""What weights from elsewhere are worth: a certificate for whatever library they came from."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .certificate import Certificate, SparseCounts, certify
from .dual_weights import as_counts
from .matrix import as_matrix
from .problem import BinaryProblem

Vector = NDArray[np.float64]


def certify_weights(
    X: Any, y: Any, problem: BinaryProblem, weights: Vector, intercept: float, *, epsilon: float
) -> Certificate:
    """Prove what weights are worth for the squared hinge or the hard margin, with LinearSVC's intercept.

    The margin is that of the weights at the scale that is best for them ("slack repair"). At the optimum the slacks are
    the dual weights, up to a factor (`algorithms.newton` rests on the same); any non-negative numbers prove some upper
    bound, so the slacks of these weights do, and the better the weights the better it is.

    Parameters
    ----------
    X, y : array or sparse matrix, array
        The data that the weights were trained on.
    problem : BinaryProblem
        What they are taken to answer.
    weights, intercept : array, float
        Scores are ``X @ weights + intercept``.
    epsilon : float
        The gap that was asked for.
    """
    if problem.loss != "squared_hinge" or problem.free_bias:
        raise ValueError("the slacks are dual weights for the squared hinge with a regularised intercept only")
    sides = problem.sides(y, None)
    scores = sides * (np.asarray(X @ weights).ravel() + intercept)
    penalty = 2 * np.where(sides > 0, problem.C_positive, problem.C_negative)
    if np.isinf(penalty).any():  # a hard margin has no scale: the peer's own, and slacks of equal price
        scale, penalty = 1.0, np.ones(len(sides))
    else:
        norm2 = float(weights @ weights) + (intercept / problem.rho if problem.rho else 0.0) ** 2
        scale = best_scale(scores, norm2, penalty)
    indices, data = as_counts(np.arange(len(sides)), penalty * np.maximum(0.0, 1 - scale * scores))
    matrix, core_problem = as_matrix(X), problem.to_core(sides)
    return certify(
        matrix,
        problem,
        core_problem,
        core_problem.digest(matrix),
        scale * weights,
        scale * intercept,
        SparseCounts(indices, data, (len(sides),)),
        epsilon=epsilon,
        directional_margin=math.nan,  # of a state with its counts, which is not known
    )


def best_scale(scores: Vector, norm2: float, penalty: Vector) -> float:
    """Minimise F(v) = v² ‖w‖² + Σ penalty_k max(0, 1 - v s_k)² over v >= 0.

    F' rises, and bends down wherever a row with s_k > 0 leaves: Newton's steps from v = 0 rise too, never pass the root
    of F', and end when no row leaves any more.
    """
    if not norm2 > 0:
        return 0.0
    v = 0.0
    while True:
        active = v * scores < 1
        s, c = scores[active], penalty[active]
        following = float(c @ s) / (norm2 + float(c @ (s * s)))
        if not following > v:
            return v
        v = following
