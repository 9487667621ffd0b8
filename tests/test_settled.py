"""Settled predictions: those that no more training changes.

``python -m tests.settled`` checks as many small problems as one likes against exact optima.
"""

import dataclasses
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.ball import ball, hinge_ball
from settled.check import KINDS, run
from settled.optimum import exact_optimum
from sklearn.datasets import load_breast_cancer, load_iris

import dynmargin
from dynmargin import (
    DCDClassifier,
    DecompositionSVMClassifier,
    MaxMarginClassifier,
    NewtonClassifier,
    PDMClassifier,
    SparseCounts,
)
from dynmargin.certificate.certify import certify
from dynmargin.certificate.settled_share import percent
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.problems import BinaryProblem


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def test_no_row_is_settled_that_the_exact_optimum_predicts_otherwise():
    cases, _, settled, failures = run(0, 160)
    assert failures == []
    assert len(cases) == 2 * len(KINDS)
    assert all(settled[kind] for kind in cases)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["soft", "hinge", "hard"]))
def test_the_ball_is_that_of_the_formula_and_contains_the_optimum(seed, kind):
    random = np.random.default_rng(seed)
    m, d, rho = 6, 2, float(random.choice([0.5, 1.0, 4.0]))
    y = np.arange(m) % 2
    X = random.integers(-8, 9, size=(m, d)) / 4.0
    if kind == "hard":
        X[:, 0] = 10.0 * y - 5
    C = math.inf if kind == "hard" else float(random.choice([0.1, 1.0, 30.0]))
    problem = BinaryProblem(1, C, C, rho, "hinge" if kind == "hinge" else "squared_hinge", classes=(0, 1))
    sides, costs = problem.sides(y, None), np.full(m, C)
    exact, _ = exact_optimum(problem, X, y, None)
    optimum = np.array(exact[0], dtype=np.float64)
    w = optimum * (1 + 0.01 * random.normal()) + 0.01 * random.normal(size=d + 1)
    counts = random.integers(1, 1000, size=m)
    core, matrix = problem.to_core(sides), as_matrix(X)
    known = SparseCounts(np.arange(m), counts, (m,))
    found = certify(matrix, problem, core, core.digest(matrix), w[:d].copy(), w[d] * rho, known, epsilon=0.01).ball
    centre, radius = (hinge_ball if kind == "hinge" else ball)(X, sides, rho, costs, w, counts.astype(float))
    np.testing.assert_allclose(found.centre, centre[:d], rtol=1e-9, atol=1e-12)
    assert found.intercept == pytest.approx(centre[d] * rho, rel=1e-9, abs=1e-12)
    assert found.radius == pytest.approx(radius, rel=1e-6)
    assert np.linalg.norm(np.append(found.centre, found.intercept / rho) - optimum) <= found.radius


def test_more_training_settles_more_rows_and_changes_no_settled_prediction(cancer):
    X, y = cancer
    best = NewtonClassifier(1e-13).fit(X, y)
    assert best.settled(X).all()
    last = -1
    for epsilon in (0.1, 1e-3, 1e-5, 1e-8):
        classifier = DCDClassifier(epsilon, random_state=0).fit(X, y)
        settled = classifier.settled(X)
        assert (classifier.predict(X) == best.predict(X))[settled].all()
        low, high = classifier.decision_bounds(X)
        scores = best.decision_function(X)
        assert ((low <= scores) & (scores <= high)).all()
        assert settled.sum() >= last
        last = settled.sum()
    assert last == len(y)


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_several_classes(multi_class):
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0)
    classifier = PDMClassifier(1e-5, C=0.1, multi_class=multi_class, random_state=0).fit(X, y)
    low, high = classifier.decision_bounds(X)
    assert low.shape == high.shape == (150, 3)
    assert classifier.settled(X).mean() > 0.5
    assert classifier.settled(sp.csr_matrix(X)).mean() == classifier.settled(X).mean()


def test_gaps_of_1e_14_can_be_proven(cancer):
    X, y = cancer
    certificate = NewtonClassifier(1e-14).fit(X, y).certificate_
    assert certificate.gap <= 1e-14
    assert certificate.verify(X, y)


