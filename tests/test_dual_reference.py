"""The core changes the same dual weights as the plain NumPy reference, in the same order, to the same values."""

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from reference import dual as reference
from reference.optimum import best_soft_margin
from reference.patterns import extended_patterns

from dynmargin import _core

PASSES = 4

schedules = st.builds(
    _core.GainSchedule,
    depth=st.integers(1, 4),
    most_rounds=st.integers(1, 4),
    worthwhile=st.sampled_from([0.0, 0.5, 1.0]),
    above_mean=st.sampled_from([0.0, 1.0, 2.0]),
    near=st.sampled_from([1.0, 1.25]),
)


def core_run(X, sides, rho, C, step, schedule, seed, hinge=False, seconds=0.0, passes=PASSES, checks=None):
    problem = _core.Problem(sides, rho, C, C, hinge=hinge)
    trainer = _core.DualTrainer(_core.pack(_core.dense(X)), problem, step, schedule, 0.01, 0.0, False, seed)
    trainer.record_updates()
    event = _core.Event.slice_over
    while trainer.full_passes < passes and event in (_core.Event.slice_over, _core.Event.check_due):
        event = trainer.advance(seconds)
        if checks is not None and event is _core.Event.check_due:
            checks.append(trainer.visits)
            trainer.check()
    return trainer, event


@st.composite
def integer_problems(draw):
    m, d = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    X = np.array(draw(st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=m, max_size=m)), float)
    sides = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=m, max_size=m)), np.int8)
    return X, sides, draw(st.sampled_from([0.0, 1.0, 2.0])), draw(st.sampled_from([0.5, 1.0, 2.0]))


@given(integer_problems(), schedules, st.sampled_from([8, 40, 300]), st.integers(0, 2**40))
@settings(max_examples=300)
def test_mpu_makes_the_same_updates(problem, schedule, b, seed):
    """Small integers and dyadic fractions: float64 is exact, and there is nothing to tolerate."""
    X, sides, rho, delta = problem
    trainer, event = core_run(X, sides, rho, 1 / (2 * delta**2), _core.MarginUnlearning(b, 96), schedule, seed)
    Y = extended_patterns(X, sides, rho, delta)
    run = reference.DualRun(Y, sides, reference.MarginUnlearning(b, 96), schedule, seed)
    converged = run.run(PASSES)
    assert trainer.recorded_updates == run.updates
    assert converged == (event is _core.Event.converged)
    assert np.array_equal(trainer.dual_weights(), run.alpha)


@given(integer_problems(), schedules, st.sampled_from([0.5, 0.75, 4.0]), st.integers(0, 2**40))
@settings(max_examples=200)
def test_mpu_with_the_hinge_makes_the_same_updates(problem, schedule, C, seed):
    X, sides, rho, _ = problem
    assume((np.abs(X).sum(axis=1) + rho > 0).all())  # else a pattern would be learned forever
    trainer, event = core_run(X, sides, rho, C, _core.MarginUnlearning(40, 96), schedule, seed, hinge=True)
    Y = extended_patterns(X, sides, rho, 0.0)
    run = reference.DualRun(Y, sides, reference.MarginUnlearning(40, 96), schedule, seed, most=C * 88)
    converged = run.run(PASSES)
    assert trainer.recorded_updates == run.updates
    assert converged == (event is _core.Event.converged)


@given(
    st.integers(0, 2**40),
    schedules.filter(lambda s: s.above_mean > 0),
    st.booleans(),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from([0.05, 1.0]),
)
@settings(max_examples=200)
def test_dcd_makes_the_same_updates(seed, schedule, hinge, rho, C):
    """Random reals, so that no two gains are equal: values agree up to rounding, the order exactly."""
    random = np.random.default_rng(seed)
    m, d = random.integers(2, 12), random.integers(1, 5)
    X, sides = random.normal(size=(m, d)), random.choice(np.array([-1, 1], np.int8), m)
    trainer, _ = core_run(X, sides, rho, C, _core.CoordinateDescent(), schedule, seed, hinge, passes=3)
    Y = extended_patterns(X, sides, rho, 0.0 if hinge else (1 / (2 * C)) ** 0.5)
    run = reference.DualRun(Y, sides, reference.CoordinateDescent(), schedule, seed, most=C if hinge else np.inf)
    run.run(3)
    core, plain = (substantial(updates, m) for updates in (trainer.recorded_updates, run.updates))
    assert len(plain) > 0
    assert [k for k, _ in core] == [k for k, _ in plain]
    np.testing.assert_allclose([a for _, a in core], [a for _, a in plain], rtol=1e-7)


