"""Classes and fits in threads: the same results as one after the other, and every way to stop still works."""

import logging
import threading
import warnings

import numpy as np
import pytest
from interrupts import assert_usable, ctrl_c_at
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from dynmargin import (
    ALMAClassifier,
    DCDClassifier,
    DecompositionSVMClassifier,
    MargitronClassifier,
    MaxMarginClassifier,
    MPUClassifier,
    NewtonClassifier,
    PDMClassifier,
    PFMClassifier,
    ROMMAClassifier,
    read_libsvm,
)

CLASSIFIERS = [
    ALMAClassifier(),
    DCDClassifier(),
    DCDClassifier(loss="hinge"),
    DecompositionSVMClassifier(0.1),
    MargitronClassifier(),
    MaxMarginClassifier(),
    MPUClassifier(),
    NewtonClassifier(1e-9),
    PDMClassifier(),
    PDMClassifier(eta=8),
    PFMClassifier(),
    ROMMAClassifier(),
]


def assert_same(one, two):
    """The same results bit for bit, and the same checks but for the clock."""
    assert np.array_equal(one.coef_, two.coef_)
    assert np.array_equal(one.intercept_, two.intercept_)
    assert np.array_equal(one.dual_coef_, two.dual_coef_)
    assert [check[1:] for check in one.history_] == [check[1:] for check in two.history_]
    for first, second in zip(one.certificates_, two.certificates_, strict=True):
        assert first.witness_digest == second.witness_digest
        assert (first.margin, first.upper_bound) == (second.margin, second.upper_bound)
    assert getattr(one, "algorithm_", None) == getattr(two, "algorithm_", None)


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=str)
def test_any_number_of_threads_gives_the_same_result(digits, rng, classifier):
    X, y = digits
    weight = rng.integers(0, 4, len(y)).astype(float)
    alone = clone(classifier).set_params(random_state=0).fit(X, y, sample_weight=weight)
    for n_jobs in (2, 7, -1):
        threads = clone(classifier).set_params(random_state=0, n_jobs=n_jobs).fit(X, y, sample_weight=weight)
        assert_same(alone, threads)


def test_more_threads_than_classes(digits):
    X, y = digits
    X, y = X[y < 3], y[y < 3]
    assert_same(
        PDMClassifier(random_state=0, n_jobs=50).fit(X, y),
        PDMClassifier(random_state=0).fit(X, y),
    )


def test_two_fits_at_once_are_two_fits_in_turn(digits, breast_cancer):
    classifiers = [PDMClassifier(0.001, random_state=0), DCDClassifier(0.001, random_state=1)]
    problems = [digits, breast_cancer]
    in_turn = [[clone(c).fit(*problem) for problem in problems] for c in classifiers]
    at_once = [[clone(c) for _ in problems] for c in classifiers]
    barrier = threading.Barrier(4)

    def fit(classifier, problem):
        barrier.wait()
        classifier.fit(*problem)

    threads = [
        threading.Thread(target=fit, args=(classifier, problem))
        for row in at_once
        for classifier, problem in zip(row, problems, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for expected, found in zip(in_turn, at_once, strict=True):
        for one, two in zip(expected, found, strict=True):
            assert_same(one, two)


def test_ctrl_c_reaches_the_threads(endless):
    X, y = endless
    y = y + (X[:, 0] > 0)
    with ctrl_c_at(3), pytest.warns(ConvergenceWarning, match="3 of 3 classes fell short, class . most: interrupted"):
        classifier = PDMClassifier(1e-6, random_state=0, verbose=1, n_jobs=2).fit(X, y)
    assert classifier.stop_reason_ == "interrupted"
    assert len(classifier.coef_) == 3
    assert_usable(classifier, X, y)


def test_ctrl_c_twice_leaves_a_fit_in_threads(endless):
    X, y = endless
    y = y + (X[:, 0] > 0)
    classifier = PDMClassifier(1e-6, random_state=0, verbose=1, n_jobs=2)
    with ctrl_c_at(3), pytest.warns(ConvergenceWarning, match="interrupted"):
        classifier.fit(X, y)
    before = classifier.coef_
    with ctrl_c_at(3), pytest.raises(KeyboardInterrupt):
        classifier.fit(X, y)
    assert classifier.coef_ is before
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("dynmargin")]


@pytest.mark.unsanitized
def test_max_time_is_shared_by_the_classes_in_threads(endless):
    X, y = endless
    with pytest.warns(ConvergenceWarning, match="3 of 3 classes fell short, class . most: max_time"):
        classifier = PDMClassifier(1e-6, max_time=0.6, random_state=0, n_jobs=2).fit(X, y + (X[:, 0] > 0))
    assert {check.problem for check in classifier.history_} == {0, 1, 2}
    assert all(certificate.counts.sum() > 1000 for certificate in classifier.certificates_)
    assert_usable(classifier, X, y + (X[:, 0] > 0))


def test_a_warning_from_a_thread_points_to_the_caller(digits, monkeypatch):
    X, y = digits
    for name in ("SLOW_SECONDS", "SLOW_AFTER_SECONDS", "SLOW_AFTER_CHECKS"):
        monkeypatch.setattr(f"dynmargin.training.run.{name}", 0)
    with pytest.warns(ConvergenceWarning, match="epsilon=0.01 will take") as caught:
        PDMClassifier(random_state=0, n_jobs=2).fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]


