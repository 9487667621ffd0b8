"""C by cross-validation over one packed copy: the scores of scikit-learn's own loop, for any number of threads."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from interrupts import ctrl_c_at
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold, check_cv, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import dynmargin
from dynmargin import MaxMarginClassifier, MaxMarginClassifierCV

CS = [0.001, 0.1, 10.0]


@pytest.mark.parametrize("algorithm", ["dcd", "newton", "pdm"])
@pytest.mark.parametrize("cv", [3, KFold(4, shuffle=True, random_state=0), ShuffleSplit(2, random_state=0)])
def test_scores_are_those_of_fits_on_the_folds(breast_cancer, digits, algorithm, cv):
    """A row held out is a row that is not there, down to the last prediction."""
    few = digits[1] < 4
    for X, y in (breast_cancer, (digits[0][few], digits[1][few])):
        splits = [(np.sort(train), test) for train, test in check_cv(cv, y, classifier=True).split(X, y)]
        found = MaxMarginClassifierCV(Cs=CS, cv=splits, algorithm=algorithm, random_state=0).fit(X, y)
        for C, scores in zip(CS, found.scores_.T, strict=True):
            alone = MaxMarginClassifier(C=C, algorithm=algorithm, random_state=0)
            assert cross_val_score(alone, X, y, cv=splits).tolist() == scores.tolist()


def test_the_final_fit_is_a_fit_with_the_best_c(digits):
    X, y = digits
    found = MaxMarginClassifierCV(Cs=CS, cv=3, random_state=0).fit(X, y)
    assert found.Cs_[found.scores_.mean(axis=0).argmax()] == found.C_
    alone = MaxMarginClassifier(C=found.C_, random_state=0).fit(X, y)
    assert np.array_equal(found.coef_, alone.coef_)
    assert found.algorithm_ == alone.algorithm_
    assert found.certificate_.achieved
    assert all(certificate.verify(X, y) for certificate in found.certificates_)
    assert found.to_sklearn().C == found.C_


def test_a_grid_search_over_linear_svc_agrees(breast_cancer):
    X, y = breast_cancer
    cv = StratifiedKFold(5, shuffle=True, random_state=1)
    ours = MaxMarginClassifierCV(1e-4, Cs=CS, cv=cv, random_state=0).fit(X, y)
    theirs = GridSearchCV(LinearSVC(tol=1e-6, max_iter=10**6), {"C": CS}, cv=cv).fit(X, y)
    np.testing.assert_allclose(ours.scores_.mean(axis=0), theirs.cv_results_["mean_test_score"], atol=0.002)
    assert theirs.best_params_["C"] == ours.C_


def test_any_number_of_threads_gives_the_same_result(digits, rng):
    X, y = sp.csr_matrix(digits[0]), digits[1]
    weight = rng.integers(0, 3, len(y)).astype(float)
    alone = MaxMarginClassifierCV(Cs=CS, cv=3, random_state=0).fit(X, y, sample_weight=weight)
    for n_jobs in (2, 5):
        threads = MaxMarginClassifierCV(Cs=CS, cv=3, random_state=0, n_jobs=n_jobs).fit(X, y, sample_weight=weight)
        assert np.array_equal(alone.scores_, threads.scores_)
        assert np.array_equal(alone.coef_, threads.coef_)
        assert alone.certificate_.witness_digest == threads.certificate_.witness_digest


def test_the_data_are_packed_once(digits, monkeypatch):
    calls = []
    pack = dynmargin._core.pack
    monkeypatch.setattr(dynmargin._core, "pack", lambda *asked: calls.append(asked) or pack(*asked))
    MaxMarginClassifierCV(Cs=CS, cv=3, random_state=0).fit(*digits)
    assert len(calls) == 1


def test_integer_weights_are_repeated_rows_in_fits_and_scores(breast_cancer, rng):
    X, y = breast_cancer
    weight = rng.integers(1, 4, len(y))
    splits = list(KFold(3, shuffle=True, random_state=0).split(X))
    rows = np.repeat(np.arange(len(y)), weight)
    repeated = [tuple(np.flatnonzero(np.isin(rows, part)) for part in split) for split in splits]
    one = MaxMarginClassifierCV(Cs=CS, cv=splits, epsilon=1e-6, algorithm="newton").fit(X, y, sample_weight=weight)
    two = MaxMarginClassifierCV(Cs=CS, cv=repeated, epsilon=1e-6, algorithm="newton").fit(X[rows], y[rows])
    np.testing.assert_allclose(one.scores_, two.scores_, atol=1e-12)


def test_a_row_drawn_twice_counts_twice(breast_cancer):
    X, y = breast_cancer
    train = np.r_[np.arange(300), np.arange(150)]
    test = np.arange(300, len(y))
    found = MaxMarginClassifierCV(Cs=[0.1], cv=[(train, test)], epsilon=1e-6, algorithm="newton").fit(X, y)
    alone = MaxMarginClassifier(1e-6, C=0.1, algorithm="newton").fit(X[train], y[train])
    assert found.scores_[0, 0] == pytest.approx(alone.score(X[test], y[test]))


def test_scoring_is_scikit_learns(breast_cancer):
    X, y = breast_cancer
    found = MaxMarginClassifierCV(Cs=CS, cv=3, scoring="roc_auc", random_state=0).fit(X, y)
    for C, scores in zip(CS, found.scores_.T, strict=True):
        alone = MaxMarginClassifier(C=C, random_state=0)
        np.testing.assert_allclose(cross_val_score(alone, X, y, cv=3, scoring="roc_auc"), scores, atol=0.01)


def test_balanced_weights_are_those_of_the_fold(breast_cancer):
    X, y = breast_cancer
    found = MaxMarginClassifierCV(Cs=[0.01], cv=3, class_weight="balanced", epsilon=1e-6, algorithm="newton").fit(X, y)
    alone = MaxMarginClassifier(1e-6, C=0.01, class_weight="balanced", algorithm="newton")
    np.testing.assert_allclose(cross_val_score(alone, X, y, cv=3), found.scores_[:, 0], atol=1e-12)


def test_a_class_that_a_fold_does_not_train_on(digits):
    """Rows of the class missing are wrong whatever is predicted; the final fit knows it."""
    X, y = digits
    X, y = X[y < 3], y[y < 3]
    splits = [(np.flatnonzero(y > 0), np.flatnonzero(y == 0)), (np.arange(len(y)), np.arange(50))]
    found = MaxMarginClassifierCV(Cs=[1.0], cv=splits, random_state=0).fit(X, y)
    assert found.scores_[0, 0] == 0
    assert len(found.certificates_) == 3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Cs": [1.0, -1.0]}, "Cs must be positive"),
        ({"Cs": []}, "Cs must be positive"),
        ({"Cs": 0}, "The 'Cs' parameter"),
        ({"cv": [(np.arange(3), np.arange(5))]}, r"fold 0 \(counting from 0\) leaves only 1 class to train on"),
    ],
)
def test_what_cannot_be_done_is_refused(parameters, message):
    X, y = np.arange(10.0)[:, None], np.repeat([0, 1], 5)
    with pytest.raises(ValueError, match=message):
        MaxMarginClassifierCV(**parameters).fit(X, y)


def test_ctrl_c_leaves_a_usable_model(digits):
    X, y = digits
    with ctrl_c_at(30), pytest.warns(ConvergenceWarning):
        classifier = MaxMarginClassifierCV(
            Cs=CS, epsilon=1e-5, algorithm="pdm", random_state=0, n_jobs=2, verbose=1
        ).fit(X, y)
    assert classifier.stop_reason_ == "interrupted"
    assert classifier.scores_.shape == (5, 3)
    assert classifier.score(X, y) > 0.5
    assert classifier.certificate_.verify(X, y)


@pytest.mark.filterwarnings(r"ignore:\d+ of 10 classes fell short")
def test_max_time_is_for_everything(digits):
    X, y = digits
    with pytest.warns(ConvergenceWarning, match=r"of 150 runs on folds ended above epsilon=1e-06"):
        classifier = MaxMarginClassifierCV(Cs=CS, epsilon=1e-6, algorithm="pdm", random_state=0, max_time=0.03).fit(
            X, y
        )
    assert classifier.certificate_.verify(X, y)


def test_inside_scikit_learn(breast_cancer, tmp_path):
    X, y = breast_cancer
    pipeline = make_pipeline(StandardScaler(), MaxMarginClassifierCV(Cs=CS, cv=3, random_state=0)).fit(X, y)
    again = pickle.loads(pickle.dumps(pipeline))
    assert np.array_equal(again.predict(X), pipeline.predict(X))
    assert clone(pipeline[-1]).get_params() == pipeline[-1].get_params()
    pipeline[-1].save(tmp_path / "model.npz")
    assert dynmargin.load(tmp_path / "model.npz").verify(StandardScaler().fit_transform(X), y)
