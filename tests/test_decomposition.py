"""The decomposition SVM: the geometric margin, with a certificate that needs balanced counts."""

from dataclasses import replace

import numpy as np
import pytest
from forgery import reforged
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference.decomposition import solve_pairs, working_set
from reference.optimum import best_soft_margin
from reference.patterns import extended_patterns
from sklearn.svm import SVC

from dynmargin import DecompositionSVMClassifier, SparseCounts, _core
from dynmargin.certificate.counts import balance


def random_problem(seed, weighted=False):
    random = np.random.default_rng(seed)
    X = random.normal(size=(random.integers(4, 60), random.integers(1, 6))) + 3 * random.normal()
    sides = np.where(X[:, 0] - X[:, 0].mean() + random.normal(size=len(X)) > 0, 1, -1).astype(np.int8)
    assume(len(set(sides)) == 2)
    return X, sides, random.exponential(size=len(sides)) if weighted else np.ones(len(sides))


@given(st.integers(0, 2**31), st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=50, deadline=None)
def test_every_iteration_solves_the_steepest_working_set(seed, C):
    """Rows of one set end with equal slopes, so which of them the next set takes is up to rounding; all else is not."""
    X, sides, _ = random_problem(seed)
    Y = extended_patterns(X, sides, 0.0, (1 / (2 * C)) ** 0.5)
    problem = _core.Problem(sides, 0.0, C, C, free_bias=True)
    trainer = _core.Decomposition(_core.pack(_core.dense(X)), problem, 0.0, 0.01, seed)
    before = trainer.dual_weights()
    for iteration in range(1, 15):
        trainer.advance(1.0, iteration)
        after = trainer.dual_weights()
        gradient = 1 - Y @ (before @ Y)
        slopes = sides * gradient
        highest, lowest = working_set(before, gradient, sides)
        if slopes[highest[0]] - slopes[lowest[0]] < 1e-4:  # gains are lost in rounding
            break
        changed = set(np.flatnonzero(after != before))
        assert 2 <= len(changed) <= 10
        for k in changed - {*highest, *lowest}:  # no steeper than those of the reference, no flatter either
            ties = np.abs(slopes[[highest[-1], lowest[-1]]] - slopes[k])
            assert ties.min() < 1e-9
        rows = list(dict.fromkeys([*highest, *lowest]))
        if changed <= set(rows):
            best = before.copy()
            best[rows] = solve_pairs(before[rows], gradient[rows], sides[rows], Y[rows] @ Y[rows].T)
            gain = objective(best, Y) - objective(before, Y)
            rounding = 1e-13 * (1 + before.sum())
            assert 0.99 * gain - rounding <= objective(after, Y) - objective(before, Y) <= gain + rounding
        assert abs(sides @ after) < 1e-9 * (1 + after.sum())
        before = after
    assert trainer.updates >= 1


def objective(alpha, Y):
    a = alpha @ Y
    return alpha.sum() - a @ a / 2


@given(st.integers(0, 2**31), st.sampled_from([0.01, 1.0, 30.0]), st.booleans(), st.sampled_from([0.3, 0.01, 1e-4]))
@settings(max_examples=100)
def test_the_best_geometric_margin_is_bracketed(seed, C, weighted, epsilon):
    X, sides, weight = random_problem(seed, weighted)
    classifier = DecompositionSVMClassifier(epsilon, C=C, random_state=0).fit(X, sides, sample_weight=weight)
    certificate = classifier.certificate_
    best = best_soft_margin(X, sides, 1.0, 2 * C * weight, free_bias=True)
    assert certificate.achieved
    assert certificate.margin <= best * (1 + 1e-9)
    assert certificate.upper_bound >= best * (1 - 1e-9)
    assert certificate.directional_margin <= best * (1 + 1e-9)
    assert certificate.verify(X, sides, sample_weight=weight)
    counts = certificate.counts.toarray()
    assert counts[sides > 0].sum() == counts[sides < 0].sum()


def test_the_hard_margin_is_that_of_a_kernel_svm(rng):
    X = rng.normal(size=(60, 3)) + 5
    sides = np.where(X[:, 0] > 5, 1, -1)
    X[:, 0] += 0.3 * sides
    theirs = SVC(kernel="linear", C=1e8, tol=1e-8).fit(X, sides)
    best = 1 / np.linalg.norm(theirs.coef_)  # to about five digits
    classifier = DecompositionSVMClassifier(1e-3, C=np.inf, random_state=0).fit(X, sides)
    certificate = classifier.certificate_
    assert certificate.achieved
    assert certificate.margin <= best * (1 + 1e-5)
    assert certificate.upper_bound >= best * (1 - 1e-5)
    assert certificate.verify(X, sides)
    assert (sides * classifier.decision_function(X)).min() == pytest.approx(1)


@pytest.fixture(scope="module")
def trained(breast_cancer):
    X, y = breast_cancer
    return X, y, DecompositionSVMClassifier(random_state=0).fit(X, y).certificate_


def test_unbalanced_counts_prove_nothing(trained):
    X, y, certificate = trained
    counts = certificate.counts
    more = SparseCounts(counts.indices, counts.data + (np.arange(counts.nnz) == 0), counts.shape)
    verification = reforged(certificate, counts=more).verify(X, y)
    assert verification.verdict == "not proven"
    assert "same sum" in verification.detail


def test_a_geometric_margin_is_not_a_directional_one(trained):
    X, y, certificate = trained
    for changes in ({"free_bias": False}, {"free_bias": False, "rho": 1.0}, {"rho": 1.0}):
        problem = replace(certificate.problem, **changes)
        assert replace(certificate, problem=problem).verify(X, y).verdict == "altered"
        assert reforged(certificate, problem=problem).verify(X, y).verdict == "not proven"


def test_shrinking_changes_nothing_in_the_end(rng):
    X = rng.normal(size=(3000, 5))
    sides = np.where(X[:, 0] + 0.3 * rng.normal(size=3000) > 0, 1, -1).astype(np.int8)
    trainer = _core.Decomposition(
        _core.pack(_core.dense(X)), _core.Problem(sides, 0.0, 1.0, 1.0, free_bias=True), 1e-3, 0.01, 0
    )
    fewest = 3000
    while trainer.advance(1.0) is not _core.Event.converged:
        fewest = min(fewest, trainer.n_active)
    assert fewest < 2000
    assert trainer.n_active == 3000
    bounds = trainer.check()
    best = best_soft_margin(X, sides, 1.0, 2.0, free_bias=True)
    assert bounds.margin == pytest.approx(best, rel=1e-3)
    assert bounds.upper_bound == pytest.approx(best, rel=1e-3)


def test_its_own_rule_may_end_it_above_epsilon(breast_cancer, recwarn):
    X, y = breast_cancer
    classifier = DecompositionSVMClassifier(0.1, stop="convergence", random_state=0).fit(X, y)
    assert classifier.stop_reason_ in ("converged", "own_rule")
    assert (classifier.stop_reason_ == "converged") == classifier.certificate_.achieved
    assert not recwarn.list


@given(st.lists(st.integers(0, 50), min_size=2, max_size=12), st.integers(0, 2**31))
def test_counts_are_balanced_by_taking_away(counts, seed):
    counts = np.array(counts)
    sides = np.random.default_rng(seed).choice(np.array([-1, 1], np.int8), len(counts))
    balanced = balance(counts, sides)
    assert (balanced * sides).sum() == 0
    assert ((balanced >= 0) & (balanced <= counts)).all()
    assert balanced.sum() == 2 * min(counts[sides > 0].sum(), counts[sides < 0].sum())
