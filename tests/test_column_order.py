"""Where there are many columns, those that occur are packed as they are first seen; nobody outside notices."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from dynmargin import DCDClassifier, MaxMarginClassifier, NewtonClassifier, PDMClassifier, _core
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.packed import PackedProblem
from dynmargin.problem.packed_weights import PackedWeights
from dynmargin.problem.problems import BinaryProblem

WIDE = 50_000  # more than ColumnOrder::many


@pytest.fixture
def few_of_many(rng):
    """Rows that have 300 of 50,000 columns, and the same rows with these columns alone, as they stand."""
    few = sp.random(400, 300, 0.05, format="csr", random_state=0)
    few.data = np.round(few.data, 2)
    columns = np.sort(rng.choice(WIDE, 300, replace=False))
    many = sp.csr_matrix((few.data, columns[few.indices], few.indptr), (400, WIDE))
    return few, many, columns, (few @ rng.normal(size=300) > 0).astype(int)


def test_columns_are_packed_as_they_are_first_seen(few_of_many):
    _, many, _, _ = few_of_many
    rows = _core.pack(as_matrix(many))
    seen, first = np.unique(many.indices, return_index=True)
    assert rows.n_matrix_columns == WIDE
    assert rows.n_columns == len(seen)
    assert np.array_equal(rows.columns, seen[np.argsort(first)])


def test_few_columns_stay_as_they_stand(few_of_many):
    few, _, _, _ = few_of_many
    rows = _core.pack(as_matrix(few))
    assert rows.columns is None
    assert rows.n_columns == rows.n_matrix_columns == 300


@pytest.mark.parametrize("make", [MaxMarginClassifier, PDMClassifier, DCDClassifier, NewtonClassifier])
def test_weights_are_those_of_the_columns_of_the_matrix(make, few_of_many):
    """Both fits have the same optimum, which lies where the columns are."""
    few, many, columns, y = few_of_many
    wide, narrow = make(1e-5, random_state=0).fit(many, y), make(1e-5, random_state=0).fit(few, y)
    assert wide.coef_.shape == (1, WIDE)
    assert not np.delete(wide.coef_, columns).any()
    assert wide.coef_[0, columns] == pytest.approx(narrow.coef_[0], abs=0.02 * np.abs(narrow.coef_).max())
    assert wide.certificate_.verify(many, y)
    assert wide.score(many, y) == narrow.score(few, y)


def test_several_classes_and_joint_margins_have_them_too(few_of_many):
    _, many, columns, _ = few_of_many
    labels = np.arange(400) % 3
    for multi_class in ("ovr", "joint"):
        classifier = PDMClassifier(0.1, multi_class=multi_class, random_state=0).fit(many, labels)
        assert classifier.coef_.shape == (3, WIDE)
        assert not np.delete(classifier.coef_, columns, axis=1).any()
        assert classifier.certificate_.verify(many, labels)


def test_dense_and_sparse_rows_give_the_same_bit_for_bit(few_of_many):
    _, many, _, y = few_of_many
    sparse, dense = (MaxMarginClassifier(random_state=0).fit(X, y) for X in (many, many.toarray()))
    assert np.array_equal(sparse.coef_, dense.coef_)
    assert sparse.certificate_.margin == dense.certificate_.margin
    assert sparse.certificate_.upper_bound == dense.certificate_.upper_bound


def test_rows_that_use_no_column_at_all(rng):
    X = sp.csr_matrix((6, WIDE))
    classifier = DCDClassifier(random_state=0).fit(X, np.arange(6) % 2)
    assert classifier.certificate_.verify(X, np.arange(6) % 2)


def test_weights_are_spread_out_when_they_are_asked_for(few_of_many):
    _, many, columns, y = few_of_many
    classifier = DCDClassifier(random_state=0).fit(many, y)
    certificate = classifier.certificate_
    assert "weights" not in vars(certificate)
    assert "centre" not in vars(certificate.ball)
    copied, stored = copy.deepcopy(certificate), pickle.loads(pickle.dumps(certificate))
    classifier.coef_ *= 2  # of others, not of the witness
    for found in (certificate, copied, stored, dataclasses.replace(certificate, epsilon=0.5)):
        assert np.array_equal(found.weights, classifier.coef_[0] / 2)
        assert found.ball.centre.shape == (WIDE,)
        assert set(np.flatnonzero(found.ball.centre)) <= set(columns)
        assert found.verify(many, y)
    assert found.weights is found.weights
    with pytest.raises(AttributeError, match="no attribute 'wieghts'"):
        _ = certificate.wieghts


def test_weights_of_columns_that_are_not_packed_are_refused(few_of_many):
    """They make the weights longer, and the margin smaller: whoever leaves them out proves too much."""
    _, many, columns, y = few_of_many
    matrix, stated = as_matrix(many), BinaryProblem(1, 1.0, 1.0, rho=1.0, classes=(0, 1))
    problem = PackedProblem(matrix, _core.pack(matrix), stated, np.where(y > 0, 1, 0))
    w = np.zeros(WIDE)
    w[columns] = 0.1
    assert np.array_equal(problem.unpack(problem.pack(w)).spread_out(), w)
    w[np.setdiff1d(np.arange(WIDE), columns)[0]] = 100.0
    with pytest.raises(ValueError, match="does not occur"):
        problem.pack(w)
    with pytest.raises(ValueError, match="differ in number"):
        problem.core.margin_of_weights(problem.rows, w, 0.5)


def test_rows_with_repetitions_are_proven_from_the_matrix():
    """The sum of two entries is rounded when it is packed; a proof is about the entries as they are stored."""
    X = sp.csr_matrix((np.array([0.1, 0.2, 1.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), (2, 2))
    rows = _core.pack(as_matrix(X))
    assert rows.summed
    problem = _core.Problem(np.array([1, -1], np.int8), 1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="proven from the matrix"):
        problem.margin_of_weights(rows, np.ones(2), 0.0)
    with pytest.raises(ValueError, match="proven from the matrix"):
        problem.bound_of_counts(rows, np.arange(2), np.ones(2, np.int64))
    classifier = MaxMarginClassifier(random_state=0).fit(X, [0, 1])
    assert classifier.certificate_.verify(X, [0, 1])


def test_newtons_steps_do_not_depend_on_how_columns_are_numbered(few_of_many):
    """The Hessian is summed into one triangle, wherever the columns of a row have come to lie."""
    few, many, _, y = few_of_many
    problem = _core.Problem(np.where(y > 0, 1, -1).astype(np.int8), 1.0, 10.0, 10.0)
    gaps = []
    for X in (few, many):
        rows = _core.pack(as_matrix(X))
        newton = _core.Newton(rows, problem, np.arange(rows.n_rows, dtype=np.uint32), np.zeros(rows.n_columns + 1))
        for _ in range(3):
            newton.step()
        gaps.append(1 - newton.margin / newton.upper_bound)
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-6, abs=1e-12)


@given(st.data())
def test_packed_weights_are_spread_out_to_where_they_belong(data):
    """A vector, or one per class; columns in any order, and all others are zero."""
    n_columns = data.draw(st.integers(1, 30))
    columns = np.array(data.draw(st.lists(st.integers(0, n_columns - 1), unique=True)), dtype=np.int64)
    shape = data.draw(st.sampled_from([(), (1,), (3,)]))
    size = int(np.prod(shape)) * len(columns)
    values = np.array(data.draw(st.lists(st.floats(-9, 9), min_size=size, max_size=size)))
    values = values.reshape(*shape, len(columns))
    packed = PackedWeights(values, columns, (*shape, n_columns))
    spread = packed.spread_out()
    assert spread.shape == packed.shape
    assert spread.size == packed.size
    np.testing.assert_array_equal(spread[..., columns], values)
    assert not np.delete(spread, columns, axis=-1).any()
