"""Whoever watches a fit sees every check, may end it, and does not change it."""

import logging
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from estimators import CLASSIFIERS
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dynmargin import CheckCallback, PDMClassifier, PFMClassifier

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")

every_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda one: type(one).__name__)
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def three_digits(digits):
    X, y = digits
    return X[y < 3], y[y < 3]


class Recorder(CheckCallback):
    """Writes down every task, and asks for the estimator as it is at its end."""

    def __init__(self):
        self.events, self.estimators = [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"{context.task_name} begins")

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        self.events.append(f"{context.task_name} ends")
        self.estimators.append((fitted_estimator, getattr(context, "check", None)))
        assert len(X) == len(y)


@quiet
@every_classifier
def test_our_callback_sees_every_check(classifier, breast_cancer, three_digits):
    for X, y in (breast_cancer, three_digits):
        seen = []
        watched = clone(classifier).set_callbacks(CheckCallback(seen.append)).fit(X, y)
        if isinstance(classifier, PFMClassifier):  # the run of PDM that finds beta is seen too
            assert set(watched.history_) < set(seen)
        else:
            assert seen == watched.history_
        assert {check.problem for check in seen} == set(range(len(watched.coef_)))


@quiet
@every_classifier
def test_watching_changes_nothing(classifier, breast_cancer, three_digits):
    """Not even when a proven model is asked for at every check."""
    for X, y in (breast_cancer, three_digits):
        recorder = Recorder()
        watched = clone(classifier).set_callbacks(recorder).fit(X, y)
        alone = clone(classifier).fit(X, y)
        assert np.array_equal(watched.coef_, alone.coef_)
        assert watched.n_updates_ == alone.n_updates_
        assert watched.certificate_.upper_bound == alone.certificate_.upper_bound


@quiet
@every_classifier
def test_the_model_of_a_check_is_proven(classifier, breast_cancer):
    X, y = breast_cancer
    recorder = Recorder()
    clone(classifier).set_callbacks(recorder).fit(X, y)
    checks = [(fitted, check) for fitted, check in recorder.estimators if check is not None]
    for fitted, check in checks:
        assert fitted.certificate_.verify(X, y)
        assert fitted.certificate_.margin == pytest.approx(check.margin, rel=1e-6, abs=1e-9)
        assert fitted.certificate_.upper_bound == pytest.approx(check.upper_bound, rel=1e-3)
        assert np.array_equal(fitted.coef_[0], fitted.certificate_.weights)
        assert set(fitted.predict(X)) <= set(y)


def test_tasks_are_a_tree_and_are_torn_down(three_digits):
    recorder = Recorder()
    PDMClassifier(random_state=0).set_callbacks(recorder).fit(*three_digits)
    events = recorder.events
    assert events[:3] == ["setup", "fit begins", "class begins"]
    assert events[-3:] == ["class ends", "fit ends", "teardown"]
    assert events.count("class begins") == events.count("class ends") == 3
    assert events.count("check begins") == events.count("check ends") > 3
    failing = Recorder()
    failing.on_fit_task_begin = lambda estimator, context: 1 / 0
    with pytest.raises(ZeroDivisionError):
        PDMClassifier().set_callbacks(failing).fit(*three_digits)
    assert failing.events == ["setup", "teardown"]


@every_classifier
def test_a_callback_ends_the_training(classifier, breast_cancer, three_digits, recwarn):
    """At the first check, with a model that is certified as far as it goes, and nobody is warned: it was asked for."""
    for X, y in (breast_cancer, three_digits):
        stopped = clone(classifier).set_params(epsilon=1e-9).set_callbacks(CheckCallback(lambda check: True)).fit(X, y)
        assert stopped.stop_reason_ in ("callback", "own_rule")
        assert [check.problem for check in stopped.history_] == sorted(2 * list(range(len(stopped.coef_))))
        assert all(certificate.verify(X, y) for certificate in stopped.certificates_)
    assert not recwarn.list


def test_a_callback_ends_each_class_by_itself(three_digits):
    X, y = three_digits
    watch = CheckCallback(lambda check: check.gap < 0.3)
    classifier = PDMClassifier(1e-4, random_state=0).set_callbacks(watch).fit(X, y)
    gaps = [certificate.gap for certificate in classifier.certificates_]
    assert max(gaps) < 0.3
    assert min(gaps) > 1e-4
    assert classifier.stop_reason_ == "callback"


def test_a_gap_that_is_proven_is_the_better_reason(breast_cancer):
    watch = CheckCallback(lambda check: check.gap <= 0.05)
    classifier = PDMClassifier(0.05, random_state=0).set_callbacks(watch).fit(*breast_cancer)
    assert classifier.stop_reason_ == "certificate"


def test_a_callback_may_want_no_more_classes(three_digits):
    class FirstClassOnly(Recorder):
        def on_fit_task_end(self, estimator, context):
            return context.task_name == "class"

    classifier = PDMClassifier(1e-4, random_state=0).set_callbacks(FirstClassOnly()).fit(*three_digits)
    checks = [check.problem for check in classifier.history_]
    assert checks.count(0) > 2
    assert checks.count(1) == checks.count(2) == 2


def test_an_error_in_a_callback_is_not_swallowed(breast_cancer):
    with pytest.raises(ZeroDivisionError):
        PDMClassifier().set_callbacks(CheckCallback(lambda check: 1 / 0)).fit(*breast_cancer)


@quiet
@every_classifier
def test_scoring_monitor(classifier, breast_cancer, three_digits):
    for X, y in (breast_cancer, three_digits):
        monitor = callback.ScoringMonitor(scoring=["accuracy", "f1_macro"])
        seen = []
        watched = clone(classifier).set_callbacks(monitor, CheckCallback(seen.append))
        fitted = watched.fit(X, y, sample_weight=np.ones(len(y)))
        scores = monitor.get_logs().data_as_pandas
        assert (scores.task_name == "check").sum() == len(seen)
        assert scores[scores.task_name == "fit"].accuracy.item() == pytest.approx(fitted.score(X, y))


