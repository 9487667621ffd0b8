"""C chosen with a proof: what is claimed between the fits holds for the exact optimum at every C that is tried."""

import logging
import math
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import every_c
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_c_path import stated, weighted_problems

from dynmargin import ConvergenceDisplay, ErrorCurve, ErrorCurveDisplay, MaxMarginClassifierCV, NewtonClassifier
from dynmargin.path import search as searching
from dynmargin.path.error_curve import percent
from dynmargin.path.held_out import HeldOut
from dynmargin.path.moving_ball import bend, place, radius_between
from dynmargin.path.search import written_shortly

matplotlib.use("agg")


@settings(max_examples=100)
@given(st.lists(st.floats(-2, 2), min_size=2, max_size=2), st.floats(0, 1))
def test_a_chord_is_not_above_max_by_more_than_the_bend(shortfalls, t):
    a, b = (np.array([m]) for m in shortfalls)
    chord = (1 - t) * np.maximum(0, a) + t * np.maximum(0, b)
    _, missing = bend(a, b)
    above = (chord - np.maximum(0, (1 - t) * a + t * b)).item()
    assert -1e-15 <= above <= missing.sum() + 1e-15


@settings(max_examples=100)
@given(
    weighted_problems(), st.floats(-2, 2), st.floats(0.01, 1), st.floats(0, 1), st.floats(0, 0.5), st.integers(0, 99)
)
def test_the_optimum_between_two_points_is_in_the_ball(drawn, log_C, step, share, noise, seed):
    """Whatever the points are, near the optimum or not, and for every C between them."""
    objective, Y, c, _ = stated(*drawn)
    C_a, C_b = 10**log_C, 10 ** (log_C + step)
    random = np.random.default_rng(seed)
    a, b = (objective.first(C) * (1 + noise * random.normal(size=Y.shape[1])) for C in (C_a, C_b))
    C = C_a * (C_b / C_a) ** share
    best = every_c.optimum(Y, c, C)
    at_a, at_b = place(C_a, objective.point(a)), place(C_b, objective.point(b))
    radius = radius_between(objective, at_a, at_b)
    centre, expected = every_c.ball_between(Y, c, C_a, a, C_b, b, C)
    assert expected * (1 - 1e-9) <= radius + 1e-12
    assert radius <= expected * (1 + 1e-5) + 1e-6
    t = (1 / C_a - 1 / C) / (1 / C_a - 1 / C_b)
    np.testing.assert_allclose((1 - t) * at_a.centre + t * at_b.centre, centre, rtol=1e-6, atol=1e-8)
    assert np.linalg.norm(best - centre) <= radius + 1e-9 * np.linalg.norm(best)
    alone, own = every_c.ball(Y, c, C_a, a)
    np.testing.assert_allclose(at_a.radius, own, rtol=1e-6, atol=1e-6)
    assert np.linalg.norm(every_c.optimum(Y, c, C_a) - alone) <= own + 1e-9 * np.linalg.norm(best)


@settings(max_examples=40)
@given(weighted_problems(), st.floats(-2, 1), st.floats(0.01, 0.5), st.integers(0, 99))
def test_rows_are_settled_as_in_the_reference(drawn, log_C, step, seed):
    X, _, _, _, rho = drawn
    objective, Y, c, _ = stated(*drawn)
    C_a, C_b = 10**log_C, 10 ** (log_C + step)
    a, b = objective.first(C_a), objective.first(C_b)
    random = np.random.default_rng(seed)
    new, truth = random.normal(size=(50, X.shape[1])) * X.std(), random.choice([-1, 1], 50)
    right, wrong = every_c.piece(Y, c, C_a, a, C_b, b, truth[:, None] * np.column_stack([new, np.full(50, rho)]))
    line = [place(C_a, objective.point(a)), place(C_b, objective.point(b))]
    for rows in (new, sp.csr_matrix(new)):
        fold = HeldOut([objective], np.array([-1, 1]), rows, truth, None)
        of_wrong, of_open = fold.settle([line], [np.array([radius_between(objective, *line)])])
        assert of_wrong.tolist() == [wrong.sum()]
        assert of_open.tolist() == [50 - wrong.sum() - right.sum()]


