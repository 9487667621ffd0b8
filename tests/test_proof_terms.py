"""Every term in the error analysis of the proofs is needed: a case for each in which the bound without it is false.

Roundings are made to add up: many terms, each just too small to change the sum, all with the same sign. Both sides of
|value - exact| <= error are checked against exact arithmetic. ``python -m tests.mutate_proofs`` drops the terms one by
one and reports which of these tests notice.
"""

import ctypes
import dataclasses
import math
import platform

import numpy as np
import pytest
from mutate_proofs import MUTATIONS, ROOT
from oracle.cases import Case, Csr
from oracle.exact import truth_of
from oracle.online import bound_of_stream

from dynmargin import SparseCounts, _core
from dynmargin.certificate.certify import certify
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.problems import BinaryProblem, JointProblem

U = 2.0**-53
JUST_BELOW_U = math.nextafter(U, 0)  # added to 1, it is lost
JUST_BELOW_ROOT_U = 0.999 * 2.0**-26.5  # its square, added to 1, is lost
NONE = SparseCounts(np.empty(0, np.int64), np.empty(0, np.int64), (0,))


def binary(C=math.inf, rho=0.0, loss="squared_hinge", free_bias=False):
    return BinaryProblem(1, C, C, rho, loss, free_bias, classes=(0, 1))


def joint(K, C=math.inf, rho=0.0):
    return JointProblem(tuple(range(K)), (C,) * K, rho)


def core_of(case):
    return case.problem.to_core(case.problem.sides(case.y, case.sample_weight), case.sample_weight)


def require_enclosed(exact, value, error):
    assert error >= 0
    assert math.isfinite(value)
    assert math.isfinite(error)
    assert exact.compare(value - error) <= 0, "the value is too large"
    assert exact.compare(value + error) >= 0, "the value is too small"


def margin(problem, X, y, w, b=0.0, sample_weight=None):
    """Require that the margin of weights is enclosed, of rows as they are or packed; return it with its error."""
    case = case_of_weights(problem, X, y, w, b, sample_weight)
    core, matrix, exact = core_of(case), as_matrix(case.X), truth_of(case).margin
    value, error = core.margin_of_weights(matrix, case.weights, case.intercept)
    require_enclosed(exact, value, error)
    if not problem.joint:
        rows, packed = packed_with_weights(case)
        require_enclosed(exact, *core.margin_of_weights(rows, packed, b))
    return value, error


def compensated_margin(problem, X, y, w, b=0.0):
    """The same as whoever confirms a certificate finds it."""
    case = case_of_weights(problem, X, y, w, b)
    core, exact = core_of(case), truth_of(case).margin
    for data, weights in ((as_matrix(case.X), case.weights), packed_with_weights(case)):
        require_enclosed(exact, *core.prove(data, weights, b, NONE.indices, NONE.data, True)[0])


def case_of_weights(problem, X, y, w, b, sample_weight=None):
    b = np.broadcast_to(np.asarray(b, np.float64), len(w)).copy() if problem.joint else b
    return Case("", as_data(X), np.asarray(y), sample_weight, problem, np.asarray(w, np.float64), b, NONE, True)


def packed_with_weights(case):
    """The rows packed, and the weights of their columns; all columns have to occur."""
    rows = _core.pack(as_matrix(case.X))
    assert rows.n_columns == len(case.weights)
    return rows, case.weights if rows.columns is None else case.weights[rows.columns]


def upper_bound(problem, X, y, places, counts):
    """Require that the bound of counts is enclosed, and return it with its error."""
    X, y = as_data(X), np.asarray(y)
    K = len(problem.labels)
    w, b = (np.zeros((K, X.shape[1])), np.zeros(K)) if problem.joint else (np.zeros(X.shape[1]), 0.0)
    counts = SparseCounts(np.asarray(places, np.int64), np.asarray(counts, np.int64), problem.counts_shape(len(y)))
    case = Case("", X, y, None, problem, w, b, counts, True)
    value, error = core_of(case).bound_of_counts(as_matrix(X), counts.indices, counts.data)
    require_enclosed(truth_of(case).upper_bound, value, error)
    return value, error


def as_data(X):
    return X if isinstance(X, Csr) else np.asarray(X)


def lost(n, sign=1.0):
    """n products with weights of one: 1, and numbers that are all lost when they are added to it."""
    return np.array([1.0] + [sign * JUST_BELOW_U * (1 if sign > 0 else 0.5)] * (n - 1))


