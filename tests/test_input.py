"""Good input in any container gives the same model; bad input gets a sentence that names what is wrong."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.validation import validate_data

from dynmargin import MaxMarginClassifier, PDMClassifier, PFMClassifier, _core
from dynmargin.classifiers.validation import validate_rows
from dynmargin.problem.matrix import as_matrix


def read_only_memmap(tmp_path, X):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def memmapped_csr(tmp_path, X):
    csr = sp.csr_array(X)
    parts = []
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(csr, name))
        parts.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    return sp.csr_array(tuple(parts), shape=csr.shape)


def csr_with_64_bit_indices(X):
    csr = sp.csr_array(X)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


def unsorted_csr_with_duplicates(X):
    """Every row reversed, its first value split in two halves, and a stored zero added."""
    data, indices, indptr = [], [], [0]
    for row in X:
        columns = np.flatnonzero(row)[::-1]
        halves = np.r_[row[columns], row[columns[:1]] / 2, 0.0] if len(columns) else [0.0]
        if len(columns):
            halves[0] = row[columns[0]] / 2
        data.append(halves)
        indices.append(np.r_[columns, columns[:1], 0] if len(columns) else [0])
        indptr.append(indptr[-1] + len(halves))
    return sp.csr_array((np.concatenate(data), np.concatenate(indices), indptr), shape=X.shape)


CONTAINERS = {
    "fortran": lambda tmp, X: np.asfortranarray(X),
    "strided": lambda tmp, X: np.repeat(X, 2, axis=1)[:, ::2],
    "read-only memmap": read_only_memmap,
    "csr_matrix": lambda tmp, X: sp.csr_matrix(X),
    "csr_array": lambda tmp, X: sp.csr_array(X),
    "csc": lambda tmp, X: sp.csc_array(X),
    "coo": lambda tmp, X: sp.coo_matrix(X),
    "csr, 64-bit indices": lambda tmp, X: csr_with_64_bit_indices(X),
    "memmapped csr": memmapped_csr,
    "unsorted csr with duplicates": lambda tmp, X: unsorted_csr_with_duplicates(X),
    "data frame": lambda tmp, X: pd.DataFrame(X).set_axis([f"f{j}" for j in range(X.shape[1])], axis=1),
    "lists": lambda tmp, X: X.tolist(),
}


@pytest.fixture(scope="module", params=["sparse", "dense"])
def data(request):
    """Values that float32 and halving keep exactly, so that every container holds the same data."""
    random = np.random.default_rng(0)
    X = np.round(random.normal(size=(80, 12)) * 64) / 64
    if request.param == "sparse":
        X[random.random(X.shape) < 0.7] = 0
        X[5] = 0  # a row of zeros
    y = (X @ random.normal(size=12) + random.normal(size=80) > 0).astype(int)
    return X, y


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", CONTAINERS)
def test_the_container_does_not_matter(tmp_path, data, container, dtype):
    X, y = data
    expected = PDMClassifier(random_state=0).fit(X, y)
    X_again = CONTAINERS[container](tmp_path, X.astype(dtype))
    classifier = PDMClassifier(random_state=0).fit(X_again, y)
    assert np.array_equal(classifier.coef_, expected.coef_)
    assert np.array_equal(classifier.certificate_.counts.toarray(), expected.certificate_.counts.toarray())
    assert classifier.certificate_.data_digest == expected.certificate_.data_digest
    assert classifier.certificate_.verify(X_again, y)
    assert np.array_equal(classifier.predict(X_again), expected.predict(X))


@given(st.integers(0, 2**31), st.booleans())
@settings(max_examples=30)
def test_sparse_and_dense_digests_agree(seed, single):
    random = np.random.default_rng(seed)
    X = random.integers(-2, 3, size=(6, 5)).astype(np.float32 if single else np.float64)
    problem = _core.Problem(np.ones(6, np.int8), 1.0, 1.0, 1.0)
    digests = {problem.digest(as_matrix(same)) for same in (X, sp.csr_array(X), unsorted_csr_with_duplicates(X))}
    digests |= {problem.digest(_core.pack(as_matrix(X)))}
    assert len(digests) == 1


def test_packing_takes_the_smaller_layout():
    dense, sparse = np.ones((1000, 50)), np.zeros((1000, 50))
    sparse[:, 3] = 1
    per_row = 8 + 8  # norms and digests
    assert _core.pack(as_matrix(dense / 2)).nbytes == 1000 * (50 * 4 + per_row)
    assert _core.pack(as_matrix(dense / 3)).nbytes == 1000 * (50 * 8 + per_row)
    assert _core.pack(as_matrix(sparse / 2)).nbytes <= 1000 * (24 + per_row)
    assert _core.pack(as_matrix(sparse)).nbytes <= 1000 * (20 + per_row)  # ones are not stored


@pytest.mark.parametrize("columns", [40, 70_000])
def test_ones_are_as_good_as_any_values(columns, rng):
    """All-ones data has a layout of its own; doubled duplicates must not be mistaken for it."""
    X = sp.csr_matrix((rng.random((60, columns)) < 8 / columns).astype(float))
    y = rng.integers(0, 2, 60)
    ones = PDMClassifier(0.1, random_state=0).fit(X, y)
    assert np.array_equal(ones.coef_, PDMClassifier(0.1, random_state=0).fit(X[:, ::-1][:, ::-1], y).coef_)
    doubled = sp.csr_matrix((np.ones(2), [0, 0], [0, 2, 2]), shape=(2, 1))
    assert PDMClassifier(0.1, C=np.inf).fit(doubled, [1, 0]).certificate_.verify([[2.0], [0.0]], [1, 0])


X2, y2 = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]), np.array([0, 1, 1, 0])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.where(X2 == 3, np.nan, X2), y2, "NaN"),
        (np.where(X2 == 3, np.inf, X2), y2, "infinity"),
        (sp.csr_array(np.where(X2 == 3, np.nan, X2)), y2, "NaN"),
        (X2, np.zeros(4), "only one class"),
        (np.zeros((0, 2)), np.zeros(0), "0 sample"),
        (X2, y2[:3], "inconsistent numbers of samples"),
        (X2 * 1e200, y2, r"squared length of row 0 \(counting from 0\)"),
        (X2 * 1e120, y2, "longest pattern has length"),
        (X2, np.array([0.1, 0.2, 0.3, 0.4]), "continuous"),
    ],
)
def test_bad_data_is_refused(X, y, message):
    for classifier in (PDMClassifier(), PFMClassifier()):
        with pytest.raises(ValueError, match=message):
            classifier.fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "'epsilon'"),
        ({"epsilon": 1.5}, "'epsilon'"),
        ({"epsilon": np.nan}, "'epsilon'"),
        ({"C": 0}, "'C'"),
        ({"C": -1.0}, "'C'"),
        ({"C": 1e-305}, "between 1e-290 and 1e290"),
        ({"C": 1e308}, "between 1e-290 and 1e290"),
        ({"C": 1e-250}, "longest pattern has length"),
        ({"eta": 1.0}, "'eta'"),
        ({"stop": "soon"}, "'stop'"),
        ({"schedule": "slow"}, "'schedule'"),
        ({"max_time": 0}, "'max_time'"),
        ({"max_updates": 0}, "'max_updates'"),
        ({"class_weight": {0: np.inf, 1: 1.0}}, "class_weight must be positive"),
        ({"intercept_scaling": 0.0}, "'intercept_scaling'"),
        ({"margin_floor": -1.0}, "'margin_floor'"),
        ({"class_weight": {0: -1.0, 1: 1.0}}, "class_weight must be positive"),
        ({"class_weight": {0: 0.0, 1: 1.0}}, "class_weight must be positive"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        PDMClassifier(**parameters).fit(X2, y2)


@pytest.mark.parametrize("beta", [0.0, -1.0, [0.1, 0.1], [[0.1]], [-0.1], [np.nan], np.inf])
def test_bad_betas_are_refused(beta):
    with pytest.raises(ValueError, match="beta"):
        PFMClassifier(beta=beta).fit(X2, y2)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -1, 1, 1], "Negative"),
        ([0, 0, 0, 0], "zero"),
        ([1, 1, 1], "sample_weight"),
        ([1, np.nan, 1, 1], "NaN"),
        ([1, 0, 0, 1], "all rows of class 1 have weight zero"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        PDMClassifier().fit(X2, y2, sample_weight=weight)


def broken_csr(**changed):
    parts = {"data": np.ones(3), "indices": np.array([0, 1, 0], np.int32), "indptr": np.array([0, 2, 3], np.int32)}
    csr = sp.csr_matrix(tuple(parts.values()), shape=(2, 2))
    for name, value in changed.items():
        setattr(csr, name, np.array(value, np.int32))
    return csr


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"indices": [0, 2, 0]}, "column index 2 in row 0 (both counting from 0) is out of range for 2 columns"),
        ({"indices": [0, 1, -1]}, "column index -1 in row 1 (both counting from 0)"),
        ({"indptr": [0, 3, 2]}, "indptr decreases at row 1 (counting from 0)"),
        ({"indptr": [0, 2, 9]}, "beyond the stored values"),
        ({"indptr": [1, 2, 3]}, "start with 0"),
    ],
)
def test_broken_csr_is_refused(changed, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        as_matrix(broken_csr(**changed))


def test_out_of_range_indices_are_refused_by_fit():
    with pytest.raises(ValueError, match="out of range"):
        PDMClassifier().fit(broken_csr(indices=[0, 7, 0]), [0, 1])


def test_bad_schedules_are_refused():
    from dynmargin import Schedule

    for wrong in (
        {"rounds": (1, 2)},
        {"rounds": (1.5, 2, 2)},
        {"widths": (0.0, 1.0)},
        {"rule_accuracy": 0.0},
        {"inner_passes": 0.0},
        {"first_width": -0.1},
        {"mixing": "yes"},
        {"taking_back": 1},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong)).partition("_")[2] or next(iter(wrong))):
            Schedule(**wrong)


def test_rows_in_any_order_with_duplicates_are_the_same_rows(rng):
    """Long rows take another way to their canonical form than short ones."""
    for n_columns, length in ((1, 40), (7, 100), (300, 20), (300, 200), (70_000, 500)):
        columns = rng.integers(0, n_columns, size=(6, length))
        values = rng.integers(-2, 3, size=(6, length)).astype(float)
        starts = np.arange(7) * length
        stored = sp.csr_matrix((values.ravel(), columns.ravel(), starts), shape=(6, n_columns))
        summed = stored.copy()
        summed.sum_duplicates()
        summed.eliminate_zeros()
        y = np.arange(6) % 2
        one, two = (PDMClassifier(0.1, random_state=0).fit(X, y) for X in (stored, summed))
        assert np.array_equal(one.coef_, two.coef_)
        assert one.certificate_.data_digest == two.certificate_.data_digest


ROWS_GIVEN = {
    "array": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "integers": lambda X: X.astype(int),
    "columns first": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "matrix": sp.csr_matrix,
    "sparse array": lambda X: sp.csr_array(X.astype(np.float32)),
    "by columns": sp.csc_matrix,
    "names": lambda X: pd.DataFrame(X, columns=["a", "b"]),
    "big-endian": lambda X: X.astype(">f8"),
    "not finite": lambda X: np.where(X > 2, np.nan, X),
    "infinite": lambda X: sp.csr_matrix(np.where(X > 2, np.inf, X)),
    "sum overflows": lambda X: np.full_like(X, 1e308),
    "one dimension": lambda X: X[:, 0],
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "another width": lambda X: X[:, :1],
}
LABELS_GIVEN = {
    "integers": lambda y: y,
    "text": lambda y: y.astype(str),
    "objects": lambda y: y.astype(object),
    "truth values": lambda y: y > 0,
    "floats": lambda y: y.astype(float),
    "not finite": lambda y: np.where(y > 0, np.nan, y),
    "list": lambda y: y.tolist(),
    "column": lambda y: y[:, None],
    "too few": lambda y: y[:-1],
    "none": lambda y: None,
}


@pytest.mark.parametrize("labels", LABELS_GIVEN)
@pytest.mark.parametrize("rows", ROWS_GIVEN)
@pytest.mark.parametrize("fitted_on", ["array", "names", None])
def test_rows_and_labels_are_checked_as_scikit_learn_does(rows, labels, fitted_on):
    def outcome(validate):
        """Return what comes out, in which types, and what the estimator remembers; or the error."""
        X, y = np.array([[0.5, 1.0], [2.0, 0.0], [-1.0, 3.0]]), np.array([-1, 1, 1])
        classifier = MaxMarginClassifier()
        if fitted_on is not None:
            validate(classifier, ROWS_GIVEN[fitted_on](X), y, reset=True)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                X, y = validate(classifier, ROWS_GIVEN[rows](X), LABELS_GIVEN[labels](y), reset=fitted_on is None)
        except ValueError as error:
            return str(error)
        dense = X.toarray() if sp.issparse(X) else X
        seen = [type(X), dense.dtype, dense.tolist(), type(y), y.dtype, y.tolist(), [str(w.message) for w in caught]]
        return repr([*seen, classifier.n_features_in_, list(getattr(classifier, "feature_names_in_", []))])

    def by_scikit_learn(*arguments, **options):
        return validate_data(*arguments, accept_sparse="csr", dtype=[np.float64, np.float32], **options)

    assert outcome(validate_rows) == outcome(by_scikit_learn)


def test_labels_of_bytes_are_refused_as_scikit_learn_does():
    with pytest.raises(TypeError, match="bytes is not supported"):
        MaxMarginClassifier().fit(np.eye(4), np.array([b"a", b"b", b"a", b"b"]))