def test_repeated_columns_mean_their_sum(cancer):
    X, y = cancer
    classifier = NewtonClassifier(1e-9).fit(X, y)
    n, d = X.shape
    split = np.tile([3.0, -2.0], (n, d)) * np.repeat(X, 2, axis=1)  # 3 x - 2 x
    columns = np.tile(np.repeat(np.arange(d), 2), n)
    rows = sp.csr_matrix((split.ravel(), columns, np.arange(n + 1) * 2 * d), shape=(n, d))
    settled = classifier.settled(rows)
    assert settled.mean() > 0.9
    low, high = classifier.decision_bounds(rows)
    exact_low, exact_high = classifier.decision_bounds(X)
    assert ((low <= exact_low) & (exact_high <= high)).all()


def test_a_tampered_ball_is_not_proven(cancer):
    X, y = cancer
    certificate = MaxMarginClassifier(random_state=0).fit(X, y).certificate_
    honest = certificate.ball
    for lie in (
        dataclasses.replace(honest, radius=honest.radius * 0.999999),
        dataclasses.replace(honest, radius=math.nan),
        dataclasses.replace(honest, radius=-1.0),
        dataclasses.replace(honest, centre=honest.centre + 1e-6),
        dataclasses.replace(honest, centre=honest.centre[:-1]),
        dataclasses.replace(honest, centre=honest.centre * math.nan),
        dataclasses.replace(honest, intercept=honest.intercept + 1e-6),
    ):
        assert dataclasses.replace(certificate, ball=lie).verify(X, y).verdict == "not proven"
    larger = dataclasses.replace(honest, radius=honest.radius * 2)
    assert dataclasses.replace(certificate, ball=larger).verify(X, y)


def test_no_radius_makes_up_for_an_intercept_that_is_not_there(cancer):
    X, y = cancer
    certificate = MaxMarginClassifier(fit_intercept=False, random_state=0).fit(X, y).certificate_
    assert certificate.verify(X, y)
    lie = dataclasses.replace(certificate.ball, intercept=100.0, radius=certificate.ball.radius + 101.0)
    assert dataclasses.replace(certificate, ball=lie).verify(X, y).verdict == "not proven"


def test_classes_with_intercepts_of_different_kinds_are_refused(tmp_path):
    X, y = load_iris(return_X_y=True)
    classifier = MaxMarginClassifier(random_state=0).fit(X, y)
    classifier.save(tmp_path / "model.npz")
    model = dynmargin.load(tmp_path / "model.npz")
    first, *rest = model.certificates
    for other in ({"rho": 300.0}, {"rho": 0.0, "free_bias": True}):
        problem = dataclasses.replace(first.problem, **other)
        mixed = dataclasses.replace(model, certificates=(dataclasses.replace(first, problem=problem), *rest))
        with pytest.raises(ValueError, match="intercept"):
            mixed.settled(X)
        with pytest.raises(ValueError, match="intercept"):
            mixed.save(tmp_path / "mixed.npz")


def test_a_share_of_rows_that_is_not_settled_is_not_proven(cancer):
    X, y = cancer
    weight = np.where(np.arange(len(y)) < 20, 0.0, 1.0)
    classifier = NewtonClassifier(stop="predictions", settle=0.99).fit(X, y, weight)
    share = classifier.certificate_.settled_share
    assert share == classifier.settled(X[20:]).mean() >= 0.99
    model = dynmargin.LinearModel(
        classifier.classes_, classifier.coef_, classifier.intercept_, 1.0, tuple(classifier.certificates_)
    )
    assert model.verify(X, y, weight)
    rough = MaxMarginClassifier(0.01, random_state=0).fit(X, y)
    assert rough.settled(X).mean() < 0.9
    lie = dataclasses.replace(rough.certificate_, settled_share=0.9)
    model = dynmargin.LinearModel(rough.classes_, rough.coef_, rough.intercept_, 1.0, (lie,))
    assert "said to be settled" in model.verify(X, y).detail


def test_the_share_of_other_rows_is_not_that_of_the_training_rows(cancer):
    X, y = cancer
    far = 100 * X
    classifier = DCDClassifier(stop="predictions", settle=0.5, random_state=0).fit(X, y, settle_on=far)
    assert classifier.settled(far).mean() >= 0.5
    assert classifier.certificate_.settled_share is None


