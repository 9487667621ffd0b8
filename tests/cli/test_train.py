"""`dynmargin train`: what it prints and writes, its options, what interrupts it."""

import lzma
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from interrupts import ctrl_c_at
from sklearn.svm import LinearSVC

from dynmargin import load, read_libsvm
from dynmargin.algorithms.registry import NAMES


def test_train_prints_the_certificate_and_says_where_the_model_is(run):
    code, out, err = run("train", "train", "new.npz", "--algorithm", "pdm", "--epsilon", "0.05", "--seed", "3")
    assert code == 0
    assert re.search(r"^pdm: as asked; \d+ passes, \d+ updates, \d+\.\d\d s\n", out)
    proven = r"margin \S+, no classifier above \S+; gap 0\.0\d+ \(achieves --epsilon 0\.05\)"
    assert re.search(proven + r"(; \S+ % of the training rows are provably predicted as by the exact optimum)?\n", out)
    assert out.endswith("model written to new.npz\n")
    assert "train: 1200 rows, 64 features, read in" in err
    assert re.search(
        r"^gap [\d.]+ %, margin \S+, at most \S+, \d+\.\d s, \d+ pass(es)?, \d+ updates$", err, re.MULTILINE
    )
    assert "\r" not in err
    assert load("new.npz").parameters["seed"] == 3


@pytest.mark.parametrize("algorithm", NAMES)
def test_what_every_algorithm_has_reached_is_proven(algorithm, run, folder):
    code, out, err = run("train", "-q", "train", "algorithm.npz", "--algorithm", algorithm)
    assert (code, out, err) == (0 if load(folder / "algorithm.npz").certificate.achieved else 1, "", "")
    assert code == 0 or algorithm in ("perceptron", "margin-perceptron", "romma-plain", "alma", "cramma", "micra")
    code, out, _ = run("verify", "algorithm.npz", "train")
    assert code == 0
    assert out.startswith(
        f"proven: the {'hinge objective is at most' if 'hinge' in algorithm else 'margin is at least'}"
    )


def test_the_model_is_named_after_the_data(run, folder):
    (folder / "packed.xz").write_bytes(lzma.compress((folder / "train").read_bytes()))
    code, out, _ = run("train", "packed.xz")
    assert code == 0
    assert out.endswith("model written to packed.model.npz\n")
    assert run("verify", "packed.model.npz", "train")[0] == 0
    assert run("train", "-", stdin=b"1 1:1\n")[::2] == (
        *(3, "dynmargin train: name the MODEL when the data come from standard input\n"),
    )


def test_options_may_stand_between_the_files(run, folder):
    assert run("train", "train", "-q", "-c", "1", "between.npz") == (0, "", "")
    assert run("predict", "-q", "test", "between.npz", "--scores", "between.out") == (0, "", "")
    assert (folder / "between.out").exists()
    code, _, err = run("train", "train", "a.npz", "-q", "b.npz")
    assert (code, err) == (3, "dynmargin train: unrecognized arguments: b.npz; see dynmargin train --help\n")


def test_many_classes(run, folder):
    code, out, _ = run("train", "ten", "ten.npz", "--epsilon", "0.1")
    assert code == 0
    assert re.search(
        r"^10 classes, each against the rest; the one with the largest gap:\nclass \d against", out, re.MULTILINE
    )
    assert run("verify", "ten.npz", "ten")[0] == 0
    code, out, _ = run("predict", "ten", "ten.npz", "-", "--scores")
    first, *lines = out.splitlines()
    assert first == "label 0 1 2 3 4 5 6 7 8 9"
    scores = np.array([line.split() for line in lines], dtype=float)
    assert np.array_equal(scores[:, 1:].argmax(axis=1), scores[:, 0])
    code, out, _ = run("info", "ten.npz")
    assert code == 0
    assert re.findall(r"^certificate\n  class (\d) against the rest: margin", out, re.MULTILINE) == list("0123456789")


