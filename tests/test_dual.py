"""The algorithms that also take back: DCD, MPU and decomposition."""

import lzma

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference.optimum import best_soft_margin
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from strategies import separable_problems

from dynmargin import DCDClassifier, DecompositionSVMClassifier, MPUClassifier, NewtonClassifier

CLASSIFIERS = [DCDClassifier(), MPUClassifier(), MPUClassifier(schedule="paper", dead_zone=2.0)]


def random_problem(seed, weighted=False):
    random = np.random.default_rng(seed)
    X = random.normal(size=(random.integers(4, 60), random.integers(1, 6))) * 10.0 ** random.integers(-2, 2)
    sides = np.where(X[:, 0] + X.std() * random.normal(size=len(X)) > 0, 1, -1).astype(np.int8)
    assume(len(set(sides)) == 2)
    return X, sides, random.exponential(size=len(sides)) if weighted else np.ones(len(sides))


@given(
    st.integers(0, 2**31),
    st.sampled_from([0.01, 1.0, 30.0]),
    st.sampled_from([0.0, 1.0, 5.0]),
    st.booleans(),
    st.sampled_from([0.3, 0.01, 1e-4]),
    st.sampled_from(CLASSIFIERS),
)
@settings(max_examples=200)
def test_the_best_margin_is_bracketed(seed, C, rho, weighted, epsilon, classifier):
    X, sides, weight = random_problem(seed, weighted)
    classifier.set_params(C=C, epsilon=epsilon, fit_intercept=rho > 0, intercept_scaling=rho or 1.0, random_state=0)
    certificate = classifier.fit(X, sides, sample_weight=weight).certificate_
    best = best_soft_margin(X, sides, rho, 2 * C * weight)
    assert certificate.achieved
    assert classifier.stop_reason_ == "certificate"
    assert certificate.margin <= best * (1 + 1e-9)
    assert certificate.upper_bound >= best * (1 - 1e-9)
    assert certificate.directional_margin <= best * (1 + 1e-9)
    assert certificate.verify(X, sides, sample_weight=weight)


@given(separable_problems(), st.sampled_from(CLASSIFIERS))
@settings(max_examples=60)
def test_the_hard_margin_is_bracketed_too(problem, classifier):
    X, sides, known = problem
    certificate = (
        classifier.set_params(C=np.inf, epsilon=0.01, fit_intercept=True, intercept_scaling=1.0, random_state=0)
        .fit(X, sides)
        .certificate_
    )
    assert certificate.achieved
    assert certificate.upper_bound >= known
    assert certificate.margin >= 0.99 * known
    assert certificate.verify(X, sides)


def test_its_own_rule_may_end_it_above_epsilon(breast_cancer, recwarn):
    X, y = breast_cancer
    classifier = DCDClassifier(0.5, stop="convergence", random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "converged"
    # Less than doubles can prove.
    classifier = DCDClassifier(1e-14, loss="hinge", stop="convergence", random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "own_rule"
    assert not classifier.certificate_.achieved
    assert classifier.certificate_.gap < 1e-6
    assert not recwarn.list


@pytest.mark.parametrize("classifier", [DCDClassifier(), MPUClassifier(), DecompositionSVMClassifier()])
@pytest.mark.parametrize("updates", [1, 7, 500])
def test_limits_are_kept_and_leave_a_certificate(classifier, updates, breast_cancer):
    X, y = breast_cancer
    classifier.set_params(epsilon=1e-12, max_updates=updates, max_time=None, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_updates"):
        classifier.fit(X, y)
    assert classifier.n_updates_ == updates
    assert classifier.certificate_.verify(X, y)
    classifier.set_params(max_updates=None, max_time=1e-9)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        classifier.fit(X, y)
    assert classifier.certificate_.verify(X, y)


@pytest.mark.parametrize("classifier", [DCDClassifier(), MPUClassifier()])
def test_classes_that_cannot_be_separated_are_reported(classifier):
    X, y = np.array([[1.0], [1.0], [2.0], [0.0]]), [0, 1, 1, 0]
    classifier.set_params(C=np.inf, epsilon=0.01, fit_intercept=True, intercept_scaling=1.0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="not separable"):
        assert classifier.fit(X, y).stop_reason_ == "inseparable"


def test_patterns_of_length_zero_end_the_hard_margin():
    X, y = np.array([[0.0], [1.0], [-1.0]]), [1, 1, 0]
    for classifier in (DCDClassifier(C=np.inf, fit_intercept=False), MPUClassifier(C=np.inf, fit_intercept=False)):
        with pytest.warns(ConvergenceWarning, match="not separable"):
            classifier.fit(X, y)


def test_tiny_data_is_no_obstacle(rng):
    """The best dual weights are as large as 1 / margin²."""
    X, y = np.r_[rng.normal(size=(20, 3)) + 3, rng.normal(size=(20, 3)) - 3] * 1e-12, np.repeat([0, 1], 20)
    for classifier in (DCDClassifier(C=np.inf, fit_intercept=False), MPUClassifier(C=np.inf, fit_intercept=False)):
        assert classifier.fit(X, y).certificate_.achieved
        assert classifier.certificate_.verify(X, y)


@pytest.mark.parametrize(
    ("file", "n_features", "best"), [("adult/a9a.xz", 123, 85.295e-4), ("web/w8a.xz", 300, 211.033e-4)]
)
def test_the_papers_data_are_certified(file, n_features, best, data_dir):
    """Delta = 1, rho = 1."""
    with lzma.open(data_dir / file) as opened:
        X, y = load_svmlight_file(opened, n_features=n_features)
    for classifier in (DCDClassifier(C=0.5, random_state=0), MPUClassifier(C=0.5, random_state=0)):
        certificate = classifier.fit(X, y).certificate_
        assert certificate.achieved
        assert 0.99 * best < certificate.margin < best * (1 + 1e-4)
        assert certificate.upper_bound > best * (1 - 1e-5)
        assert certificate.verify(X, y)


def test_the_geometric_margin_of_adult_is_certified(data_dir):
    """Of 5,000 rows: all of them take half a minute. With a large constant feature the intercept is all but free."""
    with lzma.open(data_dir / "adult/a9a.xz") as opened:
        X, y = load_svmlight_file(opened, n_features=123)
    X, y = X[:5000], y[:5000]
    free = NewtonClassifier(1e-5, C=0.5, intercept_scaling=1000.0, random_state=0).fit(X, y).certificate_
    certificate = DecompositionSVMClassifier(C=0.5, random_state=0).fit(X, y).certificate_
    assert certificate.achieved
    assert 0.99 * free.margin < certificate.margin < free.upper_bound * (1 + 1e-4)
    assert certificate.upper_bound > free.margin * (1 - 1e-5)
    assert certificate.verify(X, y)