def test_scoring_monitor_knows_feature_names(breast_cancer, recwarn):
    pandas = pytest.importorskip("pandas")
    X, y = breast_cancer
    monitor = callback.ScoringMonitor(scoring="accuracy")
    PDMClassifier(random_state=0).set_callbacks(monitor).fit(pandas.DataFrame(X).add_prefix("x"), y)
    assert monitor.get_logs().data
    assert not recwarn.list


def test_a_class_not_trained_yet_is_not_predicted_for_rows_of_a_trained_one(three_digits):
    X, y = three_digits
    recorder = Recorder()
    final = PDMClassifier(random_state=0).set_callbacks(recorder).fit(X, y)
    first = next(
        fitted
        for (fitted, check), event in zip(recorder.estimators, ends(recorder), strict=True)
        if event == "class ends"
    )
    assert np.array_equal(first.coef_[0], final.coef_[0])
    assert not first.coef_[1:].any()
    assert (first.predict(X[y == 0]) == 0).mean() > 0.95
    assert len(first.certificates_) == 1


def ends(recorder):
    return [event for event in recorder.events if event.endswith("ends")]


@quiet
@every_classifier
def test_progress_bar(classifier, breast_cancer, three_digits, capsys):
    pytest.importorskip("rich")
    name = type(classifier).__name__
    for X, y in (breast_cancer, three_digits):
        clone(classifier).set_callbacks(callback.ProgressBar()).fit(X, y)
        shown = capsys.readouterr().out
        assert f"{name} - fit" in shown
        assert shown.count(f"{name} - class") == (1 if len(set(y)) == 2 else 3)
        assert "100%" in shown


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_callbacks_of_a_search_reach_its_fits(breast_cancer, capsys, n_jobs):
    pytest.importorskip("rich")
    search = GridSearchCV(
        make_pipeline(StandardScaler(), PDMClassifier(random_state=0)),
        {"pdmclassifier__C": [0.1, 1.0]},
        cv=2,
        n_jobs=n_jobs,
    )
    search.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(*breast_cancer)
    shown = capsys.readouterr().out
    assert "GridSearchCV - fit" in shown
    assert "PDMClassifier - class" in shown


def test_our_callback_is_kept_by_clones_in_a_search(breast_cancer):
    seen = []
    pipeline = make_pipeline(StandardScaler(), PDMClassifier(random_state=0).set_callbacks(CheckCallback(seen.append)))
    search = GridSearchCV(pipeline, {"pdmclassifier__C": [0.1, 1.0]}, cv=2).fit(*breast_cancer)
    history = search.best_estimator_[-1].history_
    assert seen[-len(history) :] == history
    assert len(seen) > 4 * 2


def test_a_watched_classifier_can_be_pickled(breast_cancer):
    X, y = breast_cancer
    classifier = PDMClassifier(random_state=0).set_callbacks(CheckCallback(print_nothing)).fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(classifier)).coef_, classifier.coef_)


def print_nothing(check):
    return None


def test_two_fits_at_once_are_seen_apart(breast_cancer):
    X, y = breast_cancer
    seen = [[], []]

    def fit(number):
        return PDMClassifier(0.001, random_state=number).set_callbacks(CheckCallback(seen[number].append)).fit(X, y)

    with ThreadPoolExecutor(2) as pool:
        fitted = list(pool.map(fit, range(2)))
    assert [one.history_ for one in fitted] == seen


def test_classes_trained_at_once_are_seen_one_at_a_time(three_digits):
    X, y = three_digits
    recorder, seen, inside = Recorder(), [], []

    def see(check):
        inside.append(check)
        assert len(inside) == 1  # nobody else is here
        seen.append(check)
        inside.pop()

    alone = PDMClassifier(0.001, random_state=0).fit(X, y)
    classifier = PDMClassifier(0.001, n_jobs=3, random_state=0).set_callbacks(recorder, CheckCallback(see)).fit(X, y)
    assert np.array_equal(classifier.coef_, alone.coef_)
    assert sorted(seen, key=lambda check: check.problem) == classifier.history_
    assert recorder.events.count("class ends") == 3


def test_our_callback_works_with_a_scikit_learn_without_callbacks():
    code = """
import sys
import sklearn.linear_model, sklearn.pipeline, sklearn.model_selection
sys.modules["sklearn.callback"] = None
from dynmargin import CheckCallback, PDMClassifier
from dynmargin.classifiers import callbacks
assert callbacks.CallbackSupportMixin.__module__ == "dynmargin.classifiers.callbacks"
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
seen = []
fitted = PDMClassifier(0.001, random_state=0).set_callbacks(CheckCallback(seen.append)).fit(X, y)
assert seen == fitted.history_ and fitted.certificate_.achieved
stopped = PDMClassifier(0.001, random_state=0).set_callbacks(CheckCallback(lambda check: check.gap < 0.5)).fit(X, y)
assert stopped.stop_reason_ == "callback"
assert PDMClassifier(0.001, random_state=0).set_callbacks().fit(X, y).stop_reason_ == "certificate"
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_log_is_as_it_was_after_a_fit(breast_cancer):
    logger = logging.getLogger("dynmargin")
    before = logger.level, list(logger.handlers)
    with pytest.raises(ZeroDivisionError):
        PDMClassifier(verbose=1).set_callbacks(CheckCallback(lambda check: 1 / 0)).fit(*breast_cancer)
    assert (logger.level, logger.handlers) == before
