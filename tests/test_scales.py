"""Fits at extreme scales end: with finite weights and a certificate that verifies, or with a sentence.

`python -m tests.stress_fits` looks for more of the kind.
"""

import math
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from stress_fits import KINDS, outcome

import dynmargin
from dynmargin import _core
from dynmargin.certificate.counts import TOTAL_COUNT, as_counts
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.packed import PackedProblem
from dynmargin.problem.problems import BinaryProblem
from dynmargin.training.request import Request
from dynmargin.training.run import Run

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def certificate():
    X, y = [[0.0, 1.0], [1.0, 0.0]], [0, 1]
    return dynmargin.PDMClassifier(random_state=0).fit(X, y).certificate_


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_fit_ends_well_whatever_the_scales(kind, tmp_path):
    endings = [outcome(kind, number, seed=1, folder=tmp_path) for number in range(5)]
    assert {ending for ending, _ in endings} <= {"ok", "ok: nothing", "refused"}, endings


@pytest.mark.parametrize("scale", [1e20, 1e40, 1e60, 1e90])
@pytest.mark.parametrize("labels", [[0, 1, 0, 1, 1], [0, 0, 0, 0, 1]])
def test_newtons_weights_are_finite_and_no_worse_than_none(scale, labels, tmp_path):
    X = np.full((5, 2), scale)
    X[:, 1] *= 1.03
    classifier = dynmargin.NewtonClassifier().fit(X, labels)
    assert np.isfinite(classifier.coef_).all()
    assert np.isfinite(classifier.intercept_).all()
    assert 0 <= classifier.certificate_.margin <= classifier.certificate_.upper_bound < np.inf
    classifier.save(tmp_path / "model.npz")
    assert dynmargin.load(tmp_path / "model.npz").certificates[0].verify(X, labels)


def test_newton_refuses_prices_that_leave_the_doubles():
    X, y = [[1e90], [-1e90]], [0, 1]
    with pytest.raises(ValueError, match="scale the features, or use a smaller C"):
        dynmargin.NewtonClassifier(C=1e80).fit(X, y)


def test_counts_of_mpu_that_are_no_longer_exact_are_rounded():
    X, y = [[860000.0], [-4e-6], [-1.78]], [0, 1, 0]
    classifier = dynmargin.MPUClassifier(C=1e6, random_state=0).fit(X, y)
    assert classifier.certificate_.verify(X, y)
    assert classifier.certificate_.counts.sum() <= 2**53


def test_coordinate_descent_gives_up_where_the_gap_is_out_of_sight():
    X = np.random.default_rng(0).normal(size=(20, 3)) * 1e60
    y = np.arange(20) % 2
    with pytest.warns(ConvergenceWarning, match="scale the features"):
        classifier = dynmargin.DCDClassifier(random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "stalled"
    assert classifier.n_iter_ < 5000  # it went on for more than 50,000
    assert classifier.certificate_.verify(X, y)


def test_a_rule_that_no_count_can_satisfy_is_not_waited_for():
    X, y = [[1e30], [1e30], [-1e30]], [0, 1, 1]
    classifier = dynmargin.PerceptronClassifier(stop="convergence", random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "stalled"


def test_the_papers_romma_sees_that_there_is_no_margin():
    X, y = [[-1.8], [-0.9], [-0.4], [0.1], [0.2], [0.7]], [0, 0, 0, 0, 1, 0]
    classifier = dynmargin.ROMMAClassifier(C=math.inf, schedule="paper", random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "inseparable"


def test_decomposition_does_not_end_with_no_dual_weights_at_all():
    X, y = [[0.0], [1.0], [2.0]], [0, 0, 1]
    classifier = dynmargin.DecompositionSVMClassifier(epsilon=1.0, stop="convergence").fit(X, y)
    assert np.isfinite(classifier.certificate_.upper_bound)
    assert classifier.certificate_.counts.sum() > 0


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1.0, 1e200, 1.7e308])
def test_counts_do_not_depend_on_the_scale_of_the_dual_weights(size):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows, counts = as_counts(np.arange(4), size * np.array([1.0, 0.0, 1.0, 1.0]))
    assert rows.tolist() == [0, 2, 3]
    assert (counts == np.rint(TOTAL_COUNT / 3)).all()


@given(st.lists(st.floats(0, 2.0**52) | st.integers(0, 2**53).map(lambda n: n / 2) | st.just(np.nan), max_size=50))
def test_counts_are_the_nearest_whole_numbers(weights):
    """Halves to the even one, up to the largest count; what is no number has none."""
    weights = np.array([*weights, 2.0**52, 2.0**52 + 1])
    rows, counts = _core.rounded_counts(np.arange(len(weights)), weights, 1.0)
    expected = np.rint(weights)
    np.testing.assert_array_equal(rows, np.flatnonzero(expected > 0))
    np.testing.assert_array_equal(counts, expected[expected > 0].astype(np.int64))


@pytest.mark.parametrize("margin", [5e-324, 1e-163, 1e-154, 1.0, 1e160, 1.7e308])
def test_objectives_are_sound_where_doubles_end(certificate, margin):
    found = replace(certificate, margin=margin, upper_bound=margin)
    expected = math.inf if margin < 1e-154 else 0.5 / margin / margin
    assert found.primal == expected
    assert found.dual == min(expected, sys.float_info.max)  # infinity would be no lower bound
    assert not math.isnan(found.duality_gap)
    online = dynmargin.PDMClassifier().partial_fit([[1.0], [-1.0]], [0, 1], classes=[0, 1]).certificate_
    assert replace(online, upper_bound=margin).dual == found.dual


def test_no_upper_bound_proves_no_gap(certificate):
    found = replace(certificate, margin=-math.inf, upper_bound=math.inf, epsilon=1.0)
    assert found.gap == math.inf
    assert not found.achieved
    assert not replace(certificate, upper_bound=math.inf, epsilon=1.0).achieved


class Vanished:
    """A trainer whose sum of patterns has vanished."""

    updates = full_passes = 1

    def check(self):
        return _core.Bounds(0.5, 0.0, math.nan)

    def checked(self, gap, enough):
        self.gap = gap


def test_a_sum_that_has_vanished_divides_nothing():
    X, y = np.array([[1.0], [-1.0]]), np.array([0, 1])
    matrix = as_matrix(X)
    problem = PackedProblem(matrix, _core.pack(matrix), BinaryProblem(1, 1.0, 1.0, 1.0, classes=(0, 1)), y)
    trainer = Vanished()
    assert Run(problem, trainer, Request(stop="convergence"), None).check() is None
    assert trainer.gap == math.inf
