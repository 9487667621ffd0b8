"""A scaling is part of the model: what is trained, predicted and verified are the same scaled rows."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from dynmargin import ModelFileError, NewtonClassifier, load
from dynmargin.cli.main import main
from dynmargin.data.dataset import Csr
from dynmargin.data.npz import write_arrays
from dynmargin.model import liblinear_file
from dynmargin.model.scaling import KINDS, fit_scaling, scaling_of, without_repetitions
from dynmargin.shards.sums import tree_sum

numbers = st.floats(-1e6, 1e6).map(lambda x: round(x, 3)) | st.just(0.0)
tables = arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=numbers)


@given(tables)
def test_scaled_rows_are_those_of_scikit_learn(X):
    for ours, theirs in (
        (fit_scaling("standard", X), StandardScaler()),
        (fit_scaling("maxabs", X), MaxAbsScaler()),
        (fit_scaling("standard", X, centre=False), StandardScaler(with_mean=False)),
    ):
        varies = np.ptp(X, axis=0) > 1e-6 * (1 + np.abs(X).max(axis=0))  # scikit-learn has a tolerance of its own
        expected = theirs.fit_transform(X)[:, varies]
        np.testing.assert_allclose(ours.of(X)[:, varies], expected, rtol=1e-9, atol=1e-9)
        assert ours.is_that_of(X)


@given(tables, st.sampled_from(KINDS))
def test_sparse_and_dense_rows_are_scaled_alike(X, kind):
    matrix = sp.csr_matrix(X)
    sparse, dense = fit_scaling(kind, matrix), fit_scaling(kind, X, centre=False)
    assert not sparse.shift.any()
    np.testing.assert_allclose(sparse.divisor, dense.divisor, rtol=1e-12)
    scaled = sparse.of(matrix)
    assert isinstance(scaled, Csr)
    assert np.array_equal(scaled.to_scipy().toarray(), sparse.of(X))
    centred = fit_scaling(kind, X)
    if centred.shift.any():
        assert np.array_equal(centred.of(matrix), centred.of(X))  # the zeros move too


@given(tables, st.sampled_from(KINDS), st.data())
def test_a_scaling_is_the_same_bit_for_bit_however_rows_are_spread(X, kind, data):
    order = np.array(data.draw(st.permutations(range(len(X)))))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(X)), max_size=3)))
    parts = np.split(X[order], cuts)  # some are empty
    parts = [without_repetitions(sp.csr_matrix(part)) if data.draw(st.booleans()) else part for part in parts]

    def total(function, *arguments):
        return tree_sum([function(part, *arguments) for part in parts])

    for centre in (False, True):
        expected = fit_scaling(kind, X, centre=centre)
        found = scaling_of(kind, total, len(X), centre=centre)
        assert np.array_equal(found.shift, expected.shift)
        assert np.array_equal(found.divisor, expected.divisor)


@given(st.integers(2, 1000), st.integers(-300, 300), st.integers(0, 2**31))
def test_the_sums_of_a_scaling_are_as_exact_as_doubles_can_be(n_rows, exponent, seed):
    """Even where a single row is far from all others, which is as much as shares of the width can lose."""
    column = np.random.default_rng(seed).normal(size=n_rows)
    column[0] = 1e9
    found = fit_scaling("standard", np.ldexp(column, exponent)[:, None])
    exact = [Fraction(value) for value in column.tolist()]
    mean = sum(exact) / n_rows
    deviation = math.sqrt(sum((value - mean) ** 2 for value in exact) / n_rows)
    assert np.ldexp(found.shift[0], -exponent) == pytest.approx(float(mean), rel=1e-9, abs=1e-6)
    assert np.ldexp(found.divisor[0], -exponent) == pytest.approx(deviation, rel=1e-11)


def test_a_constant_feature_is_only_moved():
    scaling = fit_scaling("standard", np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]]))
    assert (scaling.shift[0], scaling.divisor[0]) == (0.1, 1.0)
    assert not scaling.of(np.array([[0.1, 1.0]]))[0, 0]


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_neither_huge_nor_tiny_features_leave_the_doubles(size):
    X = np.array([[0.0], [1.0], [3.0]])
    np.testing.assert_allclose(fit_scaling("standard", X * size).of(X * size), fit_scaling("standard", X).of(X))
    with pytest.raises(ValueError, match=r"feature 1 \(counting from 1\) has values too far apart"):
        fit_scaling("standard", np.array([[-1.7e308], [1.7e308]]))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Features of very different sizes, dense and sparse, and a model of each."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    X = (random.normal(size=(200, 5)) + y[:, None] + 3) * 10.0 ** np.arange(-2, 3) * (random.random((200, 5)) < 0.7)
    np.savez("dense.npz", X=X, y=y)
    matrix = sp.csr_matrix(X)
    arrays = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
    np.savez("sparse.npz", **arrays, y=y)
    for name in ("dense", "sparse"):
        assert main(["train", "-q", f"{name}.npz", f"{name}-model.npz", "--scale", "standard"]) == 0
    return tmp_path


def test_the_model_is_that_of_a_pipeline(folder):
    with np.load("dense.npz") as data:
        X, y = data["X"], data["y"]
    model = load("dense-model.npz")
    scaler = StandardScaler().fit(X)
    pipeline = NewtonClassifier().fit(scaler.transform(X), y)
    np.testing.assert_allclose(model.coef, pipeline.coef_, rtol=0.05, atol=0.01)
    assert np.array_equal(model.predict(X[:50]), pipeline.predict(scaler.transform(X[:50])))
    raw = model.unscaled()
    np.testing.assert_allclose(raw.decision_function(X), model.decision_function(X), rtol=1e-9, atol=1e-9)
    text = liblinear_file.format_model(model)
    assert liblinear_file.format_model(raw) == text
    assert raw.unscaled() is raw
    assert raw.certificates == ()


def test_predict_and_verify_scale(folder, capfd):
    assert main(["predict", "dense.npz", "dense-model.npz"]) == 0
    assert main(["verify", "dense-model.npz", "dense.npz", "--scale", "standard"]) == 0
    assert "; rows scaled: standard, each feature minus its mean, divided" in capfd.readouterr().out
    assert main(["verify", "sparse-model.npz", "dense.npz"]) == 0  # the same rows, and centring is no part of it
    assert "; rows scaled: standard, each feature divided by its" in capfd.readouterr().out
    assert main(["verify", "dense-model.npz", "sparse.npz"]) == 0
    assert main(["verify", "dense-model.npz", "dense.npz", "--scale", "none"]) == 2
    assert main(["info", "dense-model.npz"]) == 0
    assert "scaling       standard, each feature minus its mean" in capfd.readouterr().out


def test_the_shell_says_that_it_is_about_scaled_rows(folder, capfd):
    assert main(["train", "sparse.npz", "m.npz", "--scale", "standard"]) == 0
    out, err = capfd.readouterr()
    assert "this is about scaled rows: standard, each feature divided by its standard deviation\n" in out
    assert "sparse: --scale standard divides by the standard deviations and does not centre" in err
    assert main(["train", "-q", "-v", "3", "dense.npz", "--scale", "maxabs"]) == 0
    main(["train", "dense.npz", "m.npz", "--scale", "maxabs", "--max-time", "1e-9", "--algorithm", "pdm"])
    assert "scale the features" not in capfd.readouterr().err


def test_a_certificate_alone_does_not_take_raw_rows_for_its_own(folder):
    with np.load("dense.npz") as data:
        X, y = data["X"], data["y"]
    model = load("dense-model.npz")
    assert model.verify(X, y)
    assert model.certificate.verify(X, y).verdict == "other data"
    assert model.certificate.verify(model.scaling.of(X), y)
    assert replace(model, scaling=None).verify(X, y).verdict == "other data"
    other = replace(model.scaling, divisor=model.scaling.divisor * 1.01)
    assert replace(model, scaling=other).verify(X, y).verdict == "other data"
    assert model.verify(X[:, :3], y).verdict == "other data"


def test_a_scaling_that_is_not_the_datas_own_is_other_data(folder):
    """A proof about rows that were scaled by other numbers is a proof about other rows."""
    with np.load("dense.npz") as data:
        X, y = data["X"], data["y"]
    model = load("dense-model.npz")
    odd = replace(model.scaling, divisor=model.scaling.divisor * [1, 1, 1, 1, 1e6])
    fitted = NewtonClassifier().fit(odd.of(X), y)
    forged = replace(
        model, coef=fitted.coef_, intercept=fitted.intercept_, certificates=(fitted.certificate_,), scaling=odd
    )
    assert forged.certificate.verify(odd.of(X), y)
    assert forged.verify(X, y).verdict == "other data"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "other"}, "there is no scaling"),
        ({"divisor": np.array([1.0, 1.0, 1.0, 1.0, 0.0])}, "not finite, or does not divide"),
        ({"shift": np.array([1.0, 1.0, 1.0, 1.0, np.nan])}, "not finite, or does not divide"),
        ({"shift": np.zeros(4)}, "one shift and one divisor for each feature"),
    ],
)
def test_a_scaling_that_makes_no_sense_is_not_written(folder, changes, message):
    model = load("dense-model.npz")
    with pytest.raises(ModelFileError, match=message):
        replace(model, scaling=replace(model.scaling, **changes)).save("never.npz")


def test_a_file_that_needs_a_scaling_has_one(folder):
    with np.load("dense-model.npz") as archive:
        entries = {name: array for name, array in archive.items() if not name.startswith("scaling/")}
    with open("without.npz", "wb") as file:
        write_arrays(file, entries)
    with pytest.raises(ModelFileError, match="the scaling that it needs is missing"):
        load("without.npz")
