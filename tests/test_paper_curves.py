"""The paper's curves show the states of the very run that a classifier makes."""

import numpy as np
import pytest

from dynmargin import PDMClassifier, PFMClassifier, _core
from dynmargin.paper import trajectory as module
from dynmargin.paper.columns import Task
from dynmargin.paper.curves import CURVES, accuracies, draw_curves
from dynmargin.paper.problems import Problem
from dynmargin.paper.trajectory import trajectory
from dynmargin.theory import after_run_accuracy

SMALL = Problem("small", "Small", 0.5, (400, 4), None, ())
PAPER = {"C": SMALL.C, "stop": "convergence", "schedule": "paper", "random_state": 3}
EPSILON = 0.02


@pytest.fixture
def data():
    from scipy.sparse import csr_matrix

    random = np.random.default_rng(0)
    y = np.repeat([1, -1], 200)
    return csr_matrix((random.normal(size=(400, 4)) + 0.8 * y[:, None]).round(2)), y


@pytest.fixture(params=[50, 3000])
def recorded(request, monkeypatch):
    """How many visits are put together from the record; from there on the run is paused."""
    monkeypatch.setattr(module, "RECORDED_VISITS", request.param)


@pytest.mark.parametrize("name", ["pdm", "pdm-succ", "pfm"])
def test_the_end_is_that_of_the_classifier(name, data, recorded):
    pdm = PDMClassifier(EPSILON, **PAPER).fit(*data)
    beta = pdm.certificate_.directional_margin
    if name == "pfm":
        classifier = PFMClassifier(beta=beta, **PAPER).fit(*data)
        rules = [_core.FixedMargin(beta)]
    else:
        classifier = PDMClassifier(EPSILON, eta=8 if name == "pdm-succ" else None, **PAPER).fit(*data)
        rules = [_core.DynamicMargin(epsilon) for epsilon in accuracies(name, EPSILON)]
    moments, ended = trajectory(SMALL, *data, rules, 3, plain=name == "pdm")
    assert (ended, moments[-1].t) == ("converged", classifier.n_updates_)
    assert moments[-1].margin == pytest.approx(classifier.certificate_.directional_margin)
    assert moments[-1].bound == pytest.approx(classifier.certificate_.upper_bound)


def test_it_begins_with_the_first_update_and_every_bound_holds(data, recorded):
    moments, _ = trajectory(SMALL, *data, [_core.DynamicMargin(EPSILON)], 3, plain=True)
    best = PDMClassifier(1e-4, C=SMALL.C).fit(*data).certificate_
    times = [moment.t for moment in moments]
    assert times[:4] == [1, 2, 3, 4]
    assert times == sorted(set(times))
    assert all(moment.margin <= best.upper_bound and moment.bound >= best.margin for moment in moments)
    last = moments[-1]
    assert after_run_accuracy(last.margin, last.bound * last.t, last.t) < EPSILON


def test_states_put_together_are_those_of_a_run_that_is_paused(data, monkeypatch):
    def curve(recorded):
        monkeypatch.setattr(module, "RECORDED_VISITS", recorded)
        moments, _ = trajectory(SMALL, *data, [_core.FixedMargin(0.03)], 3, plain=False)
        return {moment.t: moment for moment in moments}

    early, late = curve(5000), curve(64)
    shared = set(early) & set(late)
    assert len(shared) > 10
    for t in shared:
        assert early[t] == pytest.approx(late[t])


def test_the_accuracies_of_successive_runs():
    assert accuracies("pdm-succ", 0.01) == [0.5, 0.0625, 0.01]  # the paper's
    assert accuracies("pdm-succ", 0.5) == accuracies("pdm", 0.5) == [0.5]


def test_the_picture_marks_where_each_run_ended(data):
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot

    results, margin = {}, None
    for curve in CURVES:
        results[curve.name] = curve.run(Task(*data, SMALL, EPSILON, 0, margin if curve.beta_of else None))
        margin = margin or results["pdm"].margin
    figure = draw_curves(SMALL, EPSILON, results)
    texts = [text.get_text() for ax in figure.axes for text in ax.texts]
    for result in results.values():
        assert any(f"converged, t = {result.updates:,}" in text for text in texts)
    assert any("guarantee" in text for text in texts)
    pyplot.close(figure)