# -- scores


@pytest.mark.parametrize("C", [math.inf, 1.0, 1e40])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_score_may_lose_as_many_roundings_as_it_has_terms(C, loss, sign):
    """At the kink: the sum is 1, so that there is no slack, and the exact score is a little less (or more)."""
    loss = loss if math.isfinite(C) else "squared_hinge"
    X = np.array([lost(1000, sign), 1.5 * np.eye(1000)[0]])
    margin(binary(C, loss=loss), X, [1, 1], np.ones(1000))
    margin(binary(C, loss=loss), -X, [0, 0], np.ones(1000))


def test_the_intercept_is_a_term_like_any():
    """It is nearly all of the score, and the products are lost beside it."""
    margin(binary(1e8, rho=1.0), [[-JUST_BELOW_U / 2] * 3000], [1], np.ones(3000), 0.99)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_a_slack_is_off_by_what_its_score_is_off(loss):
    """The slack is about 0.01; its square is wrong by twice that times the error of the score."""
    X = np.array([lost(3000, -1) * 0.99])
    margin(binary(1e6, loss=loss), X, [1], np.ones(3000))


@pytest.mark.parametrize("C", [math.inf, 1e60])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_compensated_score_may_lose_the_square_of_its_roundings(C, loss, sign):
    """The score of numbers that cancel: as it is computed it is 0, or 1 where slacks begin, and the truth is not."""
    loss = loss if math.isfinite(C) else "squared_hinge"
    kink = [1.0] if math.isfinite(C) else []
    for n in (100, 3000):
        products = np.array([*(sign * x for x in sums_that_cancel(n)), *kink])
        compensated_margin(binary(C, loss=loss), [products], [1], np.ones(len(products)))
        compensated_margin(binary(C, loss=loss), [-products], [0], np.ones(len(products)))


def test_what_plain_slacks_publish_is_confirmed_by_compensated_ones():
    """A score far below its slack: all that is uncertain is the rounding of 1 - score, which both allow for."""
    X, y, counts = np.array([[1e-25]]), np.array([1]), SparseCounts(np.arange(1), np.ones(1, np.int64), (1,))
    for C in 1e10 * np.random.default_rng(0).uniform(1, 4, size=100):
        problem = binary(C, rho=1.0)
        core, matrix = problem.to_core(problem.sides(y, None)), as_matrix(X)
        certificate = certify(matrix, problem, core, core.digest(matrix), np.ones(1), 0.0, counts, epsilon=0.01)
        assert certificate.verify(X, y)


def test_products_that_vanish_are_accounted_for():
    """Each product is less than half the smallest double, but there are many of them, and the weights are short."""
    w = np.full(200, 2.0**-400)
    X = np.full((1, 200), -(2.0**-676) * 0.9)
    assert float(w[0] * X[0, 0]) == 0.0
    value, error = margin(binary(), X, [1], w)
    assert value == 0.0
    assert error > 0


def test_quotients_that_vanish_are_accounted_for():
    """Margins among the smallest doubles, where a rounding is not relative."""
    random = np.random.default_rng(0)
    for _ in range(50):
        w = random.uniform(1, 2, size=2) * 2.0**100
        margin(binary(), [[-random.uniform(1, 2) * 2.0**-1070, 0.0]], [1], w)


def test_the_length_of_weights_may_lose_as_many_roundings_as_it_has_terms():
    w = np.array([1.0] + [JUST_BELOW_ROOT_U] * 2000)
    far = 2 * np.eye(2001)[:1]
    margin(binary(), far, [1], w)
    margin(binary(1.0), far, [1], w)
    margin(binary(1.0, loss="hinge"), far, [1], w)
    margin(joint(2, 1.0), 4 * far, [0], [w, np.zeros(2001)])
    margin(joint(2), 4 * far, [0], [w, np.zeros(2001)])


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_losses_may_lose_as_many_roundings_as_there_are_rows(loss):
    """The first row has slack 1, all others slacks whose losses are just too small to be added to it."""
    slack = JUST_BELOW_U if loss == "hinge" else JUST_BELOW_ROOT_U
    X = np.array([[0.0]] + [[1 - slack]] * 2000)
    margin(binary(2.0**26, loss=loss), X, np.ones(2001, int), [1.0])


