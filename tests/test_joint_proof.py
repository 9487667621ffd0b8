"""The one certificate of all classes: forgeries, other data and files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from forgery import reforged

import dynmargin
from dynmargin import JointCertificate, SparseCounts, load, read_libsvm


def test_forgeries_are_found_out(jointly_trained):
    X, y, classifier = jointly_trained
    certificate = classifier.certificate_
    counts = certificate.counts
    for changes in ({"margin": certificate.margin * (1 + 1e-6)}, {"upper_bound": certificate.upper_bound * (1 - 1e-6)}):
        assert replace(certificate, **changes).verify(X, y).verdict == "not proven"
    more = SparseCounts(counts.indices, counts.data + 1, counts.shape)
    costs = replace(certificate.problem, costs=(2.0,) * 10)
    for changes in (
        {"counts": more},
        {"weights": certificate.weights * 1.001},
        {"intercept": certificate.intercept + 1e-9},
        {"problem": costs},
    ):
        assert replace(certificate, **changes).verify(X, y).verdict == "altered"
    lower = certificate.margin / 2
    own = SparseCounts(counts.indices // 10 * 10 + y[counts.indices // 10], counts.data, counts.shape)
    negative = SparseCounts(counts.indices, counts.data * np.where(np.arange(counts.nnz) == 0, -1, 1), counts.shape)
    split = SparseCounts(np.repeat(counts.indices, 10), np.repeat(counts.data, 10), counts.shape)
    for forged in (own, negative, split, SparseCounts(counts.indices + 10 * len(X), counts.data, counts.shape)):
        assert reforged(certificate, counts=forged, upper_bound=lower).verify(X, y).verdict == "not proven"
    for problem in (costs, replace(certificate.problem, rho=0.0), replace(certificate.problem, costs=(-1.0,) * 10)):
        assert reforged(certificate, problem=problem).verify(X, y).verdict == "not proven"
    hidden = certificate.weights.copy()
    hidden[3, 5] = np.nan
    assert reforged(certificate, weights=hidden).verify(X, y).verdict == "not proven"


def test_other_data_is_recognised(jointly_trained):
    X, y, classifier = jointly_trained
    certificate = classifier.certificate_
    changed = X.copy()
    changed[3, 4] += 1e-12
    swapped = np.where(y == 3, 4, np.where(y == 4, 3, y))
    for other in ((changed, y), (X, swapped), (X, y + 1), (X[:-1], y[:-1]), (X[:, :-1], y)):
        assert certificate.verify(*other).verdict == "other data"
    assert "another order" in certificate.verify(X[::-1], y[::-1]).detail
    assert certificate.verify(sp.csr_array(X), y.tolist())


def test_a_file_keeps_the_proof(jointly_trained, tmp_path):
    X, y, classifier = jointly_trained
    classifier.save(tmp_path / "model.npz")
    model = load(tmp_path / "model.npz")
    assert isinstance(model.certificate, JointCertificate)
    assert np.array_equal(model.predict(X), classifier.predict(X))
    assert model.verify(X, y).verdict == "proven"
    assert model.certificate.counts.shape == classifier.certificate_.counts.shape
    assert str(model.certificate) == str(classifier.certificate_)
    assert replace(model, coef=model.coef * 1.001).verify(X, y).verdict == "altered"
    assert replace(model, classes=model.classes[::-1]).verify(X, y).verdict == "altered"
    with np.load(tmp_path / "model.npz") as arrays:
        entries = dict(arrays)
    assert (entries["version"], entries["joint"]) == (3, True)
    for broken in (
        {"class_costs": np.ones(3)},
        {"margin": np.ones(2)},
        {"version": 1},
        {"free_bias": np.ones(1, bool)},
    ):
        entries["version"] = 2  # has no manifest that would notice
        np.savez(tmp_path / "broken.npz", **(entries | broken))
        with pytest.raises(dynmargin.ModelFileError, match="damaged"):
            load(tmp_path / "broken.npz")


def test_a_stored_model_of_format_2_is_still_proven():
    folder = Path(__file__).parent / "data"
    X, y = read_libsvm(folder / "format-1.libsvm")
    model = load(folder / "format-2.npz")
    assert isinstance(model.certificate, JointCertificate)
    assert model.verify(X, y).verdict == "proven"
    assert model.certificate.achieved
