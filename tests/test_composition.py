"""Every estimator within what scikit-learn builds of estimators: searches, votes, calibration, pickles, tables."""

import pickle

import joblib
import numpy as np
import pytest
import sklearn
from estimators import CLASSIFIERS, sklearn_version
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dynmargin import DCDClassifier, MaxMarginClassifier, NewtonClassifier, PDMClassifier, PFMClassifier

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

every_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda one: type(one).__name__)
some_classifiers = pytest.mark.parametrize(
    "classifier",
    [
        one
        for one in CLASSIFIERS
        if isinstance(one, PDMClassifier | PFMClassifier | DCDClassifier | NewtonClassifier | MaxMarginClassifier)
    ],
    ids=lambda one: type(one).__name__,
)
folds = StratifiedKFold(3)


@pytest.fixture(scope="module")
def raw():
    from sklearn.datasets import load_breast_cancer

    return load_breast_cancer(return_X_y=True)


@every_classifier
def test_pipelines_searches_and_scores(classifier, raw):
    X, y = raw
    pipeline = make_pipeline(StandardScaler(), classifier)
    name = type(classifier).__name__.lower()
    search = GridSearchCV(pipeline, {f"{name}__C": [0.01, 1.0]}, cv=folds, return_train_score=True).fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_estimator_[-1].certificate_.verify(search.best_estimator_[0].transform(X), y)
    at_one = cross_val_score(pipeline, X, y, cv=folds)
    splits = [search.cv_results_[f"split{fold}_test_score"][1] for fold in range(3)]
    assert np.array_equal(at_one, splits)


@every_classifier
def test_clones_have_the_parameters_and_nothing_else(classifier, breast_cancer):
    fitted = clone(classifier).set_params(C=0.5).fit(*breast_cancer)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "coef_")
    assert np.array_equal(copy.fit(*breast_cancer).coef_, fitted.coef_)


@every_classifier
def test_pickles_and_joblib_files_hold_the_same_model(classifier, breast_cancer, tmp_path):
    X, y = breast_cancer
    fitted = clone(classifier).fit(X, y)
    joblib.dump(fitted, tmp_path / "model.joblib")
    for again in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "model.joblib")):
        assert np.array_equal(again.decision_function(X), fitted.decision_function(X))
        assert again.certificate_.verify(X, y)
        assert again.history_ == fitted.history_


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_jobs_of_joblib_give_the_results_of_one(raw, backend):
    X, y = raw
    pipeline = make_pipeline(StandardScaler(), PDMClassifier(random_state=0))
    expected = cross_val_score(pipeline, X, y, cv=folds)
    with joblib.parallel_config(backend=backend):
        assert np.array_equal(cross_val_score(pipeline, X, y, cv=folds, n_jobs=2), expected)


@every_classifier
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibrated_probabilities(classifier, raw, method):
    """For rows that were not trained on they are far better than the shares of the classes, and follow the scores."""
    X, y = raw
    calibrated = CalibratedClassifierCV(
        make_pipeline(StandardScaler(), classifier), method=method, cv=folds, ensemble=False
    )
    train, test = next(folds.split(X, y))
    probabilities = calibrated.fit(X[train], y[train]).predict_proba(X[test])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    by_shares = brier_score_loss(y[test], np.full(len(test), y[train].mean()))
    assert brier_score_loss(y[test], probabilities[:, 1]) < by_shares / 4
    scores = calibrated.calibrated_classifiers_[0].estimator.decision_function(X[test])
    assert (np.diff(probabilities[np.argsort(scores), 1]) >= 0).all()


@some_classifiers
def test_calibrated_probabilities_tell_more_than_labels(classifier, raw):
    X, y = raw
    pipeline = make_pipeline(StandardScaler(), classifier)
    calibrated = CalibratedClassifierCV(pipeline, cv=folds)
    probabilities = cross_val_predict(calibrated, X, y, cv=folds, method="predict_proba")[:, 1]
    labels = cross_val_predict(pipeline, X, y, cv=folds)
    assert brier_score_loss(y, probabilities) < brier_score_loss(y, labels.astype(float))


