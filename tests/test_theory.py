"""The paper's bounds, against the inequalities they come from and against runs."""

import inspect
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference.patterns import extended_patterns

from dynmargin import PDMClassifier, PFMClassifier, theory
from dynmargin.theory import (
    after_run_accuracy,
    alma_update_bound,
    lemma_bound,
    margitron_threshold,
    pdm_update_bound,
    pfm_update_bound,
    romma_update_bound,
    successive_update_bound,
)


@given(st.floats(1e-3, 1e6), st.floats(-5, 10), st.floats(0, 1))
def test_lemma(delta, C, position):
    """No t above the bound satisfies the inequality: the left side minus the right one grows from there on."""
    assume(delta > math.exp(-C) * 1.001)
    t0 = lemma_bound(delta, C)
    assert t0 >= delta * (1 + C + math.log(t0)) * (1 - 1e-12)
    t = t0 * (1 + 10 * position)
    assert t >= delta * (1 + C + math.log(t)) * (1 - 1e-12)


def test_values_worked_out_by_hand():
    """R / gamma_d = 10; the bound of Theorem 2 is not monotone around 1/2."""
    for epsilon, expected in ((0.49, 1067), (0.499, 1220), (0.5, 810), (0.501, 1170), (0.51, 877)):
        assert pdm_update_bound(10.0, 1.0, epsilon) == pytest.approx(expected, abs=1)
    assert pdm_update_bound(1.0, 1e-3, 0.001) == math.inf
    assert after_run_accuracy(0.9, 10.0, 10) == pytest.approx(0.1)


@pytest.mark.parametrize("wrong", [(1.0, 2.0, 0.1), (1.0, 0.0, 0.1), (1.0, 0.5, 0.0), (1.0, 0.5, 1.1)])
def test_impossible_arguments_are_refused(wrong):
    for bound in (pfm_update_bound, pdm_update_bound, romma_update_bound, alma_update_bound, margitron_threshold):
        with pytest.raises(ValueError, match=r"needed|must be"):
            bound(*wrong)
    with pytest.raises(ValueError, match="delta"):
        lemma_bound(0.1, 0.0)
    with pytest.raises(ValueError, match="eta"):
        successive_update_bound(2.0, 1.0, 0.5, 1.0, 10)


@st.composite
def soft_problems(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    X = random.normal(size=(draw(st.integers(4, 20)), draw(st.integers(1, 4))))
    sides = np.where(X[:, 0] + random.normal(size=len(X)) > 0, 1, -1)
    assume(len(set(sides)) == 2)
    return X, sides, draw(st.sampled_from([0.3, 1.0, 3.0]))


def lengths(X, sides, delta):
    """R, and a gamma_d that is certainly not too large, as it makes the bounds only larger."""
    R = np.linalg.norm(extended_patterns(X, sides, 1.0, delta), axis=1).max()
    best = PDMClassifier(1e-3, C=1 / (2 * delta**2), random_state=0).fit(X, sides).certificate_
    return R, best.margin


@given(soft_problems(), st.sampled_from([0.05, 0.2, 0.4, 0.5, 0.7, 1.0]), st.sampled_from(["paper", "fast"]))
@settings(max_examples=60)
def test_pdm_never_makes_more_updates_than_theorem_2_allows(problem, epsilon, schedule):
    X, sides, delta = problem
    R, gamma_d = lengths(X, sides, delta)
    run = PDMClassifier(epsilon, C=1 / (2 * delta**2), stop="convergence", schedule=schedule, random_state=0)
    run.fit(X, sides)
    assert run.stop_reason_ == "converged"
    assert run.n_updates_ <= pdm_update_bound(R, gamma_d, epsilon)


@given(soft_problems(), st.sampled_from([0.05, 0.2, 0.5, 0.8]))
@settings(max_examples=60)
def test_pfm_never_makes_more_updates_than_theorem_1_and_2_allow(problem, epsilon):
    X, sides, delta = problem
    R, gamma_d = lengths(X, sides, delta)
    run = PFMClassifier(beta=(1 - epsilon) * gamma_d, C=1 / (2 * delta**2), stop="convergence", random_state=0).fit(
        X, sides
    )
    assert run.stop_reason_ == "converged"
    assert run.n_updates_ <= pfm_update_bound(R, gamma_d, epsilon)
    assert run.n_updates_ <= pdm_update_bound(R, gamma_d, epsilon)


@given(soft_problems(), st.sampled_from([2.0, 8.0]))
@settings(max_examples=40)
def test_successive_runs_keep_to_their_step_bound(problem, eta):
    """With eta, the run at 1/2 comes first and is carried over: its updates bound those of the next one."""
    X, sides, delta = problem
    R, gamma_d = lengths(X, sides, delta)
    common = {"C": 1 / (2 * delta**2), "stop": "convergence", "schedule": "paper", "random_state": 0}
    stages = [0.5, 0.5 / eta, 0.5 / eta**2]
    updates = [PDMClassifier(epsilon, eta=eta, **common).fit(X, sides).n_updates_ for epsilon in stages]
    assert updates == sorted(updates)  # the same run, carried on
    for n in (0, 1):
        assert updates[n + 1] <= successive_update_bound(R, gamma_d, stages[n], eta, updates[n])


def test_the_after_run_estimate_is_the_gap(breast_cancer):
    X, y = breast_cancer
    certificate = PDMClassifier(0.05, stop="convergence", random_state=0).fit(X, y).certificate_
    t = certificate.counts.sum()
    estimate = after_run_accuracy(certificate.directional_margin, certificate.upper_bound * t, t)
    assert certificate.gap <= estimate < 0.05


@pytest.mark.parametrize("name", theory.__all__)
def test_arrays_are_taken_element_by_element(name):
    function = getattr(theory, name)
    arguments = {
        **{"R": 10.0, "gamma_d": 1.0, "epsilon": 0.25, "delta": 0.5, "C": 2.0, "eta": 2.0, "updates": 50, "b": 2.0},
        **{"alpha": 0.5, "gamma_bound": 1.0, "margin": 0.5, "norm": 60.0, "bias": 3.0, "directional_margin": 0.4},
        **{"rho": 2.0, "rows": 9, "norm2": 90.0, "product": -1.0, "pattern_norm2": 3.0, "N": 4.0, "alpha_N": 1.0},
        **{"K": 100.0, "growth": "norm"},
    }
    known = {one: arguments[one] for one in inspect.signature(function).parameters}
    first = next(iter(known))
    values = known[first] * np.array([[1.0], [1.25], [1.5]])
    expected = [[function(**{**known, first: value.item()}) for value in row] for row in values]
    found = function(**{**known, first: values})
    assert found.dtype == np.float64
    assert found.tolist() == expected
    assert type(function(**known)) is float
    assert np.array_equal(function(values.tolist(), *list(known.values())[1:]), found)
