"""Newton's method: exact, indifferent to scale, with the same certificate; and the front door that chooses it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference.optimum import best_soft_margin
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from dynmargin import MaxMarginClassifier, NewtonClassifier, _core
from dynmargin.algorithms.newton import NewtonTrainer
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.packed import PackedProblem
from dynmargin.problem.problems import state_problems


@given(st.integers(0, 2**31), st.sampled_from([0.01, 1.0, 100.0]), st.sampled_from([0.0, 1.0, 5.0]), st.booleans())
@settings(max_examples=100)
def test_the_optimum_is_found(seed, C, rho, weighted):
    random = np.random.default_rng(seed)
    X = random.normal(size=(random.integers(4, 60), random.integers(1, 6))) * 10.0 ** random.integers(-3, 4)
    y = np.where(X[:, 0] + X.std() * random.normal(size=len(X)) > 0, 1, -1)
    assume(len(set(y)) == 2)
    weight = random.exponential(size=len(y)) if weighted else np.ones(len(y))
    classifier = NewtonClassifier(1e-9, C=C, fit_intercept=rho > 0, intercept_scaling=rho or 1.0)
    certificate = classifier.fit(X, y, sample_weight=weight).certificate_
    best = best_soft_margin(X, y, rho, 2 * C * weight)
    assert certificate.achieved
    assert certificate.verify(X, y, sample_weight=weight)
    assert certificate.margin == pytest.approx(best, rel=1e-7)
    assert certificate.margin <= best * (1 + 1e-9)
    assert certificate.upper_bound >= best * (1 - 1e-9)


def test_bad_scaling_does_not_matter():
    X, y = load_breast_cancer(return_X_y=True)
    classifier = NewtonClassifier(1e-9).fit(X, y)
    assert classifier.certificate_.achieved
    assert classifier.n_iter_ < 30
    assert classifier.certificate_.verify(X, y)


def stiff_problem(seed):
    """Slacks are expensive and few are needed, so there are many steps, and the upper bound goes up and down."""
    rng = np.random.default_rng(seed)
    X = np.round(8 * rng.normal(size=(800, 150)) @ rng.normal(size=(150, 150)))
    y = (X @ rng.normal(size=150) + 20 * rng.normal(size=len(X)) > 0).astype(int)
    (problem,) = state_problems(np.array([0, 1]), 1e3, np.ones(2), rho=1.0)
    matrix = as_matrix(X)
    return PackedProblem(matrix, _core.pack(matrix), problem, y)


@pytest.mark.parametrize("seed", [0, 2])
def test_a_long_run_keeps_the_dual_weights_that_prove_most(seed):
    problem = stiff_problem(seed)
    trainer, presently, bounds = NewtonTrainer(problem, 0), [], []
    patterns = np.zeros((problem.n_rows, problem.rows.n_columns + 1))
    values, columns, starts = _core.unpack(problem.rows)
    patterns[np.repeat(np.arange(problem.n_rows), np.diff(starts)), columns] = values
    patterns[:, -1] = 1
    patterns *= problem.sides[:, None]
    while trainer.advance(1.0, 2**53) is not _core.Event.converged:
        if trainer.price < 1:
            continue
        presently.append(trainer.point.true_upper_bound)
        bounds.append(trainer.check().upper_bound)
        rows, alpha = trainer.support()
        proven = np.sqrt(np.sum((alpha @ patterns[rows]) ** 2) + np.sum(alpha**2) / 2e3) / alpha.sum()
        assert bounds[-1] == pytest.approx(proven, rel=1e-9)
        other = NewtonTrainer(problem, 0)
        other.restore(trainer.snapshot())
        assert np.array_equal(other.snapshot(), trainer.snapshot())
        assert np.array_equal(other.support()[1], alpha)
    assert bounds[-1] == min(bounds)
    assert max(now / best for now, best in zip(presently, bounds, strict=True)) > 1.001  # or nothing had to be kept


def test_many_rows_begin_on_a_subset(rng):
    X = rng.normal(size=(20_000, 10))
    y = (X @ rng.normal(size=10) + rng.normal(size=20_000) > 0).astype(int)
    classifier = NewtonClassifier(1e-9, random_state=0).fit(X, y)
    assert classifier.certificate_.achieved
    assert classifier.n_iter_ <= 5  # the subset's solution is close
    theirs = LinearSVC(tol=1e-10, dual=False, max_iter=10**5).fit(X, y)
    np.testing.assert_allclose(classifier.coef_, theirs.coef_, atol=1e-4)


def test_many_columns_take_conjugate_gradients(rng):
    X = sp.random(300, 5000, density=0.01, random_state=rng, format="csr")
    y = rng.integers(0, 2, 300)
    classifier = NewtonClassifier(1e-6, C=10.0, random_state=0).fit(X, y)
    assert classifier.certificate_.achieved
    assert classifier.certificate_.verify(X, y)


def test_the_hard_margin_is_refused(breast_cancer):
    with pytest.raises(ValueError, match="finite C"):
        NewtonClassifier(C=np.inf).fit(*breast_cancer)


def test_many_classes_and_class_weights(digits):
    X, y = digits
    ours = NewtonClassifier(1e-9, class_weight="balanced").fit(X, y)
    theirs = LinearSVC(class_weight="balanced", tol=1e-10, dual=False, max_iter=10**5).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.dual_coef_ @ X[ours.support_], ours.coef_, atol=1e-5)


def test_max_time_holds_for_newton_too(rng):
    X = rng.normal(size=(3000, 300))
    y = X[:, 0] + 0.3 * rng.normal(size=3000) > 0
    with pytest.warns(ConvergenceWarning, match="max_time"):  # it takes eight or nine steps
        classifier = NewtonClassifier(1e-12, C=1e4, max_time=1e-9).fit(X, y)
    assert classifier.certificate_.verify(X, y)


def test_the_front_door_says_what_it_chose(breast_cancer, rng):
    X, y = breast_cancer
    assert MaxMarginClassifier().fit(X, y).algorithm_ == "newton: alone"
    assert MaxMarginClassifier(C=1e-4).fit(np.hstack([X] * 10), y).algorithm_ == "dcd: alone"
    assert MaxMarginClassifier(algorithm="pdm").fit(X, y).algorithm_ == "pdm: as asked"
    hard = MaxMarginClassifier(0.1, C=np.inf).fit(X[y == 1][:20], np.arange(20) % 2)
    assert hard.algorithm_ == "dcd: the margin is hard"
    column = np.linspace(-1, 1, 40)[:, None]
    hard = MaxMarginClassifier(0.1, C=np.inf).fit(column, column.ravel() > 0)
    assert hard.algorithm_ == "pdm: the margin is hard, and there are many rows per feature"
    finer = MaxMarginClassifier(1e-4, C=np.inf).fit(column, column.ravel() > 0)
    assert finer.algorithm_ == "dcd: the margin is hard"
    assert hard.certificate_.achieved
    wide = rng.normal(size=(20, 2100))
    chosen = MaxMarginClassifier().fit(wide, np.arange(20) % 2)
    assert chosen.algorithm_ == "dcd: alone"
    assert chosen.certificate_.achieved


def test_rounding_ends_it(breast_cancer):
    X, y = breast_cancer
    with pytest.warns(ConvergenceWarning, match="the proven gap is"):
        classifier = NewtonClassifier(1e-16).fit(X, y)
    assert classifier.stop_reason_ == "stalled"
    assert classifier.n_iter_ < 50
    assert classifier.certificate_.gap < 1e-9


@pytest.mark.parametrize("seed", [7, 8])
def test_a_flat_margin_is_not_the_end(seed):
    """Rare, large features: the margin is at its best long before the upper bound is."""
    X, y = make_classification(5000, 30, class_sep=0.3, n_informative=15, random_state=seed)
    X[:, :15] = (np.random.default_rng(seed).random((5000, 15)) < 0.001) * (30 + 3 * X[:, :15])
    assert NewtonClassifier(1e-7, C=10, random_state=seed).fit(X, y).certificate_.achieved


@pytest.mark.parametrize(("length", "C"), [(16, 1.0), (1, 1e4)])
def test_few_expensive_slacks_take_few_steps(digits, length, C):
    """Near separability: steps from far away would be tiny, more than a hundred of them."""
    X, y = digits
    classifier = NewtonClassifier(C=C, random_state=0).fit(length * X, y == 6)
    assert classifier.certificate_.achieved
    assert classifier.n_iter_ < 60