def test_calibration_of_many_classes_and_without_an_ensemble(digits):
    X, y = digits
    calibrated = CalibratedClassifierCV(PDMClassifier(0.05, random_state=0), cv=folds, ensemble=False).fit(X, y)
    assert calibrated.predict_proba(X).shape == (len(X), 10)
    assert calibrated.score(X, y) > 0.95


@every_classifier
def test_votes_and_stacks(classifier, breast_cancer):
    X, y = breast_cancer
    members = [("ours", classifier), ("theirs", LogisticRegression()), ("too", PDMClassifier(random_state=1))]
    votes = VotingClassifier(members).fit(X, y)
    assert votes.score(X, y) > 0.95
    own = np.array([member.predict(X) for member in votes.estimators_])
    assert np.array_equal(votes.predict(X), (own.sum(axis=0) >= 2).astype(int))
    stack = StackingClassifier(members[:2], cv=folds).fit(X, y)
    assert stack.score(X, y) > 0.95


def test_soft_votes_and_bags(breast_cancer):
    X, y = breast_cancer
    calibrated = CalibratedClassifierCV(PDMClassifier(random_state=0), cv=folds)
    soft = VotingClassifier([("ours", calibrated), ("theirs", LogisticRegression())], voting="soft").fit(X, y)
    assert soft.score(X, y) > 0.95
    bag = BaggingClassifier(PDMClassifier(random_state=0), n_estimators=3, random_state=0).fit(X, y)
    assert bag.score(X, y) > 0.95


@pytest.mark.skipif(sklearn_version < (1, 7), reason="scikit-learn needs a newer scipy for it than we do")
@every_classifier
def test_array_api_dispatch_changes_nothing(classifier, breast_cancer):
    X, y = breast_cancer
    expected = clone(classifier).fit(X, y)
    with sklearn.config_context(array_api_dispatch=True):
        fitted = clone(classifier).fit(X, y)
        assert np.array_equal(fitted.coef_, expected.coef_)
        assert np.array_equal(fitted.predict(X), expected.predict(X))
        assert fitted.score(X, y) == expected.score(X, y)
        assert cross_val_score(make_pipeline(StandardScaler(), fitted), X, y, cv=folds).mean() > 0.9


def test_arrays_of_other_libraries_are_read_as_numpy(breast_cancer):
    xp = pytest.importorskip("array_api_strict")
    X, y = breast_cancer
    expected = PDMClassifier(random_state=0).fit(X, y)
    fitted = PDMClassifier(random_state=0).fit(xp.asarray(X), xp.asarray(y))
    assert np.array_equal(fitted.coef_, expected.coef_)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@every_classifier
def test_tables_with_feature_names(classifier, breast_cancer, library):
    frames = pytest.importorskip(library)
    X, y = breast_cancer
    names = [f"feature {column}" for column in range(X.shape[1])]
    table = frames.DataFrame(dict(zip(names, X.T, strict=True)))
    expected = clone(classifier).fit(X, y)
    fitted = clone(classifier).fit(table, frames.Series(y))
    assert list(fitted.feature_names_in_) == names
    assert np.array_equal(fitted.coef_, expected.coef_)
    assert np.array_equal(fitted.predict(table), expected.predict(X))
    other = frames.DataFrame(dict(zip(names[::-1], X.T, strict=True)))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(other)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        fitted.predict(X)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_come_through_pipelines(raw, library):
    frames = pytest.importorskip(library)
    X, y = raw
    table = frames.DataFrame({f"feature {column}": values for column, values in enumerate(X.T)})
    pipeline = make_pipeline(StandardScaler().set_output(transform=library), PDMClassifier(random_state=0))
    fitted = pipeline.fit(table, np.array(["benign", "malignant"])[y])
    assert fitted[-1].feature_names_in_[3] == "feature 3"
    assert set(fitted.predict(table)) == {"benign", "malignant"}
    scaled = fitted[0].transform(table).to_numpy()
    assert np.array_equal(fitted[-1].coef_, PDMClassifier(random_state=0).fit(scaled, y).coef_)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def weights(raw):
    return np.random.default_rng(0).exponential(size=len(raw[1]))