def test_bounds_of_scores_beyond_the_doubles_are_infinite(cancer):
    X, y = cancer
    low, high = MaxMarginClassifier(random_state=0).fit(X, y).decision_bounds(np.full((1, X.shape[1]), 1e308))
    assert (low[0], high[0]) == (-np.inf, np.inf)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.29, "29.0 %"),
        (0.57, "57.0 %"),
        (0.58, "58.0 %"),
        (0.99899, "99.8 %"),
        (0.9999999, "99.999 %"),
        (1.0, "100 %"),
    ],
)
def test_shares_are_rounded_down(share, text):
    assert percent(share) == text


def test_a_model_file_keeps_the_ball_and_older_ones_do_without(cancer, tmp_path):
    X, y = cancer
    classifier = DCDClassifier(1e-3, random_state=0).fit(X, y)
    classifier.save(tmp_path / "model.npz")
    model = dynmargin.load(tmp_path / "model.npz")
    assert model.certificate.ball.radius == classifier.certificate_.ball.radius
    np.testing.assert_array_equal(model.settled(X), classifier.settled(X))
    older = dataclasses.replace(model, certificates=(dataclasses.replace(model.certificate, ball=None),))
    older.save(tmp_path / "older.npz")
    loaded = dynmargin.load(tmp_path / "older.npz")
    assert loaded.certificate.ball is None
    assert loaded.verify(X, y)
    assert not (loaded.settled(X) & ~classifier.settled(X)).any()
    assert 0 < loaded.settled(X).mean() < classifier.settled(X).mean()


def test_what_cannot_be_known_is_refused_in_words(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="not regularised"):
        DecompositionSVMClassifier(0.5, random_state=0).fit(X, y).settled(X)
    stream = PDMClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="call certify"):
        stream.settled(X)
    stream.certify(X, y)
    assert stream.settled(X).shape == y.shape
    with pytest.raises(ValueError, match="no certificate"):
        dynmargin.LinearModel(np.array([0, 1]), np.ones((1, 30)), np.zeros(1), 1.0).settled(X)
    with pytest.raises(ValueError, match="stop='predictions'"):
        DCDClassifier().fit(X, y, settle_on=X)
    with pytest.raises(ValueError, match="use one of the two"):
        DCDClassifier(stop="predictions", checkpoint="nowhere.npz").fit(X, y)


def test_without_a_margin_nothing_is_settled():
    X, y = np.array([[1.0], [1.0], [2.0]]), [0, 1, 1]
    with pytest.warns(match="not separable"):
        classifier = PDMClassifier(C=math.inf, random_state=0).fit(X, y)
    assert not classifier.settled(X).any()
    low, high = classifier.decision_bounds(X)
    assert np.isneginf(low).all()
    assert np.isposinf(high).all()


@pytest.mark.parametrize("make", [MaxMarginClassifier, NewtonClassifier, DCDClassifier, PDMClassifier])
def test_training_can_go_on_until_predictions_are_settled(cancer, make):
    X, y = cancer
    classifier = make(stop="predictions", settle=0.99, random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "predictions"
    assert classifier.settled(X).mean() >= 0.99
    assert classifier.certificate_.settled_share == classifier.settled(X).mean()
    assert "provably predicted" in str(classifier.certificate_)
    assert classifier.certificate_.verify(X, y)


def test_the_rows_to_be_settled_may_be_others_and_classes_many():
    X, y = load_iris(return_X_y=True)
    classifier = MaxMarginClassifier(stop="predictions", settle=1.0, random_state=0).fit(X, y, settle_on=X[:50])
    assert classifier.settled(X[:50]).all()


def test_a_limit_ends_it_with_the_share_that_was_reached(cancer):
    X, y = cancer
    with pytest.warns(match="of the rows are settled, not 100 %: max_updates"):
        classifier = DCDClassifier(0.5, stop="predictions", settle=1.0, max_updates=200, random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "max_updates"


def test_a_row_without_length_is_never_settled_by_a_tie():
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    classifier = NewtonClassifier(1e-12, fit_intercept=False).fit(X, y)
    np.testing.assert_array_equal(classifier.settled([[0.0], [1e-300], [1.0]]), [False, False, True])
