"""What the paper claims of margins and of ‖a‖/t, each on states in which the claim could fail.

Runs on small problems converge long before most of the claims begin to bite: PDM needs about a tenth of the updates
after which ‖a‖/t is certain to fall. So states are constructed, which is legitimate: any non-negative counts belong to
a perceptron that was presented with the patterns that often. Patterns are whole numbers and sums are exact.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference.optimum import best_soft_margin
from reference.patterns import extended_patterns

from dynmargin import PDMClassifier, PFMClassifier, theory

accuracies = st.sampled_from([Fraction(1, 20), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10), Fraction(1)])


@st.composite
def problems(draw):
    """Rows, sides, rho and Delta, all of them whole numbers."""
    m, d = draw(st.integers(2, 12)), draw(st.integers(1, 3))
    X = np.array(draw(st.lists(st.lists(st.integers(-4, 4), min_size=d, max_size=d), min_size=m, max_size=m)), float)
    sides = np.array(draw(st.lists(st.sampled_from([1, -1]), min_size=m, max_size=m)))
    assume(len(set(sides)) == 2)
    return X, sides, draw(st.sampled_from([1, 2, 5])), draw(st.sampled_from([1, 2, 4]))


def best_margin(problem, free_bias=False):
    X, sides, rho, delta = problem
    return best_soft_margin(X, sides, rho, 1 / delta**2, free_bias)


def patterns_of(problem):
    X, sides, rho, delta = problem
    return extended_patterns(X, sides, rho, delta).astype(np.int64)


def longest(Y):
    return math.sqrt((Y**2).sum(axis=1).max())


@st.composite
def states(draw):
    """Patterns and counts, not all of them zero, some of them far too large: ‖a‖/t is anything from gamma_d to R."""
    problem = draw(problems())
    Y = patterns_of(problem)
    counts = draw(st.lists(st.integers(0, 30), min_size=len(Y), max_size=len(Y)))
    assume(any(counts))
    return problem, Y, np.array(counts)


def squares(Y, counts):
    """‖a‖² and all a·y_k."""
    a = counts @ Y
    return int(a @ a), [int(p) for p in Y @ a]


@given(problems())
@settings(max_examples=50)
def test_the_best_geometric_margin_is_between_the_best_directional_one_and_r_over_rho_times_it(problem):
    ratio = best_margin(problem, free_bias=True) / best_margin(problem)
    bound = theory.margin_ratio_bound(longest(patterns_of(problem)), problem[2])
    assert 1 - 1e-9 <= ratio <= bound * (1 + 1e-9)


@pytest.mark.parametrize(("shift", "tight"), [(0.0, 0.999), (1.0, 0.99), (100.0, 0.99)])
def test_both_ends_of_the_ratio_are_reached(shift, tight):
    """Two points at shift ± g: gamma is g and gamma_d = g rho / sqrt(rho² + shift²)."""
    g, rho = 0.001, 1.0
    u = np.array([1.0, -shift / rho])
    gamma_d = (g / np.linalg.norm(u)).item()
    for x, side in ((shift + g, 1), (shift - g, -1)):
        assert side * (u @ [x, rho]) / np.linalg.norm(u) == pytest.approx(gamma_d)
    bound = theory.margin_ratio_bound(math.hypot(shift + g, rho), rho)
    assert tight * bound <= g / gamma_d <= bound * (1 + 1e-12)
    # As rho grows, the two margins become one.
    assert theory.margin_ratio_bound(math.hypot(shift + g, 1e6), 1e6) < 1 + 1e-7


@given(states())
@settings(max_examples=100)
def test_the_geometric_margin_of_a_state(state):
    (_, sides, rho, _), Y, counts = state
    a, bias = counts @ Y, rho * int(counts @ sides)
    norm2, products = squares(Y, counts)
    assume(norm2 > bias**2)
    found = theory.geometric_margin(min(products) / math.sqrt(norm2), math.sqrt(norm2), bias)
    without = np.delete(a, Y.shape[1] - len(Y) - 1)  # the augmented coordinate stands before the extension
    assert found == pytest.approx(min(products) / np.linalg.norm(without))


@given(problems())
@settings(max_examples=50)
def test_the_extension_provides_a_margin(problem):
    assert theory.extension_margin(problem[3], len(problem[0])) <= best_margin(problem) * (1 + 1e-9)


def test_the_extension_may_be_all_there_is():
    """Rows that are all the same, in classes of the same size, have nothing else to be told apart by."""
    X, sides = np.full((6, 2), 3.0), np.array([1, -1] * 3)
    assert best_margin((X, sides, 1, 2)) == pytest.approx(theory.extension_margin(2.0, 6))


@given(states(), st.data())
@settings(max_examples=100)
def test_equation_6(state, data):
    _, Y, counts = state
    k = data.draw(st.integers(0, len(Y) - 1))
    (before, products), t = squares(Y, counts), int(counts.sum())
    counts[k] += 1
    after, _ = squares(Y, counts)
    decrease = theory.bound_decrease(Fraction(before), Fraction(t), Fraction(products[k]), Fraction(int(Y[k] @ Y[k])))
    assert decrease == Fraction(before, t**2) - Fraction(after, (t + 1) ** 2)


def updates_that_lower_the_bound(state, epsilon):
    """Multiply counts until ‖a‖/t is certain to fall, try every pattern that a rule would add; count PDM's."""
    problem, Y, counts = state
    gamma_d = best_margin(problem) * (1 - 1e-9)
    start = theory.monotone_from(longest(Y), gamma_d, float(epsilon))
    counts = counts * math.ceil(start / counts.sum())
    (norm2, products), t, tried = squares(Y, counts), int(counts.sum()), 0
    assert t >= start
    for p, q in zip(products, (int(y @ y) for y in Y), strict=True):
        decrease = theory.bound_decrease(Fraction(norm2), Fraction(t), Fraction(p), Fraction(q))
        if p * t <= (1 - epsilon) * norm2:  # PDM's condition
            tried += 1
            least = theory.least_decrease(Fraction(norm2), Fraction(t), epsilon)
            assert decrease >= least >= epsilon * Fraction(gamma_d) ** 2 / (t + 1)
        if p <= 0 or p * p <= (1 - epsilon) ** 2 * Fraction(gamma_d) ** 2 * norm2:  # PFM's
            assert decrease > 0
    return tried


