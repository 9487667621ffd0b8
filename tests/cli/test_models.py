"""What is done with a model file or a data file: verify, predict, info, convert, data convert."""

import lzma
import subprocess
import sys

import numpy as np

from dynmargin import load, read_libsvm


def test_verify_tells_other_data_from_another_order(run, folder):
    assert run("verify", "model.npz", "train")[0] == 0
    code, out, _ = run("verify", "model.npz", "test")
    assert (code, out) == (2, "other data: it was made for 1200 rows and labels and 64 features\n")
    lines = (folder / "train").read_text().splitlines()
    (folder / "reversed").write_text("\n".join(lines[::-1]))
    assert run("verify", "model.npz", "reversed")[:2] == (2, "other data: the rows are the same, in another order\n")
    (folder / "touched").write_text("\n".join([lines[0] + "5", *lines[1:]]))
    code, out, _ = run("verify", "model.npz", "touched")
    assert code == 2
    assert out.startswith("other data: rows, labels")


def test_verify_does_not_believe_a_forgery(run, folder):
    with np.load(folder / "model.npz") as archive:
        arrays = dict(archive)
    np.savez(folder / "forged.npz", **{**arrays, "upper_bound": arrays["upper_bound"] * 0.999})
    code, out, _ = run("verify", "forged.npz", "train")
    assert code == 1
    assert out.startswith("not proven: the counts prove an upper bound of")
    np.savez(folder / "forged.npz", **{**arrays, "coef": arrays["coef"] * 1.5})
    assert run("verify", "forged.npz", "train")[0] == 1


def test_predict_gives_labels_scores_and_accuracy(run, folder):
    X, y = read_libsvm(folder / "test", n_features=64)
    model = load(folder / "model.npz")
    right = (model.predict(X) == y).sum()
    accuracy = f"Accuracy = {right / len(y):.4%} ({right}/{len(y)})\n"
    assert run("predict", "test", "model.npz") == (0, accuracy, "")
    assert run("predict", "test", "model.npz", "labels") == (0, accuracy, "")
    assert np.array_equal(np.loadtxt(folder / "labels"), model.predict(X))
    assert set((folder / "labels").read_text().split()) == {"1", "-1"}
    code, out, err = run("predict", "test", "model.npz", "-")
    assert (code, out, err) == (0, (folder / "labels").read_text(), accuracy)
    assert run("predict", "-q", "test", "model.npz") == (0, "", "")
    code, out, _ = run("predict", "test", "model.npz", "-", "--scores")
    first, *lines = out.splitlines()
    assert first == "label 1"
    assert np.array_equal([float(line.split()[1]) for line in lines], model.decision_function(X))


def test_standard_input_and_output(run, folder):
    text, packed = (folder / "train").read_bytes(), lzma.compress((folder / "train").read_bytes())
    for stdin in (text, packed):
        assert run("train", "-", "from-stdin.npz", stdin=stdin)[0] == 0
    assert np.array_equal(load(folder / "from-stdin.npz").coef, load(folder / "model.npz").coef)
    program = [sys.executable, "-m", "dynmargin"]
    trained = subprocess.run([*program, "train", "-", "-"], input=text, capture_output=True, cwd=folder, check=True)
    assert b"model written to standard output" in trained.stderr
    verify = subprocess.run([*program, "verify", "-", "train"], input=trained.stdout, capture_output=True, cwd=folder)
    assert (verify.returncode, verify.stdout[:7]) == (0, b"proven:")
    assert run("predict", "-", "-", stdin=text)[::2] == (
        *(3, "dynmargin predict: only one of DATA and MODEL can be standard input\n"),
    )


def test_a_free_intercept_is_converted(run, folder):
    for bias in ("1", "-1"):
        code, _, _ = run("train", "-q", "--algorithm", "decomposition", "-B", bias, "train", "free.npz")
        assert code == 0
        assert load(folder / "free.npz").intercept[0] != 0
        assert run("convert", "free.npz", "free.txt")[0] == run("convert", "free.txt", "free-back.npz")[0] == 0
        model, back = load(folder / "free.npz"), load(folder / "free-back.npz")
        X, _ = read_libsvm(folder / "test", n_features=64)
        assert np.allclose(model.decision_function(X), back.decision_function(X), rtol=1e-15)
        assert np.array_equal(model.predict(X), back.predict(X))


def test_features_that_the_model_does_not_know_are_not_used(run, folder):
    (folder / "wide").write_text("1 1:0.5 900:7\n-1 3:1\n")
    code, _, err = run("predict", "wide", "model.npz", "wide.out")
    assert code == 0
    assert err == "dynmargin: features beyond the model's 64 are not used\n"


def test_the_base_of_indices_is_the_models(run, folder):
    """A test file without index 0 is not mistaken for a one-based one."""
    (folder / "zero").write_text("1 0:1 1:2\n-1 0:-1 1:-2\n")
    assert run("train", "-q", "zero", "zero.npz")[0] == 0
    (folder / "zero.t").write_text("1 1:2\n")
    run("predict", "zero.t", "zero.npz", "zero.out", "--scores")
    model = load(folder / "zero.npz")
    assert float((folder / "zero.out").read_text().split()[-1]) == model.decision_function([[0.0, 2.0]])[0]


def test_info_shows_the_certificate(run, folder):
    code, out, _ = run("info", "model.npz")
    assert code == 0
    assert "classes       -1 1\nfeatures      64\nbias          1\nfirst index   1\n" in out
    assert str(load(folder / "model.npz").certificate) in out


def test_convert_goes_both_ways(run, folder):
    assert run("convert", "model.npz", "model.txt") == (0, "", "")
    assert (folder / "model.txt").read_text().startswith("solver_type L2R_L2LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\n")
    assert run("convert", "model.txt", "back.npz") == (0, "", "")
    assert run("predict", "test", "back.npz")[1] == run("predict", "test", "model.npz")[1]
    code, out, _ = run("verify", "back.npz", "train")
    assert (code, out) == (1, "not proven: the model has no certificate\n")
    assert run("convert", "-", "-", stdin=(folder / "model.npz").read_bytes())[1] == (folder / "model.txt").read_text()
    assert "certificate   none" in run("info", "back.npz")[1]


def test_data_convert(run, folder):
    assert run("data", "convert", "train", "binary/") == (0, "", "")
    assert run("verify", "model.npz", "binary")[0] == 0
    assert run("data", "convert", "binary", "again.csv") == (0, "", "")
    assert run("verify", "model.npz", "again.csv", "--label", "label")[0] == 0
    assert run("data", "convert", "again.csv", "-", "--label", "1", "--to", "libsvm")[0] == 0
    code, _, err = run("data", "convert", "train", "binary/")
    assert (code, err) == (3, "dynmargin data: binary: it already exists; remove it, or name another folder\n")
