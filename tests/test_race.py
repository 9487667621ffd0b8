"""Algorithms that take turns: the result is the same at any speed, nothing proven is lost, and no turn is wasted."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification

from dynmargin import MaxMarginClassifier, NewtonClassifier, _core
from dynmargin.algorithms.entrants.descent import DWINDLES, HARDLY, PROBE, SETTLED, CoordinateDescent
from dynmargin.algorithms.entrants.dynamic_margin import DynamicMargin
from dynmargin.algorithms.entrants.newton import FURTHER_SHARE, TOO_LONG, Newton
from dynmargin.algorithms.newton import NewtonTrainer
from dynmargin.algorithms.race import PATIENCE, TRIAL, WAITS, Race
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.packed import PackedProblem
from dynmargin.problem.problems import state_problems
from dynmargin.training.request import Request


def packed(X, y, C, sample_weight=None):
    matrix = as_matrix(np.asarray(X, dtype=np.float64))
    classes = np.unique(y)
    (problem,) = state_problems(classes, C, np.ones(2), rho=1.0, loss="squared_hinge", free_bias=False, joint=False)
    return PackedProblem(matrix, _core.pack(matrix), problem, y, sample_weight)


def stiff():
    """Few rows, columns that nearly repeat each other, expensive slacks: coordinate descent crawls."""
    X, y = make_classification(300, 40, n_informative=5, n_redundant=30, random_state=0)
    return X * np.geomspace(1, 30, 40), y, 50.0


def separable():
    """Many columns: coordinate descent is done before a Hessian would be formed."""
    X, y = make_classification(400, 300, n_informative=60, class_sep=3.0, random_state=1)
    return X, y, 1.0


def crowded():
    """Classes that overlap in many dense columns: nearly every row has a dual weight, from the first pass on."""
    random = np.random.default_rng(2)
    X = random.normal(size=(600, 250)) * np.geomspace(1, 10, 250)
    return X, (X[:, 0] + 3 * random.normal(size=600) > 0).astype(int), 1.0


def unsettled():
    """The gap hardly falls at first, while rows keep gaining and losing a dual weight."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 500)) * np.geomspace(1, 30, 500)
    return X, (X[:, 0] + 3 * random.normal(size=300) > 0).astype(int), 1.0


def dwindling():
    """Dense rows that can be separated: fewer and fewer of them have a dual weight."""
    random = np.random.default_rng(2)
    X = random.normal(size=(900, 110))
    return X, (X @ random.normal(size=110) > 0).astype(int), 50.0


def run(race, restart=None, every=7, seconds=0.0):
    """Advance to a gap of 1e-3 and return what was known at every check; `restart` gives a fresh race now and then."""
    bounds = []
    for step in range(100_000):
        if restart is not None and step % every == every - 1:
            race = restart(race)
        event = race.advance(seconds, 2**53)
        if event in (_core.Event.check_due, _core.Event.bound_met):
            found = race.check()
            bounds.append((found.margin, found.upper_bound))
            gap = 1 - found.margin / found.upper_bound
            if gap <= 1e-3:
                return race, bounds
            race.checked(gap, found.margin / (1 - 1e-3))
            race.renew()
    raise AssertionError("the race does not end")


@pytest.mark.parametrize("problem", [stiff, separable, crowded])
def test_bounds_only_get_better_whoever_has_the_turn(problem):
    X, y, C = problem()
    _, bounds = run(Race(packed(X, y, C), Request(epsilon=1e-3)))
    margins, upper_bounds = np.array(bounds).T
    assert (np.diff(margins) >= 0).all()
    assert (np.diff(upper_bounds) <= 0).all()
    best = NewtonClassifier(1e-9, C=C).fit(X, y).certificate_
    assert (margins <= best.upper_bound * (1 + 1e-12)).all()
    assert (upper_bounds >= best.margin * (1 - 1e-12)).all()


def test_another_takes_over_where_one_is_slow():
    X, y, C = stiff()
    race, _ = run(Race(packed(X, y, C), Request(epsilon=1e-3)))
    assert race.turns[-1] == "newton"
    X, y, C = separable()
    race, _ = run(Race(packed(X, y, C), Request(epsilon=1e-3)))
    assert set(race.turns) == {"dcd"}