@given(st.integers(0, 2**40), st.booleans(), st.sampled_from([0.0, 1.0]), st.sampled_from([0.3, 3.0, 30.0]))
@settings(max_examples=100)
def test_dcd_that_mixes_ends_with_the_same_dual_weights(seed, hinge, rho, C):
    """The reference is told when bounds are checked; the rest it finds by itself."""
    random = np.random.default_rng(seed)
    m, d = random.integers(6, 16), random.integers(2, 6)
    X, sides = random.normal(size=(m, d)), random.choice(np.array([-1, 1], np.int8), m)
    X[:, 0] *= 4  # rows share much
    schedule, checks = _core.GainSchedule(depth=2, most_rounds=6, mix_after=1.0), []
    trainer, _ = core_run(X, sides, rho, C, _core.CoordinateDescent(), schedule, seed, hinge, passes=3, checks=checks)
    Y = extended_patterns(X, sides, rho, 0.0 if hinge else (1 / (2 * C)) ** 0.5)
    most = C if hinge else np.inf
    run = reference.DualRun(Y, sides, reference.CoordinateDescent(), schedule, seed, most, columns=d, checks=checks)
    run.run(3)
    event("mixed" if run.times_mixed else "never mixed")
    assert trainer.visits == run.visits
    np.testing.assert_allclose(trainer.dual_weights(), run.alpha, rtol=1e-6, atol=1e-8)


def soft_rows(seed):
    """Rows of 30 entries that share very little, compared with what a slack costs."""
    random = np.random.default_rng(seed)
    X = np.where(random.random((120, 600)) < 0.05, random.random((120, 600)), 0.0)
    sides = np.where(X[:, :300].sum(axis=1) > X[:, 300:].sum(axis=1), 1, -1).astype(np.int8)
    return X, sides, 1.0, 0.003


def soft_trainer(X, sides, rho, C, seed, epsilon=1e-6):
    schedule, step = _core.GainSchedule(mix_after=20.0), _core.CoordinateDescent()
    return _core.DualTrainer(
        _core.pack(_core.dense(X)), _core.Problem(sides, rho, C, C), step, schedule, epsilon, 0.0, True, seed
    )


@given(st.integers(0, 2**40))
@settings(max_examples=30)
def test_dual_weights_are_mixed_with_those_that_the_weights_imply(seed):
    X, sides, rho, C = soft_rows(seed)
    assume(abs(sides.sum()) < len(sides))
    trainer = soft_trainer(X, sides, rho, C, seed)
    while trainer.full_passes < 1:
        trainer.advance(0.0)
    bounds, alpha, (w, scale) = trainer.check(), trainer.dual_weights(), trainer.model()
    Y = extended_patterns(X, sides, rho, (1 / (2 * C)) ** 0.5)
    scores = sides * (X @ w[:-1] + w[-1] * rho) * scale
    mixture = reference.DualMixture(Y, 1.0, np.inf)
    mixture.points = [2 * C * np.maximum(0.0, 1 - scores)]
    resumed = soft_trainer(X, sides, rho, C, seed)
    resumed.restore(trainer.snapshot())
    for run in (trainer, resumed):  # a snapshot has no scores: they are computed anew
        run.renew()
    assert np.array_equal(trainer.dual_weights(), resumed.dual_weights())
    resumed.restore(trainer.snapshot())
    resumed.renew()  # once per check, even if nobody knows that it is done
    assert np.array_equal(trainer.dual_weights(), resumed.dual_weights())
    np.testing.assert_allclose(trainer.dual_weights(), mixture.improved(alpha), rtol=1e-6, atol=1e-12)
    a = trainer.dual_weights() @ Y
    np.testing.assert_allclose(trainer.weights()[:-1], (sides * trainer.dual_weights()) @ X, rtol=1e-9, atol=1e-12)
    renewed = trainer.check()
    assert renewed.margin == bounds.margin
    assert renewed.upper_bound < bounds.upper_bound
    np.testing.assert_allclose(renewed.upper_bound, np.linalg.norm(a) / trainer.dual_weights().sum())


def test_implied_dual_weights_that_close_the_gap_end_the_run():
    X, sides, rho, C = soft_rows(0)
    trainer = soft_trainer(X, sides, rho, C, seed=0)
    while trainer.full_passes < 1:
        trainer.advance(0.0)
    before = trainer.check()
    trainer.renew()
    gaps = [1 - bounds.margin / bounds.upper_bound for bounds in (before, trainer.check())]
    assert gaps[1] < gaps[0] / 3
    for epsilon, closed in ((2 * gaps[1], True), (gaps[1] / 2, False)):
        run = soft_trainer(X, sides, rho, C, 0, epsilon)
        while run.full_passes < 1:
            run.advance(0.0)
        run.check()
        run.renew()
        resumed = soft_trainer(X, sides, rho, C, 0, epsilon)
        resumed.restore(run.snapshot())
        assert (run.advance(0.0) is _core.Event.bound_met) == closed
        assert (resumed.advance(0.0) is _core.Event.bound_met) == closed


