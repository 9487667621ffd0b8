"""A loaded model becomes a fitted estimator of its own kind; its score and its repr."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import dynmargin
from dynmargin import LinearModel, load
from dynmargin.algorithms.registry import ALGORITHMS
from dynmargin.cli.main import main


@pytest.fixture
def data(rng):
    y = np.arange(90) % 3
    return rng.normal(size=(90, 4)) + 2 * np.eye(4)[y], y


@pytest.mark.parametrize("name", [one.estimator for one in ALGORITHMS.values()])
def test_every_kind_comes_back(name, data, tmp_path):
    X, y = data
    classifier = getattr(dynmargin, name)(epsilon=0.3, class_weight={1: 2.0}, random_state=0).fit(X, y)
    classifier.save(tmp_path / "m.npz")
    found = load(tmp_path / "m.npz").to_estimator()
    check_is_fitted(found)
    assert type(found) is type(classifier)
    assert found.get_params() == classifier.get_params()
    assert np.array_equal(found.decision_function(X), classifier.decision_function(X))
    assert found.score(X, y) == classifier.score(X, y) == load(tmp_path / "m.npz").score(X, y)
    assert found.certificate_.verify(X, y)
    assert np.array_equal(found.support_, classifier.support_)
    again = clone(found).fit(X, y)
    assert np.array_equal(again.coef_, classifier.coef_)


def test_what_a_file_cannot_hold_is_at_its_default(data, tmp_path):
    classifier = dynmargin.PDMClassifier(C=np.inf, random_state=np.random.RandomState(0), margin_floor=0.0)
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), ["b", "a"]
    classifier.fit(X, y).save(tmp_path / "m.npz")
    found = load(tmp_path / "m.npz").to_estimator()
    assert (found.C, found.random_state) == (np.inf, None)
    assert found.predict(X).tolist() == y


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ((), "MaxMarginClassifier"),
        (("--algorithm", "mpu-hinge"), "MPUClassifier"),
        (("--multi-class", "joint"), "PDMClassifier"),
        (("--scale", "standard"), "MaxMarginClassifier"),
        (("--scale", "maxabs", "--algorithm", "pdm"), "PDMClassifier"),
    ],
)
def test_a_model_of_the_command_line_becomes_the_estimator_of_its_algorithm(words, kind, data, tmp_path):
    X, y = data
    np.savez(tmp_path / "data.npz", X=X, y=y)
    out = str(tmp_path / "m.npz")
    assert (
        main(["train", "-q", str(tmp_path / "data.npz"), out, "-c", "0.5", "-w1", "2", "--epsilon", "0.1", *words]) == 0
    )
    model = load(out)
    found = model.to_estimator()
    last = found[-1] if isinstance(found, Pipeline) else found
    assert (type(last).__name__, last.C, last.epsilon, last.class_weight) == (kind, 0.5, 0.1, {1: 2.0})
    assert isinstance(found, Pipeline) == ("--scale" in words)
    np.testing.assert_array_equal(found.decision_function(X), model.decision_function(X))
    again = clone(last).fit(X if model.scaling is None else model.scaling.of(X), y)
    assert [one.problem for one in again.certificates_] == [one.problem for one in model.certificates]


def test_a_model_that_was_trained_elsewhere_is_of_no_kind():
    model = LinearModel(np.array([0, 1]), np.ones((1, 2)), np.zeros(1), 0.0)
    with pytest.raises(ValueError, match="no certificate: it was trained elsewhere"):
        model.to_estimator()
    assert repr(model) == "<LinearModel: classes 0, 1; 2 features; without a certificate>"


def test_score_counts_rows_by_their_weights():
    model = LinearModel(np.array([0, 1]), np.ones((1, 1)), np.zeros(1), 0.0)
    assert model.score([[1.0], [-1.0], [2.0]], [1, 1, 1]) == pytest.approx(2 / 3)
    assert model.score([[1.0], [-1.0], [2.0]], [1, 1, 1], sample_weight=[1, 2, 1]) == 0.5
    with pytest.raises(ValueError, match="there are 1 row and 2 labels"):
        model.score([[1.0]], [1, 1])


def test_a_model_is_short_to_look_at(data, tmp_path):
    X, y = data
    dynmargin.PDMClassifier(random_state=0).fit(X, y).save(tmp_path / "m.npz")
    shown = repr(load(tmp_path / "m.npz"))
    assert shown.startswith("<LinearModel: classes 0, 1, 2; 4 features; class ")
    assert len(shown) < 250


def test_the_package_shows_its_public_names_only():
    assert dir(dynmargin) == dynmargin.__all__
    assert all(hasattr(dynmargin, name) for name in dir(dynmargin))


def test_the_history_comes_back_and_can_be_drawn(data, tmp_path):
    X, y = data
    classifier = dynmargin.PDMClassifier(random_state=0).fit(X, y)
    classifier.save(tmp_path / "m.npz")
    found = load(tmp_path / "m.npz").to_estimator()
    assert [check[1:] for check in found.history_] == [check[1:] for check in classifier.history_]
    assert all(np.isnan(check.time) for check in found.history_)  # the same training gives the same file
    display = dynmargin.ConvergenceDisplay.from_estimator(found, label=2)
    assert display.ax_.get_xlabel() == "passes over the data"
    assert np.isfinite(display.line_.get_xdata()).all()
    with pytest.raises(ValueError, match='the times of a model from a file are not known; use against="passes"'):
        display.plot(against="time")
    replace(load(tmp_path / "m.npz"), history=()).save(tmp_path / "without.npz")
    with pytest.raises(ValueError, match="older model files have none; call fit to have one"):
        dynmargin.ConvergenceDisplay.from_estimator(load(tmp_path / "without.npz").to_estimator())