def test_forecasts_that_never_come_true_are_doubted_until_another_has_a_turn(monkeypatch):
    """Coordinate descent always says that it will be done in ten passes; Newton's method would take 25."""
    X, y, C = stiff()
    race = Race(packed(X, y, C), Request(epsilon=1e-9))
    passes = race.descent.pass_work
    monkeypatch.setattr(CoordinateDescent, "expected", lambda self, spent: 10 * passes)
    monkeypatch.setattr(Newton, "expected", lambda self, spent: 25 * passes)
    monkeypatch.setattr(DynamicMargin, "expected", lambda self, spent: 1e30)
    while len(race.turns) < 30 and race.turns[-1] == "dcd":
        if race.advance(0.0, 2**53) is _core.Event.check_due:
            race.check()
    descent = race.descent
    assert race.turns[-1] == "newton"
    assert 10 * (descent.work + 10 * passes) > 25 * descent.foretold  # by now, and not before its last turn
    assert 10 * (descent.work - PATIENCE * 25 * passes + 10 * passes) <= 25 * descent.foretold
    while race.turns[-1] == "newton":
        if race.advance(0.0, 2**53) is _core.Event.check_due:
            race.check()
    assert race.turns[-1] == "dcd"  # its forecast is the smaller one again


def test_coordinate_descent_that_is_hopeless_ends_after_two_probes():
    X, y, C = crowded()
    race, _ = run(Race(packed(X, y, C), Request(epsilon=1e-3)))
    assert race.descent.hopeless
    assert race.turns[:3] == ["dcd", "dcd", "newton"]
    assert set(race.turns) == {"dcd", "newton"}
    assert race.descent.trainer.visits <= (2 * PROBE + 1) * len(y)  # a pause waits for the end of a stretch


@pytest.mark.parametrize("problem", [unsettled, dwindling])
def test_coordinate_descent_that_has_not_settled_is_not_hopeless(problem):
    X, y, C = problem()
    race = Race(packed(X, y, C), Request(epsilon=1e-3))
    descent, gaps = race.descent, []  # the gaps after each of the probes
    while len(race.turns) < 3:
        if race.advance(0.0, 2**53) is _core.Event.check_due:
            race.check()
            gaps.append(descent.gap)
    assert gaps[1] > HARDLY * gaps[0]
    assert not descent.hopeless
    assert race.turns[2] == "dcd"
    active = descent.trainer.dual_weights() > 0
    if problem is unsettled:
        assert np.count_nonzero(active) >= DWINDLES * descent.probed_share * len(y)  # so this is not why
        assert np.count_nonzero(active != descent.probed_rows) > SETTLED * len(y)
    else:
        assert np.count_nonzero(active) < DWINDLES * descent.probed_share * len(y)
        assert descent.dwindling
    race, _ = run(race)
    assert set(race.turns) == {"dcd"}


@pytest.fixture
def only_newton(monkeypatch):
    """A race over sparse rows in which coordinate descent begins, and is not expected to get far."""
    random = np.random.default_rng(0)
    X = np.where(random.random((800, 2500)) < 0.01, random.normal(size=(800, 2500)), 0.0)
    y = (X @ random.normal(size=2500) + random.normal(size=800) > 0).astype(int)
    monkeypatch.setattr(CoordinateDescent, "expected", lambda self, spent: 0.0 if self.trainer is None else 1e30)
    monkeypatch.setattr("dynmargin.algorithms.race.FIRST_PASSES", 1.0)
    monkeypatch.setattr("dynmargin.algorithms.race.FIRST_SHARE", 0.0)
    return lambda: Race(packed(X, y, 100.0), Request(epsilon=1e-3))


def test_newton_without_a_hessian_is_tried_before_pdm_begins(only_newton, monkeypatch):
    monkeypatch.setattr(DynamicMargin, "expected", lambda self, spent: 1.0)
    race = only_newton()
    while len(race.turns) == 1:
        if race.advance(0.0, 2**53) is _core.Event.check_due:
            race.check()
    assert race.turns == ["dcd", "newton"]
    assert race.newton.allowed <= TRIAL * race.descent.work
    while "pdm" not in race.turns:
        if race.advance(0.0, 2**53) is _core.Event.check_due:
            race.check()
    assert race.turns[:3] == ["dcd", "newton", "dcd from newton"]
    assert race.turns.count("newton") == 1


