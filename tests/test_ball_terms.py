"""The ball around the optimum needs its errors: for each a case in which the optimum is outside without it.

The optimum is known exactly, and as far from the centre as the radius allows in real arithmetic. Then rounding is made
to shorten the radius, or to move the centre away. ``python -m tests.mutate_proofs`` drops the terms one by one.
"""

import math
from fractions import Fraction

import numpy as np
from oracle.cases import Csr
from test_proof_terms import JUST_BELOW_U, binary, sums_that_cancel

from dynmargin.problem.matrix import as_matrix


def require_in_ball(optimum, problem, X, weights, places, counts, *, confirming):
    core, data = problem.to_core(np.ones(X.shape[0], np.int8)), as_matrix(X)
    *_, centre, _, radius = core.prove(data, weights, 0.0, np.asarray(places), np.asarray(counts), confirming)
    apart = sum((Fraction(c) - Fraction(o)) ** 2 for c, o in zip(centre.tolist(), optimum, strict=True))
    assert apart <= Fraction(radius) ** 2


def lost_by(numbers):
    """Return what numbers add up to, of which a compensated sum finds nothing."""
    return float(sum(map(Fraction, numbers)))


def test_scores_of_counted_rows_may_be_larger_than_they_seem():
    """The score of the second row loses thousands of products, so that Y seems to be smaller.

    Both rows touch the optimum (1, 0, ...), and only the first has a part in it: weights and counts that differ from it
    in the same direction have a ball with the optimum on its border.
    """
    n = 6000
    X = np.array([[1.0, 0.0] + [0.0] * n, [1.0, 1e-4] + [JUST_BELOW_U * 2.0**20] * n])
    weights = np.array([1.0, 1e-4] + [2.0**-20] * n)
    require_in_ball([1.0] + [0.0] * (n + 1), binary(), X, weights, [1], [1], confirming=False)


def test_the_dual_value_may_be_smaller_than_it_seems():
    """The first coordinate of the sum of rows is 1e-9 of itself too small, and so D is too large.

    Columns 0 to 2 have the same small number in every row, and numbers beside it that are lost in column 0 only; a
    score is the same for all rows. Counts that are not quite equal move u from the optimum in column 3 alone.
    """
    numbers = sums_that_cancel(1000)
    n = 2 * len(numbers)
    m = 2.0 ** round(math.log2(lost_by(numbers) / (n * 1e-9)))
    common = [(0, m), (1, m), (2, m)]
    rows = [[(0, x), *common, (1 if abs(x) == 1 else 2, -x)] for x in numbers]
    rows += [common] * (len(numbers) - 2) + [[*common, (3, 1e4 * m)], [*common, (3, -1e4 * m)]]
    counts = np.full(n, 2**20)
    counts[-2:] += [6, -6]
    penalty = 1 / (3 * n * m * m)
    w = n * penalty * m / 2  # of the optimum, where all slacks are 1/2
    optimum = [w, w, w, 0.0]
    X = Csr(rows, 4, np.float64, np.int32)
    require_in_ball(optimum, binary(penalty / 2), X, np.array(optimum), np.arange(n), counts, confirming=True)


def test_the_sum_of_rows_may_lie_elsewhere():
    """The same numbers are lost in column 1, which moves the centre away from the optimum (1, 0, 0, 0).

    Weights that are far too long make the ball so large that no other error is as large as the move. Of the hinge only:
    for other losses the error of the scale is twice as large.
    """
    numbers = sums_that_cancel(3000)
    n = len(numbers)
    unit = 2.0 ** round(math.log2(1e-6 * n / lost_by(numbers)))
    z = np.array(numbers) * unit
    large = np.abs(z) == unit
    X = np.column_stack([np.ones(n), z, np.where(large, -z, 0), np.where(large, 0, -z)])
    weights = np.array([1.0, -1000.0, -1000.0, -1000.0])
    problem = binary(2 / n, loss="hinge")
    require_in_ball([1.0, 0.0, 0.0, 0.0], problem, X, weights, np.arange(n), np.ones(n, np.int64), confirming=True)
