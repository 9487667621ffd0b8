"""PDM goes on from the counts that its best weights call for: what that is good for, and what must not happen."""

import contextlib

import numpy as np
import pytest
from reference.patterns import extended_patterns
from reference.presentation import Run
from reference.rules import DynamicMargin
from sklearn.datasets import make_classification

from dynmargin import PDMClassifier, Schedule, _core
from dynmargin.algorithms.pdm import to_core

EVERY_PASS = 1.0  # a gap so wide that a check is due after every full pass
ONGOING = (_core.Event.slice_over, _core.Event.check_due)
WITHOUT_POLISH = Schedule(polish=False)  # whose steps are made in place of a renewal where they cost little


def overlapping(seed, n_rows=200, delta=1.0):
    """Whole numbers and classes that overlap: nearly every row has a slack."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (n_rows, 3)).astype(float)
    sides = np.where(X[:, 0] + 8 * rng.normal(size=n_rows) > 0, 1, -1).astype(np.int8)
    problem = _core.Problem(sides, 1.0, 1 / (2 * delta**2), 1 / (2 * delta**2))
    return X, sides, problem


def trainer_of(X, problem, eps, seed, schedule=None):
    return _core.Trainer(
        _core.pack(_core.dense(X)),
        problem,
        _core.DynamicMargin(eps),
        to_core(schedule or WITHOUT_POLISH),
        EVERY_PASS,
        seed,
    )


def next_full_pass(trainer, seconds=1.0):
    event = _core.Event.slice_over
    while event is _core.Event.slice_over:
        event = trainer.advance(seconds)
    assert event in ONGOING


@pytest.mark.parametrize("seed", range(6))
def test_a_run_with_renewals_makes_the_same_updates(seed):
    """The reference is given the core's weights; all that follows from them it finds by itself."""
    passes, eps = 8, 1 / 64
    X, sides, problem = overlapping(seed, n_rows=400)
    trainer = trainer_of(X, problem, eps, seed)
    trainer.record_updates()
    best = []
    for _ in range(passes):
        next_full_pass(trainer)
        margin, (weights, scale) = trainer.check().margin, trainer.model()
        best.append((scale * weights, margin))
        trainer.renew()
    reference = Run(extended_patterns(X, sides, 1.0, 1.0), sides, DynamicMargin(eps), WITHOUT_POLISH, seed, 2**53)
    reference.best = best
    reference.run(passes)
    assert reference.renewal.renewed >= 1
    made, _ = reference.at_full_pass[-1]
    assert trainer.recorded_updates == reference.updates[:made]
    assert trainer.updates == sum(abs(times) for _, times in trainer.recorded_updates)  # renewed counts are none


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_noise_is_no_obstacle(C):
    """Few columns, much overlap, a high accuracy: it takes hundreds of passes to dilute the excess."""
    X, y = make_classification(5000, 10, flip_y=0.3, class_sep=0.5, random_state=0)
    classifier = PDMClassifier(1e-4, C=C, random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "certificate"
    assert classifier.n_iter_ < 40


def gap_after(trainer, passes, renewing):
    for _ in range(passes):
        next_full_pass(trainer)
        bounds = trainer.check()
        if renewing:
            trainer.renew()
    return 1 - bounds.margin / bounds.upper_bound


@pytest.mark.parametrize("seed", range(3))
def test_renewals_close_the_gap(seed):
    X, _, problem = overlapping(seed, n_rows=3000)
    without, with_them = (gap_after(trainer_of(X, problem, 1e-4, seed), 6, renewing) for renewing in (False, True))
    assert 5 * with_them < without


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_nothing_proven_is_lost_meanwhile(seconds):
    """Renewed counts prove little at first; until they prove more, those before count."""
    X, sides, problem = overlapping(0, n_rows=3000)
    patterns = np.hstack([X, np.ones((len(X), 1))]) * sides[:, None]
    trainer = trainer_of(X, problem, 1e-3, 0)
    best = np.inf
    for _ in range(300):
        if trainer.advance(seconds) is _core.Event.check_due:
            trainer.check()
            trainer.renew()
            assert trainer.check().upper_bound == pytest.approx(trainer.upper_bound, rel=1e-9)
        if trainer.full_passes == 0:
            continue
        rows, counts = trainer.support()
        norm2 = np.sum((counts @ patterns[rows]) ** 2) + np.sum(counts.astype(float) ** 2)
        assert trainer.upper_bound == pytest.approx(np.sqrt(norm2) / counts.sum(), rel=1e-9)
        assert trainer.upper_bound <= 1.05 * best  # a pass may raise it a little, as ever
        best = min(best, trainer.upper_bound)


def test_slices_do_not_matter():
    X, _, problem = overlapping(1, n_rows=3000)
    found = []
    for seconds in (0.0, 1.0):
        trainer = trainer_of(X, problem, 1e-3, 1)
        for _ in range(6):
            next_full_pass(trainer, seconds)
            trainer.check()
            trainer.renew()
        found.append((trainer.upper_bound, *map(tuple, trainer.support())))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("rule", "C", "schedule"),
    [
        (_core.DynamicMargin(0.01), np.inf, Schedule()),
        (_core.DynamicMargin(0.01), 1.0, Schedule(renewal=False)),
        (_core.FixedMargin(0.001), 1.0, Schedule(mixing=False)),
    ],
)
def test_only_soft_margins_and_plain_pdm_renew_unless_switched_off(rule, C, schedule):
    X, sides, _ = overlapping(0)
    trainer = _core.Trainer(
        _core.pack(_core.dense(X)), _core.Problem(sides, 1.0, C, C), rule, to_core(schedule), EVERY_PASS, 0
    )
    next_full_pass(trainer)
    trainer.check()
    before = trainer.norm2
    trainer.renew()
    assert trainer.norm2 == before
    assert not trainer.renews


