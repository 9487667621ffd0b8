"""A drop-in for LinearSVC: the same solution, and at home in scikit-learn's machinery."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from dynmargin import PDMClassifier, PFMClassifier, load

CLASSIFIERS = [PDMClassifier(0.001), PDMClassifier(0.001, eta=8), PFMClassifier(epsilon=0.001)]


def objective(classifier, X, y, C=1.0):
    """LinearSVC's objective for two classes."""
    signs = np.where(y == classifier.classes_[1], 1, -1)
    slack = np.maximum(0, 1 - signs * (X @ classifier.coef_[0] + classifier.intercept_[0]))
    return (classifier.coef_[0] @ classifier.coef_[0] + classifier.intercept_[0] ** 2) / 2 + C * (slack @ slack)


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=str)
def test_the_solution_is_that_of_linear_svc(breast_cancer, digits, classifier):
    for X, y in (breast_cancer, digits):
        ours = clone(classifier).set_params(random_state=0).fit(X, y)
        theirs = LinearSVC(C=1, tol=1e-8, max_iter=10**6).fit(X, y)
        assert np.mean(ours.predict(X) == theirs.predict(X)) >= 0.995
        assert np.linalg.norm(ours.coef_ - theirs.coef_) < 0.05 * np.linalg.norm(theirs.coef_)
        assert ours.certificate_.achieved
        assert all(certificate.verify(X, y) for certificate in ours.certificates_)


def test_primal_and_dual_are_those_of_linear_svc(breast_cancer):
    X, y = breast_cancer
    ours = PDMClassifier(0.001, random_state=0).fit(X, y)
    theirs = LinearSVC(C=1, tol=1e-10, max_iter=10**6).fit(X, y)
    certificate = ours.certificate_
    assert certificate.primal == pytest.approx(objective(ours, X, y), rel=1e-9)
    assert certificate.dual <= objective(theirs, X, y) * (1 + 1e-9)
    assert certificate.primal >= objective(theirs, X, y) * (1 - 1e-9)
    assert certificate.duality_gap / certificate.primal == pytest.approx(1 - (1 - certificate.gap) ** 2)


def test_dual_coef_times_the_rows_is_about_coef(breast_cancer, digits):
    for X, y in (breast_cancer, digits):
        classifier = PDMClassifier(0.001, random_state=0).fit(X, y)
        product = classifier.dual_coef_ @ X[classifier.support_]
        assert product.shape == classifier.coef_.shape
        assert np.linalg.norm(product - classifier.coef_) < 0.1 * np.linalg.norm(classifier.coef_)


def test_the_worst_of_many_classes_is_the_certificate(digits):
    X, y = digits
    classifier = PDMClassifier(random_state=0).fit(X, y)
    assert len(classifier.certificates_) == 10
    assert classifier.certificate_.gap == max(certificate.gap for certificate in classifier.certificates_)
    assert [certificate.problem.positive for certificate in classifier.certificates_] == list(range(10))
    assert {check.problem for check in classifier.history_} == set(range(10))
    assert classifier.decision_function(X).shape == (len(X), 10)


def test_a_certificate_names_its_class_if_there_are_several(breast_cancer, digits, tmp_path):
    X, y = digits
    names = np.array(["zero", "one", "two"])
    X, y = X[y < 3], names[y[y < 3]]
    classifier = PDMClassifier(random_state=0).fit(X, y)
    classifier.save(tmp_path / "model.npz")
    stream = PDMClassifier().partial_fit(X, y, names)
    for certificates in (classifier.certificates_, load(tmp_path / "model.npz").certificates, stream.certificates_):
        for label, certificate in zip(classifier.classes_, certificates, strict=True):
            assert certificate.problem.positive == label
            assert str(certificate).startswith(f"class {label} against the rest: ")
            assert str(certificate) in repr(certificate)
    assert classifier.certificate_ in classifier.certificates_
    for fitted in (PDMClassifier().fit(*breast_cancer), PDMClassifier(multi_class="joint").fit(X, y)):
        assert "class " not in str(fitted.certificate_)


def test_labels_of_any_kind(breast_cancer):
    X, y = breast_cancer
    expected = PDMClassifier(random_state=0).fit(X, y)
    days = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[ns]")
    for names in (np.array(["benign", "malignant"]), np.array([False, True]), np.array([-1.0, 1.0]), days):
        classifier = PDMClassifier(random_state=0).fit(X, names[y])
        assert np.array_equal(classifier.coef_, expected.coef_)
        assert classifier.predict(X).dtype == names.dtype
        assert classifier.certificate_.verify(X, names[y])


def test_intercept_scaling_is_that_of_linear_svc(breast_cancer):
    X, y = breast_cancer
    for scaling in (0.1, 10.0):
        ours = PDMClassifier(1e-3, C=0.1, intercept_scaling=scaling, random_state=0).fit(X, y)
        theirs = LinearSVC(C=0.1, intercept_scaling=scaling, tol=1e-9, max_iter=10**6).fit(X, y)
        assert ours.intercept_[0] == pytest.approx(theirs.intercept_[0], abs=0.05)
    without = PDMClassifier(1e-3, C=0.1, fit_intercept=False, random_state=0).fit(X, y)
    assert without.intercept_ == [0.0]


def test_inside_scikit_learn(breast_cancer):
    X, y = breast_cancer
    pipeline = make_pipeline(StandardScaler(), PDMClassifier(random_state=0))
    search = GridSearchCV(pipeline, {"pdmclassifier__C": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.95
    calibrated = CalibratedClassifierCV(PDMClassifier(random_state=0), cv=3).fit(X, y)
    assert calibrated.predict_proba(X).shape == (len(X), 2)
    assert calibrated.score(X, y) > 0.95


def test_a_pickled_model_is_the_same_model(breast_cancer):
    X, y = breast_cancer
    classifier = PDMClassifier(random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(classifier))
    assert np.array_equal(again.decision_function(X), classifier.decision_function(X))
    assert again.certificate_.verify(X, y)


def test_sparse_rows_are_scored_like_dense_ones(breast_cancer):
    X, y = breast_cancer
    classifier = PDMClassifier(random_state=0).fit(X, y)
    np.testing.assert_allclose(classifier.decision_function(sp.csr_matrix(X)), classifier.decision_function(X))
    np.testing.assert_allclose(classifier.decision_function(sp.csr_array(X)), classifier.decision_function(X))
