"""Rows are digested and packed many entries at a time; what comes out is that of one entry after the other."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from reference.presentation import MASK, mix64

from dynmargin import _core
from dynmargin.problem.matrix import as_matrix


def digest(entries):
    """The digest of a row, given its columns and values, by Python's integers."""
    total = 0
    for column, value in entries:
        x = int(np.float64(value).view(np.uint64)) + column * 0x9E3779B97F4A7C15 & MASK
        x = (x ^ (x >> 32)) * 0xBF58476D1CE4E5B9 & MASK
        total += x ^ (x >> 29)
    return mix64(total + len(entries) & MASK)


def squared_length(entries):
    """The squared length of a row: entries at even places and those at odd places are added up apart."""
    sums = [0.0, 0.0]
    for i, (_, value) in enumerate(entries):
        sums[i % 2] += float(value) * float(value)
    return sums[0] + sums[1]


@st.composite
def tables(draw):
    """Rows of all lengths, in one of the forms in which they may be stored."""
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    columns = draw(st.sampled_from([1, 5, 31, 32, 33, 70, 300, 70_000]))
    rows, most = draw(st.integers(1, 40)), draw(st.sampled_from([3, 40, 200, 600]))
    lengths = np.minimum(random.integers(0, most + 1, rows), columns)
    places = [np.sort(random.choice(columns, length, replace=False)) for length in lengths]
    values = random.normal(size=lengths.sum()).astype(draw(st.sampled_from([np.float32, np.float64])))
    if draw(st.booleans()):
        values[:] = 1
    starts = np.concatenate([[0], np.cumsum(lengths)])
    index = draw(st.sampled_from([np.int32, np.int64]))
    X = sp.csr_matrix((values, np.concatenate(places), starts), (rows, columns))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return X, random


def as_it_may_be_stored(X, random, form):
    """The same rows in another form."""
    if form in ("C", "F"):
        return np.asarray(X.toarray(), order=form)
    if form == "slice":
        return np.hstack([X.toarray(), X.toarray()])[:, : X.shape[1]]
    X = X.copy()
    if form == "zeros" and X.nnz:  # stored, but to be dropped
        X.data[random.random(X.nnz) < 0.2] = 0
    elif form == "unsorted":  # some rows
        for begin, end in zip(X.indptr, X.indptr[1:], strict=False):
            if random.random() < 0.3:
                continue
            order = begin + random.permutation(end - begin)
            X.indices[begin:end], X.data[begin:end] = X.indices[order], X.data[order]
    return X


@given(tables(), st.sampled_from(["canonical", "zeros", "unsorted", "C", "F", "slice"]))
def test_digests_and_lengths_are_those_of_one_entry_after_the_other(table, form):
    X, random = table
    if form in ("C", "F", "slice") and X.shape[1] > 1000:
        form = "canonical"
    stored = as_it_may_be_stored(X, random, form)
    exact = sp.csr_matrix(stored)
    exact.sort_indices()
    exact.eliminate_zeros()
    entries = [
        list(zip(exact.indices[begin:end].tolist(), exact.data[begin:end], strict=True))
        for begin, end in zip(exact.indptr, exact.indptr[1:], strict=False)
    ]
    rows, matrix = _core.pack(as_matrix(stored)), as_matrix(stored)
    sides = np.ones(X.shape[0], np.int8)
    problem = _core.Problem(sides, 0.0, np.inf, np.inf)
    keys = [mix64(digest(row) + 3 & MASK) for row in entries]  # of a row on the positive side
    assert problem.row_keys(rows).tolist() == keys
    assert problem.row_keys(matrix).tolist() == keys
    assert problem.largest_norm(rows) == pytest.approx(np.sqrt(max(map(squared_length, entries))), rel=1e-15)
    assert rows.n_nonzeros == exact.nnz
    assert bytes(_core.store_rows(rows)) == bytes(_core.store_rows(_core.pack(as_matrix(exact))))


def test_rows_of_more_columns_than_can_be_packed_are_digested():
    columns, values = np.array([0, 7, 2**31 + 3]), np.array([0.5, -2.0, 3.0])
    matrix = _core.csr(values, columns, np.array([0, 2, 3]), 2**31 + 5)
    keys = _core.Problem(np.ones(2, np.int8), 0.0, np.inf, np.inf).row_keys(matrix)
    rows = [[(0, 0.5), (7, -2.0)], [(2**31 + 3, 3.0)]]
    assert keys.tolist() == [mix64(digest(row) + 3 & MASK) for row in rows]


def test_most_rows_may_be_empty():
    X = sp.csr_matrix(([1.0, 2.0], ([5, 9_000], [3, 1])), (10_000, 4))
    rows = _core.pack(as_matrix(X))
    assert (rows.n_rows, rows.n_nonzeros) == (10_000, 2)
    problem = _core.Problem(np.ones(10_000, np.int8), 0.0, np.inf, np.inf)
    assert np.array_equal(problem.row_keys(rows), problem.row_keys(as_matrix(X)))
    assert np.array_equal(np.flatnonzero(problem.row_keys(rows) != problem.row_keys(rows)[0]), [5, 9_000])


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_columns_are_checked_when_they_are_read(index):
    values = np.ones(600, np.float32)
    columns, starts = np.tile(np.arange(20), 30).astype(index), np.arange(0, 601, 20).astype(index)
    matrix = _core.csr(values, columns, starts, 20)
    for wrong in (-1, 20, np.iinfo(index).max, np.iinfo(index).min):
        columns[577] = wrong
        with pytest.raises(RuntimeError, match="the data changed while they were read"):
            _core.pack(matrix)
        columns[577] = 17
    assert _core.pack(matrix).n_nonzeros == 600
