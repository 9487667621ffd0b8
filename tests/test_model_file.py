"""A model file gives back the very model and its proof, or an error; it is never half-written and never runs code."""

import hashlib
import io
import json
import os
import pickle
import tracemalloc
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
    Check,
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
from dynmargin.model.history import MOST_CHECKS, as_arrays, from_arrays

STORED = Path(__file__).parent / "data"


def as_bytes(text):
    return np.frombuffer(text, np.uint8)


def parse(content, name):
    return LinearModel(**model_file.parse(content, name))


def assert_same_certificates(ours, theirs):
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        for name in ("margin", "upper_bound", "directional_margin", "epsilon", "intercept", "problem"):
            assert np.all(getattr(one, name) == getattr(other, name))
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
            message, _, advice = str(found.value).partition("Pass ")
            assert message == str(expected.value)
            assert advice.startswith("X[model.feature_names], which has the columns") == ("d" not in other)
    assert model.verify(X.assign(d=1.0)[["d", "c", "b", "a"]][model.feature_names], y)


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
        ({"version": 4}, r"newer dynmargin \(format 4; this one reads up to 3\)"),
        ({"version": 0}, "there is no format 0"),
        ({"coef": None}, "is damaged"),
        ({"coef": np.zeros((3, 5), np.float32)}, "coef is not a table of doubles"),
        ({"coef": np.full((3, 5), np.nan)}, "not finite"),
        ({"coef": np.zeros((2, 5))}, "intercept does not fit"),
        ({"classes": np.arange(4.0)}, "classes do not fit"),
        ({"classes": np.zeros(3, complex)}, "it is damaged .*complex128, neither numbers nor text"),
        ({"classes": np.zeros((3, 1))}, "classes are not labels"),
        ({"classes": np.array([1.0, 2.0, 1.0])}, "two classes are the same"),
        ({"classes": np.array([1.0, 2.0, np.nan])}, "a class is not a finite number"),
        ({"margin": np.zeros(1)}, "the number of certificates is not that of the rows of weights"),
        ({"epsilon": np.zeros(2)}, "epsilon is not one double"),
        ({"data_digest": np.zeros(3)}, "data_digest is not one digest"),
        ({"count_rows": np.zeros(3)}, "counts are not int64"),
        ({"count_starts": np.array([0, 9, 5, 7])}, "count_starts are wrong"),
        ({"parameters": "["}, "is damaged"),
        ({"parameters": "[]"}, "not a JSON object"),
        ({"feature_names": np.array(["a"])}, "feature_names do not fit"),
        ({"feature_names": np.array(["a", "b", "c", "d", "a"])}, "two features have the same name"),
        ({"feature_names": np.array("abcde")}, "feature_names do not fit"),
        ({"coef": np.array([[None] * 5] * 3)}, "is not a dynmargin model, or it is damaged"),
        ({"coef": np.zeros(5)}, "coef is not a table"),
        ({"coef": np.float64(1)}, "coef is not a table"),
        ({"format": np.array(["dynmargin model"])}, "is not a dynmargin model"),
        ({"version": np.array([1])}, "version is not a single value"),
        ({"version": np.inf}, "version is not a single value"),
        ({"bias": np.nan}, "bias is not a number"),
        ({"bias": -1e300}, "bias is not a number"),
        ({"bias": np.ones(3)}, "bias is not a single value"),
        ({"first_index": 2**62}, "first_index is neither"),
        ({"first_index": np.inf}, "first_index is not a single value"),
        ({"parameters": "[" * 100_000}, "parameters are not a JSON object"),
        ({"parameters": '{"label": ["a"]}'}, "the label among the parameters"),
        ({"parameters": 7}, "parameters is not a single value"),
        ({"margin": np.float64(0)}, "margin is not one double"),
        ({"margin": np.full(3, np.nan)}, "margin is not a number"),
        ({"upper_bound": np.full(3, np.nan)}, "upper_bound is not a number"),
        ({"epsilon": np.full(3, np.nan)}, "epsilon is not a number"),
        ({"loss": np.array(["log"] * 3)}, "unknown loss"),
        ({"loss": np.array("hinge")}, "unknown loss"),
        ({"rho": np.full(3, -1.0)}, "rho must not be negative"),
        ({"rho": np.full(3, np.nan)}, "rho must not be negative"),
        ({"free_bias": np.ones(3, bool)}, "rho must be 0"),
        ({"C_positive": np.full(3, np.nan)}, "must be between"),
        ({"C_negative": np.full(3, -1.0)}, "must be between"),
        ({"C_negative": np.full(3, np.inf)}, "for both classes or for neither"),
        ({"n_rows": np.uint64(2**63)}, "there cannot be 9223372036854775808 rows"),
        ({"n_rows": -1}, "there cannot be -1 rows"),
        ({"n_rows": np.inf}, "n_rows is not a single value"),
        ({"n_rows": 3}, "the rows of the counts are out of order or out of range"),
        ({"count_starts": np.array([0, -5, -2, 7])}, "count_starts are wrong"),
        ({"count_starts": np.array([-(2**63), 0, 2**63 - 1, 7])}, "count_starts are wrong"),
        ({"count_starts": np.empty(0, np.int64)}, "the counts do not fit each other"),
    ],
)
def test_what_does_not_fit_together_is_refused(arrays, message, stored):
    with pytest.raises(ModelFileError, match=message):
        parse(changed(stored, **arrays), "model.npz")