def test_coordinate_descent_continues_from_newton_s_dual_weights(only_newton, monkeypatch):
    """It closes the gap sooner than Newton's method would, and bit for bit the same from any snapshot."""
    monkeypatch.setattr(DynamicMargin, "expected", lambda self, spent: 1e30)

    def restart(race):
        fresh = only_newton()
        fresh.restore(race.snapshot())
        return fresh

    one, bounds = run(only_newton())
    margins, upper_bounds = np.array(bounds).T
    assert (np.diff(margins) >= 0).all()
    assert (np.diff(upper_bounds) <= 0).all()  # though Newton's own go up and down
    other, same_bounds = run(only_newton(), restart)
    assert one.turns[-1] == "dcd from newton"
    assert bounds == same_bounds
    assert one.turns == other.turns
    assert one.updates == other.updates
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(one.support(), other.support(), strict=True))
    alone = NewtonTrainer(one.problem, seed=0)
    while alone.work < one.newton.work:
        alone.advance(0.0, 2**53)
        bounds = alone.check()
        assert 1 - bounds.margin / bounds.upper_bound > 1e-3


def test_newton_s_dual_weights_and_their_sum_agree(only_newton):
    race = only_newton()
    race.newton.start(None)
    race.newton.trainer.advance(0.0, 2**53)
    rows, weights = race.newton.trainer.support()
    values, columns, starts = _core.unpack(race.problem.rows, rows)
    X = np.zeros((len(rows), race.problem.matrix.n_columns))
    for k in range(len(rows)):
        X[k, columns[starts[k] : starts[k + 1]]] = values[starts[k] : starts[k + 1]]
    signed = race.problem.sides[rows] * weights
    np.testing.assert_allclose(race.newton.trainer.combination(), [*(signed @ X), signed.sum()], rtol=1e-9, atol=1e-9)


def test_a_probe_is_not_checked_where_few_rows_have_a_dual_weight():
    X, y = make_classification(700, 100, n_informative=60, class_sep=4.0, flip_y=0, random_state=1)
    race = Race(packed(X, y, 10.0), Request(epsilon=1e-3))
    assert race.descent.may_be_hopeless
    assert race.descent.allowed < race.first_turn
    events = [race.advance(0.0, 2**53)]
    while events[-1] is _core.Event.slice_over and race.descent.allowed < race.first_turn:
        events.append(race.advance(0.0, 2**53))
    assert events[-1] is _core.Event.slice_over
    assert race.turns == ["dcd"]
    assert not race.turn_over


def test_counts_that_cannot_grow_any_more_are_no_limit_that_was_asked_for():
    X = np.random.default_rng(1).normal(size=(300, 8))
    y, X[5, 2] = X[:, 0] > 0, 3e38
    with pytest.warns(UserWarning, match="hardly move"):
        assert MaxMarginClassifier(max_time=5, random_state=0).fit(X, y).stop_reason_ == "stalled"


@pytest.mark.parametrize(("n_rows", "C", "first"), [(1600, 0.3, "newton"), (1400, 0.3, "dcd"), (1600, 1e-3, "dcd")])
def test_newton_begins_where_rows_are_many_and_slacks_expensive(n_rows, C, first):
    X, y = make_classification(n_rows, 100, n_informative=60, random_state=1)
    assert Race(packed(X, y, C), Request(epsilon=1e-3)).turns == [first]


def long_lead(*, noise):
    """So many dense columns that a step of Newton's method costs many passes, and enough rows for it to begin."""
    random = np.random.default_rng(0)
    X = random.normal(size=(5600, 250))
    scores = X @ random.normal(size=250) / np.sqrt(250) - 1.5
    if noise:
        scores += 2 * random.normal(size=len(X))
    else:
        X, scores = X[abs(scores) > 0.4], scores[abs(scores) > 0.4]
    return X, (scores > 0).astype(int), 20.0