@some_classifiers
def test_weights_are_routed_through_a_pipeline(classifier, raw, weights, routing):
    X, y = raw
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    pipeline = make_pipeline(scaler, clone(classifier).set_fit_request(sample_weight=True))
    routed = pipeline.fit(X, y, sample_weight=weights)[-1]
    scaled = StandardScaler().fit_transform(X)
    direct = clone(classifier).fit(scaled, y, sample_weight=weights)
    assert np.array_equal(routed.coef_, direct.coef_)
    assert not np.array_equal(routed.coef_, clone(classifier).fit(scaled, y).coef_)
    assert routed.certificate_.verify(scaled, y, sample_weight=weights)
    assert not routed.certificate_.verify(scaled, y)


@some_classifiers
def test_weights_are_routed_through_searches_and_cross_validation(classifier, breast_cancer, weights, routing):
    """Fits and scores get the weights of the rows of each fold."""
    X, y = breast_cancer
    weighted = clone(classifier).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    expected = []
    for train, test in folds.split(X, y):
        fitted = clone(classifier).fit(X[train], y[train], sample_weight=weights[train])
        expected.append(fitted.score(X[test], y[test], sample_weight=weights[test]))
    routed = cross_validate(weighted, X, y, cv=folds, params={"sample_weight": weights})
    assert routed["test_score"] == pytest.approx(expected, abs=1e-15)
    assert not np.allclose(expected, cross_val_score(clone(classifier), X, y, cv=folds, params={}))
    search = GridSearchCV(weighted, {"C": [classifier.C, 1e-4]}, cv=folds).fit(X, y, sample_weight=weights)
    splits = [search.cv_results_[f"split{fold}_test_score"][0] for fold in range(3)]
    assert splits == pytest.approx(expected, abs=1e-15)
    best = search.best_estimator_
    again = clone(classifier).set_params(**search.best_params_).fit(X, y, sample_weight=weights)
    assert np.array_equal(best.coef_, again.coef_)


@some_classifiers
def test_weights_are_routed_through_calibration_and_votes(classifier, breast_cancer, weights, routing):
    X, y = breast_cancer
    weighted = clone(classifier).set_fit_request(sample_weight=True)
    calibrated = CalibratedClassifierCV(weighted, cv=folds).fit(X, y, sample_weight=weights)
    votes = VotingClassifier([("ours", weighted)]).fit(X, y, sample_weight=weights)
    direct = clone(classifier).fit(X, y, sample_weight=weights)
    assert np.array_equal(votes.estimators_[0].coef_, direct.coef_)
    train, _ = next(folds.split(X, y))
    inner = clone(classifier).fit(X[train], y[train], sample_weight=weights[train])
    assert np.array_equal(calibrated.calibrated_classifiers_[0].estimator.coef_, inner.coef_)


@every_classifier
def test_weights_that_nobody_asked_for_are_refused(classifier, breast_cancer, weights, routing):
    pipeline = make_pipeline(clone(classifier))
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
        pipeline.fit(*breast_cancer, sample_weight=weights)


@every_classifier
def test_weights_reach_every_estimator(classifier, breast_cancer, rng):
    """The certificate is about the weighted rows: proven with the weights, and of other data without them."""
    X, y = breast_cancer
    weight = rng.integers(1, 4, size=len(y))
    fitted = clone(classifier).fit(X, y, sample_weight=weight)
    repeated = clone(classifier).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert fitted.certificate_.verify(X, y, sample_weight=weight)
    assert fitted.certificate_.verify(X, y).verdict == "other data"
    assert fitted.certificate_.margin <= repeated.certificate_.upper_bound
    assert repeated.certificate_.margin <= fitted.certificate_.upper_bound
