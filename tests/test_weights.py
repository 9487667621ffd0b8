"""An integer weight is a repeated row, a zero weight a row left out, a class weight what LIBLINEAR makes of it."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference.optimum import best_soft_margin
from sklearn.svm import LinearSVC

from dynmargin import PDMClassifier, PFMClassifier


@st.composite
def weighted(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    X = random.normal(size=(draw(st.integers(4, 25)), draw(st.integers(1, 4))))
    y = (X[:, 0] + random.normal(size=len(X)) > 0).astype(int)
    weight = random.integers(0, 4, size=len(X))
    assume(len(set(y[weight > 0])) == 2)
    return X, y, weight


@pytest.mark.parametrize("classifier", [PDMClassifier(0.02), PDMClassifier(0.02, eta=8), PFMClassifier(epsilon=0.02)])
@given(weighted())
@settings(max_examples=40)
def test_weighted_and_repeated_fits_have_overlapping_certificates(classifier, problem):
    """Both certificates bracket the same best margin, so neither margin can exceed the other's upper bound."""
    X, y, weight = problem
    one = classifier.set_params(random_state=0).fit(X, y, sample_weight=weight).certificate_
    two = classifier.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).certificate_
    assert one.margin <= two.upper_bound
    assert two.margin <= one.upper_bound
    kept = weight > 0
    best = best_soft_margin(X[kept], np.where(y[kept] == 1, 1, -1), 1.0, 2.0 * weight[kept])
    assert one.margin <= best * (1 + 1e-9)
    assert one.upper_bound >= best * (1 - 1e-9)
    assert one.verify(X, y, sample_weight=weight)


@given(weighted())
@settings(max_examples=30)
def test_a_row_of_zero_weight_is_left_out(problem):
    X, y, weight = problem
    kept = weight > 0
    with_zeros = PDMClassifier(random_state=0).fit(X, y, sample_weight=weight)
    without = PDMClassifier(random_state=0).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert np.array_equal(with_zeros.coef_, without.coef_)
    assert with_zeros.certificate_.upper_bound == without.certificate_.upper_bound
    assert kept[with_zeros.support_].all()


def test_class_weights_are_those_of_linear_svc(digits):
    X, y = digits
    X, y = X[y < 3], y[y < 3]
    for labels, class_weight in ((2, {0: 0.05, 1: 3.0}), (2, "balanced"), (3, {0: 0.05, 1: 3.0, 2: 1.0})):
        rows = y < labels
        ours = PDMClassifier(1e-5, C=0.1, class_weight=class_weight, random_state=0).fit(X[rows], y[rows])
        theirs = LinearSVC(C=0.1, class_weight=class_weight, tol=1e-9, max_iter=10**6).fit(X[rows], y[rows])
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.01 * np.abs(theirs.coef_).max())


def test_sample_weights_are_those_of_linear_svc(breast_cancer, rng):
    X, y = breast_cancer
    weight = rng.exponential(size=len(y))
    ours = PDMClassifier(1e-4, C=0.1, random_state=0).fit(X, y, sample_weight=weight)
    theirs = LinearSVC(C=0.1, tol=1e-9, max_iter=10**6).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.02 * np.abs(theirs.coef_).max())


def test_balanced_counts_repeated_rows(breast_cancer, rng):
    X, y = breast_cancer
    weight = np.where(y == 1, 5, 1)
    weighted = PDMClassifier(0.01, class_weight="balanced", random_state=0).fit(X, y, sample_weight=weight).certificate_
    repeated = PDMClassifier(0.01, class_weight="balanced", random_state=0)
    repeated = repeated.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).certificate_
    assert weighted.problem == repeated.problem
    assert weighted.margin <= repeated.upper_bound
    assert repeated.margin <= weighted.upper_bound