def test_newton_takes_over_after_one_pass_of_coordinate_descent_where_many_rows_have_a_dual_weight():
    X, y, C = long_lead(noise=True)
    race, _ = run(Race(packed(X, y, C), Request(epsilon=1e-3)))
    assert race.long_lead
    assert race.turns[:2] == ["dcd", "newton"]
    assert set(race.turns[1:]) == {"newton"}
    assert race.descent.trainer.visits <= 2 * len(y)


def test_coordinate_descent_goes_on_before_a_long_lead_of_newton_where_few_rows_have_a_dual_weight(monkeypatch):
    X, y, C = long_lead(noise=False)
    monkeypatch.setattr("dynmargin.algorithms.race.FEW", 0.5)
    monkeypatch.setattr("dynmargin.algorithms.race.HARDLY_LESS", 2.0)
    race = Race(packed(X, y, C), Request(epsilon=1e-3))
    assert race.long_lead
    turns = []
    while len(race.turns) < 3:
        if race.advance(0.0, 2**53) is _core.Event.check_due:
            turns.append(race.descent.work / race.descent.pass_work)
            race.check()
    assert turns[0] == pytest.approx(4, abs=0.3)  # the second probe; the first has no need of a check
    assert race.turns[:2] == ["dcd", "dcd"]
    assert turns[1] * race.descent.pass_work >= 0.99 * race.first_turn

    monkeypatch.setattr("dynmargin.algorithms.race.HARDLY_LESS", 0.0)
    race = Race(packed(X, y, C), Request(epsilon=1e-3))
    while len(race.turns) < 2:
        if race.advance(0.0, 2**53) is _core.Event.check_due:
            race.check()
    assert race.turns == ["dcd", "newton"]


def test_newton_takes_over_where_coordinate_descent_has_nothing_left_to_do_during_its_probes(monkeypatch):
    X, y, C = long_lead(noise=False)
    monkeypatch.setattr("dynmargin.algorithms.race.FEW", 0.5)
    monkeypatch.setattr("dynmargin.algorithms.race.HARDLY_LESS", 2.0)
    race = Race(packed(X, y, C), Request(epsilon=1e-3))
    while race.advance(0.0, 2**53) is not _core.Event.check_due:
        pass
    race.check()
    race.descent.over = True
    race.advance(0.0, 2**53)
    assert race.turns[:2] == ["dcd", "newton"]


@pytest.mark.parametrize(("near", "tried"), [(0.1, False), (0.5, True)])
def test_newton_without_a_hessian_is_tried_once_others_have_spent_a_part_of_what_it_takes(
    only_newton, monkeypatch, near, tried
):
    """However near the end coordinate descent seems to be, unless that is very near."""
    passes = 20.0
    monkeypatch.setattr(CoordinateDescent, "expected", lambda self, spent: near * spent if self.trainer else 0.0)
    monkeypatch.setattr(CoordinateDescent, "corrected", lambda self, forecast: forecast)
    monkeypatch.setattr(DynamicMargin, "expected", lambda self, spent: 1e30)
    monkeypatch.setattr(Newton, "expected", lambda self, spent: passes * self.pass_work)
    race = only_newton()
    while race.descent.work < passes * race.descent.pass_work and "newton" not in race.turns:
        if race.advance(0.0, 2**53) is _core.Event.check_due:
            race.check()
    assert ("newton" in race.turns) is tried
    assert race.descent.work > WAITS * passes * race.descent.pass_work


@pytest.mark.parametrize("problem", [stiff, separable, crowded, unsettled, dwindling])
def test_no_turn_is_allowed_more_work_than_all_before_it_and_the_least(problem):
    X, y, C = problem()
    race = Race(packed(X, y, C), Request(epsilon=1e-3))
    next_turn, judged = race._next_turn, []

    def judge():
        spent = sum(entrant.work for entrant in race.entrants)
        next_turn()
        judged.append((race.current.allowed - race.current.work, max(spent, race.current.least)))

    race._next_turn = judge
    run(race)
    assert judged or race.turns in (["dcd"], ["newton"])
    assert all(allowed <= 1.0001 * most for allowed, most in judged)


