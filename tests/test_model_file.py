"""A model file gives back the very model and its proof, or an error; it is never half-written and never runs code."""

import io
import os
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVC

from dynmargin import (
    DecompositionSVMClassifier,
    LinearModel,
    ModelFileError,
    NewtonClassifier,
    PDMClassifier,
    load,
    read_libsvm,
)
from dynmargin.data import dataset
from dynmargin.data.dataset import Csr
from dynmargin.model import liblinear_file, model_file

STORED = Path(__file__).parent / "data"


def as_bytes(text):
    return np.frombuffer(text, np.uint8)


def parse(content, name):
    return LinearModel(**model_file.parse(content, name))


def assert_same_certificates(ours, theirs):
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        for name in ("margin", "upper_bound", "directional_margin", "epsilon", "intercept", "problem"):
            assert getattr(one, name) == getattr(other, name)
        for name in ("data_digest", "rows_digest", "witness_digest"):
            assert getattr(one, name) == getattr(other, name)
        assert np.array_equal(one.weights, other.weights)
        assert np.array_equal(one.counts.toarray(), other.counts.toarray())


@pytest.mark.parametrize("n_classes", [2, 10])
def test_a_model_is_the_same_after_saving_and_loading(n_classes, digits, tmp_path):
    X, y = digits
    y = y % n_classes
    classifier = PDMClassifier(random_state=0).fit(X, y)
    classifier.save(tmp_path / "model.npz")
    model = load(tmp_path / "model.npz")
    assert np.array_equal(model.classes, classifier.classes_)
    for rows in (X, sp.csr_matrix(X), sp.csr_array(X), X.astype(np.float32)):
        assert np.array_equal(model.predict(rows), classifier.predict(rows))
        assert np.array_equal(model.decision_function(rows), classifier.decision_function(rows))
    assert_same_certificates(model.certificates, classifier.certificates_)
    assert model.certificate.gap == classifier.certificate_.gap
    assert model.verify(X, y)
    assert model.verify(X[::-1], y[::-1]).verdict == "other data"
    assert "another order" in model.verify(X[::-1], y[::-1]).detail
    assert model.parameters["estimator"] == "PDMClassifier"


def test_names_of_features_and_text_labels_are_kept(tmp_path):
    X = pd.DataFrame({"länge": [0.0, 1.0, 2.0], "width": [1.0, 0.0, -1.0]})
    y = pd.Series(["left", "right", "right"], dtype=object)
    NewtonClassifier().fit(X, y).save(tmp_path / "model.npz")
    model = load(tmp_path / "model.npz")
    assert model.feature_names.tolist() == ["länge", "width"]
    assert model.predict(X).tolist() == y.tolist()
    assert model.verify(X, y)


def test_what_is_not_fitted_or_cannot_be_stored_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        PDMClassifier().save(tmp_path / "model.npz")
    model = LinearModel(np.array([1, "a"], dtype=object), np.zeros((1, 2)), np.zeros(1), 1.0)
    with pytest.raises(ValueError, match="labels of type object cannot be stored"):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_a_loaded_model_minds_the_names_of_columns(tmp_path, rng):
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] > 0, "yes", "no")
    classifier = PDMClassifier(epsilon=0.1).fit(X, y)
    classifier.save(tmp_path / "model.npz")
    model = load(tmp_path / "model.npz")
    assert np.array_equal(model.predict(X), classifier.predict(X))
    assert np.array_equal(model.predict(X.to_numpy()), classifier.predict(X))
    assert model.verify(X, y)
    for other in (X[["b", "a", "c"]], X.rename(columns={"c": "d"})):
        with pytest.raises(ValueError, match="feature names should match") as expected:
            classifier.predict(other)
        for call in (model.predict, model.decision_function, lambda other: model.verify(other, y)):
            with pytest.raises(ValueError, match="feature names should match") as found:
                call(other)
            assert str(found.value) == str(expected.value)


@pytest.mark.parametrize(
    ("value", "message"), [(np.nan, "Input X contains NaN"), (np.inf, "Input X contains infinity")]
)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_loaded_model_gives_no_label_to_what_is_not_finite(value, message, kind):
    model = LinearModel(np.array([0, 1]), np.ones((1, 2)), np.zeros(1), 1.0)
    with pytest.raises(ValueError, match=message):
        model.predict(kind([[1.0, 2.0], [value, 1.0]]))
    assert model.predict(kind([[1.0, 2.0]])).tolist() == [1]


