"""Every way a fit can end leaves a usable model and says what was reached; nothing hangs."""

import logging
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from dynmargin import PDMClassifier, PFMClassifier, Schedule
from dynmargin.outcome import Check
from dynmargin.progress import SLOW_AFTER_SECONDS, STALL_PASSES, Progress


@pytest.fixture(scope="module")
def endless():
    """Rows that PDM needs minutes for: overlapping classes, badly scaled."""
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 40)) * np.logspace(-2, 3, 40)
    return X, (X @ random.normal(size=40) + 100 * random.normal(size=3000) > 0).astype(int)


def assert_usable(classifier, X, y):
    certificate = classifier.certificate_
    assert not certificate.achieved
    assert certificate.verify(X, y)
    assert classifier.score(X, y) > 0.4
    assert np.isfinite(classifier.coef_).all()


def test_max_time_ends_the_fit_in_time(endless):
    X, y = endless
    start = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match="max_time is reached after .* s: the proven gap is"):
        classifier = PDMClassifier(1e-6, max_time=0.5, random_state=0).fit(X, y)
    assert time.perf_counter() - start < 5  # a wide margin: 0.2 s is what is promised on a quiet machine
    assert classifier.stop_reason_ == "max_time"
    assert_usable(classifier, X, y)


def test_max_time_is_shared_by_the_classes(endless):
    X, y = endless
    with pytest.warns(ConvergenceWarning, match="3 of 3 classes fell short, class 0 most: max_time"):
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


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to threads here")
def test_ctrl_c_leaves_a_usable_model(endless):
    X, y = endless
    interrupt = threading.Timer(0.4, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT])
    start = time.perf_counter()
    interrupt.start()
    with pytest.warns(ConvergenceWarning, match="3 of 3 classes fell short, class . most: interrupted after"):
        classifier = PDMClassifier(1e-6, random_state=0).fit(X, y + (X[:, 0] > 0))
    assert time.perf_counter() - start < 5
    assert classifier.stop_reason_ == "interrupted"
    assert len(classifier.coef_) == 3  # the classes not reached yet got a first slice
    assert_usable(classifier, X, y + (X[:, 0] > 0))


def test_raw_breast_cancer_ends_with_advice():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"proven gap is .*scale the features \(R/margin is") as caught:
        classifier = PDMClassifier(random_state=0).fit(X, y)
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
    with pytest.warns(ConvergenceWarning, match=r"no classifier has a margin of beta|stopped moving"):
        classifier = PFMClassifier(bound * factor, epsilon=1e-6, stop=stop, random_state=0).fit(X, y)
    assert classifier.stop_reason_ in ("infeasible", "stalled")
    assert factor < 1.01 or classifier.stop_reason_ == "infeasible"
    assert classifier.certificate_.verify(X, y)


def test_a_feasible_beta_is_exceeded(breast_cancer):
    X, y = breast_cancer
    margin = PDMClassifier(0.01, stop="convergence", random_state=0).fit(X, y).certificate_.directional_margin
    classifier = PFMClassifier(margin, stop="convergence", random_state=0).fit(X, y)
    assert classifier.stop_reason_ == "converged"
    assert classifier.certificate_.directional_margin > margin
    assert classifier.beta_ == [margin]


def test_beta_is_taken_from_pdm(breast_cancer):
    X, y = breast_cancer
    pdm = PDMClassifier(0.01, stop="convergence", random_state=0).fit(X, y)
    pfm = PFMClassifier(epsilon=0.01, stop="convergence", random_state=0).fit(X, y)
    assert pfm.beta_ == [pdm.certificate_.directional_margin]
    assert pfm.stop_reason_ == "converged"


def test_one_beta_a_class(digits):
    X, y = digits
    X, y = X[y < 3], y[y < 3]
    betas = [0.01, 0.02, 0.03]
    classifier = PFMClassifier(betas, stop="convergence", random_state=0).fit(X, y)
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


def test_history_tells_the_story(breast_cancer):
    X, y = breast_cancer
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier = PDMClassifier(0.001, random_state=0).fit(X, y)
    history = classifier.history_
    assert classifier.stop_reason_ == "certificate"
    assert [check.passes for check in history[:100]] == list(range(1, 101))
    assert np.all(np.diff([check.passes for check in history[:-1]]) > 0)
    assert np.all(np.diff([check.time for check in history]) >= 0)
    assert np.all(np.diff([check.updates for check in history]) >= 0)
    assert np.all(np.diff([check.margin for check in history[:-1]]) >= 0)
    assert history[-1].updates == classifier.n_updates_ == classifier.certificate_.counts.sum()
    assert history[-1].passes == classifier.n_iter_
    assert history[-1].gap == classifier.certificate_.gap


def test_verbose_goes_through_logging(breast_cancer, caplog, capfd):
    X, y = breast_cancer
    with caplog.at_level(logging.INFO, logger="dynmargin"):
        PDMClassifier(random_state=0, verbose=1).fit(X, y)
    assert "upper bound" in caplog.text
    assert capfd.readouterr().out == ""


def check(time, passes, margin, upper_bound=1.0):
    return Check(time, passes, 0, margin, upper_bound, 0)


def test_progress_sees_a_stall():
    progress = Progress(0.01)
    for passes, margin in ((1, 0.5), (2, 0.9), (STALL_PASSES, 0.9), (STALL_PASSES + 1, 0.9001)):
        progress.record(check(0.1, passes, margin), 1 - margin, 0.1)
        assert not progress.stalled(check(0.1, passes, margin))
    late = check(0.1, STALL_PASSES + 2, 0.9005)
    progress.record(late, late.gap, 0.1)
    assert progress.stalled(late)


def test_progress_projects_a_power_law():
    """A gap of 1/time needs 100 times the time for a hundredth of the gap."""
    progress = Progress(0.001)
    for now in np.linspace(0.1, SLOW_AFTER_SECONDS + 1, 50):
        progress.record(check(now, 1, 1 - 1 / (10 * now)), 1 / (10 * now), now)
    assert progress.projected_seconds() == pytest.approx(100, rel=0.01)
    assert progress.slow()
    assert "about 100 s" in progress.message(check(3.0, 1, 0.9), R=1.0)
    fast = Progress(0.01)
    for now in np.linspace(0.1, SLOW_AFTER_SECONDS + 1, 50):
        fast.record(check(now, 1, 1 - 1 / (10 * now)), 1 / (10 * now), now)
    assert not fast.slow()