@given(states(), accuracies)
@settings(max_examples=100)
def test_the_bound_falls_with_every_update_from_some_point_on(state, epsilon):
    updates_that_lower_the_bound(state, epsilon)


def test_and_there_are_such_updates():
    """The claim above is about something: nearly all states have patterns that PDM would add."""
    tried = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        X, sides = random.integers(-4, 5, size=(10, 2)).astype(float), np.repeat([1, -1], 5)
        problem = (X, sides, 1, 1)
        tried.append(
            updates_that_lower_the_bound((problem, patterns_of(problem), random.integers(0, 30, 10)), Fraction(1, 4))
        )
    assert sum(count > 0 for count in tried) >= 38


@pytest.mark.parametrize(("length", "t"), [(10, 1), (10, 50), (30, 200)])
def test_before_that_point_the_bound_may_rise(length, t):
    """A long pattern at a right angle to a: PDM and PFM add it for every epsilon, and ‖a‖/t rises."""
    Y = np.array([[1, 0], [0, length]])
    gamma_d = length / math.hypot(1, length)
    assert t < theory.monotone_from(length, gamma_d, 0.5)
    norm2, products = squares(Y, np.array([t, 0]))
    assert products[1] == 0
    rises = theory.bound_decrease(norm2, t, 0, length**2) < 0
    assert rises == ((t**2 + length**2) / (t + 1) ** 2 > 1)
    assert rises == (length**2 > 2 * t + 1)


def test_it_rises_less_and_less_often_up_to_that_point():
    """A state of t equal updates, then a long pattern at a right angle: the claim needs its threshold."""
    rises = [theory.bound_decrease(t * t, t, 0, 900) < 0 for t in range(1, 1000)]
    assert rises[0]
    assert not rises[-1]
    assert rises == sorted(rises, reverse=True)
    assert sum(rises) < theory.monotone_from(30.0, 30 / math.hypot(1, 30), 0.5)


@given(states())
@settings(max_examples=100)
def test_the_effective_rate_is_between_gamma_d_over_r_and_one(state):
    problem, Y, counts = state
    R, (norm2, _) = longest(Y), squares(Y, counts)
    rate = theory.effective_rate(math.sqrt(norm2), R, int(counts.sum()))
    assert best_margin(problem) / R * (1 - 1e-9) <= rate <= 1 + 1e-12