def test_the_stored_model_of_format_1_still_loads_and_is_proven():
    X, y = read_libsvm(STORED / "format-1.libsvm")
    model = load(STORED / "format-1.npz")
    assert model.classes.tolist() == [1, 2, 3]
    assert model.first_index == 1
    assert model.parameters["class_weights"] == {"2": 2.0}
    assert model.verify(X, y)
    assert len(model.certificates) == 3
    assert all(certificate.achieved for certificate in model.certificates)
    assert (model.predict(X) == y).sum() == 47


@pytest.fixture(scope="module")
def stored():
    return (STORED / "format-1.npz").read_bytes()


def changed(stored, **arrays):
    with np.load(io.BytesIO(stored)) as archive:
        arrays = {**archive, **arrays}
    file = io.BytesIO()
    np.savez(file, **{name: array for name, array in arrays.items() if array is not None})
    return as_bytes(file.getvalue())


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"format": "other"}, "is not a dynmargin model"),
        ({"version": 3}, r"newer dynmargin \(format 3; this one reads up to 2\)"),
        ({"coef": None}, "is damaged"),
        ({"coef": np.zeros((3, 5), np.float32)}, "coef is not a table of doubles"),
        ({"coef": np.full((3, 5), np.nan)}, "not finite"),
        ({"coef": np.zeros((2, 5))}, "intercept does not fit"),
        ({"classes": np.arange(4.0)}, "classes do not fit"),
        ({"classes": np.zeros(3, complex)}, "classes are not labels"),
        ({"margin": np.zeros(1)}, "the number of certificates is not that of the rows of weights"),
        ({"epsilon": np.zeros(2)}, "epsilon is not one double"),
        ({"data_digest": np.zeros(3)}, "data_digest is not one digest"),
        ({"count_rows": np.zeros(3)}, "counts are not int64"),
        ({"count_starts": np.array([0, 9, 5, 7])}, "count_starts are wrong"),
        ({"parameters": "["}, "is damaged"),
        ({"parameters": "[]"}, "not a JSON object"),
        ({"feature_names": np.array(["a"])}, "feature_names do not fit"),
        ({"coef": np.array([[None] * 5] * 3)}, "is not a dynmargin model, or it is damaged"),
    ],
)
def test_what_does_not_fit_together_is_refused(arrays, message, stored):
    with pytest.raises(ModelFileError, match=message):
        parse(changed(stored, **arrays), "model.npz")


def test_unknown_entries_are_ignored(stored):
    assert parse(changed(stored, something=np.ones(3)), "model.npz").verify(*read_libsvm(STORED / "format-1.libsvm"))


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


def test_no_file_runs_code(stored, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pickled = io.BytesIO()
    np.save(pickled, np.array([Bomb()], dtype=object), allow_pickle=True)
    for name in ("format", "coef", "parameters", "extra"):
        file = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(stored)) as old, zipfile.ZipFile(file, "w") as new:
            for entry in old.namelist():
                new.writestr(entry, old.read(entry))
            new.writestr(f"{name}.npy", pickled.getvalue())
        with pytest.raises(ModelFileError):
            parse(as_bytes(file.getvalue()), "model.npz")
    with pytest.raises(ModelFileError):
        parse(as_bytes(pickle.dumps(Bomb())), "model.pkl")
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_is_refused_or_harmless(stored):
    """One byte changed, or the end cut off, anywhere: an error, or the very same model."""
    original, random = parse(as_bytes(stored), "model.npz"), np.random.default_rng(0)
    refused = 0
    for _ in range(1500):
        broken = bytearray(stored)
        if random.random() < 0.2:
            del broken[random.integers(len(broken)) :]
        else:
            broken[random.integers(len(broken))] ^= 1 << random.integers(8)
        try:
            model = parse(as_bytes(bytes(broken)), "model.npz")
        except ModelFileError:
            refused += 1
        else:
            assert np.array_equal(model.coef, original.coef)
            assert np.array_equal(model.classes, original.classes)
            assert_same_certificates(model.certificates, original.certificates)
    assert refused > 1000