def test_a_soft_margin_beyond_the_range_of_squares_is_not_claimed():
    """Weights whose squares vanish, and losses that overflow: 0 is true of any soft margin."""
    X = _core.dense(np.array([[1e100]]))
    for problem, w in ((binary(1e-280), 1e-170), (binary(1e-280, loss="hinge"), 1e-170), (binary(1e289), -1.0)):
        assert problem.to_core(np.ones(1, np.int8)).margin_of_weights(X, np.array([w]), 0.0) == (0.0, 0.0)


def test_weights_without_length_have_no_margin():
    for w in (1.2 * 2.0**-537, 1e-130, 1e-170, 0.0, math.nan, math.inf):
        found = core_of(case_of_one_row(binary())).margin_of_weights(_core.dense(np.ones((1, 1))), np.array([w]), 0.0)
        assert found == (-math.inf, 0.0)


def case_of_one_row(problem):
    return Case("", np.ones((1, 1)), np.array([1]), None, problem, np.zeros(1), 0.0, NONE, True)


def test_no_rows_have_no_margin():
    problem = core_of(Case("", np.ones((1, 1)), np.array([1]), np.zeros(1), binary(), np.zeros(1), 0.0, NONE, True))
    assert problem.margin_of_weights(_core.dense(np.ones((1, 1))), np.ones(1), 0.0) == (-math.inf, 0.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("problem", [binary(), binary(1.0), binary(1.0, loss="hinge"), binary(1.0, free_bias=True)])
def test_what_is_not_finite_proves_nothing(problem, bad):
    core = problem.to_core(np.array([1, -1], np.int8))
    fine, broken = np.array([[2.0], [-2.0]]), np.array([[2.0], [bad]])
    places, counts = np.arange(2), np.ones(2, np.int64)
    assert core.margin_of_weights(_core.dense(broken), np.ones(1), 0.0) == (-math.inf, 0.0)
    assert core.margin_of_weights(_core.dense(fine), np.array([bad]), 0.0) == (-math.inf, 0.0)
    assert core.margin_of_weights(_core.dense(fine), np.ones(1), bad) == (-math.inf, 0.0)
    assert core.bound_of_counts(_core.dense(broken), places, counts) == (math.inf, 0.0)


def test_an_intercept_without_augmentation_has_no_margin():
    core = core_of(case_of_one_row(binary(1.0)))
    assert core.margin_of_weights(_core.dense(np.ones((1, 1))), np.ones(1), 1.0) == (-math.inf, 0.0)
    core = joint(2, 1.0).to_core(np.array([1], np.int32))
    assert core.margin_of_weights(_core.dense(np.ones((1, 1))), np.ones((2, 1)), np.ones(2)) == (-math.inf, 0.0)


# -- joint scores


def lossy_score(n):
    """A row and weights whose score is 0 as it is computed, and n U in truth."""
    return np.array([[1.0, *[JUST_BELOW_U] * n, 1.0]]), np.array([1.0] * (n + 1) + [-1.0])


@pytest.mark.parametrize("C", [math.inf, 1e6])
def test_both_scores_of_a_joint_margin_may_be_off(C):
    X, lossy = lossy_score(1000)
    margin(joint(2, C), X, [0], [0 * lossy, lossy])  # the wrong class scores more than it seems
    margin(joint(2, C), X, [0], [-lossy, 0 * lossy])  # the right one less


@pytest.mark.parametrize("C", [math.inf, 1e6])
def test_a_joint_margin_is_as_wrong_as_the_worst_of_its_differences(C):
    """Class 1 is nearest by the sums, nearly without error; in truth it is class 2, whose sum has lost much."""
    X, lossy = lossy_score(1000)
    nearest = np.where(np.arange(1002) == 0, 500 * U, 0.0)
    margin(joint(3, C), X, [0], [0 * lossy, nearest, lossy])
    margin(joint(3, C), X, [0], [0 * lossy, lossy, nearest])


# -- upper bounds


def test_the_length_of_a_sum_may_lose_as_many_roundings_as_it_has_terms():
    X = np.array([[1.0] + [JUST_BELOW_ROOT_U] * 2000])
    upper_bound(binary(), X, [1], [0], [1])
    upper_bound(joint(2), X, [1], [0], [1])


def test_the_length_of_a_joint_sum_may_lose_as_many_roundings_as_there_are_classes():
    """Two blocks have squares of 2^54, and 998 have squares of 1."""
    upper_bound(joint(1000), [[1.0]], [0], np.arange(1, 1000), [2**27] + [1] * 998)


def test_the_extension_may_lose_as_many_roundings_as_there_are_counts():
    """(11 / 2^30)² is just below u."""
    counts = np.array([2**30] + [11] * 2000)
    upper_bound(binary(1.0), np.zeros((2001, 1)), np.ones(2001, int), np.arange(2001), counts)
    upper_bound(joint(2, 1.0), np.zeros((2001, 1)), np.ones(2001, int), 2 * np.arange(2001), counts)


def sums_that_cancel(n):
    """Numbers that add up to nearly nothing: the compensation itself loses as much as n² u² of what was added."""
    half = n // 2
    low = half * JUST_BELOW_U  # what the compensation holds after them; it is nearly exact
    after = [math.ldexp(math.nextafter(0.5, 0), math.frexp(low)[1] - 53)] * half  # just less than half its last place
    return [1.0, *[JUST_BELOW_U] * half, *after, -1.0, -low]


@pytest.mark.parametrize("n", [100, 3000])
def test_compensated_sums_may_lose_the_square_of_their_roundings(n):
    numbers = sums_that_cancel(n)
    m = len(numbers)
    rows = Csr([[(0, x) for x in numbers]], 1, np.float64, np.int32)  # one row that repeats its column
    for problem in (binary(), binary(1e200, loss="hinge")):
        upper_bound(problem, np.array(numbers)[:, None], np.ones(m, int), np.arange(m), np.ones(m, int))
        upper_bound(problem, rows, [1], [0], [1])
    upper_bound(joint(2), np.array(numbers)[:, None], np.ones(m, int), 2 * np.arange(m), np.ones(m, int))


@pytest.mark.parametrize("n", [20, 32, 33, 5000, 70000])
def test_plain_sums_may_lose_as_many_roundings_as_a_part_has_rows(n):
    X = lost(n)[:, None]
    counts = SparseCounts(np.arange(n), np.ones(n, np.int64), (n,))
    case = Case("", X, np.ones(n, int), None, binary(), np.zeros(1), 0.0, counts, True)
    rows, core = _core.pack(as_matrix(X)), core_of(case)
    value, error = core.bound_of_counts(rows, counts.indices, counts.data, 0.5 / n)  # far enough from it
    require_enclosed(truth_of(case).upper_bound, value, error)
    _, compensated = core.bound_of_counts(rows, counts.indices, counts.data)
    assert compensated < error < 120 * 2 * U * value


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_products_are_added_exactly(dtype):
    counts = [2**51 - 1, 2**51 - 2]
    _, error = upper_bound(binary(), np.full((2, 1), 0.1, dtype), [1, 0], [0, 1], counts)
    assert error * sum(counts) < 1e-9
    value, error = upper_bound(
        binary(), np.array([[0.1], [0.3], [0.1]], dtype), [1, 1, 0], [0, 1, 2], [2**50, 1, 2**50]
    )
    assert error < 1e-9 * value


def test_squares_that_vanish_leave_a_length():
    for small in (5e-324, 1e-200, 1e-165):
        upper_bound(binary(), [[small]], [1], [0], [1])
        upper_bound(joint(3), [[small]], [1], [0], [1])


def test_an_overflow_proves_no_upper_bound():
    core = binary(1e-290 * 1.1).to_core(np.array([1, -1], np.int8))
    places = np.arange(2)
    assert core.bound_of_counts(_core.dense(np.ones((2, 1))), places, np.array([2**52, 2**52])) == (math.inf, 0.0)
    for problem in (binary(), binary(1.0), binary(1.0, loss="hinge")):
        core = problem.to_core(np.array([1, -1], np.int8))
        for x in (1e200, 1e308):
            X = _core.dense(np.array([[x, 1.0], [-x, 1.0]]))
            assert core.bound_of_counts(X, places, np.array([2**40, 2**40])) == (math.inf, 0.0)
    assert core.bound_of_counts(X, places, np.zeros(2, np.int64)) == (math.inf, 0.0)


def test_counts_that_are_none_are_refused():
    core = binary(1.0).to_core(np.array([1, -1, 0], np.int8))
    X = _core.dense(np.ones((3, 1)))
    for places, counts in (
        ([0, 1], [1, -1]),  # negative
        ([0, 1], [2**53, 1]),  # more than a double can count
        ([0, 0], [1, 1]),  # a row twice
        ([1, 0], [1, 1]),  # in another order
        ([0, 2], [1, 1]),  # a row that is left out
        ([0, 3], [1, 1]),  # a row that there is not
    ):
        with pytest.raises(ValueError, match="count"):
            core.bound_of_counts(X, np.array(places), np.array(counts))
    free = binary(1.0, free_bias=True).to_core(np.array([1, -1, 0], np.int8))
    with pytest.raises(ValueError, match="same sum"):
        free.bound_of_counts(X, np.array([0, 1]), np.array([2, 1]))
    core = joint(3, 1.0).to_core(np.array([1, 2, 0], np.int32))
    for places, counts in (([1, 2], [1, -1]), ([1, 1], [1, 1]), ([0], [1]), ([7], [1]), ([-1], [1]), ([9], [1])):
        with pytest.raises(ValueError, match="count"):
            core.bound_of_counts(X, np.array(places), np.array(counts))


# -- the hinge


@pytest.mark.parametrize("C", [0.1, 1.0, 7.3, 1e9])
def test_the_dual_value_of_the_hinge_is_enclosed(C):
    """Inside the box, and at its border, where the scale is rounded inward."""
    random = np.random.default_rng(1)
    for _ in range(50):
        X, y = random.normal(size=(4, 2)), [1, 0, 1, 0]
        upper_bound(binary(C, 1.0, loss="hinge"), X, y, np.arange(4), random.integers(1, 2**40, size=4))


def test_no_claim_passes_where_the_dual_value_of_the_hinge_overflows():
    """The sum of the rows vanishes as far as rounding can tell, and then the dual value is beyond all bounds."""
    X, y = np.array([[1.0, 1e-31], [1.0, -1e-31]]), np.array([1, 0])
    problem = binary(1e280, loss="hinge")
    core, matrix = problem.to_core(problem.sides(y, None)), as_matrix(X)
    counts = SparseCounts(np.arange(2), np.ones(2, np.int64), (2,))
    weights = np.array([0.0, 1e31])
    certificate = certify(matrix, problem, core, core.digest(matrix), weights, 0.0, counts, epsilon=0.01)
    assert certificate.verify(X, y)
    assert 1e-31 < certificate.upper_bound < 1e-20
    for claim in (1e-40, 0.0, -1.0, -math.inf, math.nan, 0.999e-31):
        assert dataclasses.replace(certificate, upper_bound=claim).verify(X, y).verdict == "not proven"


def test_the_box_of_the_hinge_holds():
    """A scale beyond C / n would prove more."""
    value, _ = upper_bound(binary(1.0, loss="hinge"), [[1e-3], [-1e-3]], [1, 0], [0, 1], [3, 1])
    assert value == pytest.approx(1 / math.sqrt(2 * (4 / 3 - (4e-3 / 3) ** 2 / 2)))


# -- rows that pass by


def online_bound(X, y, problem, *, passes=1, repeats=None):
    X, y = as_data(X), np.asarray(y)
    matrix = as_matrix(X)
    case = Case("", X, y, None, problem, np.zeros(X.shape[1]), 0.0, NONE, True)
    core = core_of(case)
    state = _core.OnlineState(X.shape[1], problem.rho, True)
    for _ in range(passes):
        state.present(matrix, core, repeats, 0.5)
    require_enclosed(bound_of_stream(case, core, matrix, state), *state.upper_bound())
    return state


def test_running_sums_may_lose_as_many_roundings_as_there_were_updates():
    """The first column makes every row an update; the second adds 1, then numbers that are lost."""
    n = 1000
    X = np.array([[0.0, 1.0], *[[(-1.0) ** k * 2.0**-30, JUST_BELOW_U] for k in range(n)]])
    y = np.array([1] + [k % 2 for k in range(n)])
    X[1:, 1] *= np.where(y[1:] == 1, 1, -1)
    X[1:, 0] = 0
    state = online_bound(np.vstack([X, [[0.0, 1.0]]]), np.append(y, 0), binary(1e-4))
    assert state.updates > n


def test_running_extensions_may_lose_as_many_roundings_as_there_were_updates():
    """Counts of a finished fit, which can be of any size."""
    n = 2000
    X, y, counts = np.zeros((n + 1, 1)), np.ones(n + 1, int), np.array([2**30] + [11] * n)
    case = Case("", X, y, None, binary(2.0**-900), np.zeros(1), 0.0, NONE, True)
    core, matrix, state = core_of(case), as_matrix(X), _core.OnlineState(1, 0.0, True)
    state.take_over(matrix, core, np.arange(n + 1), counts, core.row_keys(matrix), np.zeros(2))
    require_enclosed(bound_of_stream(case, core, matrix, state), *state.upper_bound())


def test_running_squares_vanish_and_overflow_like_any():
    online_bound([[1e-200]], [1], binary())
    n = 2000
    online_bound(np.array([[1.0] + [JUST_BELOW_ROOT_U] * n]), [1], binary())


def test_a_row_that_repeats_its_column_is_a_rounded_sum_by_itself():
    """Its canonical form is 0 up to rounding, and the bound knows what it was made of."""
    numbers = [1.0, *[JUST_BELOW_U] * 1000, -1.0]
    online_bound(Csr([[(0, x) for x in numbers], [(0, U)]], 1, np.float64, np.int32), [1, 1], binary())


# -- the arithmetic itself


@pytest.mark.skipif(platform.system() != "Linux", reason="sets the rounding mode through the C library of Linux")
def test_the_rounding_mode_of_the_thread_does_not_matter():
    libm = ctypes.CDLL("libm.so.6")
    upward = {"x86_64": 0x800, "aarch64": 0x400000}.get(platform.machine())
    if upward is None:
        pytest.skip("the number of the mode is not known here")
    X, y, w = np.array([lost(1000, -1)]), [1], np.ones(1000)
    before = margin(binary(1e40), X, y, w)
    cancelling = np.array(sums_that_cancel(100))[:, None]
    counts = [np.ones(len(cancelling), int), np.arange(len(cancelling)), np.ones(len(cancelling), np.int64)]
    bound_before = upper_bound(binary(), cancelling, *counts)
    core = binary(1e40).to_core(np.ones(1, np.int8))
    other = binary().to_core(np.ones(len(cancelling), np.int8))
    libm.fesetround(upward)
    try:
        after = core.margin_of_weights(_core.dense(X), w, 0.0)
        bound_after = other.bound_of_counts(_core.dense(cancelling), counts[1], counts[2])
        still = libm.fegetround()
    finally:
        libm.fesetround(0)
    assert (after, bound_after, still) == (before, bound_before, upward)


@pytest.mark.skipif(
    platform.system() != "Linux" or platform.machine() != "x86_64", reason="sets flags of x86-64 through glibc"
)
def test_denormals_count_even_where_the_thread_flushes_them():
    """As a library does that was built with -ffast-math, for the whole thread that loads it."""
    libm = ctypes.CDLL("libm.so.6")
    environment = (ctypes.c_uint32 * 8)()
    w, X = np.array([2.0**-400]), np.array([[-(2.0**-660)]])  # the score is denormal
    tiny = _core.dense(np.array([[-1e-40, 0], [0, 1]], np.float32))  # a value is: as a zero, it would prove too much
    core, of_two = binary().to_core(np.ones(1, np.int8)), binary(np.inf).to_core(np.ones(2, np.int8))
    before = core.margin_of_weights(_core.dense(X), w, 0.0)
    before_packed = of_two.margin_of_weights(_core.pack(tiny), np.ones(2), 0.0)
    libm.fegetenv(environment)
    mxcsr = environment[7]
    environment[7] = mxcsr | 0x8040
    libm.fesetenv(environment)
    try:
        after = core.margin_of_weights(_core.dense(X), w, 0.0)
        after_packed = of_two.margin_of_weights(_core.pack(tiny), np.ones(2), 0.0)
    finally:
        environment[7] = mxcsr
        libm.fesetenv(environment)
    assert (after, after_packed) == (before, before_packed)
    assert before[0] < 0
    assert before_packed[0] + before_packed[1] < 0


@pytest.mark.parametrize("b", [math.nan, math.inf])
def test_an_intercept_that_is_no_number_proves_nothing_even_without_rows(b):
    problem, left_out = binary(C=1.0, free_bias=True), np.zeros(2)
    core = problem.to_core(problem.sides(np.array([0, 1]), left_out), left_out)
    value, error = core.margin_of_weights(as_matrix(np.eye(2)), np.ones(2), b)
    assert (value, error) == (-math.inf, 0.0)


def test_every_mutation_of_the_proofs_has_its_place():
    """A term that was rewritten is not dropped by anybody any more."""
    for mutation in MUTATIONS:
        place = mutation.place.replace("«", "").replace("»", "")
        assert (ROOT / mutation.file).read_text(encoding="utf-8").count(place) == 1, mutation.place
