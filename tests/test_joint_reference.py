"""All classes at once: the core makes the updates of the plain NumPy reference, and both bounds are true.

Data are small integers and accuracies dyadic fractions where updates are compared, so float64 is exact and there is
nothing to tolerate. The bounds are compared with exact fractions.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference.exact import dot, fractions
from reference.joint import JointRun, joint_patterns
from reference.rules import DynamicMargin
from test_reference import ONGOING, PASSES, UPDATES, agree, converges, schedules

from dynmargin import Schedule, _core
from dynmargin.algorithms.pdm import to_core
from dynmargin.problem.matrix import as_matrix

accuracies = st.sampled_from([1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1.0])


@st.composite
def joint_problems(draw, least=2, most=5):
    K, m, d = draw(st.integers(least, most)), draw(st.integers(2, 8)), draw(st.integers(1, 4))
    X = np.array(draw(st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=m, max_size=m)), float)
    y = np.array(draw(st.lists(st.integers(0, K - 1), min_size=m, max_size=m)))
    return X, y, K, draw(st.sampled_from([0.0, 1.0, 2.0])), draw(st.sampled_from([0.0, 0.5, 1.0, 2.0]))


def core_problem(y, K, rho, delta, weight=None):
    C = np.inf if delta == 0 else 1 / (2 * delta**2)
    return _core.JointProblem((y + 1).astype(np.int32), rho, np.full(K, C), weight)


def joint_run(problem, eps, schedule, seed, max_updates=UPDATES, seconds=1.0, sparse=False):
    X, y, K, rho, delta = problem
    rows = _core.pack(as_matrix(sp.csr_array(X)) if sparse else _core.dense(X))
    problem = core_problem(y, K, rho, delta)
    trainer = _core.JointTrainer(rows, problem, _core.DynamicMargin(eps), to_core(schedule), 1.0, seed)
    trainer.record_updates()
    event = _core.Event.slice_over
    while trainer.full_passes < PASSES and event in ONGOING:
        event = trainer.advance(seconds, max_updates)
    return trainer, event


@given(joint_problems(), schedules, accuracies, st.integers(0, 2**40))
@settings(max_examples=600)
def test_the_same_updates(problem, schedule, eps, seed):
    trainer, _ = joint_run(problem, eps, schedule, seed)
    reference = JointRun(joint_patterns(*problem), len(problem[0]), DynamicMargin(eps), schedule, seed, UPDATES)
    reference.run(PASSES)
    reference.updates = [(*key, count) for key, count in reference.updates]
    agree(trainer, reference)


@given(joint_problems(2, 2), schedules, accuracies, st.integers(0, 2**40))
@settings(max_examples=300)
def test_two_classes_are_the_two_class_problem(problem, schedule, eps, seed):
    """All products of patterns are twice those for two classes if Delta² is: the same updates, sqrt(2) the margin."""
    X, y, _, rho, delta = problem
    # Balanced orders draw by side, and the joint problem has none; mixing rounds what sqrt(2) is multiplied to; for all
    # classes at once nothing is taken back.
    plain = replace(schedule, balanced=False, taking_back=False, mixing=False)
    joint, _ = joint_run(problem, eps, plain, seed)
    C = np.inf if delta == 0 else 1 / delta**2  # Delta² / 2
    binary = _core.Trainer(
        _core.pack(_core.dense(X)),
        _core.Problem(np.where(y == 1, 1, -1).astype(np.int8), rho, C, C),
        _core.DynamicMargin(eps),
        to_core(plain),
        1.0,
        seed,
    )
    binary.record_updates()
    event = _core.Event.slice_over
    while binary.full_passes < PASSES and event in ONGOING:
        event = binary.advance(1.0, UPDATES)
    assert [(k, count) for k, _, count in joint.recorded_updates] == binary.recorded_updates
    assert joint.norm2 == 2 * binary.norm2


@given(joint_problems(), schedules, st.integers(0, 2**40))
@settings(max_examples=100)
def test_the_counts_of_a_check_prove_its_upper_bound(problem, schedule, seed):
    """Also where states were mixed."""
    X, y, K, rho, delta = problem
    rows, core = _core.pack(_core.dense(X)), core_problem(y, K, rho, delta)
    trainer = _core.JointTrainer(rows, core, _core.DynamicMargin(1 / 64), to_core(schedule), 1.0, seed)
    for _ in range(12):
        if trainer.advance(1.0, 10**6) not in ONGOING:
            break
        said = trainer.check().upper_bound
        proven, error = core.bound_of_counts(_core.dense(X), *trainer.support())
        assert said == pytest.approx(proven, rel=1e-9, abs=1e-9)
        assert said <= trainer.upper_bound * (1 + 1e-9)
        assert error < 1e-9


@given(joint_problems(), schedules, st.sampled_from([1 / 8, 1 / 2]), st.integers(0, 2**40))
@settings(max_examples=50)
def test_convergence_is_convergence(problem, schedule, eps, seed):
    X, y, K, rho, delta = problem
    trainer = _core.JointTrainer(
        _core.pack(_core.dense(X)),
        core_problem(y, K, rho, delta),
        _core.DynamicMargin(eps),
        to_core(schedule),
        1.0,
        seed,
    )
    if not converges(trainer):
        return  # not separable, or slow: nothing is claimed
    Z = joint_patterns(*problem)
    places, data = trainer.support()
    a = sum(n * Z[int(place) // K, int(place) % K] for place, n in zip(places, data, strict=True))
    scores = np.array([a @ z for z in Z.values()])
    assert (data.sum() * scores > (1 - eps) * (a @ a)).all()
    assert trainer.check().directional_margin == pytest.approx(scores.min() / np.linalg.norm(a))


@pytest.mark.parametrize("n_classes", [2, 3, 10, 16, 17, 35])
def test_containers_and_slices_do_not_matter(n_classes, rng):
    """However many classes stand side by side, rows give the same run dense or sparse, in slices of any length."""
    X = rng.integers(0, 3, size=(200, 12)).astype(float)
    y = rng.integers(0, n_classes, size=200)
    runs = []
    for sparse, seconds in [(False, 1.0), (True, 1.0), (False, 0.0), (True, 1e-5)]:
        trainer, _ = joint_run((X, y, n_classes, 1.0, 1.0), 0.01, Schedule(), 7, 30_000, seconds, sparse)
        places, counts = trainer.support()
        runs.append((trainer.norm2, tuple(places), tuple(counts), trainer.recorded_updates))
    assert runs[0] == runs[1]
    assert runs[0][3] == runs[2][3][: len(runs[0][3])]
    assert runs[2] == runs[3]


finite = st.floats(-1e3, 1e3).filter(lambda x: x == 0 or abs(x) > 1e-3)


@st.composite
def data(draw):
    K, m, d = draw(st.integers(2, 5)), draw(st.integers(2, 6)), draw(st.integers(1, 4))
    X = np.array(draw(st.lists(st.lists(finite, min_size=d, max_size=d), min_size=m, max_size=m)))
    y = np.array(draw(st.lists(st.integers(0, K - 1), min_size=m, max_size=m)))
    weight = np.array(draw(st.lists(st.sampled_from([0.0, 0.3, 1.0, 7.0]), min_size=m, max_size=m)))
    costs = draw(st.sampled_from([np.full(K, np.inf), np.full(K, 1.0), np.linspace(0.1, 7.3, K)]))
    assume((weight > 0).any())
    return X, y, K, draw(st.sampled_from([0.0, 1.0, 0.3])), costs, weight


def exact_problem(y, rho, costs, weight):
    return _core.JointProblem(np.where(weight > 0, y + 1, 0).astype(np.int32), rho, costs, weight)


@given(data(), st.data())
@settings(max_examples=200)
def test_margin_of_weights_encloses_the_exact_one(problem, more):
    X, y, K, rho, costs, weight = problem
    d = X.shape[1]
    number = st.floats(-10, 10).filter(lambda x: abs(x) > 1e-6)
    W = np.array(more.draw(st.lists(number, min_size=K * d, max_size=K * d))).reshape(K, d)
    b = np.array(more.draw(st.lists(number, min_size=K, max_size=K))) if rho else np.zeros(K)
    value, error = exact_problem(y, rho, costs, weight).margin_of_weights(_core.dense(X), W, b)
    norm2 = dot(fractions(W.ravel()), fractions(W.ravel()))
    norm2 += sum(((c / Fraction(rho)) ** 2 for c in fractions(b)), Fraction(0)) if rho else 0
    scores = [[dot(fractions(w), fractions(x)) + Fraction(c) for w, c in zip(W, b, strict=True)] for x in X]
    margins = [s[k] - max(s[:k] + s[k + 1 :]) for s, k in zip(scores, y, strict=True)]
    low, high = Fraction(value - error), Fraction(value + error)
    if np.isinf(costs[0]):
        smallest = min(m for m, v in zip(margins, weight, strict=True) if v > 0)
        assert low * abs(low) * norm2 <= smallest * abs(smallest) <= high * abs(high) * norm2
    else:
        penalties = [2 * Fraction(float(costs[k]) * float(v)) for k, v in zip(y, weight, strict=True)]
        F = norm2 + sum(p * max(Fraction(0), 1 - m) ** 2 for p, m in zip(penalties, margins, strict=True))
        assert low**2 * F <= 1 <= high**2 * F
    assert error <= 1e-9 * (1 + abs(value)) * (1 + float(max(abs(m) for m in margins)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data(), st.data())
@settings(max_examples=200)
def test_bound_of_counts_encloses_the_exact_one(dtype, problem, more):
    X, y, K, rho, costs, weight = problem
    X = X.astype(dtype)
    counts = np.array(more.draw(st.lists(st.integers(0, 2**47), min_size=len(X) * K, max_size=len(X) * K)))
    counts = counts.reshape(len(X), K)
    counts[np.arange(len(X)), y] = 0
    counts[weight == 0] = 0
    assume(counts.any())
    places = np.flatnonzero(counts)
    value, error = exact_problem(y, rho, costs, weight).bound_of_counts(_core.dense(X), places, counts.ravel()[places])
    blocks = [[Fraction(0)] * (X.shape[1] + 1) for _ in range(K)]
    extended = Fraction(0)
    for k, x in enumerate(X):
        augmented = [*fractions(x), Fraction(rho)]
        n = int(counts[k].sum())
        for c in range(K):
            g = n if c == y[k] else -int(counts[k, c])
            blocks[c] = [old + g * v for old, v in zip(blocks[c], augmented, strict=True)]
        if weight[k] > 0 and np.isfinite(costs[0]):
            extended += n * n / (2 * Fraction(float(costs[y[k]]) * float(weight[k])))
    norm2, t = sum((dot(block, block) for block in blocks), Fraction(0)) + extended, int(counts.sum())
    assert max(Fraction(0), Fraction(value - error)) ** 2 * t * t <= norm2 <= Fraction(value + error) ** 2 * t * t
    assert error <= 1e-9 * max(1.0, value) + 1e-24 * float(np.abs(X).max())


@given(st.integers(0, 2**31))
@settings(max_examples=100)
def test_scores_that_cancel_are_enclosed(seed):
    """Classes with almost the same large scores: their differences are mostly rounding error, and the bound knows."""
    random = np.random.default_rng(seed)
    base = random.normal(size=40) * 1e6
    W = base + random.normal(size=(3, 40)) * 1e-6
    X, y = random.normal(size=(4, 40)) * 1e3, np.array([0, 1, 2, 0])
    problem = core_problem(y, 3, 0.0, 0.0)
    value, error = problem.margin_of_weights(_core.dense(X), W, np.zeros(3))
    scores = [[dot(fractions(w), fractions(x)) for w in W] for x in X]
    smallest = min(s[k] - max(s[:k] + s[k + 1 :]) for s, k in zip(scores, y, strict=True))
    norm2 = dot(fractions(W.ravel()), fractions(W.ravel()))
    low, high = Fraction(value) - Fraction(error), Fraction(value) + Fraction(error)
    assert low * abs(low) * norm2 <= smallest * abs(smallest) <= high * abs(high) * norm2


@given(st.integers(0, 2**31), st.integers(0, 2), st.booleans())
@settings(max_examples=100)
def test_the_error_may_come_from_any_class(seed, inexact, hard):
    """Only one class has a score that is not exact, and almost zero; slacks are expensive, so that it shows."""
    random = np.random.default_rng(seed)
    W, X = np.zeros((3, 40)), random.normal(size=(1, 40)) * 1e3
    W[inexact] = random.normal(size=40) * 1e3
    W[inexact] -= X[0] * (W[inexact] @ X[0]) / (X[0] @ X[0])
    C = np.inf if hard else 1e12
    problem = _core.JointProblem(np.array([1], np.int32), 0.0, np.full(3, C))
    value, error = problem.margin_of_weights(_core.dense(X), W, np.zeros(3))
    scores = [dot(fractions(w), fractions(X[0])) for w in W]
    margin, norm2 = scores[0] - max(scores[1:]), dot(fractions(W.ravel()), fractions(W.ravel()))
    low, high = Fraction(value) - Fraction(error), Fraction(value) + Fraction(error)
    if hard:
        assert low * abs(low) * norm2 <= margin * abs(margin) <= high * abs(high) * norm2
    else:
        F = norm2 + 2 * Fraction(C) * max(Fraction(0), 1 - margin) ** 2
        assert low**2 * F <= 1 <= high**2 * F


def test_squares_that_are_lost_are_accounted_for():
    """Each is too small to be seen beside the first, all together are not."""
    W = np.full((3, 4000), 0.9e-8)
    W[0, 0] = 1.0
    problem = _core.JointProblem(np.array([1], np.int32), 0.0, np.ones(3))
    value, error = problem.margin_of_weights(_core.dense(np.eye(1, 4000) * 4), W, np.zeros(3))
    F = dot(fractions(W.ravel()), fractions(W.ravel()))  # no slack
    assert Fraction(value - error) ** 2 * F <= 1 <= Fraction(value + error) ** 2 * F
    assert Fraction(value) ** 2 * F > 1  # without the error it would not be true


def test_counts_that_no_run_can_have_are_refused():
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 2])
    problem = core_problem(y, 3, 1.0, 1.0)
    assert problem.bound_of_counts(_core.dense(X), np.array([1, 3]), np.array([1, 1]))[0] > 0
    for places, counts in [
        ([0], [1]),  # the right class
        ([9], [1]),  # no such row
        ([-1], [1]),
        ([1, 1], [1, 1]),
        ([2, 1], [1, 1]),
        ([3, 1], [1, 1]),
        ([1], [-1]),
        ([1, 2], [2**53, 1]),
    ]:
        with pytest.raises(ValueError, match="count"):
            problem.bound_of_counts(_core.dense(X), np.array(places), np.array(counts))
    left_out = _core.JointProblem(np.array([1, 0, 3], np.int32), 1.0, np.ones(3))
    with pytest.raises(ValueError, match="count"):
        left_out.bound_of_counts(_core.dense(X), np.array([3]), np.array([1]))


def test_problems_that_make_no_sense_are_refused():
    for sides, rho, costs, message in [
        ([1, 4], 1.0, [1.0, 1.0, 1.0], "belongs to no class"),
        ([1, -1], 1.0, [1.0, 1.0, 1.0], "belongs to no class"),
        ([1, 1], 1.0, [1.0], "two classes"),
        ([1, 2], -1.0, [1.0, 1.0], "rho"),
        ([1, 2], 1.0, [1.0, np.inf], "finite for all"),
        ([1, 2], 1.0, [1.0, 0.0], "between"),
        ([1, 2], 1.0, [np.nan, 1.0], "between"),
    ]:
        with pytest.raises(ValueError, match=message):
            _core.JointProblem(np.array(sides, np.int32), rho, np.array(costs))


def test_not_a_number_and_intercepts_from_nowhere_prove_nothing():
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 2])
    W = np.array([[1.0], [0.0], [-1.0]])
    for delta in (0.0, 1.0):
        problem = core_problem(y, 3, 0.0, delta)
        assert problem.margin_of_weights(_core.dense(X), W, np.array([0.0, 0.0, 1.0]))[0] == -np.inf
        for broken in (np.nan, np.inf):
            rows = X.copy()
            rows[1, 0] = broken
            assert problem.margin_of_weights(_core.dense(rows), W, np.zeros(3))[0] == -np.inf


def test_sums_that_cancel_are_enclosed():
    """The computed sum is zero, the true one is not."""
    X = np.array([1.0, 2.0**-60, 2.0**-120, -1.0, -(2.0**-60)])[:, None]
    problem = _core.JointProblem(np.ones(5, np.int32), 0.0, np.full(2, np.inf))
    places, counts = np.arange(5) * 2 + 1, np.ones(5, np.int64)
    value, error = problem.bound_of_counts(_core.dense(X), places, counts)
    assert value + error >= np.sqrt(2) * 2.0**-120 / 5
