"""Every way a fit can end leaves a usable model and says what was reached; nothing hangs."""

import logging
import warnings
from itertools import pairwise

import numpy as np
import pytest
from interrupts import assert_usable, ctrl_c_at
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import ConvergenceWarning

from dynmargin import (
    BinaryProblem,
    Check,
    DecompositionSVMClassifier,
    MargitronClassifier,
    PDMClassifier,
    PFMClassifier,
    Schedule,
    _core,
)
from dynmargin.algorithms.pdm import finer_accuracy, schedule_for
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.packed import PackedProblem
from dynmargin.progress.live import CheckLine
from dynmargin.training.request import Request
from dynmargin.training.run import SLOW_AFTER_SECONDS, STALL_PASSES, Trend


def test_max_time_ends_the_fit(endless):
    X, y = endless
    with pytest.warns(ConvergenceWarning, match="max_time is reached after .* s: the proven gap is"):
        classifier = PDMClassifier(1e-6, max_time=0.5, random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "max_time"
    assert_usable(classifier, X, y)


def test_max_time_is_shared_by_the_classes(endless):
    X, y = endless
    with pytest.warns(
        ConvergenceWarning, match="3 of 3 classes fell short, class . most: max_time, which the classes share, is"
    ):
        classifier = PDMClassifier(1e-6, max_time=0.6, random_state=0).fit(X, y + (X[:, 0] > 0))
    assert len(classifier.certificates_) == 3
    assert all(certificate.counts.sum() > 1000 for certificate in classifier.certificates_)


@pytest.mark.parametrize("updates", [1, 2, 17, 1000])
def test_max_updates_is_exact(endless, updates):
    X, y = endless
    with pytest.warns(ConvergenceWarning, match="max_updates is reached"):
        classifier = PDMClassifier(1e-6, max_updates=updates, random_state=0).fit(X, y)
    assert classifier.n_updates_ == updates
    assert classifier.stop_reason_ == "max_updates"
    assert classifier.certificate_.verify(X, y)


def test_ctrl_c_leaves_a_usable_model(endless):
    X, y = endless
    with (
        ctrl_c_at(3),
        pytest.warns(ConvergenceWarning, match="3 of 3 classes fell short, class . most: interrupted after"),
    ):
        classifier = PDMClassifier(1e-6, random_state=0, verbose=1).fit(X, y + (X[:, 0] > 0))
    assert classifier.stop_reason_ == "interrupted"
    assert len(classifier.coef_) == 3  # the classes not reached yet got a first slice
    assert_usable(classifier, X, y + (X[:, 0] > 0))


def test_ctrl_c_twice_leaves_a_loop_of_fits(endless):
    X, y = endless
    classifier = PDMClassifier(1e-6, random_state=0, verbose=1)
    with ctrl_c_at(3, 6):
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            classifier.fit(X, y)
        with pytest.raises(KeyboardInterrupt):
            classifier.fit(X, y)


def test_badly_scaled_features_end_with_advice():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = 1000 * X[:150], y[:150]
    with pytest.warns(ConvergenceWarning, match=r"proven gap is .*[sS]cale the features") as caught:
        classifier = PDMClassifier(schedule=Schedule(polish=False), random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "stalled"
    assert_usable(classifier, X, y)
    assert all(warning.filename == __file__ for warning in caught)


def test_inseparable_classes_are_stated(rng):
    X = rng.normal(size=(200, 3))
    y = rng.integers(0, 2, 200)
    with pytest.warns(ConvergenceWarning, match=r"no margin above \S+ exists"):
        classifier = PDMClassifier(C=np.inf, random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "inseparable"
    R = np.sqrt((X**2).sum(axis=1).max() + 1)
    assert classifier.certificate_.upper_bound <= 1.0001e-4 * R
    assert classifier.certificate_.margin <= 0
    assert np.linalg.norm(np.r_[classifier.coef_[0], classifier.intercept_]) == pytest.approx(1)


def test_patterns_that_cancel_are_inseparable():
    """a = 0 is reached, so the upper bound is 0 at once."""
    with pytest.warns(ConvergenceWarning, match="no margin above"):
        classifier = PDMClassifier(C=np.inf, random_state=0).fit([[1.0], [1.0]], [0, 1])
    assert classifier.stop_reason_ == "inseparable"
    assert not classifier.certificate_.achieved


def test_a_row_of_zeros_without_intercept_is_inseparable():
    with pytest.warns(ConvergenceWarning, match="no margin above"):
        classifier = PDMClassifier(C=np.inf, fit_intercept=False).fit([[0.0], [1.0], [-1.0]], [0, 1, 0])
    assert classifier.stop_reason_ == "inseparable"


@pytest.mark.parametrize("factor", [1.0001, 1.01, 1.5, 100.0])
@pytest.mark.parametrize("stop", ["certificate", "convergence"])
def test_an_infeasible_beta_is_reported(breast_cancer, factor, stop):
    X, y = breast_cancer
    bound = PDMClassifier(0.001, random_state=0).fit(X, y).certificate_.upper_bound
    with pytest.warns(ConvergenceWarning, match=r"is too large: no classifier|hardly move"):
        classifier = PFMClassifier(1e-6, beta=bound * factor, stop=stop, random_state=0).fit(X, y)
    assert classifier.stop_reason_ in ("infeasible", "stalled")
    assert factor < 1.01 or classifier.stop_reason_ == "infeasible"
    certificate = classifier.certificate_
    assert certificate.verify(X, y) or (factor == 100 and certificate.upper_bound == np.inf)  # before any update


def test_a_feasible_beta_is_exceeded(breast_cancer):
    X, y = breast_cancer
    margin = PDMClassifier(0.01, stop="convergence", random_state=0).fit(X, y).certificate_.directional_margin
    classifier = PFMClassifier(beta=margin, stop="convergence", random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "converged"
    assert classifier.certificate_.directional_margin > margin
    assert classifier.beta_ == [margin]


def test_beta_is_taken_from_pdm(breast_cancer):
    X, y = breast_cancer
    pdm = PDMClassifier(0.01, stop="convergence", random_state=0).fit(X, y)
    pfm = PFMClassifier(0.01, stop="convergence", random_state=0).fit(X, y)
    assert pfm.beta_ == [pdm.certificate_.directional_margin]
    assert pfm.stop_reason_ == "converged"


def test_a_class_that_falls_short_is_reported_even_if_another_has_the_larger_gap(digits):
    """Class 0 ends by its own rule, far from the best margin but as asked; class 1 asks for too much."""
    X, y = digits
    with pytest.warns(ConvergenceWarning, match="1 of 3 classes fell short, class 1 most: beta=10 is too large"):
        PFMClassifier(beta=[1e-3, 10.0, 1e-3], random_state=0, stop="convergence").fit(X[y < 3], y[y < 3])


def test_one_beta_per_class(digits):
    X, y = digits
    X, y = X[y < 3], y[y < 3]
    betas = [0.01, 0.02, 0.03]
    classifier = PFMClassifier(beta=betas, stop="convergence", random_state=0).fit(X, y)
    assert classifier.beta_.tolist() == betas
    assert all(c.directional_margin > beta for c, beta in zip(classifier.certificates_, betas, strict=True))


@pytest.mark.parametrize(
    "classifier", [PDMClassifier(), PDMClassifier(eta=8), PDMClassifier(schedule="paper"), PFMClassifier()]
)
def test_the_same_seed_gives_the_same_result(breast_cancer, classifier):
    X, y = breast_cancer
    one = classifier.set_params(random_state=3).fit(X, y).certificate_
    two = classifier.fit(X, y).certificate_
    other = classifier.set_params(random_state=4).fit(X, y).certificate_
    assert np.array_equal(one.weights, two.weights)
    assert np.array_equal(one.counts.toarray(), two.counts.toarray())
    assert not np.array_equal(one.counts.toarray(), other.counts.toarray())


def test_convergence_reaches_the_directional_margin(breast_cancer):
    X, y = breast_cancer
    for schedule in ("paper", "fast", Schedule(rounds=(1, 1, 0))):
        for eta in (None, 8):
            classifier = PDMClassifier(0.05, eta=eta, stop="convergence", schedule=schedule, random_state=0).fit(X, y)
            assert classifier.stop_reason_ == "converged"
            certificate = classifier.certificate_
            assert certificate.directional_margin > 0.95 * certificate.upper_bound * (1 - 1e-9)
            assert certificate.margin >= certificate.directional_margin * (1 - 1e-9)


def test_the_history_holds_every_check_in_order(breast_cancer):
    X, y = breast_cancer
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier = PDMClassifier(0.001, random_state=0).fit(X, y)
    history = classifier.history_
    assert classifier.stop_reason_ == "certificate"
    assert history[0].passes <= 5
    assert np.all(np.diff([check.passes for check in history]) >= 0)
    assert all(before[1:] != after[1:] for before, after in pairwise(tuple(check) for check in history[:-1]))
    assert np.all(np.diff([check.time for check in history]) >= 0)
    assert np.all(np.diff([check.updates for check in history]) >= 0)
    assert np.all(np.diff([check.margin for check in history[:-1]]) >= 0)
    assert history[-1].updates == classifier.n_updates_ > 0
    assert history[-1].passes == classifier.n_iter_
    assert history[-1].gap == classifier.certificate_.gap


def test_eta_near_one_ends_too(breast_cancer):
    X, y = breast_cancer
    with pytest.warns(ConvergenceWarning, match=r"max_time|hardly move"):
        PDMClassifier(1e-6, eta=1 + 1e-12, max_time=0.2).fit(X, y)


def test_a_failed_fit_leaves_the_old_model_alone(breast_cancer):
    X, y = breast_cancer
    classifier = PDMClassifier(random_state=0).fit(X, y)
    before = classifier.predict(X)
    with pytest.raises(ValueError, match="there is only one class"):
        classifier.fit(X, ["z"] * len(X))
    assert np.array_equal(classifier.predict(X), before)


def test_labels_of_mixed_kinds_are_refused_in_words(breast_cancer):
    X, _ = breast_cancer
    with pytest.raises(ValueError, match="Unknown label type"):
        PDMClassifier().fit(X, np.array([1, "a"] * (len(X) // 2) + [1], dtype=object))


def test_a_slow_fit_warns_once(digits, monkeypatch):
    X, y = digits
    for name in ("SLOW_SECONDS", "SLOW_AFTER_SECONDS", "SLOW_AFTER_CHECKS"):
        monkeypatch.setattr(f"dynmargin.training.run.{name}", 0)
    with pytest.warns(ConvergenceWarning, match="epsilon=0.01 will take") as caught:
        PDMClassifier(random_state=0).fit(X, y)
    assert len(caught) == 1


def test_rounding_never_feigns_convergence(rng):
    """Every row on both sides: whatever the running norm has gathered, no rule can be satisfied."""
    for seed in range(30):
        random = np.random.default_rng(seed)
        X = random.normal(size=(6, 2))
        X, y = np.vstack([X, X]), np.repeat([0, 1], 6)
        for classifier in (PFMClassifier(beta=0.1, C=np.inf), PDMClassifier(0.1, C=np.inf)):
            classifier.set_params(margin_floor=0.0, stop="convergence", random_state=0, max_updates=300_000)
            with pytest.warns(ConvergenceWarning):
                assert classifier.fit(X, y).stop_reason_ != "converged"


def test_the_rule_accuracy_is_used_and_refined(breast_cancer):
    X, y = breast_cancer
    tenth, whole = (
        PDMClassifier(0.05, schedule=Schedule(rule_accuracy=fraction), random_state=0).fit(X, y)
        for fraction in (0.1, 1.0)
    )
    assert tenth.n_updates_ != whole.n_updates_
    asked, finer, accuracy = Request(stop="certificate"), [], 1e-12
    while (accuracy := finer_accuracy(accuracy, asked)) is not None:
        finer.append(accuracy)
    assert finer == pytest.approx([1e-13, 1e-14])
    assert finer_accuracy(1e-3, Request(stop="convergence")) is None


@pytest.mark.parametrize(("epsilon", "expected"), [(0.01, [0.5, 0.0625, 0.01]), (0.7, [0.7])])
def test_successive_runs_divide_the_accuracy_by_eta(breast_cancer, monkeypatch, epsilon, expected):
    seen, rule = [], _core.DynamicMargin
    monkeypatch.setattr(_core, "DynamicMargin", lambda accuracy: seen.append(accuracy) or rule(accuracy))
    PDMClassifier(epsilon, eta=8.0, stop="convergence", random_state=0).fit(*breast_cancer)
    assert seen == expected


def test_the_fast_schedule_depends_on_the_problem(breast_cancer):
    X, y = breast_cancer
    for rows, C, rounds in (
        (slice(None), 1.0, (9, 2, 2)),
        (slice(20), 1.0, (9, 4, 4)),
        (slice(None), np.inf, (9, 9, 9)),
    ):
        matrix = as_matrix(X[rows])
        packed = PackedProblem(matrix, _core.pack(matrix), BinaryProblem(1, C, C, 1.0), y[rows])
        for schedule, expected in (("fast", rounds), ("paper", (9, 12, 12)), (Schedule(rounds=(1, 1, 1)), (1, 1, 1))):
            assert schedule_for(packed, Request(schedule=schedule)).rounds == expected


def test_the_scale_is_the_best_one(breast_cancer):
    X, y = breast_cancer
    certificate = PDMClassifier(0.05, random_state=0).fit(X, y).certificate_
    problem = certificate.problem.to_core(certificate.problem.sides(y, None))
    margins = [
        problem.margin_of_weights(as_matrix(X), certificate.weights * scale, certificate.intercept * scale)[0]
        for scale in (0.999, 1.0, 1.001)
    ]
    assert margins[1] == max(margins)


def test_verbose_goes_through_logging(breast_cancer, caplog, capfd):
    X, y = breast_cancer
    with caplog.at_level(logging.INFO, logger="dynmargin"):
        PDMClassifier(random_state=0, verbose=1).fit(X, y)
        assert "upper bound" in caplog.text
    caplog.clear()
    PDMClassifier(random_state=0).fit(X, y)  # and only for as long as it is asked for
    assert caplog.text == ""
    assert capfd.readouterr().out == ""


def check(time, passes, margin, upper_bound=1.0):
    return Check(time, passes, 0, margin, upper_bound, 0)


def test_a_trend_sees_a_stall():
    trend = Trend(0.01)
    seen = []
    for passes, margin in (
        (1, 0.5),
        (2, 0.9),
        (STALL_PASSES, 0.9),
        (STALL_PASSES + 1, 0.9001),
        (STALL_PASSES + 2, 0.9005),
    ):
        trend.record(check(0.1, passes, margin), 1 - margin, 0.1)
        seen.append(trend.stalled())
    assert seen == [False, False, False, False, True]


def test_a_trend_projects_a_power_law():
    """A gap of 1/time needs 100 times the time for a hundredth of the gap."""
    slow, fast = Trend(0.001), Trend(0.01)
    for now in np.linspace(0.1, SLOW_AFTER_SECONDS + 1, 50):
        gap = 1 / (10 * now)
        for trend in (slow, fast):
            trend.record(check(now, 1, 1 - gap), gap, now)
    assert slow.projected_seconds() == pytest.approx(100, rel=0.01)
    assert slow.slow()
    assert "about 100 s" in slow.message(check(3.0, 1, 0.9), R=1.0)
    assert not fast.slow()


def test_nothing_is_projected_where_the_gap_is_not_steady():
    """The decomposition's gap falls ever faster: a power of time promises an hour where it takes a minute."""
    trend, power = Trend(0.01, steady=False), Trend(0.01)
    for now in np.linspace(0.1, 30, 50):
        gap = min(0.9, now**-0.4) if now < 20 else 0.3 * 2 ** (20 - now)
        for one in (trend, power) if now < 20 else (trend,):
            one.record(check(now, 1, 1 - gap), gap, now)
    assert power.projected_seconds() > 3600
    assert power.slow()
    assert not trend.slow()
    assert trend.projected_seconds() == np.inf
    trend.record(check(61.0, 1, 0.98), 0.02, 61.0)
    assert trend.slow()
    assert trend.message(check(61.0, 1, 0.98), R=1.0).startswith(
        "epsilon=0.01 takes long: after 61 s the proven gap is"
    )


def test_the_decomposition_neither_warns_of_hours_nor_shows_them(digits, monkeypatch):
    X, y = digits
    monkeypatch.setattr("dynmargin.training.run.SLOW_AFTER_SECONDS", 0.0)
    monkeypatch.setattr("dynmargin.training.run.SLOW_AFTER_CHECKS", 2)
    monkeypatch.setattr("dynmargin.training.run.SLOW_SECONDS", 5.0)
    asked = {"epsilon": 1e-3, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier = DecompositionSVMClassifier(**asked).fit(X, y % 2)
    assert classifier.certificate_.achieved
    words, power = CheckLine(1e-3, [], steady=False), CheckLine(1e-3, [])
    assert not any("left" in words.describe(check) for check in classifier.history_)
    assert any("left" in power.describe(check) for check in classifier.history_)


def test_the_margitron_certifies_the_hard_margin():
    X, y = make_classification(600, 20, class_sep=4, flip_y=0, random_state=0)
    for seed in range(4):
        classifier = MargitronClassifier(0.001, C=np.inf, random_state=seed).fit(X, y)
        assert classifier.stop_reason_ == "certificate"


def test_the_advice_fits_the_margin(endless):
    """Newton's method takes no hard margin, so nobody is sent there."""
    X, y = endless
    for C, named in ((1.0, True), (np.inf, False)):
        with pytest.warns(ConvergenceWarning, match="max_updates is reached") as caught:
            PDMClassifier(1e-6, C=C, max_updates=50, random_state=0).fit(X, y)
        assert ("NewtonClassifier" in str(caught[0].message)) is named