@settings(max_examples=50)
@given(weighted_problems(), st.integers(-300, -140), st.floats(0, 2))
def test_the_ball_holds_where_squares_underflow(drawn, exponent, times):
    """At so small a C all slacks are 1, and the optimum is C times the pull at zero, to the last place."""
    objective, Y, c, _ = stated(*drawn)
    C = 10.0**exponent
    best = C * (Y.T @ c)
    at = place(C, objective.point(times * best))
    assert math.dist(best, at.centre) <= at.radius
    line = [at, place(2 * C, objective.point(times * best))]
    radius = radius_between(objective, *line)
    for t in (0.0, 0.5, 1.0):
        best_there = best / (1 - t / 2)
        assert math.dist(best_there, (1 - t) * line[0].centre + t * line[1].centre) <= radius


@settings(max_examples=50)
@given(weighted_problems(), st.integers(-320, -150), st.integers(0, 99))
def test_rows_whose_squares_underflow_are_settled_no_sooner(drawn, exponent, seed):
    """Without an intercept the length of a row does not matter: a short one is settled as a long one, or stays open."""
    objective, Y, _, _ = stated(*drawn[:-1], 0.0)
    random = np.random.default_rng(seed)
    at = place(1.0, objective.point(random.normal(size=Y.shape[1]) * [*np.ones(Y.shape[1] - 1), 0.0]))
    new, truth = random.normal(size=(20, drawn[0].shape[1])), random.choice([-1, 1], 20)
    for row, label in zip(new, truth, strict=True):
        settled = []
        for scale in (1.0, 10.0**exponent):
            fold = HeldOut([objective], np.array([-1, 1]), scale * row[None], np.array([label]), None)
            wrong, open_ = fold.settle([[at]], [np.array([at.radius])])
            settled.append((wrong.item(), open_.item()))
        assert settled[1] in (settled[0], (0.0, 1.0))


@settings(max_examples=200)
@given(st.floats(0, 1), st.integers(0, 10_000))
def test_bounds_are_written_no_better_than_they_are(bound, steps):
    above, below = (Decimal(percent(bound, up=up).removesuffix("%")) / 100 for up in (True, False))
    assert float(below) <= bound <= float(above)
    assert above - below <= Decimal("0.0001")
    assert percent(steps / 10_000, up=True) == percent(steps / 10_000, up=False) == f"{steps / 100:.2f} %"


def curve_of(lower, error, n_fits=1, ended="max_fits"):
    """A curve of one piece."""
    Cs = np.geomspace(1.0, 2.0, n_fits)
    errors = np.tile([lower, error], (n_fits, 1))
    return ErrorCurve(np.array([1.0, 2.0]), np.array([lower]), np.array([error]), Cs, errors, 1.0, error, 0.001, ended)


def test_sentences_are_rounded_outward_and_count():
    from matplotlib import pyplot

    few = curve_of(0.01009, 0.02001)
    assert str(few) == (
        "C = 1 has a cross-validation error of at most 2.01 %; no C from 1 to 2 is better by more than 1.00 % (of all "
        "held-out rows); 0.10 % was asked for, but max_fits was reached; 1 value of C was trained"
    )
    assert "; 0.10 % was asked for, but max_time was reached; 2 values of C were trained" in str(
        curve_of(0.01, 0.02, 2, "max_time")
    )
    assert "some rows are too close to the boundary for double precision" in str(curve_of(0.01, 0.02, 2, "rounding"))
    ax = ErrorCurveDisplay(curve_of(0.01009, 0.02002)).plot().ax_
    assert any("no C has less than 1.00 %" in text.get_text() for text in ax.texts)
    assert "1 value trained" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert ax.get_title() == "no C is better by more than 1.00 %"
    pyplot.close("all")


def small_search(low=1e-3, high=1e3, weight=None, **options):
    """A search over one fold that is judged by the rows that it trains on: two classes that overlap."""
    random = np.random.default_rng(0)
    sides = np.repeat([1, -1], 30)
    X = random.normal(size=(60, 2)) + 0.7 * sides[:, None]
    objective, *_ = stated(X, sides, (1.0, 1.0), None, 1.0)
    return searching.Search([HeldOut([objective], np.array([-1, 1]), X, sides, weight)], low, high, **options), X, sides


