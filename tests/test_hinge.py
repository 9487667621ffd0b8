"""The 1-norm soft margin: the certificate is the duality gap of that problem, and it is true in real arithmetic."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from forgery import reforged
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference.exact import dot, fractions
from reference.patterns import extended_patterns
from sklearn.svm import LinearSVC

from dynmargin import (
    DCDClassifier,
    MaxMarginClassifier,
    MaxMarginClassifierCV,
    MPUClassifier,
    PDMClassifier,
    SparseCounts,
    _core,
)

CLASSIFIERS = [DCDClassifier(loss="hinge"), MPUClassifier(loss="hinge")]


@st.composite
def problems(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    m, d = random.integers(2, 8), random.integers(1, 4)
    X = random.normal(size=(m, d)) * 10.0 ** random.integers(-2, 3, size=(m, d))
    return X, random.choice(np.array([-1, 1], np.int8), m), random.exponential(size=m), random


@given(problems(), st.sampled_from([0.1, 1.0, 7.3]), st.sampled_from([0.0, 1.0, 0.3]))
@settings(max_examples=200)
def test_the_objective_of_weights_is_enclosed(problem, C, rho):
    X, sides, weight, random = problem
    w, b = random.normal(size=X.shape[1]), random.normal() if rho else 0.0
    core = _core.Problem(sides, rho, C, C, weight, hinge=True)
    value, error = core.margin_of_weights(_core.dense(X), w, b)
    scores = [int(side) * (dot(fractions(w), fractions(x)) + Fraction(b)) for side, x in zip(sides, X, strict=True)]
    twice = dot(fractions(w), fractions(w)) + ((Fraction(b) / Fraction(rho)) ** 2 if rho else 0)
    twice += 2 * Fraction(C) * dot(fractions(weight), [max(Fraction(0), 1 - s) for s in scores])
    assert Fraction(value - error) ** 2 * twice <= 1 <= Fraction(value + error) ** 2 * twice
    assert error <= 1e-12 * value


@given(problems(), st.sampled_from([0.1, 1.0, 1e6]), st.sampled_from([0.0, 1.0, 0.3]))
@settings(max_examples=200)
def test_the_dual_value_of_counts_is_enclosed(problem, C, rho):
    """The best scale within the box, in exact arithmetic."""
    X, sides, weight, random = problem
    counts = random.integers(0, 2**40, size=len(X)) * random.integers(0, 2, size=len(X))
    assume(counts.any())
    support = np.flatnonzero(counts)
    core = _core.Problem(sides, rho, C, C, weight, hinge=True)
    value, error = core.bound_of_counts(_core.dense(X), support, counts[support])
    signed = [int(n) * int(side) for n, side in zip(counts, sides, strict=True)]
    a = [sum((n * Fraction(float(x)) for n, x in zip(signed, column, strict=True)), Fraction(0)) for column in X.T]
    norm2, t = dot(a, a) + (sum(signed) * Fraction(rho)) ** 2, int(counts.sum())
    scale = min(Fraction(C) * Fraction(float(weight[k])) / int(counts[k]) for k in support)
    scale = min(scale, t / norm2) if norm2 else scale
    dual = scale * t - scale**2 * norm2 / 2
    assert Fraction(value - error) ** 2 * 2 * dual <= 1 <= Fraction(value + error) ** 2 * 2 * dual
    assert error <= 1e-10 * value


def objective(classifier, X, sides, C, rho, weight):
    w, b = classifier.coef_[0], classifier.intercept_[0]
    slacks = np.maximum(0, 1 - sides * (X @ w + b))
    return w @ w / 2 + (b / rho) ** 2 / 2 + C * weight @ slacks


@given(
    st.integers(0, 2**31),
    st.sampled_from([0.01, 1.0, 30.0]),
    st.sampled_from([1.0, 5.0]),
    st.booleans(),
    st.sampled_from([0.3, 0.01]),
    st.sampled_from(CLASSIFIERS),
)
@settings(max_examples=100)
def test_the_best_objective_is_bracketed(seed, C, rho, weighted, epsilon, classifier):
    random = np.random.default_rng(seed)
    X = random.normal(size=(random.integers(4, 40), random.integers(1, 6)))
    sides = np.where(X[:, 0] + random.normal(size=len(X)) > 0, 1, -1)
    assume(len(set(sides)) == 2)
    weight = random.exponential(size=len(sides)) if weighted else np.ones(len(sides))
    classifier.set_params(C=C, epsilon=epsilon, intercept_scaling=rho, random_state=0)
    certificate = classifier.fit(X, sides, sample_weight=weight).certificate_
    theirs = LinearSVC(loss="hinge", C=C, intercept_scaling=rho, tol=1e-6, max_iter=10**6, random_state=0)
    best = objective(theirs.fit(X, sides, sample_weight=weight), X, sides, C, rho, weight)
    assert certificate.loss == "hinge"
    assert certificate.achieved
    assert certificate.verify(X, sides, sample_weight=weight)
    assert certificate.primal == pytest.approx(objective(classifier, X, sides, C, rho, weight))
    assert certificate.dual <= best * (1 + 1e-12)
    assert certificate.primal >= best * (1 - 1e-4)  # theirs may be a little above the best
    assert certificate.dual >= (1 - epsilon) ** 2 * certificate.primal * (1 - 1e-12)
    assert certificate.duality_gap == pytest.approx(certificate.primal - certificate.dual)
    alphas = classifier.dual_coef_[0] * sides[classifier.support_]
    assert (alphas >= 0).all()
    assert (alphas <= C * weight[classifier.support_] * (1 + 1e-9)).all()


def test_the_hinge_without_slacks_is_the_squared_hinge(rng):
    """On the explicitly extended data a hard margin is the 2-norm soft margin; so is the hinge with a price too high to
    pay."""
    X, sides = rng.normal(size=(40, 3)), np.where(rng.normal(size=40) > 0, 1, -1)
    explicit = sides[:, None] * extended_patterns(X, sides, 1.0, 1.0)
    for make in (DCDClassifier, MPUClassifier, PDMClassifier):
        soft = make(1e-3, C=0.5, random_state=0).fit(X, sides).certificate_
        loss = {} if make is PDMClassifier else {"loss": "hinge"}
        hard = make(1e-3, C=np.inf, fit_intercept=False, random_state=0, **loss).fit(explicit, sides).certificate_
        assert hard.loss == "squared_hinge"
        assert hard.margin == pytest.approx(soft.margin, rel=1e-3)
        assert hard.upper_bound == pytest.approx(soft.upper_bound, rel=1e-3)
    expensive = DCDClassifier(1e-3, C=1e4, loss="hinge", fit_intercept=False, random_state=0).fit(explicit, sides)
    assert expensive.certificate_.achieved
    assert expensive.certificate_.margin == pytest.approx(soft.margin, rel=1e-3)


@pytest.fixture(scope="module")
def trained(breast_cancer):
    X, y = breast_cancer
    return X, y, DCDClassifier(loss="hinge", random_state=0).fit(X, y).certificate_


def test_the_text_names_the_duality_gap(trained):
    X, y, certificate = trained
    assert str(certificate).startswith("hinge objective")
    assert "hinge objective" in certificate.verify(X, y).detail


def test_a_forgery_is_found_out(trained):
    X, y, certificate = trained
    for changes in ({"loss": "squared_hinge"}, {"C_positive": 2.0}, {"C_negative": 0.5}, {"rho": 2.0}):
        problem = replace(certificate.problem, **changes)
        assert replace(certificate, problem=problem).verify(X, y).verdict == "altered"
    cheap = replace(certificate.problem, C_positive=0.5, C_negative=0.5)  # the box is smaller: the dual value falls
    assert reforged(certificate, problem=cheap).verify(X, y).verdict == "not proven"
    better = reforged(certificate, upper_bound=certificate.upper_bound * (1 - 1e-6))
    assert better.verify(X, y).verdict == "not proven"
    counts = certificate.counts
    heavy = SparseCounts(counts.indices, np.where(np.arange(counts.nnz) == 0, 2**50, counts.data // 4), counts.shape)
    assert reforged(certificate, counts=heavy).verify(X, y).verdict == "not proven"


def test_the_front_door_takes_the_hinge_to_an_algorithm_that_has_it(breast_cancer):
    X, y = breast_cancer
    chosen = MaxMarginClassifier(loss="hinge", random_state=0).fit(X, y)
    assert chosen.algorithm_ == "dcd: the loss is the hinge"
    assert chosen.certificate_.loss == chosen.to_sklearn().loss == "hinge"
    assert np.array_equal(chosen.coef_, DCDClassifier(loss="hinge", random_state=0).fit(X, y).coef_)
    asked = MaxMarginClassifier(loss="hinge", algorithm="dcd", random_state=0).fit(X, y)
    assert np.array_equal(chosen.coef_, asked.coef_)
    by_validation = MaxMarginClassifierCV(Cs=[0.1, 1.0], cv=3, loss="hinge", random_state=0).fit(X, y)
    assert by_validation.certificate_.loss == "hinge"
    assert by_validation.certificate_.verify(X, y)


@pytest.mark.parametrize("algorithm", ["newton", "pdm"])
@pytest.mark.parametrize("make", [MaxMarginClassifier, MaxMarginClassifierCV])
def test_the_front_door_refuses_the_hinge_where_an_algorithm_does_not_have_it(
    breast_cancer, make, algorithm, monkeypatch
):
    """Before anything is trained: PDM would never end."""
    monkeypatch.setattr("dynmargin.classifiers.cv.fit_folds", lambda *_: pytest.fail("the folds are trained"))
    with pytest.raises(ValueError, match=f"algorithm='{algorithm}' needs loss='squared_hinge'"):
        make(loss="hinge", algorithm=algorithm).fit(*breast_cancer)


def test_the_hinge_needs_a_price():
    with pytest.raises(ValueError, match="finite C"):
        _core.Problem(np.array([1, -1], np.int8), 1.0, np.inf, np.inf, hinge=True)
