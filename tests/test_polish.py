"""Newton's steps for the best weights of a stiff run: that they are made, what they are good for, and when not."""

import numpy as np
import pytest
from reference.patterns import extended_patterns
from reference.polish import PATIENCE, STIFF, Newton, allowed, eased_steps, is_exact, work_of_step
from reference.presentation import Run
from reference.rules import DynamicMargin

from dynmargin import PDMClassifier, Schedule, _core
from dynmargin.algorithms.pdm import to_core

EVERY_PASS = 1.0  # a gap so wide that a check is due after every full pass
EPS, DELTA = 1 / 64, 1 / 16
ONLY_POLISH = Schedule(renewal=False)


# Columns, and the share that is not zero: with room for a Hessian, with one that is expensive, and without.
DENSE, LONG, SPARSE = (4, 1.0), (58, 1.0), (14, 0.2)


def stiff(seed, shape=DENSE):
    """Small integers, so that float64 is exact, and columns that are much longer than others."""
    rng, (columns, filled) = np.random.default_rng(seed), shape
    X = rng.integers(-4, 5, (60, columns)) * (rng.random((60, columns)) < filled)
    X = X * 8.0 ** (np.arange(columns) * 3 // columns)
    sides = np.where(X[:, 0] + X[:, 1] + 2 * rng.normal(size=len(X)) > 0, 1, -1).astype(np.int8)
    return X, sides


def trainer_of(X, sides, rule=None, C=1 / (2 * DELTA**2), schedule=ONLY_POLISH, epsilon=EVERY_PASS):
    problem = _core.Problem(sides, 1.0, C, C)
    rule = _core.DynamicMargin(EPS) if rule is None else rule
    return _core.Trainer(_core.pack(_core.dense(X)), problem, rule, to_core(schedule), epsilon, 0)


def next_check(trainer, seconds=1.0):
    """Return the bounds when a check is due, or None if no pattern is misclassified any more."""
    event = _core.Event.slice_over
    while event is _core.Event.slice_over:
        event = trainer.advance(seconds)
    assert event in (_core.Event.check_due, _core.Event.converged)
    return trainer.check() if event is _core.Event.check_due else None


def counts_of(trainer, n_rows):
    counts = np.zeros(n_rows)
    rows, times = trainer.support()
    counts[rows] = times
    return counts


def weights_of(trainer):
    w, scale = trainer.model()
    return scale * w


def polished(trainer, X, sides, passes):
    """Advance a run; hold every polish against the reference, and return the counts that it left, by full passes.

    The reference is given the weights to begin with; the rest it finds by itself.
    """
    ybar, c = extended_patterns(X, sides, 1.0, DELTA)[:, : X.shape[1] + 1], np.full(len(X), DELTA**-2)
    found = {}
    while trainer.full_passes < passes and next_check(trainer):
        start = weights_of(trainer)
        trainer.checked(0.5)
        trainer.renew()
        before = trainer.norm2
        if not trainer.polishing:
            continue
        while trainer.polishing:
            trainer.advance(0.0)
        newton, best = Newton(ybar, c, start, is_exact(X)), []
        for _ in range(40):
            newton.step()
            best.append((newton.w, newton.alpha / newton.alpha.sum()))
        assert any(np.allclose(weights_of(trainer), w, rtol=1e-6, atol=1e-9) for w, _ in best)
        if trainer.norm2 != before:
            counts = counts_of(trainer, len(X))
            assert any(np.allclose(counts / counts.sum(), shares, rtol=0, atol=1e-3) for _, shares in best)
            found[trainer.full_passes] = counts
    assert found
    return found


@pytest.mark.parametrize("seed", range(6))
def test_steps_without_a_hessian_are_those_of_the_reference(seed):
    X, sides = stiff(seed, SPARSE)
    assert not is_exact(X)
    polished(trainer_of(X, sides, epsilon=1e-9), X, sides, passes=4)  # later ones are as small as rounding


@pytest.mark.parametrize("seed", range(6))
def test_the_steps_and_the_updates_after_them_are_those_of_the_reference(seed):
    """The reference is given the rounded counts after a polish, and makes the same updates from there."""
    X, sides = stiff(seed)
    assert is_exact(X)
    trainer = trainer_of(X, sides, epsilon=1e-9)
    trainer.record_updates()
    reference = Run(extended_patterns(X, sides, 1.0, DELTA), sides, DynamicMargin(EPS), ONLY_POLISH, 0, 2**53)
    reference.polished.update(polished(trainer, X, sides, passes=6))
    reference.run(trainer.full_passes)
    made, _ = reference.at_full_pass[-1]
    assert trainer.recorded_updates[:made] == reference.updates[:made]


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_columns_of_very_different_scales_are_no_obstacle(C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20)) @ rng.normal(size=(20, 20)) * 10.0 ** rng.uniform(-2, 2, 20)
    y = X / X.std(axis=0) @ rng.normal(size=20) + rng.normal(size=300) > 0
    classifier = PDMClassifier(C=C, random_state=0).fit(X, y)  # hundreds of passes otherwise, or it stalls
    assert classifier.stop_reason_ == "certificate"
    assert classifier.n_iter_ < 60
    assert classifier.certificate_.verify(X, y)


def nearly_separable(seed):
    """Few rows need a slack, and slacks are expensive: exact steps from far away are tiny."""
    rng = np.random.default_rng(seed)
    X = np.round(8 * rng.normal(size=(300, 40)) @ rng.normal(size=(40, 40)))
    sides = np.where(X @ rng.normal(size=40) + 4 * rng.normal(size=len(X)) > 0, 1, -1).astype(np.int8)
    return X, sides