@pytest.mark.parametrize("problem", [stiff, separable, crowded, unsettled, dwindling])
@pytest.mark.parametrize("left_out", [0, 25], ids=["", "some rows left out"])
def test_a_race_continues_from_a_snapshot_bit_for_bit(problem, left_out):
    X, y, C = problem()
    weights = np.ones(len(y))
    weights[:left_out] = 0
    asked = packed(X, y, C, weights), Request(epsilon=1e-3)

    def restart(race):
        fresh = Race(*asked)
        fresh.restore(race.snapshot())
        return fresh

    one, bounds = run(Race(*asked))
    other, same_bounds = run(Race(*asked), restart)
    assert bounds == same_bounds
    assert one.turns == other.turns
    assert np.array_equal(one.model()[0], other.model()[0])
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(one.support(), other.support(), strict=True))


def test_a_damaged_snapshot_is_refused():
    X, y, C = stiff()
    race = Race(packed(X, y, C), Request(epsilon=1e-3))
    race.advance(0.0, 2**53)
    whole = race.snapshot()
    for damaged in (whole[:0], whole[:7], whole[:64], whole[:-1], np.append(whole, whole[:8]), whole[8:]):
        with pytest.raises(ValueError, match="damaged"):
            Race(packed(X, y, C), Request(epsilon=1e-3)).restore(np.ascontiguousarray(damaged))
    for place in range(0, 64, 8):
        for number in (np.nan, -1.0, 1e9):
            damaged = whole.copy()
            damaged[place : place + 8] = np.array([number]).view(np.uint8)
            fresh = Race(packed(X, y, C), Request(epsilon=1e-3))
            try:
                fresh.restore(damaged)
            except ValueError:
                continue
            fresh.advance(0.0, 2**53)  # whatever was believed does no harm


def test_slices_do_not_matter(monkeypatch):
    X, y, C = stiff()
    one = MaxMarginClassifier(1e-3, C=C, random_state=0).fit(X, y)
    monkeypatch.setattr("dynmargin.training.run.SLICE_SECONDS", 0.0)
    other = MaxMarginClassifier(1e-3, C=C, random_state=0).fit(X, y)
    assert np.array_equal(one.coef_, other.coef_)
    assert one.algorithm_ == other.algorithm_
    assert [check[1:] for check in one.history_] == [check[1:] for check in other.history_]


def test_bounds_of_newton_are_true_while_slacks_are_cheap():
    """At a tenth of the price the margin is larger; that is not the problem's own."""
    X, y = load_breast_cancer(return_X_y=True)
    problem = packed(X, y, 1e4)
    best = NewtonClassifier(1e-6, C=1e4).fit(X, y).certificate_
    trainer = NewtonTrainer(problem, seed=0)
    assert trainer.price < 1
    cheap = False
    for _ in range(30):
        trainer.advance(0.0, 2**53)
        bounds = trainer.check()
        cheap |= trainer.price < 1 and trainer.point.margin > best.upper_bound
        assert bounds.margin <= best.upper_bound * (1 + 1e-9)
        assert bounds.upper_bound >= best.margin * (1 - 1e-9)
    assert cheap