@pytest.mark.parametrize("name", ["margin", "upper_bound"])
def test_a_forged_certificate_is_not_proven(name, stored):
    X, y = read_libsvm(STORED / "format-1.libsvm")
    with np.load(io.BytesIO(stored)) as archive:
        forged = archive[name] * (1.0001 if name == "margin" else 0.9999)
    assert parse(changed(stored, **{name: forged}), "model.npz").verify(X, y).verdict == "not proven"


def test_weights_other_than_those_of_the_certificate_are_noticed(stored):
    X, y = read_libsvm(STORED / "format-1.libsvm")
    with np.load(io.BytesIO(stored)) as archive:
        assert parse(changed(stored, coef=archive["coef"] * 1.01), "model.npz").verify(X, y).verdict == "altered"
    model = parse(as_bytes(stored), "model.npz")
    assert replace(model, coef=model.coef[::-1]).verify(X, y).verdict == "altered"
    assert replace(model, classes=model.classes[::-1]).verify(X, y).verdict == "altered"
    assert replace(model, certificates=()).verify(X, y).verdict == "not proven"


def test_a_crash_while_writing_leaves_the_old_file(tmp_path, monkeypatch, stored):
    path = tmp_path / "model.npz"
    path.write_bytes(stored)
    model = load(path)

    def crash(*_, **__):
        raise KeyboardInterrupt

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, crash)
            with pytest.raises(KeyboardInterrupt):
                model.save(path)
        assert path.read_bytes() == stored
        assert list(tmp_path.iterdir()) == [path]
    model.save(path)
    assert_same_certificates(load(path).certificates, model.certificates)


def test_a_link_is_followed_and_files_have_the_usual_permissions(tmp_path, stored):
    (tmp_path / "real.npz").write_bytes(b"old")
    try:
        (tmp_path / "link.npz").symlink_to(tmp_path / "real.npz")
    except OSError:
        pytest.skip("no links here")
    parse(as_bytes(stored), "model.npz").save(tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink()
    assert load(tmp_path / "real.npz").classes.tolist() == [1, 2, 3]
    (tmp_path / "usual").write_bytes(b"")
    assert (tmp_path / "real.npz").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"nowhere\.npz: no such file"):
        load(tmp_path / "nowhere.npz")


def test_a_model_refuses_rows_of_another_width(stored):
    model = parse(as_bytes(stored), "model.npz")
    with pytest.raises(ValueError, match="the model has 5 features"):
        model.predict(np.zeros((2, 4)))


def test_long_sparse_data_are_scored_in_blocks(monkeypatch, stored, rng):
    model = parse(as_bytes(stored), "model.npz")
    X = sp.random_array((200, 5), density=0.5, rng=rng, format="csr")
    expected = X @ model.coef.T + model.intercept
    rows = Csr(X.data, X.indices, X.indptr, X.shape)
    for entries in (1, 7, 100):
        monkeypatch.setattr(dataset, "ENTRIES_PER_BLOCK", entries)
        assert np.array_equal(model.decision_function(rows), expected)


@pytest.mark.parametrize("n_classes", [2, 10])
def test_to_sklearn_gives_a_fitted_linear_svc(n_classes, digits):
    X, y = digits
    y = y % n_classes
    classifier = PDMClassifier(random_state=0, C=0.3).fit(X, y)
    twin = classifier.to_sklearn()
    assert type(twin) is LinearSVC
    assert twin.C == 0.3
    assert np.array_equal(twin.predict(X), classifier.predict(X))
    assert np.array_equal(twin.decision_function(X), classifier.decision_function(X))


@pytest.mark.parametrize(
    "classifier",
    [DecompositionSVMClassifier(), PDMClassifier(), PDMClassifier(fit_intercept=False)],
    ids=str,
)
def test_to_sklearn_says_whether_there_is_an_intercept(classifier, breast_cancer):
    X, y = breast_cancer
    fitted = classifier.fit(X + 0.5, y)
    twin = fitted.to_sklearn()
    assert twin.fit_intercept == (fitted.intercept_[0] != 0)
    assert np.array_equal(twin.intercept_, fitted.intercept_)
    assert np.array_equal(twin.predict(X), fitted.predict(X))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_classes", [2, 10])