def eased(trainer, X, delta):
    """Advance a run until its steps have cost so much that slacks begin at a lower price; return the weights then."""
    stiffness = np.mean(np.sum(X**2, axis=1) + 1) / delta**2
    assert stiffness > STIFF
    enough = PATIENCE * (60 * len(X) + 2 * np.count_nonzero(X))
    while next_check(trainer):
        start, due = weights_of(trainer), trainer.polish_work > enough
        trainer.checked(0.5)
        trainer.renew()
        if trainer.polishing and due:
            return start, stiffness
    pytest.fail("the run ended before")


@pytest.mark.parametrize("seed", range(4))
def test_slacks_begin_at_a_lower_price_where_steps_are_tiny(seed):
    """Whatever weights the run takes over then, until the price is the real one, are those of the reference."""
    (X, sides), delta = nearly_separable(seed), 2.0**-8
    trainer = trainer_of(X, sides, C=1 / (2 * delta**2), epsilon=1e-9)
    start, stiffness = eased(trainer, X, delta)
    ybar, c = extended_patterns(X, sides, 1.0, delta)[:, : X.shape[1] + 1], np.full(len(X), delta**-2)
    expected, taken = list(eased_steps(ybar, c, start, stiffness)), 0
    while not taken:
        before = weights_of(trainer)
        while trainer.polishing:
            trainer.advance(0.0)
            now = weights_of(trainer)
            if not np.array_equal(now, before):
                assert any(np.allclose(now, w, rtol=1e-5, atol=1e-9) for w in expected)
                taken, before = taken + 1, now
        continued(trainer, 1)


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_a_run_continues_from_steps_at_a_lower_price(seconds):
    (X, sides), delta = nearly_separable(0), 2.0**-8
    trainer, other = (trainer_of(X, sides, C=1 / (2 * delta**2), epsilon=1e-9) for _ in range(2))
    eased(trainer, X, delta)
    trainer.advance(0.0)
    other.restore(trainer.snapshot())
    assert other.polishing
    assert continued(other, 8, seconds) == continued(trainer, 8)
    assert np.array_equal(other.snapshot(), trainer.snapshot())


@pytest.mark.parametrize(
    ("shape", "delta"), [(DENSE, DELTA), (LONG, DELTA), (SPARSE, DELTA), (DENSE, 64.0), (LONG, 2.0)]
)
def test_steps_cost_no_more_than_is_allowed(shape, delta):
    """They begin after so much work of PDM that a step can be paid for; those that cost little need no stiffness."""
    X, sides = stiff(0, shape)
    trainer = trainer_of(X, sides, C=1 / (2 * delta**2), epsilon=1e-9)
    stiffness = np.mean(np.sum(X**2, axis=1) + 1) / delta**2
    for _ in range(40):
        next_check(trainer)
        trainer.checked(0.5)
        trainer.renew()
        affordable = allowed(X, stiffness, trainer.visits, trainer.full_passes) >= work_of_step(X)
        assert trainer.polishing == affordable
        if affordable:
            return
    pytest.fail("no step was ever affordable")


def continued(trainer, checks, seconds=1.0):
    found = []
    while len(found) < checks and (bounds := next_check(trainer, seconds)):
        found.append((bounds.margin, bounds.upper_bound, trainer.full_passes, trainer.updates))
        trainer.checked(0.5)
        trainer.renew()
    return found


@pytest.mark.parametrize("shape", [DENSE, SPARSE])
def test_slices_do_not_matter(shape):
    X, sides = stiff(1, shape)
    assert continued(trainer_of(X, sides), 12, 0.0) == continued(trainer_of(X, sides), 12, 1.0)


@pytest.mark.parametrize("shape", [DENSE, SPARSE])
def test_a_run_continues_from_the_middle_of_a_step(shape):
    X, sides = stiff(2, shape)
    trainer = trainer_of(X, sides, epsilon=1e-9)
    while not trainer.polishing:
        continued(trainer, 1)
    trainer.advance(0.0)
    other = trainer_of(X, sides, epsilon=1e-9)
    other.restore(trainer.snapshot())
    assert other.polishing
    assert continued(other, 8) == continued(trainer, 8)
    assert np.array_equal(other.snapshot(), trainer.snapshot())


@pytest.mark.parametrize(
    ("rule", "C", "schedule"),
    [
        (_core.DynamicMargin(EPS), np.inf, Schedule()),
        (_core.DynamicMargin(EPS), 128.0, Schedule(polish=False)),
        (_core.DynamicMargin(EPS), 128.0, Schedule.named("paper")),
        (_core.DynamicMargin(EPS), 128.0, Schedule().for_other_rules()),
        (_core.FixedMargin(1e-4), 128.0, Schedule(mixing=False)),
        (_core.DynamicMargin(EPS), 1e-6, Schedule()),
    ],
)
def test_only_stiff_soft_margins_and_plain_pdm_are_polished(rule, C, schedule):
    X, sides = stiff(0, SPARSE)  # without a Hessian, whose steps would be cheap
    trainer = trainer_of(X, sides, rule, C, schedule)
    for _ in range(10):
        event = trainer.advance(1.0)
        if event is _core.Event.check_due:
            trainer.check()
            trainer.renew()
        assert not trainer.polishing