def test_liblinears_options_have_liblinears_meaning(run, folder):
    X, y = read_libsvm(folder / "train")
    options = ["-c", "0.25", "-B", "2", "-w1", "3", "-w-1", "0.5", "--epsilon", "1e-6"]
    assert run("train", "-q", *options, "train", "options.npz") == (0, "", "")
    model = load(folder / "options.npz")
    svc = LinearSVC(C=0.25, intercept_scaling=2, class_weight={1: 3, -1: 0.5}, tol=1e-8, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(model.coef, svc.coef_, rtol=0.01, atol=1e-4)
    np.testing.assert_allclose(model.intercept, svc.intercept_, rtol=0.01, atol=1e-4)
    assert run("train", "-q", "-B", "-1", "train", "none.npz")[0] == 0
    assert load(folder / "none.npz").intercept.tolist() == [0.0]


def test_a_weight_for_every_row(run, folder):
    X, y = read_libsvm(folder / "train")
    weights = np.random.default_rng(0).choice([0.5, 1.0, 3.0], len(y))
    (folder / "weights").write_text("\n".join(map(str, weights)))
    options = ["train", "-q", "--epsilon", "1e-6", "--weights"]
    assert run(*options, "weights", "train", "weighted.npz") == (0, "", "")
    svc = LinearSVC(tol=1e-8, max_iter=100_000).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(load(folder / "weighted.npz").coef, svc.coef_, rtol=0.01, atol=1e-4)
    assert run("verify", "weighted.npz", "train", "--weights", "weights")[0] == 0
    assert run("verify", "weighted.npz", "train")[0] != 0
    assert run("train", "-q", "-v", "3", "--weights", "weights", "train")[0] == 0
    for text, message in (
        ("1 2", "has 2 weights for"),
        ("1\nx", "line 2, column 1: 'x' is not a weight"),
        ("-1 " * len(y), "line 1, column 1: '-1' is not a weight"),
        (" ".join("1" if label > 0 else "0" for label in y), "have weight zero"),
    ):
        (folder / "bad").write_text(text)
        code, _, err = run(*options, "bad", "train", "bad.npz")
        assert code == 3
        assert message in err


def test_the_tolerance_is_ignored_with_a_notice(run):
    code, _, err = run("train", "-q", "-e", "0.1", "train", "e.npz")
    assert code == 0
    assert err == "dynmargin: -e 0.1 is ignored: the certificate decides when to stop; --epsilon says how close\n"


def test_a_weight_for_no_class_is_noticed(run):
    code, _, err = run("train", "-q", "-w7", "2", "train", "w.npz")
    assert (code, err) == (0, "dynmargin: no row has the label 7 of -w7\n")


def test_an_algorithm_that_is_satisfied_too_early_has_not_proven_epsilon(run):
    code, out, _ = run("train", "train", "satisfied.npz", "--algorithm", "perceptron")
    assert code == 1
    assert "does not achieve --epsilon 0.01" in out
    assert run("train", "-q", "-v", "2", "train", "--algorithm", "perceptron")[0] == 1


@pytest.mark.parametrize("option", ["-v", "--validate"])
def test_cross_validation_leaves_no_model(option, run, folder):
    code, out, err = run("train", "-q", option, "3", "train", "cv.npz")
    assert code == 0
    assert 80 < float(re.fullmatch(r"Cross Validation Accuracy = (.*)%\n", out)[1]) < 100
    assert err == "dynmargin: cv.npz is not written: cross-validation leaves no model\n"
    assert not (folder / "cv.npz").exists()


def test_train_says_when_epsilon_is_not_reached(run, folder):
    slow = ["--algorithm", "pdm-succ", "--epsilon", "1e-9", "--max-time", "0.2"]
    code, out, err = run("train", "ten", "short.npz", *slow)
    assert code == 1
    assert "does not achieve --epsilon 1e-09" in out
    assert "classes fell short" in err
    assert run("verify", "short.npz", "ten")[0] == 0  # what was reached is proven


def test_tables_are_trained_on_by_name(run, folder):
    code, _, _ = run("train", "table.csv", "table.npz", "--label", "kind")
    assert code == 0
    model = load(folder / "table.npz")
    assert model.classes.tolist() == ["even", "odd"]
    assert model.feature_names[:2].tolist() == ["p0", "p1"]
    assert run("verify", "table.npz", "table.csv")[0] == 0  # the model knows which column is the label
    accuracy = run("predict", "table.csv", "table.npz")[1]
    rows = [line.split(",") for line in (folder / "table.csv").read_text().splitlines()]
    for order, name in (([*range(64, -1, -1)], "turned.csv"), ([*range(1, 65)], "unlabelled.csv")):
        (folder / name).write_text("\n".join(",".join(row[j] for j in order) for row in rows))
    assert run("predict", "turned.csv", "table.npz")[1] == accuracy
    code, out, err = run("predict", "unlabelled.csv", "table.npz")
    assert (code, err) == (0, "")
    assert set(out.split()) == {"even", "odd"}
    code, _, err = run("train", "table.csv", "x.npz")
    assert (code, err) == (
        3,
        "dynmargin train: table.csv: which column is the label? use --label NAME; the columns are "
        "kind, p0, p1, p2, p3, p4, p5, p6, p7, ..., p63\n",
    )


def test_the_label_of_a_table_is_found_by_its_name(run, folder):
    rows = [line.split(",") for line in (folder / "table.csv").read_text().splitlines()]
    assert run("train", "-q", "table.csv", "by-number.npz", "--label", "1") == (0, "", "")
    assert load(folder / "by-number.npz").parameters["label"] == "kind"
    (folder / "label-last.csv").write_text("\n".join(",".join([*row[1:], row[0]]) for row in rows))
    assert run("verify", "by-number.npz", "label-last.csv")[0] == 0
    assert run("predict", "label-last.csv", "by-number.npz") == run("predict", "table.csv", "by-number.npz")
    assert run("data", "convert", "table.csv", "renamed.csv", "--label", "kind") == (0, "", "")
    assert run("verify", "by-number.npz", "renamed.csv")[0] == 0  # the label is called "label" there
    assert run("data", "convert", "train", "named.csv") == (0, "", "")
    assert run("verify", "model.npz", "named.csv")[0] == 0
    assert run("predict", "named.csv", "model.npz") == run("predict", "train", "model.npz")
    (folder / "headless.csv").write_text("\n".join(",".join([*row[1:], str(len(row[0]))]) for row in rows[1:]))
    assert run("train", "-q", "headless.csv", "headless.npz", "--label", "-1") == (0, "", "")
    assert run("verify", "headless.npz", "headless.csv")[0] == 0
    assert run("data", "convert", "headless.csv", "headed.csv", "--label", "-1") == (0, "", "")
    assert run("verify", "headless.npz", "headed.csv")[0] == 0


def test_the_live_line_is_rewritten_on_a_terminal(folder):
    """A terminal of its own for the program's standard error."""
    ours, its = pytest.importorskip("pty").openpty()
    program = [
        sys.executable,
        "-m",
        "dynmargin",
        "train",
        "train",
        "live.npz",
        "--algorithm",
        "pdm",
        "--epsilon",
        "1e-4",
    ]
    done = subprocess.run(program, stderr=its, stdout=subprocess.PIPE, cwd=folder, check=True)
    os.close(its)
    shown = os.read(ours, 1 << 20).decode()
    os.close(ours)
    assert re.search(r"\r\x1b\[Kgap [\d.]+ %, margin \S+, at most \S+, \d+\.\d s, \d+ pass", shown)
    assert shown.endswith("\r\x1b[K")  # cleared at the end
    assert b"achieves --epsilon" in done.stdout


def test_ctrl_c_keeps_what_has_been_reached(run):
    with ctrl_c_at(1):
        code, _, err = run("train", "train", "interrupted.npz", "--algorithm", "pdm", "--epsilon", "1e-9")
    assert code == 1
    assert "interrupted after" in err
    assert run("verify", "interrupted.npz", "train")[0] == 0


def test_ctrl_c_ends_a_cross_validation(run):
    with ctrl_c_at(1):
        code, out, _ = run("train", "-v", "5", "train", "--algorithm", "pdm", "--epsilon", "1e-4", "--jobs", "1")
    assert (code, out) == (130, "")


def test_adult_end_to_end(run, data_dir, tmp_path):
    train, test, model = str(data_dir / "adult/a9a.xz"), str(data_dir / "adult/a9a.t.xz"), str(tmp_path / "m.npz")
    assert run("train", train, model)[0] == 0
    assert run("verify", model, train)[0] == 0
    code, out, _ = run("predict", test, model)
    assert code == 0
    X, y = read_libsvm(train)
    X_test, y_test = read_libsvm(test, n_features=123)
    accuracy = LinearSVC(C=1.0, dual=False, tol=1e-6).fit(X, y).score(X_test, y_test)
    assert abs(float(re.match(r"Accuracy = (.*)%", out)[1]) / 100 - accuracy) < 0.001
    code, out, _ = run("verify", model, test)
    assert code == 2
    assert out.startswith("other data")
    liblinearutil = pytest.importorskip("liblinear.liblinearutil")
    assert run("convert", model, str(tmp_path / "m.txt"))[0] == 0
    labels, _, _ = liblinearutil.predict(y_test, X_test, liblinearutil.load_model(str(tmp_path / "m.txt")), "-q")
    assert run("predict", "-q", test, model, str(tmp_path / "labels"))[0] == 0
    assert np.array_equal(np.loadtxt(tmp_path / "labels"), labels)