def test_to_sklearn_converts_to_onnx(n_classes, digits):
    skl2onnx = pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = digits
    X, y = X.astype(np.float32), y % n_classes
    classifier = PDMClassifier(random_state=0).fit(X, y)
    onnx = skl2onnx.to_onnx(classifier.to_sklearn(), X[:1])
    session = onnxruntime.InferenceSession(onnx.SerializeToString(), providers=["CPUExecutionProvider"])
    labels = session.run(None, {session.get_inputs()[0].name: X})[0]
    scores = classifier.decision_function(X)
    clear = abs(scores) > 1e-4 if n_classes == 2 else np.diff(np.sort(scores, axis=1)[:, -2:]).ravel() > 1e-4
    assert np.array_equal(labels[clear], classifier.predict(X)[clear])  # its scores are single precision
    assert clear.mean() > 0.99


@pytest.mark.parametrize("bias", [1.0, 0.0, 2.5])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_model_survives_liblinears_text(bias, n_classes, rng):
    coef = rng.normal(size=(1 if n_classes == 2 else n_classes, 6))
    intercept = rng.normal(size=len(coef)) if bias else np.zeros(len(coef))
    model = LinearModel(np.arange(n_classes) * 3.0 - 2, coef, intercept, bias)
    back = liblinear_file.parse(as_bytes(liblinear_file.format_model(model).encode()), "text")
    assert np.array_equal(back.coef, coef)
    np.testing.assert_allclose(back.intercept, intercept, rtol=1e-15)
    assert back.bias == bias
    assert back.certificates == ()
    X = rng.normal(size=(100, 6))
    assert np.array_equal(back.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("L2R_L2LOSS_SVC_DUAL", "L2R_L2LOSS_SVR", "is not a classifier"),
        ("nr_feature 2", "nr_feature 3", "4 x 1 weights are needed, there are 3"),
        ("label 1 -1", "label 1 x", "is not a complete model"),
        ("label 1 -1", "label 1", "is not a complete model"),
        ("0.5", "nan", "a weight is not finite"),
        ("bias 1\n", "", "is not a complete model"),
    ],
)
def test_a_broken_text_of_liblinear_is_refused(old, new, message):
    text = "solver_type L2R_L2LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n0.5 \n-2 \n1 \n"
    assert liblinear_file.parse(as_bytes(text.encode()), "text").predict([[1.0, 0.0], [0.0, 9.0]]).tolist() == [1, -1]
    with pytest.raises(ModelFileError, match=message):
        liblinear_file.parse(as_bytes(text.replace(old, new).encode()), "text")


def test_labels_that_liblinear_cannot_hold_are_refused():
    for labels in (np.array(["a", "b"]), np.array([0.5, 1.0])):
        with pytest.raises(ValueError, match="whole numbers"):
            liblinear_file.format_model(LinearModel(labels, np.zeros((1, 2)), np.zeros(1), 1.0))


def test_liblinear_reads_our_model_and_we_read_its(tmp_path, rng):
    liblinearutil = pytest.importorskip("liblinear.liblinearutil")
    X = rng.normal(size=(200, 5))
    for y in (np.where(X[:, 0] > 0, 1, -1), rng.integers(1, 5, 200)):
        classifier = NewtonClassifier(intercept_scaling=2.0).fit(X, y)
        model = LinearModel(classifier.classes_, classifier.coef_, classifier.intercept_, 2.0)
        (tmp_path / "ours").write_text(liblinear_file.format_model(model))
        theirs = liblinearutil.load_model(str(tmp_path / "ours"))
        labels, _, _ = liblinearutil.predict(y, sp.csr_matrix(X), theirs, "-q")
        assert np.array_equal(labels, classifier.predict(X))
        trained = liblinearutil.train(y, sp.csr_matrix(X), "-q -B 0.5")
        liblinearutil.save_model(str(tmp_path / "theirs"), trained)
        read = liblinear_file.parse(np.fromfile(tmp_path / "theirs", np.uint8), "theirs")
        labels, _, _ = liblinearutil.predict(y, sp.csr_matrix(X), trained, "-q")
        assert np.array_equal(labels, read.predict(X))
