"""What weights are worth, whoever found them: the scale that is best for them, and a certificate."""

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.problems import BinaryProblem, Weights
from .certificate import Certificate
from .certify import certify
from .counts import SparseCounts, as_counts

Vector = NDArray[np.float64]
Counts = tuple[NDArray[np.int64], NDArray[np.int64]]


def certify_weights(
    matrix: _core.Matrix,
    y: NDArray[np.generic],
    problem: BinaryProblem,
    weights: Vector,
    intercept: float,
    scores: Vector,
    *,
    epsilon: float,
    sample_weight: Weights | None = None,
    known_counts: Counts | None = None,
    keep_direction: bool = False,
) -> Certificate:
    """Prove what weights are worth for the squared hinge or the hard margin, with LinearSVC's intercept.

    The margin is that of the weights at the scale that is best for them ("slack repair"). At the optimum the slacks are
    the dual weights, up to a factor (`algorithms.newton` rests on the same). Any non-negative numbers prove some upper
    bound, so the slacks of these weights do, and the better the weights, the better the bound.

    Parameters
    ----------
    matrix, y : Matrix, array
        The data that the certificate is about.
    problem : BinaryProblem
        What the weights are taken to answer.
    weights, intercept : array, float
        The model.
    scores : array
        ``X @ weights + intercept``.
    epsilon : float
        The gap that was asked for.
    sample_weight : array, optional
        The weights of the rows.
    known_counts : tuple of arrays, optional
        Rows and counts that prove an upper bound too; the better of the two is taken.
    keep_direction : bool, default=False
        Keep the weights as they are, not zero, where no positive scale is better than zero: they still predict.
    """
    if problem.loss != "squared_hinge" or problem.free_bias:
        raise ValueError("the slacks are dual weights for the squared hinge with a regularised intercept only")
    sides = problem.sides(y, sample_weight)
    core_problem, members = problem.to_core(sides, sample_weight), np.flatnonzero(sides)
    signed = sides[members] * scores[members]
    if problem.hard_margin:  # any scale is as good; the dual weights are slacks at the present one, all of equal price
        smallest = signed.min(initial=np.inf)
        scale, slacks = 1 / smallest if 0 < smallest < np.inf else 1.0, np.maximum(0.0, 1 - signed)
    else:
        penalty = 2 * np.where(sides[members] > 0, problem.C_positive, problem.C_negative)
        penalty = penalty if sample_weight is None else penalty * sample_weight[members]
        bias = intercept / problem.rho if problem.rho > 0 else 0.0
        scale = _core.best_scale(signed, penalty, float((weights * weights).sum()) + bias * bias)
        slacks = penalty * np.maximum(0.0, 1 - scale * signed)
    candidates = [as_counts(members, slacks)]
    if known_counts is not None:
        candidates.insert(0, known_counts)
    indices, data = min(candidates, key=lambda counts: core_problem.bound_of_counts(matrix, *counts)[0])
    if keep_direction and scale == 0:
        scale = 1.0
    return certify(
        matrix,
        problem,
        core_problem,
        core_problem.digest(matrix),
        weights * scale,
        intercept * scale,
        SparseCounts(indices, data, (matrix.n_rows,)),
        epsilon=epsilon,
    )