@pytest.mark.parametrize("hinge", [False, True])
def test_mixing_gathers_no_rounding_errors(hinge):
    """Large coefficients would multiply them: w is summed anew, whatever the states before."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 5)) @ random.normal(size=(5, 30)) + 0.1 * random.normal(size=(200, 30))
    sides = np.where(X[:, 0] + random.normal(size=200) > 0, 1, -1).astype(np.int8)
    schedule = _core.GainSchedule(mix_after=1.0)
    trainer, _ = core_run(X, sides, 1.0, 1e4, _core.CoordinateDescent(), schedule, 0, hinge, passes=40)
    patterns = extended_patterns(X, sides, 1.0, 0.0)[:, :31]
    alpha = trainer.dual_weights()
    error = np.linalg.norm(trainer.weights() - alpha @ patterns)
    assert error <= 1e-9 * (alpha @ np.linalg.norm(patterns, axis=1))


@given(st.integers(0, 2**40), st.booleans())
@settings(max_examples=50)
def test_mixing_never_makes_the_dual_objective_worse(seed, hinge):
    random = np.random.default_rng(seed)
    Y, most = random.normal(size=(9, 4)), 0.5 if hinge else np.inf
    mixture = reference.DualMixture(Y, 1.0, most)
    alpha = np.zeros(9)
    for _ in range(6):
        alpha = np.clip(alpha + 0.3 * random.random(9) * (1 - Y @ (alpha @ Y)), 0, most)
        mixed = mixture.mix(alpha)
        assert mixture.objective(mixed) <= mixture.objective(alpha)
        assert (mixed >= 0).all()
        assert (mixed <= most).all()
        alpha = mixed


def substantial(updates, m):
    """Leave out the steps that only rounding makes."""
    weights, kept = np.zeros(m), []
    for k, weight in updates:
        if abs(weight - weights[k]) > 1e-9:
            kept.append((k, weight))
        weights[k] = weight
    return kept


def test_slices_do_not_matter(breast_cancer):
    X, y = breast_cancer
    sides = np.where(y == 1, 1, -1).astype(np.int8)
    for step in (_core.CoordinateDescent(), _core.MarginUnlearning(3000.0, 100.0)):
        runs = []
        for seconds in (0.0, 1e-5, 10.0):
            problem = _core.Problem(sides, 1.0, 1.0, 1.0)
            rows = _core.pack(_core.dense(X))
            trainer = _core.DualTrainer(rows, problem, step, _core.GainSchedule(), 0.01, 0.0, False, 7)
            while trainer.updates < 20_000:
                trainer.advance(seconds, 20_000)
                if seconds == 1e-5 and trainer.updates > 0:
                    trainer.check()  # a check changes nothing either
            runs.append(trainer.dual_weights())
        assert np.array_equal(runs[0], runs[1])
        assert np.array_equal(runs[0], runs[2])


@pytest.mark.parametrize("seed", range(20))
def test_mpu_ends_within_its_bound(seed):
    """At most (b + db/2)² / (gamma_d² (db - R²)) units, and then every margin is above b / (b + db) of the best."""
    random = np.random.default_rng(seed)
    X, sides = random.normal(size=(30, 3)), random.choice(np.array([-1, 1], np.int8), 30)
    Y = extended_patterns(X, sides, 1.0, 1.0)
    R2, best = (Y * Y).sum(axis=1).max(), best_soft_margin(X, sides, 1.0, 1.0)
    db = random.choice([1.5, 3.0]) * R2
    b = db * random.choice([1.0, 9.0, 99.0])
    trainer, event = core_run(
        X, sides, 1.0, 0.5, _core.MarginUnlearning(b, db), _core.GainSchedule(), seed, seconds=1.0, passes=10**6
    )
    assert event is _core.Event.converged
    weights, units = np.zeros(30), 0.0
    for k, weight in trainer.recorded_updates:
        units += abs(weight - weights[k])
        weights[k] = weight
    assert units == trainer.updates <= (b + db / 2) ** 2 / (best**2 * (db - R2))
    assert trainer.check().directional_margin > b / (b + db) * best * (1 - 1e-9)
    a = weights @ Y
    assert ((Y @ a > b) & ((Y @ a < b + db) | (weights == 0))).all()