@pytest.mark.parametrize(("values", "message"), [(-1, "negative"), (2**62, "too many"), (2**50, "too many")])
def test_counts_that_no_run_can_have_are_refused(values, message, stored):
    with np.load(io.BytesIO(stored)) as archive:
        counts = np.full_like(archive["count_values"], values)
    with pytest.raises(ModelFileError, match=message):
        parse(changed(stored, count_values=counts), "model.npz")


def test_unknown_entries_are_ignored(stored):
    assert parse(changed(stored, something=np.ones(3)), "model.npz").verify(*read_libsvm(STORED / "format-1.libsvm"))


@pytest.fixture(scope="module", params=["format-3.npz", "format-3-joint.npz"])
def newest(request):
    return (STORED / request.param).read_bytes()


def remade(content, **arrays):
    """Change entries of a model in format 3, and make its manifest fit."""
    with np.load(io.BytesIO(content)) as archive:
        arrays = {**archive, **arrays}
    file, manifest = io.BytesIO(), {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.save(entry, np.array(json.dumps(manifest)) if name == "manifest" else array)
            archive.writestr(f"{name}.npy", entry.getvalue())
            manifest[name] = hashlib.sha256(entry.getvalue()).hexdigest()
    return as_bytes(file.getvalue())


def with_entry(content, name, entry):
    """Add the bytes of an entry at the end, beside the manifest."""
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.npy", entry)
    return as_bytes(file.getvalue())


def test_the_stored_models_of_format_3_load_and_are_proven(newest):
    X, y = read_libsvm(STORED / "format-1.libsvm")
    model = parse(as_bytes(newest), "model.npz")
    assert model.classes.tolist() == [1, 2, 3]
    assert (model.first_index, model.parameters["class_weights"]) == (1, {"2": 2.0})
    found = model.verify(X, y, classes=[1, 2, 3])
    assert found
    assert "classes 1, 2, 3" in found.problem
    assert "C = 2 for the class, 1 for the rest" in found.problem or "2 for class 2" in found.problem
    assert all(certificate.achieved for certificate in model.certificates)
    assert model.verify(X, np.where(y == 3, 2, y)).verdict == "other data"


def test_a_manifest_covers_every_entry(newest):
    with zipfile.ZipFile(io.BytesIO(newest)) as archive, np.load(io.BytesIO(newest)) as arrays:
        digests = {
            name: hashlib.sha256(archive.read(f"{name}.npy")).hexdigest() for name in arrays if name != "manifest"
        }
        text = arrays["manifest"].item()
        assert (arrays["version"], arrays["needs"].tolist()) == (3, [])
    assert json.loads(text) == digests
    assert model_file.digest(as_bytes(newest), "model") == hashlib.sha256(text.encode()).hexdigest()
    assert model_file.digest(as_bytes((STORED / "format-1.npz").read_bytes()), "model") is None


def test_what_is_not_in_the_manifest_is_refused(newest):
    assert parse(remade(newest), "model")
    with np.load(io.BytesIO(newest)) as archive:
        arrays = dict(archive)
    for changes in ({"epsilon": arrays["epsilon"] * 2}, {"parameters": "{}"}, {"first_index": 0}):
        with pytest.raises(ModelFileError, match=f"{next(iter(changes))} is not what its manifest says"):
            parse(changed(newest, **changes), "model")
        assert parse(remade(newest, **changes), "model")
    for changes in ({"something": np.ones(3)}, {"feature_names": np.array(list("abcde"))}, {"first_index": None}):
        with pytest.raises(ModelFileError, match="entries are not those of its manifest"):
            parse(changed(newest, **changes), "model")
    with pytest.raises(ModelFileError, match="'manifest' is missing"):
        parse(changed(newest, manifest=None), "model")


def test_a_section_that_is_not_known_is_skipped_unless_it_is_needed(newest):
    with np.load(io.BytesIO(newest)) as archive:
        arrays = dict(archive)
    arrays["rotation/angle"] = np.ones(3)
    arrays["manifest"] = arrays.pop("manifest")  # the last
    file = io.BytesIO()
    np.savez(file, **arrays)
    content = remade(file.getvalue())
    X, y = read_libsvm(STORED / "format-1.libsvm")
    assert parse(content, "model").verify(X, y)
    with pytest.raises(ModelFileError, match=r"by a newer dynmargin \(it needs rotation\); upgrade dynmargin"):
        parse(remade(content.tobytes(), needs=np.array(["rotation"])), "model")
    for needs in (np.array("rotation"), np.zeros(1)):
        with pytest.raises(ModelFileError, match="needs is not a list of names"):
            parse(remade(content.tobytes(), needs=needs), "model")


def test_an_entry_that_is_not_known_is_never_unpacked(stored):
    zeros = io.BytesIO()
    np.save(zeros, np.zeros(10_000_000))
    content = with_entry(stored, "bomb", zeros.getvalue())
    del zeros
    tracemalloc.start()
    try:
        parse(content, "model")
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_entry_that_is_there_twice_is_refused(newest):
    for name in ("coef", "manifest", "version"):
        with zipfile.ZipFile(io.BytesIO(newest)) as archive:
            entry = archive.read(f"{name}.npy")
        with pytest.raises(ModelFileError, match="duplicate entry"):
            parse(with_entry(newest, name, entry), "model")


def test_the_same_model_is_the_same_file(newest, tmp_path):
    model = parse(as_bytes(newest), "model.npz")
    for name in ("one.npz", "other.npz"):
        model.save(tmp_path / name)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()
    assert model_file.digest(as_bytes((tmp_path / "one.npz").read_bytes()), "model") == model_file.digest(
        as_bytes(newest), "model"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feature_names": np.array(["a", "b"])}, "there must be one for each feature"),
        ({"feature_names": np.array(["a", "b", "c", "d", "\ud800"])}, "surrogates not allowed"),
        ({"coef": np.full((3, 5), np.nan)}, "the weights are not finite"),
        ({"intercept": np.full(3, np.inf)}, "the weights are not finite"),
        ({"coef": np.zeros((3, 5), np.float32)}, "coef is not a table of doubles"),
        ({"coef": np.zeros((2, 5))}, "intercept does not fit coef"),
        ({"classes": np.array([1.0, 1.0, 2.0])}, "two classes are the same"),
        ({"classes": np.array([1.0, 2.0])}, "classes do not fit coef"),
        ({"bias": np.nan}, "bias is not a number"),
        ({"first_index": 2}, "first_index is neither 0 nor 1"),
        ({"parameters": {"label": 3}}, "the label among the parameters"),
        ({"certificates": 1}, "the number of certificates"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(changes, message, stored, tmp_path):
    model = parse(as_bytes(stored), "model.npz")
    if "certificates" in changes:
        changes = {"certificates": model.certificates[:1]}
    with pytest.raises(ModelFileError, match=f"the model cannot be stored: .*{message}"):
        replace(model, **changes).save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_parameters_of_any_type_are_stored(tmp_path):
    weights = {np.int64(0): np.float32(2.0), np.int64(1): 1}
    X, y = [[0.0, 1.0], [1.0, 0.0]], [0, 1]
    PDMClassifier(class_weight=weights, random_state=np.random.RandomState(0)).fit(X, y).save(tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").parameters["class_weight"] == {"0": 2.0, "1": 1}


def test_formats_1_and_2_become_format_3(tmp_path):
    X, y = read_libsvm(STORED / "format-1.libsvm")
    for name in ("format-1.npz", "format-2.npz"):
        old = load(STORED / name)
        old.save(tmp_path / name)
        with np.load(tmp_path / name) as arrays:
            assert arrays["version"] == 3
        assert_same_certificates(load(tmp_path / name).certificates, old.certificates)
        assert load(tmp_path / name).verify(X, y)


def test_an_old_digest_that_does_not_fit_still_does_not(stored):
    X, y = read_libsvm(STORED / "format-1.libsvm")
    with np.load(io.BytesIO(stored)) as archive:
        digests = archive["witness_digest"] ^ np.uint64(1)
    assert parse(changed(stored, witness_digest=digests), "model.npz").verify(X, y).verdict == "altered"


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
                new.writestr(entry, pickled.getvalue() if entry == f"{name}.npy" else old.read(entry))
            if name == "extra":
                new.writestr("extra.npy", pickled.getvalue())
        if name == "extra":
            assert parse(as_bytes(file.getvalue()), "model.npz")  # which has not even looked at it
            continue
        with pytest.raises(ModelFileError):
            parse(as_bytes(file.getvalue()), "model.npz")
    with pytest.raises(ModelFileError):
        parse(as_bytes(pickle.dumps(Bomb())), "model.pkl")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["format-1.npz", "format-2.npz", "format-3.npz", "format-3-joint.npz"])
def test_a_damaged_file_is_refused_or_harmless(name):
    """One byte changed, or the end cut off, anywhere: an error, or the very same model."""
    stored = (STORED / name).read_bytes()
    original, random = parse(as_bytes(stored), "model.npz"), np.random.default_rng(0)
    refused = 0
    for _ in range(700):
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
    assert refused > 450


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
    X = sp.random(200, 5, density=0.5, random_state=rng, format="csr")
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


def test_the_history_is_kept_without_its_seconds(breast_cancer, tmp_path):
    """The same training, however long it takes, is the same file."""
    X, y = breast_cancer
    for name in ("one.npz", "other.npz"):
        classifier = PDMClassifier(random_state=0).fit(X, y)
        classifier.save(tmp_path / name)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()
    model = load(tmp_path / "one.npz")
    assert [check[1:] for check in model.history] == [check[1:] for check in classifier.history_]
    assert all(np.isnan(check.time) for check in model.history)


def test_of_a_long_history_some_checks_are_kept():
    history = [Check(0.1 * i, i, 2 * i, 1 - 1 / (i + 1), 1.0, problem) for problem in (0, 1) for i in range(1000)]
    kept = from_arrays(as_arrays(history), 2)
    assert len(kept) <= 2 * MOST_CHECKS
    for problem in (0, 1):
        of_problem = [check[1:] for check in kept if check.problem == problem]
        whole = [check[1:] for check in history if check.problem == problem]
        assert (of_problem[0], of_problem[-1]) == (whole[0], whole[-1])
        assert set(of_problem) <= set(whole)
    assert from_arrays(as_arrays(kept), 2)[-1][1:] == kept[-1][1:]


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("problem", np.array([0, 1])),
        ("problem", np.array([-1, 0])),
        ("passes", np.array([1.0, 2.0])),
        ("margin", np.array([1, 2])),
        ("margin", np.array([1.0])),
        ("upper_bound", np.array([[1.0, 2.0]])),
    ],
)
def test_a_history_that_does_not_fit_is_refused(name, entry):
    arrays = as_arrays([Check(0.0, 1, 1, 0.5, 1.0, 0), Check(0.0, 2, 2, 0.6, 1.0, 0)])
    with pytest.raises(ValueError, match="the history is"):
        from_arrays({**arrays, f"history/{name}": entry}, 1)