@pytest.mark.parametrize("seed", range(5))
def test_sums_of_weights_are_rounded_outward(seed):
    random = np.random.default_rng(seed)
    for weight in (random.uniform(0.1, 1.0, 60), random.integers(1, 9, 60).astype(float)):
        search, X, sides = small_search(0.5, 2.0, weight, tolerance=0.01, max_fits=2)
        curve, exact = search.run(), [Fraction(value) for value in weight.tolist()]
        for C, (lower, upper) in zip(curve.Cs, curve.errors, strict=True):
            wrong = NewtonClassifier(1e-13, C=C).fit(X, sides).predict(X) != sides
            error = sum(value for value, one in zip(exact, wrong, strict=True) if one) / sum(exact)
            if (weight % 1).any():
                assert Fraction(lower) <= error <= Fraction(upper)
                assert upper - lower < 1e-13
            else:
                assert lower == upper == float(error)


@pytest.mark.parametrize("max_fits", [2, 3, 6, 13])
def test_a_few_fits_are_spread_over_the_range_and_measured(max_fits):
    search, _, _ = small_search(tolerance=1e-6, max_fits=max_fits)
    curve = search.run()
    assert curve.ended == "max_fits"
    np.testing.assert_allclose(curve.Cs, np.geomspace(1e-3, 1e3, max_fits), rtol=1e-3)
    assert all(span.measured for span in search.spans)
    assert len(curve.lower) == searching.PIECES * (max_fits - 1)


def test_after_the_last_fit_all_is_measured():
    search, _, _ = small_search(tolerance=1e-6, max_fits=15)
    assert search.run().ended == "max_fits"
    assert len(search.fits) == 15
    assert all(span.measured for span in search.spans)


@pytest.mark.parametrize("n_steps", [1, 2, 3, 12, 29])
def test_the_coarse_comes_first(n_steps):
    order = searching.coarse_first(n_steps)
    assert sorted(order) == list(range(n_steps + 1))
    for known in range(2, n_steps + 1):
        steps = np.diff(sorted(order[:known]))
        assert steps.max() <= 2 * steps.min() + 2


def test_half_of_the_time_is_for_the_first_fits_and_they_cover_the_range(monkeypatch):
    """By a clock that goes by one with each fit."""
    search, _, _ = small_search(tolerance=1e-6, deadline=8.5)
    train, now = search._train, [0.0]

    def slow(C):
        if now[0] == 5:
            assert sorted(search.fits) == pytest.approx([1e-3, 10**-1.5, 1.0, 10**1.5, 1e3], rel=1e-3)
            assert all(span.measured for span in search.spans)
        train(C)
        now[0] += 1

    monkeypatch.setattr(searching, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(search, "_train", slow)
    curve = search.run()
    assert curve.ended == "max_time"
    assert len(curve.Cs) == 9


def errors_at(X, y, folds, C, weight=None, **options):
    """Count the held-out rows that the exact optimum gets wrong, leaving out those too close to tell."""
    least = most = 0.0
    for train, test in folds:
        of_train = None if weight is None else weight[train]
        of_test = np.ones(len(test)) if weight is None else weight[test]
        exact = NewtonClassifier(1e-13, C=C, **options).fit(X[train], y[train], of_train)
        scores = exact.decision_function(X[test])
        if scores.ndim == 1:
            lead = np.where(y[test] == exact.classes_[1], scores, -scores)
        else:
            own = np.searchsorted(exact.classes_, y[test])
            others = scores.copy()
            others[np.arange(len(own)), own] = -np.inf
            lead = scores[np.arange(len(own)), own] - others.max(axis=1)
        least += of_test[lead < -1e-4].sum()
        most += of_test[lead < 1e-4].sum()
    return least, most


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["two classes", "weights", "several classes", "sparse, no intercept"])
def test_no_c_has_an_error_outside_the_curve(kind, breast_cancer, digits, rng):
    X, y = breast_cancer
    X, y, weight, options = X[:300], y[:300], None, {}
    if kind == "weights":
        weight, options = rng.integers(1, 4, len(y)).astype(float), {"class_weight": {0: 2.0}}
    elif kind == "several classes":
        few = np.flatnonzero(digits[1] < 4)[:300]
        X, y = digits[0][few], digits[1][few]
    elif kind == "sparse, no intercept":
        X, options = sp.csr_matrix(np.round(X)), {"fit_intercept": False}
    folds = list(StratifiedKFold(3).split(X, y))
    search = MaxMarginClassifierCV(tolerance=0.02, C_range=(0.01, 10.0), cv=folds, random_state=0, **options)
    search.fit(X, y, weight)
    curve, total = search.curve_, len(y) if weight is None else weight.sum()
    assert curve.ended == "tolerance"
    assert curve.proven <= 0.02
    assert curve.C == search.C_ in curve.Cs
    assert curve.edges[0] == 0.01
    assert curve.edges[-1] == 10.0
    assert (np.diff(curve.edges) > 0).all()
    assert (curve.lower <= curve.upper).all()
    for C in [search.C_, *(10 ** rng.uniform(-2, 1, 12))]:
        least, most = errors_at(X, y, folds, C, weight, **options)
        lower, upper = curve.at(C)
        assert lower <= most / total + 1e-12
        assert upper >= least / total - 1e-12
        assert most / total >= curve.error - curve.proven - 1e-12
    assert search.certificate_.verify(X, y, weight)
    sizes = [len(test) if weight is None else weight[test].sum() for _, test in folds]
    pooled = 1 - np.average(search.scores_, axis=0, weights=sizes)
    assert (curve.errors[:, 0] - 1e-12 <= pooled).all()
    assert (pooled <= curve.errors[:, 1] + 1e-12).all()


