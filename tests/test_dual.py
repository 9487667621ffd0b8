"""The algorithms that also take back: DCD, MPU and decomposition."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference.optimum import best_soft_margin

from dynmargin import DCDClassifier, MPUClassifier

CLASSIFIERS = [DCDClassifier(), MPUClassifier(), MPUClassifier(schedule="paper", gap=2.0)]


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


@given(st.integers(0, 2**31), st.integers(2, 30), st.integers(1, 5), st.sampled_from(CLASSIFIERS))
@settings(max_examples=60)
def test_the_hard_margin_is_bracketed_too(seed, m, d, classifier):
    """Separable by construction, with a known lower bound of the best margin."""
    random = np.random.default_rng(seed)
    u = random.normal(size=d + 1)
    u /= np.linalg.norm(u)
    X = random.normal(size=(m, d))
    scores = X @ u[:-1] + u[-1]
    X, sides = X[abs(scores) > 0.1], np.sign(scores[abs(scores) > 0.1]).astype(np.int8)
    assume(len(set(sides)) == 2)
    known = (sides * (X @ u[:-1] + u[-1])).min()
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
    classifier = DCDClassifier(1e-15, stop="convergence", random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "own rule"
    assert not classifier.certificate_.achieved
    assert classifier.certificate_.gap < 1e-6
    assert not recwarn.list