def test_rounding_ends_a_race_too():
    X, y, C = stiff()
    with pytest.warns(UserWarning, match="the proven gap is"):
        classifier = MaxMarginClassifier(1e-16, C=C, random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "stalled"
    assert classifier.certificate_.gap < 1e-8


def test_ctrl_c_while_an_algorithm_begins_keeps_the_model(monkeypatch):
    def interrupted(self, w):
        raise KeyboardInterrupt

    for second in (Newton, DynamicMargin):
        monkeypatch.setattr(second, "start", interrupted)
    X, y = make_classification(300, 120, n_informative=5, n_redundant=100, random_state=0)
    with pytest.warns(UserWarning, match="interrupted"):
        classifier = MaxMarginClassifier(1e-6, C=1e3, random_state=0).fit(X * np.geomspace(1, 30, 120), y)
    assert classifier.stop_reason_ == "interrupted"
    assert classifier.certificate_.verify(X * np.geomspace(1, 30, 120), y)


def test_the_accuracy_of_pdm_survives_a_snapshot():
    X, y, C = stiff()
    asked = packed(X, y, C), Request(epsilon=1e-3)
    race = Race(*asked)
    race.current.allow(0.0)
    while race.turns[-1] != "pdm":  # all others have nothing left to do
        for entrant in race.entrants:
            entrant.over = entrant.name != "pdm"
        race.turn_over = True
        race.check()
        race.advance(0.0, 2**53)
    assert race.current.refine()
    fresh = Race(*asked)
    fresh.restore(race.snapshot())
    assert fresh.current.name == "pdm"
    assert fresh.current.accuracy == race.current.accuracy == pytest.approx(1e-5)


def test_turns_of_pdm_end_at_the_same_visits_however_its_polish_is_cut_up(monkeypatch):
    """By slices of time, which depend on the machine, and by snapshots."""
    X, y, C = crowded()
    asked = packed(X, y, C), Request(epsilon=1e-3)
    monkeypatch.setattr(DynamicMargin, "expected", lambda self, spent: 0.0)
    monkeypatch.setattr(DynamicMargin, "least", property(lambda self: 10 * self.pass_work))
    monkeypatch.setattr(Newton, "expected", lambda self, spent: 1e30)

    def restart(race):
        fresh = Race(*asked)
        fresh.restore(race.snapshot())
        return fresh

    one, bounds = run(Race(*asked), seconds=60.0)
    assert one.turns.count("pdm") > 2
    assert one.current.trainer.polish_work > 10 * one.current.pass_work
    for every, seconds in ((None, 0.0), (1, 0.0), (2, 60.0), (3, 0.0)):
        other, same_bounds = run(Race(*asked), restart if every else None, every, seconds)
        assert other.turns == one.turns
        assert same_bounds == bounds


def test_what_cannot_be_proven_does_not_keep_the_turn():
    """At an absurd C the bounds of coordinate descent look closed, but no proof succeeds."""
    X, y = make_classification(40, 60, n_informative=30, class_sep=3.0, random_state=0)
    race = Race(packed(X, y, 1e32), Request(epsilon=0.01))
    for _ in range(30_000):
        if race.advance(0.0, 2**53) is _core.Event.check_due:
            race.check()
        if len(set(race.turns)) > 1:
            return
    raise AssertionError("no other algorithm had a turn")


def test_a_turn_of_newtons_that_hardly_reduces_the_gap_is_noticed_once(monkeypatch):
    race = Race(packed(*crowded()), Request(epsilon=1e-3))
    newton, descent = race.newton, race.descent
    monkeypatch.setattr(Newton, "exact_at_once", False)
    monkeypatch.setattr(Newton, "work", property(lambda self: self.spent), raising=True)
    race.check()
    newton.start(None)

    def end_turn(spent, gap):
        newton.spent, newton.margin, newton.upper_bound = spent, 1 - gap, 1.0
        newton.end_turn()
        race._tell_all()
        return newton.stalled

    assert not end_turn(1.0, 0.5)
    assert not end_turn(1.0, 0.5)  # once more, after Ctrl-C
    assert not end_turn(2.0, 0.3)
    assert descent.known_margin == -np.inf
    assert end_turn(3.0, 0.295)
    assert descent.known_margin == pytest.approx(0.705)
    fresh = Race(packed(*crowded()), Request(epsilon=1e-3))
    fresh.restore(race.snapshot())
    assert (fresh.newton.stalled, fresh.descent.known_margin) == (newton.stalled, descent.known_margin)


def test_newton_s_method_that_is_stuck_near_the_end_is_expected_to_take_long(monkeypatch):
    race = Race(packed(*crowded()), Request(epsilon=1e-3))
    newton = race.newton
    monkeypatch.setattr(Newton, "exact_at_once", False)
    monkeypatch.setattr(Newton, "work", property(lambda self: self.spent), raising=True)
    race.check()
    newton.start(None)

    def expected(spent, gap):
        newton.spent, newton.margin, newton.upper_bound = spent * newton.pass_work, 1 - gap, 1.0
        newton.end_turn()
        return newton.expected(0.0) / newton.work

    assert expected(1000.0, 0.002) < 1  # nearly done
    assert expected(1500.0, 0.002) == 2
    assert newton.stuck
    assert expected(1700.0, 0.0015) < 1  # it makes progress again


def test_ctrl_c_while_coordinate_descent_takes_over_changes_nothing(monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 300)) * (random.random((200, 300)) < 0.02)
    race = Race(packed(X, (random.random(200) < 0.5).astype(int), 10.0), Request(epsilon=1e-6))
    race.newton.start(None)
    race.newton.trainer.advance(0.0, 2**53)
    finish = race.finish
    finish.take_over(race.newton)
    finish.trainer.advance(1.0, 2**53)
    before = finish.work, finish.updates
    assert min(before) > 0

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("dynmargin.algorithms.entrants.descent.start_dcd", interrupted)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                finish.take_over(race.newton)
    assert (finish.work, finish.updates) == before
    finish.take_over(race.newton)
    assert (finish.work, finish.updates) == before