@given(problems(), st.sampled_from([0.05, 0.25, 0.5, 0.9]), st.sampled_from([None, 8]))
@settings(max_examples=60)
def test_the_effective_rate_at_convergence(problem, epsilon, eta):
    """The first state has a rate of ‖y‖/R, which is above the bound except where the classes are far apart."""
    X, sides, rho, delta = problem
    run = PDMClassifier(
        epsilon, C=1 / (2 * delta**2), intercept_scaling=rho, stop="convergence", schedule="paper", eta=eta
    ).fit(X, sides)
    gamma_d, Y = best_margin(problem), patterns_of(problem)
    R, counts = longest(Y), run.certificate_.counts.toarray()
    bound = theory.converged_rate_bound(R, gamma_d, epsilon)
    norm = math.sqrt(squares(Y, counts)[0])
    assert theory.effective_rate(norm, R, int(counts.sum())) < bound * (1 + 1e-9)
    assert run.certificate_.directional_margin > (1 - epsilon) * norm / counts.sum() * (1 - 1e-12)


def test_a_run_that_has_not_converged_is_above_that_rate():
    X, sides = np.array([[3.0], [2.0], [-1.0], [1.0]]), np.array([1, 1, -1, -1])
    Y, gamma_d = patterns_of((X, sides, 1, 1)), best_margin((X, sides, 1, 1))
    bound = theory.converged_rate_bound(longest(Y), gamma_d, 0.5)
    assert all(theory.effective_rate(np.linalg.norm(y), longest(Y), 1) > bound for y in Y)


@given(states())
@settings(max_examples=100)
def test_the_after_run_estimate_bounds_the_true_deviation_of_any_state(state):
    """Equation 5, and the abstract's upper bound, equation 4, with it."""
    problem, Y, counts = state
    gamma_d, (norm2, products) = best_margin(problem), squares(Y, counts)
    margin, norm, t = min(products) / math.sqrt(norm2), math.sqrt(norm2), int(counts.sum())
    assert gamma_d <= norm / t * (1 + 1e-9)
    if margin >= 0:  # as it is when a run has converged
        assert (gamma_d - margin) / gamma_d <= theory.after_run_accuracy(margin, norm, t) + 1e-9


@given(states(), accuracies, accuracies)
@settings(max_examples=100)
def test_a_run_with_a_larger_epsilon_is_a_part_of_one_with_a_smaller_one(state, first, second):
    """Whoever is misclassified under the larger accuracy is under the smaller one: the ground of PDM-succ."""
    _, Y, counts = state
    large, small = max(first, second), min(first, second)
    norm2, products = squares(Y, counts)
    t = int(counts.sum())
    assert all(p * t <= (1 - small) * norm2 for p in products if p * t <= (1 - large) * norm2)


@given(states(), accuracies)
@settings(max_examples=60)
def test_pfms_condition_implies_pdms(state, epsilon):
    """The remark after Theorem 2: its bound holds for PFM because ‖a‖/t is never below gamma_d."""
    problem, Y, counts = state
    gamma_d = Fraction(best_margin(problem)) * (1 - Fraction(1, 10**9))
    norm2, products = squares(Y, counts)
    t = int(counts.sum())
    fixed = [p for p in products if p <= 0 or p * p <= ((1 - epsilon) * gamma_d) ** 2 * norm2]
    assert all(p * t <= (1 - epsilon) * norm2 for p in fixed)


def test_a_margin_that_does_not_exist_keeps_pfm_from_converging():
    """Its obvious defect: beta has to be below gamma_d. PDM needs no such number."""
    X, sides = np.array([[3.0], [2.0], [-1.0], [1.0]]), np.array([1, 1, -1, -1])
    gamma_d = best_margin((X, sides, 1, 1))
    assert PFMClassifier(beta=0.999 * gamma_d, C=0.5, stop="convergence").fit(X, sides).stop_reason_ == "converged"
    assert PFMClassifier(beta=1.001 * gamma_d, C=0.5, stop="convergence").fit(X, sides).stop_reason_ == "infeasible"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: theory.geometric_margin(1.0, 1.0, 1.0),
        lambda: theory.geometric_margin(1.0, math.nan, 0.0),
        lambda: theory.margin_ratio_bound(1.0, 2.0),
        lambda: theory.margin_ratio_bound(math.nan, 1.0),
        lambda: theory.extension_margin(-1.0, 3),
        lambda: theory.extension_margin(math.nan, 3),
        lambda: theory.bound_decrease(1.0, 0, 0.0, 1.0),
        lambda: theory.least_decrease(1.0, math.nan, 0.5),
        lambda: theory.effective_rate(1.0, 0.0, 1),
        lambda: theory.monotone_from(1.0, 2.0, 0.5),
        lambda: theory.converged_rate_bound(1.0, 0.5, 0.0),
    ],
)
def test_impossible_arguments_are_refused(wrong):
    with pytest.raises(ValueError, match=r"must|needed|there is no"):
        wrong()
