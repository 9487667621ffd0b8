"""The core makes the same updates as the plain NumPy reference, for every member of the family."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import rescaling
from reference.patterns import extended_patterns
from reference.rules import ConstantThreshold, MargitronNorm, MargitronUpdates
from test_reference import ONGOING, PASSES, UPDATES, make_the_same_updates, problems, schedules

from dynmargin import Schedule, _core
from dynmargin.algorithms.pdm import to_core


@given(problems(), schedules, st.sampled_from([0.0, 0.5, 3.0, 200.0]), st.integers(0, 2**40))
@settings(max_examples=300)
def test_the_perceptron_makes_the_same_updates(problem, schedule, b, seed):
    make_the_same_updates(problem, _core.ConstantThreshold(b), ConstantThreshold(b), schedule, seed)


@pytest.mark.parametrize("growth", ["Updates", "Norm"])
@given(
    problem=problems(),
    schedule=schedules,
    b=st.sampled_from([0.5, 3.0, 50.0]),
    power=st.sampled_from([0.0, 0.25, 0.5, 0.9375]),
    seed=st.integers(0, 2**40),
)
@settings(max_examples=300)
def test_the_margitron_makes_the_same_updates(growth, problem, schedule, b, power, seed):
    core_rule, rule = {
        "Updates": (_core.MargitronUpdates, MargitronUpdates),
        "Norm": (_core.MargitronNorm, MargitronNorm),
    }[growth]
    make_the_same_updates(problem, core_rule(b, power), rule(b, power), schedule, seed)


@st.composite
def generic_problems(draw):
    """Small integers and a little noise: no score is at a threshold by chance, where rounding would decide."""
    X, sides, rho, delta = draw(problems())
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    return X + 0.1 * random.normal(size=X.shape), sides, rho, delta


def compare(problem, core_rule, rule, schedule, seed, well_conditioned=lambda reference: True):
    """Same rows in the same order, same coefficients up to rounding; returns the core's trainer."""
    X, sides, rho, delta = problem
    C = np.inf if delta == 0 else 1 / (2 * delta**2)
    trainer = _core.RescalingTrainer(
        _core.pack(_core.dense(X)), _core.Problem(sides, rho, C, C), core_rule, to_core(schedule), 1.0, seed
    )
    trainer.record_updates()
    event = _core.Event.check_due
    while trainer.full_passes < PASSES and event in ONGOING:
        event = trainer.advance(1.0, UPDATES)
    reference = rescaling.RescalingRun(extended_patterns(*problem), sides, rule, schedule, seed, UPDATES)
    with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):
        reference.run(PASSES)
    assume(well_conditioned(reference))
    if trainer.full_passes == PASSES and trainer.updates < UPDATES:  # stopped at the end of the last full pass
        reference.updates = reference.updates[: reference.at_full_pass[PASSES - 1][0]]
    else:
        np.testing.assert_allclose(trainer.support()[1], reference.coefficients, rtol=1e-6, atol=1e-9)
    ours, theirs = (list(zip(*updates, strict=True)) for updates in (trainer.recorded_updates, reference.updates))
    assert ours[0] == theirs[0]
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-6)
    return trainer


def longest(problem):
    return float(np.linalg.norm(extended_patterns(*problem), axis=1).max())


@given(generic_problems(), schedules, st.sampled_from([0.0, 0.4, 0.7, 0.95]), st.integers(0, 2**40))
@settings(max_examples=400)
def test_romma_makes_the_same_updates(problem, schedule, bound, seed):
    def well_conditioned(reference):  # opposite patterns make it divide by next to nothing
        return np.linalg.norm(reference.a) * longest(problem) < 1e4

    assume(problem[0].shape[1] > 1 or problem[2] > 0 or problem[3] > 0)  # on a line all patterns are parallel
    trainer = compare(problem, _core.Romma(bound), rescaling.Romma(bound), schedule, seed, well_conditioned)
    # The coefficients add up to ‖a‖², so that ‖a‖ / sum is ROMMA's own upper bound 1 / ‖a‖.
    Y, coefficients = extended_patterns(*problem), trainer.support()[1]
    assert np.sum((coefficients @ Y) ** 2) == pytest.approx(coefficients.sum(), rel=1e-6)
    assert trainer.check().upper_bound == pytest.approx(1 / np.sqrt(coefficients.sum()), rel=1e-6)


@given(generic_problems(), schedules, st.sampled_from([0.1, 0.5, 0.9]), st.integers(0, 2**40))
@settings(max_examples=300)
def test_alma_makes_the_same_updates(problem, schedule, alpha, seed):
    rule = (alpha, longest(problem))
    compare(problem, _core.Alma(*rule), rescaling.Alma(*rule), schedule, seed)


@given(
    generic_problems(),
    schedules,
    st.sampled_from([0.3, 3.0]),
    st.sampled_from([0.3, 0.5, 1.0]),
    st.sampled_from([0.01, 0.5, 2.0]),
    st.sampled_from([0.0, 0.5]),
    st.integers(0, 2**40),
)
@settings(max_examples=300)
def test_cramma_and_micra_make_the_same_updates(problem, schedule, threshold, power, rate, zeta, seed):
    # On a line u + rate y may vanish, and rounding decides on which side it goes on.
    assume(problem[0].shape[1] > 1 or problem[2] > 0 or problem[3] > 0)
    R = longest(problem)
    rule = (threshold * R, power, rate, zeta, R)
    compare(problem, _core.MistakeControlled(*rule), rescaling.MistakeControlled(*rule), schedule, seed)


def breast_cancer_run(breast_cancer, rule, seconds):
    X, y = breast_cancer
    problem = _core.Problem(np.where(y == 1, 1, -1).astype(np.int8), 1.0, 1.0, 1.0)
    trainer = _core.RescalingTrainer(_core.pack(_core.dense(X)), problem, rule, to_core(Schedule()), 0.01, 7)
    event = _core.Event.slice_over
    while event in ONGOING:
        event = trainer.advance(seconds, 30_000)
        if seconds == 1e-5 and trainer.full_passes > 1:
            trainer.check()
    assert event is _core.Event.max_updates
    return trainer


def test_slices_do_not_matter(breast_cancer):
    runs = [breast_cancer_run(breast_cancer, _core.Romma(0.999), seconds) for seconds in (0.0, 1e-5, 10.0)]
    for run in runs[1:]:
        assert np.array_equal(run.support()[1], runs[0].support()[1])


def test_the_scale_is_taken_in_before_it_underflows(breast_cancer):
    """With a rate of 1 every update about halves what was there: without that, 30,000 of them would end at zero."""
    X, y = breast_cancer
    trainer = breast_cancer_run(breast_cancer, _core.MistakeControlled(1e6, 0.01, 1.0, 0.0, 20.0), 1.0)
    coefficients = trainer.support()[1]
    Y = extended_patterns(X, np.where(y == 1, 1, -1), 1.0, np.sqrt(0.5))
    assert np.linalg.norm(coefficients @ Y) == pytest.approx(1, rel=1e-9)
    assert trainer.check().upper_bound == pytest.approx(1 / coefficients.sum(), rel=1e-9)
