"""Dense rows of any length: products with vectors, in whatever registers the CPU has."""

import numpy as np
import pytest

from dynmargin import PDMClassifier, _core
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.packed import PackedProblem
from dynmargin.problem.problems import state_problems

LENGTHS = [*range(1, 66), 100, 127, 128, 129, 1000]


def drawn(n_columns, dtype, fill=1.0):
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(40, n_columns)) * (rng.random((40, n_columns)) < fill)
    return X.astype(dtype), np.where(rng.random(40) < 0.5, 1, 0)


def newton_at(X, y, w):
    (problem,) = state_problems(np.array([0, 1]), 1.0, np.ones(2), rho=1.0)
    matrix = as_matrix(X)
    packed = PackedProblem(matrix, _core.pack(matrix), problem, y)
    return packed, _core.Newton(packed.rows, packed.binary, np.arange(len(y), dtype=np.uint32), w, 1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", LENGTHS)
def test_scores_and_sums_of_rows_are_those_of_numpy(n_columns, dtype):
    X, y = drawn(n_columns, dtype)
    w = np.random.default_rng(0).normal(size=n_columns + 1) / np.sqrt(n_columns)
    packed, point = newton_at(X, y, w)
    assert packed.rows.dense
    reflected = np.where(y > 0, 1, -1)[:, None] * np.column_stack([X.astype(float), np.ones(len(y))])
    alpha = 2 * np.maximum(0, 1 - reflected @ w)
    np.testing.assert_allclose(point.dual_weights(), alpha, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(point.gradient(), w - alpha @ reflected, rtol=1e-11, atol=1e-11)


# With 0.4 of their entries rows are sparse, but their outer products are summed as if they were dense.
@pytest.mark.parametrize("fill", [1.0, 0.4, 0.1])
@pytest.mark.parametrize("n_columns", [1, 3, 4, 5, 6, 7, 8, 9, 15, 30, 31, 32, 33, 61, 130, 200])
def test_a_step_with_a_hessian_solves_newtons_system(n_columns, fill):
    X, y = drawn(n_columns, np.float64, fill)
    packed, point = newton_at(X, y, np.zeros(n_columns + 1))  # where all rows are active
    assert packed.rows.dense == (fill == 1) or n_columns < 30  # where a row's length takes room too
    point.step()
    reflected = np.where(y > 0, 1, -1)[:, None] * np.column_stack([X, np.ones(len(y))])
    newton = np.linalg.solve(np.eye(n_columns + 1) + 2 * reflected.T @ reflected, 2 * reflected.sum(axis=0))
    w = point.w()
    length = w @ newton / (newton @ newton)  # as far as is best in that direction
    np.testing.assert_allclose(w, length * newton, rtol=1e-9, atol=1e-12 * np.abs(newton).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [1, 2, 15, 16, 31, 32, 33, 34, 36, 40, 48, 49, 63, 65, 200])
def test_bounds_are_proven_for_rows_of_any_length(n_columns, dtype):
    X, y = drawn(n_columns, dtype)
    classifier = PDMClassifier(0.05, C=1.0, random_state=0).fit(X, y)
    certificate = classifier.certificate_
    assert certificate.achieved
    assert certificate.verify(X, y).verdict == "proven"
    w, b = classifier.coef_[0], classifier.intercept_[0]
    slacks = np.maximum(0, 1 - np.where(y > 0, 1, -1) * (X.astype(float) @ w + b))
    assert certificate.margin >= 1 / np.sqrt(w @ w + b * b + 2 * slacks @ slacks) * (1 - 1e-9)