def test_renewing_without_a_check_does_nothing():
    X, _, problem = overlapping(0)
    trainer = trainer_of(X, problem, 0.01, 0)
    next_full_pass(trainer)
    before = trainer.norm2
    trainer.renew()
    assert trainer.norm2 == before


def test_some_counts_are_left():
    """Very many rows that are nearly one: the count of each would round to nothing."""
    sides = np.tile(np.array([1, -1], np.int8), 50_000)
    trainer = trainer_of(sides[:, None].astype(float), _core.Problem(sides, 0.0, 1.0, 1.0), 1e-3, 0)
    event = _core.Event.slice_over
    while event in ONGOING:
        event = trainer.advance(1.0)
        if event is _core.Event.check_due:
            bound = trainer.check().upper_bound
            trainer.renew()
            assert 0 < trainer.upper_bound <= bound * (1 + 1e-12)
            assert len(trainer.support()[0]) > 0
    assert event is _core.Event.converged


@pytest.mark.parametrize("C", [1e4, 1e6])
def test_expensive_slacks_are_no_obstacle(C):
    """Descent from the best weights ends at once there; from those of the moment it goes on."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((int(rng.choice([5, 20, 50])), int(rng.choice([20, 60]))))
        y = X @ rng.standard_normal(X.shape[1]) > 0
        y[:2] = [False, True]
        assert PDMClassifier(1e-3, C=C, random_state=0).fit(X, y).stop_reason_ == "certificate"


def test_a_schedule_without_active_sets_presents_renewed_counts_once():
    X, _, problem = overlapping(0, n_rows=3000)
    trainer = trainer_of(X, problem, 1e-3, 0, Schedule(rounds=(0, 0, 0), inner_passes=np.inf, polish=False))
    next_full_pass(trainer)
    trainer.check()
    before, visits = trainer.norm2, trainer.visits
    trainer.renew()
    assert trainer.norm2 != before
    next_full_pass(trainer)
    assert visits + len(X) < trainer.visits <= visits + 2 * len(X)


@pytest.mark.parametrize("scale", [1e-95, 1e95])
def test_renewals_know_no_units(scale):
    X, y = make_classification(2000, 5, flip_y=0.3, random_state=0)
    plain = PDMClassifier(1e-3, random_state=0).fit(X, y)
    scaled = PDMClassifier(1e-3, C=1 / scale**2, intercept_scaling=scale, random_state=0).fit(scale * X, y)
    assert plain.stop_reason_ == scaled.stop_reason_ == "certificate"
    assert abs(scaled.n_iter_ - plain.n_iter_) <= 1


def test_classes_and_rows_of_different_weight():
    """Each pattern has a Delta of its own: counts follow from slack over Delta²."""
    rng = np.random.default_rng(0)
    X, y = make_classification(4000, 6, flip_y=0.3, weights=[0.9], random_state=0)
    weight = rng.uniform(0.1, 10, len(y))
    classifier = PDMClassifier(1e-4, class_weight="balanced", random_state=0).fit(X, y, sample_weight=weight)
    assert classifier.stop_reason_ == "certificate"
    assert classifier.n_iter_ < 60
    assert classifier.certificate_.verify(X, y, sample_weight=weight)


def test_a_bound_without_counts_is_refused():
    """A snapshot from which the best counts are said to be known, but are not there."""
    X, _, problem = overlapping(0)
    trainer = trainer_of(X, problem, 1 / 64, 0)
    next_full_pass(trainer)
    trainer.check()
    known, whole, unknown = trainer.support(), trainer.snapshot().tobytes(), np.float64(np.inf).tobytes()
    places = [place for place in range(len(whole)) if whole[place:].startswith(unknown)]
    harmless = 0
    for place in places:  # the bound of the best counts is among them
        damaged = whole[:place] + np.float64(1e-9).tobytes() + whole[place + 8 :]
        other = trainer_of(X, problem, 1 / 64, 0)
        with contextlib.suppress(ValueError):
            other.restore(np.frombuffer(damaged, np.uint8))
            harmless += 1
            assert all(np.array_equal(*pair) for pair in zip(other.support(), known, strict=True))
    assert harmless == len(places) - 1