@pytest.mark.filterwarnings("ignore:max_time is reached")  # by the final fit too
def test_limits_say_what_is_proven(breast_cancer):
    X, y = breast_cancer
    with pytest.warns(ConvergenceWarning, match=r"0\.10 % was asked for, but max_fits was reached; 4 values"):
        few = MaxMarginClassifierCV(tolerance=0.001, C_range=(0.01, 1.0), max_fits=4).fit(X, y)
    assert few.curve_.ended == "max_fits"
    assert len(few.Cs_) == 4
    assert few.curve_.proven > 0.001
    assert few.certificate_.achieved
    with pytest.warns(ConvergenceWarning, match="values of C were trained"):
        hardly = MaxMarginClassifierCV(tolerance=0.001, C_range=(1e-3, 1e3), max_fits=2).fit(X, y)
    assert hardly.Cs_.tolist() == [1e-3, 1e3]
    assert hardly.curve_.lower.tolist().count(0.0) > 0  # far from both hardly anything is known
    for max_time in (1e-6, 0.05):
        with pytest.warns(ConvergenceWarning, match="max_time was reached"):
            short = MaxMarginClassifierCV(tolerance=1e-5, max_time=max_time).fit(X, y)
        assert short.curve_.ended == "max_time"
        assert len(short.curve_.Cs) >= 1
        assert short.certificate_.verify(X, y)


def test_rows_on_the_boundary_stay_open():
    """A row of zeros without an intercept has the score zero at every C: it is never settled, and the search ends."""
    X = np.array([[1.0], [2.0], [-1.0], [-2.0], [0.0], [0.0]])
    y = np.array([1, 1, 0, 0, 1, 0])
    folds = [([0, 2, 4], [1, 3, 5]), ([1, 3, 5], [0, 2, 4])]
    search = MaxMarginClassifierCV(tolerance=0.1, C_range=(0.5, 1.0), cv=folds, fit_intercept=False)
    with pytest.warns(ConvergenceWarning, match="too close to the boundary"):
        found = search.fit(X, y)
    assert found.curve_.ended == "rounding"
    assert found.curve_.lower.max() < found.curve_.error


def test_threads_and_interrupts(breast_cancer, monkeypatch):
    X, y = breast_cancer
    options = {"tolerance": 0.015, "C_range": (0.1, 10.0), "cv": 3, "random_state": 0}
    one, two = (MaxMarginClassifierCV(n_jobs=n, **options).fit(X, y) for n in (1, 2))
    assert one.curve_.lower.tolist() == two.curve_.lower.tolist()
    assert np.array_equal(one.coef_, two.coef_)
    measure, calls = searching.Search._measure, []

    def interrupted(self, span):
        calls.append(span)
        if len(calls) == 2:
            raise KeyboardInterrupt
        measure(self, span)

    monkeypatch.setattr(searching.Search, "_measure", interrupted)
    with pytest.warns(ConvergenceWarning, match="it was interrupted"):
        ended = MaxMarginClassifierCV(**options).fit(X, y).curve_
    assert ended.ended == "interrupted"
    assert ended.proven > 0.015


