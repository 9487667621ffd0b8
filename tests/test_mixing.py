"""PDM goes on from the best combination of its states: what that is good for, and what must not happen."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.patterns import extended_patterns
from reference.presentation import Run
from reference.rules import DynamicMargin
from sklearn.datasets import load_breast_cancer, load_wine, make_classification

from dynmargin import BinaryProblem, PDMClassifier, Schedule, _core
from dynmargin.algorithms.pdm import schedule_for, to_core
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.packed import PackedProblem
from dynmargin.training.request import Request

MIXED = Schedule(taking_back=False, polish=False)
PLAIN = replace(MIXED, mixing=False)


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_mixing_saves_passes(multi_class, digits):
    """Where weights have to be tuned against each other it takes back what was too much."""
    X, y = digits
    passes = [
        PDMClassifier(C=30.0, multi_class=multi_class, schedule=schedule, random_state=0).fit(X, y).n_iter_
        for schedule in (MIXED, PLAIN)
    ]
    assert 3 * passes[0] < passes[1]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("C", "most_passes"), [(1.0, 2000), (10.0, 30_000)])
def test_high_accuracy_is_reached(C, most_passes, seed, breast_cancer):
    """Combinations come to fail there; without an end to them some seeds take many times as long, or stall."""
    classifier = PDMClassifier(1e-6, C=C, random_state=seed).fit(*breast_cancer)
    assert classifier.stop_reason_ == "certificate"
    assert classifier.n_iter_ < most_passes


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_raw_features_are_no_obstacle(load, multi_class):
    """Rounding stands in the way there, until numbers are finer."""
    classifier = PDMClassifier(multi_class=multi_class, random_state=0).fit(*load(return_X_y=True))
    assert classifier.stop_reason_ == "certificate"
    assert classifier.n_iter_ < 20_000


def long_run(scale, delta, eps, passes, seed, taking_back=True):
    """Return the counts after so many full passes of the core and of the reference, and how the latter mixed.

    Numbers are whole, as long as t is not too large: everything is exact.
    """
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (24, 3)) * np.array([1.0, 1.0, scale])
    sides = np.where(X[:, 0] + X[:, 1] + 2 * rng.normal(size=24) > 0, 1, -1).astype(np.int8)
    problem = _core.Problem(sides, 1.0, 1 / (2 * delta**2), 1 / (2 * delta**2))
    rows, schedule = _core.pack(_core.dense(X)), replace(Schedule(), taking_back=taking_back)
    trainer = _core.Trainer(rows, problem, _core.DynamicMargin(eps), to_core(schedule), 1.0, seed)
    while trainer.full_passes < passes:
        assert trainer.advance(1.0) in (_core.Event.slice_over, _core.Event.check_due)
    counts = np.zeros(24)
    counts[trainer.support()[0]] = trainer.support()[1]
    reference = Run(extended_patterns(X, sides, 1.0, delta), sides, DynamicMargin(eps), schedule, seed, 2**53)
    reference.run(passes)
    return counts, reference.at_full_pass[passes - 1][1], reference.mixture


@pytest.mark.parametrize("seed", range(5))
def test_stiff_runs_become_finer(seed):
    counts, expected, mixture = long_run(scale=64, delta=1.0, eps=1 / 64, passes=40, seed=seed)
    assert np.array_equal(counts, expected)
    assert mixture.fineness < 0.1


def test_runs_that_are_satisfied_are_diluted():
    counts, expected, mixture = long_run(1, delta=0.5, eps=2.0**-16, passes=150, seed=7, taking_back=False)
    assert np.array_equal(counts, expected)
    assert mixture.next_mix > 32  # several times since


@given(st.integers(0, 2**32), st.integers(1, 5), st.sampled_from([0, 1, 4]))
@settings(max_examples=200)
def test_taking_back_lowers_the_bound(seed, columns, delta):
    """In whole numbers, so that nothing is rounded."""
    rng = np.random.default_rng(seed)
    X, sides = rng.integers(-5, 6, (8, columns)), rng.choice([-1, 1], 8)
    Y = extended_patterns(X.astype(float), sides, 1.0, float(delta))
    run = Run(Y, sides, DynamicMargin(0.1), Schedule(), 0, 2**53)
    run.counts = rng.integers(0, 20, 8).astype(float)
    run.a, run.t = run.counts @ Y, int(run.counts.sum())
    for k, y in enumerate(Y):
        if n := run.excess(k, y):
            assert 0 < n <= run.counts[k]
            left = run.a - n * y
            assert int(left @ left) * run.t**2 < int(run.a @ run.a) * (run.t - n) ** 2


@pytest.mark.parametrize("C", [np.inf, 1.0])
def test_the_counts_prove_what_the_check_says(C):
    """The counts of the moment prove the upper bound of the check, however often states were mixed before."""
    X, y = make_classification(300, 6, n_informative=4, n_redundant=0, class_sep=4.0, flip_y=0, random_state=3)
    X, matrix = np.ascontiguousarray(X), as_matrix(X)
    patterns = np.hstack([X, np.ones((len(X), 1))]) * np.where(y == 1, 1, -1)[:, None]
    found = []
    for seconds in (0.0, 10.0):  # slices do not matter
        packed = PackedProblem(matrix, _core.pack(matrix), BinaryProblem(1, C, C, 1.0), y)
        schedule = to_core(schedule_for(packed, Request()))
        trainer = packed.core.start(packed.rows, _core.DynamicMargin(1e-3), schedule, 1.0, 0)
        history = []
        while trainer.full_passes < 12:
            if trainer.advance(seconds) != _core.Event.check_due:
                continue
            bounds, (rows, counts) = trainer.check(), trainer.support()
            assert (counts > 0).all()
            norm2 = np.sum((counts @ patterns[rows]) ** 2) + np.sum(counts.astype(float) ** 2) / (2 * C)
            assert bounds.upper_bound == pytest.approx(np.sqrt(norm2) / counts.sum(), rel=1e-9)
            history.append((bounds.upper_bound, bounds.margin))
        found.append(history)
    assert found[0] == found[1]


def test_mixing_never_forgets_everything():
    """Few and small counts at a coarse accuracy: rounding them once more must leave some."""
    X = np.array([[-1.0], [1.0], [-2.0], [-1.0], [1.0]])
    problem = _core.Problem(np.array([1, -1, -1, -1, 1], np.int8), 1.0, 0.125, 0.125)
    for seed in (*range(30), 608142456):
        trainer = _core.Trainer(
            _core.pack(_core.dense(X)), problem, _core.DynamicMargin(0.75), to_core(Schedule()), 1.0, seed
        )
        event = _core.Event.slice_over
        while trainer.full_passes < 20 and event in (_core.Event.slice_over, _core.Event.check_due):
            event = trainer.advance(1.0)
            assert len(trainer.support()[0]) > 0
            assert np.isfinite(trainer.upper_bound)


@pytest.mark.parametrize("scale", [1e-95, 1e-12, 1e12, 1e95])
def test_mixing_knows_no_units(scale, breast_cancer):
    """Rows of any length take the same passes."""
    X, y = breast_cancer
    plain = PDMClassifier(random_state=0).fit(X, y)
    scaled = PDMClassifier(C=1 / scale**2, intercept_scaling=scale, random_state=0).fit(scale * X, y)
    assert plain.stop_reason_ == scaled.stop_reason_ == "certificate"
    assert abs(scaled.n_iter_ - plain.n_iter_) <= 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_counts_never_outgrow_what_is_exact(multi_class):
    """Rows of very different lengths take t near 2^53; mixtures must not take it beyond."""
    X, y = np.array([[0.0], [2.0], [-3e10], [-2e11]]), np.array([0, 1, 1, 0])
    if multi_class == "joint":
        X, y = np.vstack([X, [[5.0]]]), np.append(y, 2)
    classifier = PDMClassifier(C=1e6, multi_class=multi_class, max_time=1.0, random_state=0).fit(X, y)
    assert classifier.certificate_.verify(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_budget_of_updates_is_spent_on_plain_steps(breast_cancer):
    """With mixing an update is a smaller step, and a budget would be gone after a pass."""
    X, y = breast_cancer
    fast = PDMClassifier(1e-6, max_updates=5000, random_state=0).fit(X, y)
    plain = PDMClassifier(1e-6, max_updates=5000, schedule=Schedule(mixing=False), random_state=0).fit(X, y)
    assert fast.stop_reason_ == "max_updates"
    assert fast.n_updates_ == 5000
    assert fast.certificate_.gap == plain.certificate_.gap