def test_a_failure_in_a_thread_is_the_fits_own(digits, monkeypatch):
    X, y = digits
    train = PDMClassifier._train

    def fail(self, problem, request):
        if problem.index == 4:
            raise RuntimeError("class 4 is broken")
        return train(self, problem, request)

    monkeypatch.setattr(PDMClassifier, "_train", fail)
    classifier = PDMClassifier(random_state=0, n_jobs=2)
    with pytest.raises(RuntimeError, match="class 4 is broken"):
        classifier.fit(X, y)
    assert not hasattr(classifier, "coef_")


def test_zero_threads_are_refused(digits):
    with pytest.raises(ValueError, match="The 'n_jobs' parameter"):
        PDMClassifier(n_jobs=0).fit(*digits)


def test_one_against_the_rest_is_that_of_linear_svc(digits):
    X, y = digits
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = MaxMarginClassifier(1e-4, n_jobs=2, random_state=0).fit(X, y)
    theirs = LinearSVC(tol=1e-8, max_iter=10**6).fit(X, y)
    assert np.linalg.norm(ours.coef_ - theirs.coef_) < 0.01 * np.linalg.norm(theirs.coef_)
    assert np.mean(ours.predict(X) == theirs.predict(X)) >= 0.998


def test_the_history_of_threads_goes_class_by_class(digits, caplog):
    X, y = digits
    with caplog.at_level(logging.INFO, logger="dynmargin"):
        classifier = PDMClassifier(random_state=0, n_jobs=2).fit(X, y)
    problems = [check.problem for check in classifier.history_]
    assert problems == sorted(problems)
    assert len(caplog.records) == len(problems)  # each check is logged once


def test_news20_is_certified_for_every_class(data_dir):
    X, y = read_libsvm(data_dir / "news20" / "news20.xz")
    classifier = MaxMarginClassifier(n_jobs=2, random_state=0).fit(X, y)
    assert len(classifier.certificates_) == 20
    assert all(certificate.achieved and certificate.verify(X, y) for certificate in classifier.certificates_)


def test_news20_is_classified_as_by_linear_svc(data_dir):
    X, y = read_libsvm(data_dir / "news20" / "news20.xz")
    X, y = normalize(X[::5]), y[::5]
    ours = MaxMarginClassifier(1e-4, n_jobs=2, random_state=0).fit(X, y)
    theirs = LinearSVC(tol=1e-6, max_iter=10**5).fit(X, y)
    assert np.linalg.norm(ours.coef_ - theirs.coef_) < 0.02 * np.linalg.norm(theirs.coef_)
    assert np.mean(ours.predict(X) == theirs.predict(X)) >= 0.998