def test_progress_is_logged(breast_cancer, caplog):
    with caplog.at_level(logging.INFO, logger="dynmargin"):
        MaxMarginClassifierCV(tolerance=0.1, C_range=(0.1, 1.0), cv=3, verbose=1).fit(*breast_cancer)
    assert "values of C trained; C = " in caplog.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": 0.1, "Cs": [1.0]}, "cannot be combined"),
        ({"C_range": (0.1, 1.0), "Cs": 5}, "cannot be combined"),
        ({"C_range": (0.1, 1.0), "scoring": "roc_auc"}, "accuracy only"),
        ({"tolerance": 0.1, "loss": "hinge"}, "squared_hinge"),
        ({"C_range": (1.0, 0.1)}, "smaller one first"),
        ({"C_range": (0.0, 0.1)}, "positive"),
        ({"C_range": (0.1, np.inf)}, "C_range must be"),
        ({"C_range": (0.1, 1.0, 2.0)}, "C_range must be"),
        ({"C_range": ("a", "b")}, "C_range must be"),
        ({"C_range": (1e-101, 1.0)}, "beyond what double precision"),
        ({"C_range": (1.0, 1e101)}, "beyond what double precision"),
        ({"tolerance": 0.0}, "'tolerance' parameter"),
        ({"tolerance": 0.1, "max_fits": 1}, "'max_fits' parameter"),
        ({"max_fits": 3}, "max_fits limits a search"),
    ],
)
def test_what_cannot_be_proven_is_refused(options, message, breast_cancer):
    with pytest.raises(ValueError, match=message):
        MaxMarginClassifierCV(**options).fit(*breast_cancer)


def test_nothing_held_out_is_refused(breast_cancer):
    X, y = breast_cancer
    weight = np.ones(len(y))
    weight[:5] = 0
    folds = [(np.arange(5, len(y)), np.arange(5))]
    with pytest.raises(ValueError, match="nothing to judge"):
        MaxMarginClassifierCV(tolerance=0.1, cv=folds).fit(X, y, weight)


def test_a_later_fit_leaves_no_curve_of_an_earlier_one(breast_cancer):
    search = MaxMarginClassifierCV(tolerance=0.1, C_range=(0.1, 1.0), cv=3).fit(*breast_cancer)
    assert search.curve_.proven <= 0.1
    assert search.set_params(tolerance=None, C_range=None, Cs=[1.0]).fit(*breast_cancer).curve_ is None


def test_a_label_that_a_fold_does_not_know_is_wrong(digits):
    X, y = digits
    few = np.flatnonzero(y < 3)[:120]
    X, y = X[few], y[few]
    known = np.flatnonzero(y < 2)
    search = MaxMarginClassifierCV(tolerance=0.2, C_range=(0.1, 1.0), cv=[(known, np.arange(len(y)))]).fit(X, y)
    assert (search.curve_.lower >= (y == 2).mean()).all()
    assert (search.scores_ <= (y < 2).mean()).all()


def test_the_picture_shows_both_bounds(breast_cancer):
    from matplotlib import pyplot

    X, y = breast_cancer
    pipeline = make_pipeline(StandardScaler(), MaxMarginClassifierCV(tolerance=0.05, C_range=(0.1, 1.0), cv=3))
    display = ErrorCurveDisplay.from_estimator(pipeline.fit(X, y))
    assert isinstance(display.curve, ErrorCurve)
    assert display.lower_line_.get_data().values.tolist() == display.curve.lower.tolist()
    assert display.upper_line_.get_data().edges.tolist() == display.curve.edges.tolist()
    ConvergenceDisplay.from_estimator(pipeline)
    with pytest.raises(ValueError, match="with a tolerance"):
        ErrorCurveDisplay.from_estimator(MaxMarginClassifierCV(Cs=[1.0]).fit(X, y))
    with pytest.raises(ValueError, match="outside the range"):
        display.curve.at(2.0)
    pyplot.close("all")


def test_the_c_that_is_printed_is_the_one_that_was_trained():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    classifier = MaxMarginClassifierCV(tolerance=0.01, C_range=(1e-3, 1e3), random_state=0).fit(X, y)
    assert str(classifier.curve_).startswith(f"C = {repr(classifier.C_).removesuffix('.0')} ")
    assert classifier.certificate_.verify(X, y, C=classifier.C_)
    assert all(written_shortly(C, 1e-3, 1e3) == C for C in (0.1, 0.01, 31.62))
    assert 1 < written_shortly(1.00005, 1.0, 1.0001) < 1.0001