@pytest.mark.parametrize("scale", [1e9, 1e12])
def test_features_of_any_size_are_left_to_newtons_method(scale):
    X, y = make_classification(200, 6, random_state=0)
    classifier = MaxMarginClassifier(random_state=0).fit(X * scale, y)
    assert classifier.stop_reason_ == "certificate"
    assert classifier.certificate_.verify(X * scale, y)


def test_what_the_probes_have_found_survives_a_snapshot():
    asked = packed(*unsettled()), Request(epsilon=1e-3)
    race = Race(*asked)
    while len(race.turns) < 3:
        if race.advance(0.0, 2**53) is _core.Event.check_due:
            race.check()
    fresh = Race(*asked)
    fresh.restore(race.snapshot())
    assert race.descent.probed_rows.any()
    assert np.array_equal(fresh.descent.probed_rows, race.descent.probed_rows)
    assert fresh.descent.numbers() == race.descent.numbers()


@pytest.mark.parametrize("stuck", [0.0, 1.0])
def test_pdm_waits_for_newton_s_method_unless_that_is_stuck(stuck, monkeypatch):
    """Where coordinate descent is hopeless, and PDM would be done a little sooner."""
    race = Race(packed(*crowded()), Request(epsilon=1e-3))
    monkeypatch.setattr(CoordinateDescent, "hopeless", True)
    while race.current is not race.newton:
        if race.advance(0.0, 2**53) is _core.Event.check_due:
            race.check()
    monkeypatch.setattr(Newton, "expected", lambda self, spent: 30 * self.pass_work)
    monkeypatch.setattr(DynamicMargin, "expected", lambda self, spent: 25 * self.pass_work)
    monkeypatch.setattr(Newton, "end_turn", lambda self: None)
    race.newton.stuck = stuck
    race._next_turn()
    assert race.current.name == ("pdm" if stuck else "newton")


def test_what_newton_s_method_has_proven_before_another_begins_is_kept(monkeypatch):
    monkeypatch.setattr(Newton, "leads", True)
    monkeypatch.setattr(Newton, "takes_long", False)
    monkeypatch.setattr(Newton, "least", 0.0)
    race = Race(packed(*crowded()), Request(epsilon=1e-9))
    while not race.turn_over:
        if race.advance(0.0, 2**53) is _core.Event.check_due:
            race.check()
    assert race.turns == ["newton"]
    race._next_turn()
    assert (race.kept.margin, race.kept.upper_bound) == (race.newton.margin, race.newton.upper_bound)
    assert race.kept.margin > 0


def test_the_first_turn_has_room_for_a_probe(monkeypatch):
    monkeypatch.setattr("dynmargin.algorithms.race.FIRST_SHARE", 0.0)
    descent = Race(packed(*crowded()), Request(epsilon=1e-3)).descent
    assert descent.may_be_hopeless
    assert descent.allowed == PROBE * descent.pass_work


def test_exact_newton_takes_too_long_once_it_has_taken_several_times_its_work_with_the_hessian(monkeypatch):
    newton = Race(packed(*crowded()), Request(epsilon=1e-3)).newton
    monkeypatch.setattr(Newton, "exact_at_once", True)
    monkeypatch.setattr(Newton, "work", property(lambda self: self.spent))
    newton.trainer = object()
    limit = TOO_LONG * newton._work_of(newton.steps)
    assert limit > 1.01 * TOO_LONG * newton._work_of(newton.steps, formed=True)
    newton.spent = 0.999 * limit
    assert newton.expected(0.0) == FURTHER_SHARE * newton.spent
    newton.spent = limit
    assert newton.expected(0.0) == limit
