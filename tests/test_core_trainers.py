"""All trainers of the core have one interface, and decide themselves when a check is worth its cost."""

from itertools import pairwise

import numpy as np
import pytest

from dynmargin import _core

ONGOING = (_core.Event.slice_over, _core.Event.check_due, _core.Event.bound_met)
SCHEDULE = _core.Schedule((9, 2, 2), (1.2, 1.03), 1.2, True, True, True, True, True, 2.0, False, False, False, False)


def data(n_rows=300):
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, 4))
    return X, np.where(X[:, 0] + random.normal(size=n_rows) > 0, 1, -1).astype(np.int8)


def problem_of(sides, **options):
    return _core.Problem(sides, 0.0 if options.get("free_bias") else 1.0, 1.0, 1.0, **options)


def trainers(epsilon=0.01, certify=True):
    X, sides = data()
    rows, problem = _core.pack(_core.dense(X)), problem_of(sides)
    joint = _core.JointProblem((sides + 3).astype(np.int32) // 2, 1.0, np.ones(2))
    gains = _core.GainSchedule()
    R = problem.largest_norm(rows)
    return {
        "pdm": problem.start(rows, _core.DynamicMargin(epsilon / 10), SCHEDULE, epsilon, 0),
        "joint": joint.start(rows, _core.DynamicMargin(epsilon / 10), SCHEDULE, epsilon, 0),
        "romma": _core.RescalingTrainer(rows, problem, _core.Romma(1 - epsilon), SCHEDULE, epsilon, 0),
        "dcd": _core.DualTrainer(rows, problem, _core.CoordinateDescent(), gains, epsilon, 0.0, certify, 0),
        "mpu": _core.DualTrainer(
            rows, problem, _core.MarginUnlearning(99 * R**2, R**2), gains, epsilon, 0.0, certify, 0
        ),
        "mpu hinge": _core.DualTrainer(
            rows,
            problem_of(sides, hinge=True),
            _core.MarginUnlearning(99 * R**2, R**2),
            gains,
            epsilon,
            0.0,
            certify,
            0,
        ),
        "decomposition": _core.Decomposition(rows, problem_of(sides, free_bias=True), 0.0, epsilon, 0),
    }


NAMES = sorted(trainers())


@pytest.mark.parametrize("name", NAMES)
def test_a_loop_that_checks_only_when_due_closes_the_gap(name):
    trainer, epsilon = trainers()[name], 0.01
    for _ in range(10_000):
        event = trainer.advance(0.01)
        if event is _core.Event.slice_over:
            continue
        bounds = trainer.check()
        gap = 1 - bounds.margin / bounds.upper_bound
        if gap <= epsilon:
            break
        trainer.checked(gap, bounds.margin / (1 - epsilon))
        trainer.renew()
    assert gap <= epsilon
    assert trainer.visits > 0
    assert trainer.updates > 0


@pytest.mark.parametrize("name", NAMES)
def test_the_support_proves_a_bound_and_the_model_a_margin(name):
    trainer = trainers()[name]
    while trainer.full_passes < 3:
        assert trainer.advance(0.01) in ONGOING
    bounds = trainer.check()
    places, weights = trainer.support()
    assert places.dtype == np.int64
    if name in ("pdm", "joint", "mpu"):
        assert weights.dtype == np.int64
        assert (weights > 0).all()
    else:
        assert weights.dtype == np.float64
        assert np.array_equal(places, np.arange(300))
    w, scale = trainer.model()
    assert w.shape == ((2, 5) if name == "joint" else (5,))
    assert scale > 0
    assert 0 < bounds.margin <= bounds.upper_bound


@pytest.mark.parametrize("name", NAMES)
def test_checks_that_are_not_reported_change_nothing(name):
    """The margitron checks the bounds in between; when the next check is due must not depend on that."""
    if name in ("dcd", "mpu", "mpu hinge"):
        pytest.skip("the forecast learns from every check")
    runs = []
    for extra in (False, True):
        trainer, events = trainers(epsilon=1e-4)[name], []
        for _ in range(200):
            event = trainer.advance(0.0)
            if extra and trainer.updates:
                trainer.check()
            if event is _core.Event.check_due:
                events.append((trainer.visits, trainer.updates))
                bounds = trainer.check()
                trainer.checked(1 - bounds.margin / bounds.upper_bound)
        runs.append(events)
    assert runs[0] == runs[1]


def visits_at_checks(report, count):
    """Return the visits at which checks were due; `report` gives the gap that each of them is said to have found.

    The margin is hard: a bound that falls quickly is no reason to leave a check out.
    """
    X, sides = data()
    rows, problem = _core.pack(_core.dense(X)), _core.Problem(sides, 1.0, np.inf, np.inf)
    trainer, found = problem.start(rows, _core.DynamicMargin(0.001), SCHEDULE, 0.01, 0), []
    while len(found) < count:
        if trainer.advance(0.0) is _core.Event.check_due:
            found.append(trainer.visits)
            if report is not None:
                trainer.checked(report(trainer.visits))
    return found


def test_the_next_check_is_made_half_way_to_where_the_gap_is_projected_to_close():
    """A gap of 1000/visits is 0.01 after 100,000 visits; nothing is projected further than half as far again."""
    full_passes = visits_at_checks(None, 400)
    found = visits_at_checks(lambda visits: 1000 / visits, 20)
    assert found[0] == full_passes[0]
    assert found[-1] > 75_000
    for now, following in pairwise(found):
        half_way = (now + min(1.5 * now, 100_000)) // 2
        assert following == next(visits for visits in full_passes if visits > now and visits >= half_way)


def test_the_awaited_bound_is_met_once():
    trainer = trainers()["pdm"]
    while trainer.full_passes < 1:
        trainer.advance(0.0)
    trainer.checked(0.5, 2 * trainer.upper_bound)
    events = [trainer.advance(0.0) for _ in range(50)]
    assert events.count(_core.Event.bound_met) == 1


@pytest.mark.parametrize("name", ["dcd", "mpu"])
def test_a_second_check_of_the_same_state_gives_the_same_bounds(name):
    trainer = trainers()[name]
    trainer.advance(0.0)
    assert trainer.check().margin == trainer.check().margin


def test_mpu_goes_on_with_a_finer_rule_when_a_certificate_is_asked_for():
    for certify in (False, True):
        trainer = trainers(certify=certify)["mpu"]
        target = trainer.target
        event = _core.Event.slice_over
        while event is not _core.Event.converged and trainer.target == target:
            event = trainer.advance(1.0)
        assert (event is _core.Event.converged) is not certify


def test_bounds_can_be_made():
    bounds = _core.Bounds(1.0, 2.0, 0.5)
    assert (bounds.margin, bounds.upper_bound, bounds.directional_margin) == (1.0, 2.0, 0.5)


@pytest.mark.parametrize("seed", range(100))
def test_the_best_scale_is_best(seed):
    random = np.random.default_rng(seed)
    n = random.integers(1, 40)
    scores, penalties = random.normal(0.3, 1, n), random.random(n)
    norm2 = 10.0 ** random.uniform(-6, 6)

    def objective(v):
        return v * v * norm2 + penalties @ np.maximum(0, 1 - v * scores) ** 2

    v = _core.best_scale(scores, penalties, norm2)
    assert v >= 0
    others = np.concatenate([np.linspace(0, 3 * v + 1, 1001), v * (1 + np.linspace(-1e-3, 1e-3, 101))])
    assert objective(v) <= min(map(objective, others)) * (1 + 1e-13)


def test_no_scale_is_better_than_none():
    assert _core.best_scale(np.array([-1.0, -2.0]), np.ones(2), 1.0) == 0
    assert _core.best_scale(np.array([1.0, 2.0]), np.ones(2), 0.0) == 0
    assert _core.best_scale(np.array([]), np.array([]), 1.0) == 0
    with pytest.raises(ValueError, match="differ in length"):
        _core.best_scale(np.ones(2), np.ones(3), 1.0)
