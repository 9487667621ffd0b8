"""The core makes the same updates as the plain NumPy reference: same patterns, same multiplicities, same counts.

Data are small integers and accuracies dyadic fractions, so float64 is exact and there is nothing to tolerate.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.patterns import extended_patterns
from reference.presentation import Run
from reference.rules import DynamicMargin, FixedMargin

from dynmargin import Schedule, _core
from dynmargin.algorithms.pdm import to_core

PASSES, UPDATES = 9, 3000
EVERY_PASS = 1.0  # a gap so wide that a check is due after every full pass
ONGOING = (_core.Event.slice_over, _core.Event.check_due)


@st.composite
def problems(draw):
    m, d = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    X = np.array(draw(st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=m, max_size=m)), float)
    sides = np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=m, max_size=m)), np.int8)
    return X, sides, draw(st.sampled_from([0.0, 1.0, 2.0])), draw(st.sampled_from([0.0, 0.5, 1.0, 2.0]))


schedules = st.builds(
    Schedule,
    rounds=st.tuples(*[st.integers(0, 3)] * 3),
    widths=st.tuples(*[st.sampled_from([1.0, 1.25, 2.0])] * 2),
    first_width=st.sampled_from([None, 1.5]),
    multiple_updates=st.booleans(),
    single_updates_first=st.booleans(),
    shuffle_first=st.booleans(),
    shuffle_active_sets=st.booleans(),
    balanced=st.booleans(),
    inner_passes=st.sampled_from([0.5, 1.0, 2.0, np.inf]),
    taking_back=st.booleans(),
    mixing=st.booleans(),
)


def core_run(problem, core_rule, schedule, seed, max_updates=UPDATES, seconds=1.0):
    X, sides, rho, delta = problem
    C = np.inf if delta == 0 else 1 / (2 * delta**2)
    rows = _core.pack(_core.dense(X))
    trainer = _core.Trainer(rows, _core.Problem(sides, rho, C, C), core_rule, to_core(schedule), EVERY_PASS, seed)
    trainer.record_updates()
    event = _core.Event.slice_over
    while trainer.full_passes < PASSES and event in ONGOING:
        event = trainer.advance(seconds, max_updates)
    return trainer, event


def agree(trainer, reference):
    """The core is stopped at the end of the last full pass, the reference after the rounds that follow it."""
    updates, counts = reference.updates, reference.counts
    if trainer.full_passes == PASSES and trainer.updates < UPDATES:
        made, counts = reference.at_full_pass[PASSES - 1]
        updates = updates[:made]
    else:
        assert trainer.updates == reference.made
    assert trainer.recorded_updates == updates
    indices, data = trainer.support()
    assert np.array_equal(indices, np.flatnonzero(counts))
    assert np.array_equal(data, counts[counts > 0])
    assert trainer.norm2 == reference.norm2(counts)


def make_the_same_updates(problem, core_rule, rule, schedule, seed):
    trainer, event = core_run(problem, core_rule, schedule, seed)
    reference = Run(extended_patterns(*problem), problem[1], rule, schedule, seed, UPDATES)
    reference.run(PASSES)
    if event is _core.Event.infeasible:  # the core stops where the reference goes on in vain
        assert trainer.recorded_updates == reference.updates[: len(trainer.recorded_updates)]
    else:
        agree(trainer, reference)


@given(problems(), schedules, st.sampled_from([1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1.0]), st.integers(0, 2**40))
@settings(max_examples=900)
def test_pdm_makes_the_same_updates(problem, schedule, eps, seed):
    make_the_same_updates(problem, _core.DynamicMargin(eps), DynamicMargin(eps), schedule, seed)


@given(problems(), schedules, st.sampled_from([1 / 8, 1 / 2, 1.0, 3.0]), st.integers(0, 2**40))
@settings(max_examples=600)
def test_pfm_makes_the_same_updates(problem, schedule, beta, seed):
    make_the_same_updates(problem, _core.FixedMargin(beta), FixedMargin(beta), schedule.for_other_rules(), seed)


def converges(trainer):
    """Advance a run until it converges or is not worth waiting for."""
    for _ in range(300):
        event = trainer.advance(1.0, 10**6)
        if event not in ONGOING:
            return event is _core.Event.converged
    return False


@given(problems(), schedules, st.sampled_from([1 / 8, 1 / 2]), st.integers(0, 2**40))
@settings(max_examples=50)
def test_convergence_is_convergence(problem, schedule, eps, seed):
    X, sides, rho, delta = problem
    C = np.inf if delta == 0 else 1 / (2 * delta**2)
    trainer = _core.Trainer(
        _core.pack(_core.dense(X)),
        _core.Problem(sides, rho, C, C),
        _core.DynamicMargin(eps),
        to_core(schedule),
        EVERY_PASS,
        seed,
    )
    if not converges(trainer):
        return  # not separable, or slow: nothing is claimed
    Y = extended_patterns(*problem)
    counts = np.zeros(len(Y))
    indices, data = trainer.support()
    counts[indices] = data
    a, t = counts @ Y, counts.sum()
    assert (t * (Y @ a) > (1 - eps) * (a @ a)).all()
    assert trainer.check().directional_margin == pytest.approx((Y @ a).min() / np.linalg.norm(a))


def test_slices_do_not_matter(breast_cancer):
    X, y = breast_cancer
    runs = []
    for seconds in (0.0, 1e-5, 10.0):
        sides = np.where(y == 1, 1, -1).astype(np.int8)
        trainer = _core.Trainer(
            _core.pack(_core.dense(X)),
            _core.Problem(sides, 1.0, 1.0, 1.0),
            _core.DynamicMargin(0.01),
            to_core(Schedule()),
            EVERY_PASS,
            7,
        )
        while trainer.full_passes < 20:
            trainer.advance(seconds)
            if seconds == 1e-5:
                trainer.check()  # a check changes nothing either
        while trainer.updates < 30_000:
            trainer.advance(seconds, 30_000)
        runs.append((trainer.norm2, *map(tuple, trainer.support())))
    assert runs[0] == runs[1] == runs[2]
