"""The commands do what their help says, end with the documented code, and say what is wrong in one line."""

import io
import lzma
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_digits
from sklearn.svm import LinearSVC

from dynmargin import load, read_libsvm
from dynmargin.cli.main import COMMANDS, main
from dynmargin.training import logger


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Digits, even against odd and all ten, as LIBSVM text and CSV; models of them."""
    folder = tmp_path_factory.mktemp("cli")
    X, y = load_digits(return_X_y=True)
    X = X / 16
    signs = np.where(y % 2 == 0, 1, -1)
    for name, labels, rows in (
        ("train", signs, slice(1200)),
        ("test", signs, slice(1200, None)),
        ("ten", y, slice(None)),
    ):
        dump_svmlight_file(X[rows], labels[rows], str(folder / name), zero_based=False)
    names = [f"p{j}" for j in range(64)]
    kinds = np.where(signs > 0, "even", "odd")
    lines = [
        ",".join(["kind", *names]),
        *(",".join([k, *map(repr, x)]) for k, x in zip(kinds, X.tolist(), strict=True)),
    ]
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    assert main(["train", "-q", str(folder / "train"), str(folder / "model.npz")]) == 0
    return folder


@pytest.fixture
def run(folder, monkeypatch, capfd):
    """Run a command line in the folder: exit code, standard output, standard error."""

    def run(*words, stdin=b""):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfd.readouterr()
        try:
            code = main(list(words))
        except SystemExit as end:
            code = end.code
        out, err = capfd.readouterr()
        return code, out, err

    return run


def test_train_prints_the_certificate_and_says_where_the_model_is(run):
    code, out, err = run("train", "train", "new.npz", "--algorithm", "pdm", "--epsilon", "0.05", "--seed", "3")
    assert code == 0
    assert re.search(r"pdm \(as asked\): \d+ passes, \d+ updates, \d+\.\d\d s\n", out)
    assert re.search(r"margin \S+, no classifier above \S+: gap 0\.0\d+ \(achieves epsilon=0\.05\)\n", out)
    assert out.endswith("model written to new.npz\n")
    assert "train: 1200 rows, 64 features, read in" in err
    assert re.search(r"^gap [\d.]+%, margin \S+, at most \S+, \d+\.\d s, \d+ passes, \d+ updates$", err, re.MULTILINE)
    assert "\r" not in err
    assert load("new.npz").parameters["seed"] == 3


@pytest.mark.parametrize("algorithm", ["auto", "pdm", "pdm-succ", "pfm", "newton"])
def test_every_algorithm_is_proven(algorithm, run):
    assert run("train", "-q", "train", "algorithm.npz", "--algorithm", algorithm) == (0, "", "")
    code, out, _ = run("verify", "algorithm.npz", "train")
    assert code == 0
    assert out.startswith("proven: the margin is at least")


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
    assert (code, err) == (3, "dynmargin: unrecognized arguments: b.npz; see dynmargin --help\n")


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


def test_many_classes(run, folder):
    code, out, _ = run("train", "ten", "ten.npz", "--epsilon", "0.1")
    assert code == 0
    assert "10 classes, each against the rest; the largest gap is that of class" in out
    assert run("verify", "ten.npz", "ten")[0] == 0
    code, out, _ = run("predict", "ten", "ten.npz", "-", "--scores")
    first, *lines = out.splitlines()
    assert first == "label 0 1 2 3 4 5 6 7 8 9"
    scores = np.array([line.split() for line in lines], dtype=float)
    assert np.array_equal(scores[:, 1:].argmax(axis=1), scores[:, 0])
    code, out, _ = run("info", "ten.npz")
    assert code == 0
    assert out.count("certificate of class") == 10


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
        ("1\nx", "could not convert"),
        ("-1 " * len(y), "not negative"),
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


def test_an_algorithm_that_is_content_too_early_has_not_proven_epsilon(run):
    code, out, _ = run("train", "train", "content.npz", "--algorithm", "perceptron")
    assert code == 1
    assert "does not achieve epsilon=0.01" in out
    assert run("train", "-q", "-v", "2", "train", "--algorithm", "perceptron")[0] == 1


@pytest.mark.parametrize("option", ["-v", "--validate"])
def test_cross_validation_leaves_no_model(option, run, folder):
    code, out, err = run("train", "-q", option, "3", "train", "cv.npz")
    assert code == 0
    assert 80 < float(re.fullmatch(r"Cross Validation Accuracy = (.*)%\n", out)[1]) < 100
    assert err == "dynmargin: cv.npz is not written: cross-validation leaves no model\n"
    assert not (folder / "cv.npz").exists()


def test_train_says_when_epsilon_is_not_reached(run, folder):
    code, out, err = run("train", "ten", "short.npz", "--algorithm", "pdm", "--epsilon", "1e-9", "--max-time", "0.2")
    assert code == 1
    assert "does not achieve epsilon=1e-09" in out
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
        "dynmargin train: table.csv: column 'kind' holds string, not numbers: encode it as numbers, or drop it\n",
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
    assert (code, err) == (3, "dynmargin data: binary: it is there already; remove it, or name another folder\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "nowhere"], "dynmargin train: nowhere: no such file or directory"),
        (["train", "broken"], "dynmargin train: broken, line 2, column 3: expected index:value, found 'x'"),
        (["train", "one-class"], "dynmargin train: the labels hold 1 class only (1); a classifier needs two or more"),
        (["train", "empty", "m.npz"], "dynmargin train: there are no rows to train on"),
        (["train", "with-nan"], "dynmargin train: row 2 has the value nan; all values must be finite"),
        (["train", "nan-label"], "dynmargin train: the label of row 1 is nan, which is no label"),
        (["train", "train", "no/such/folder/m.npz"], "dynmargin train: no/such/folder: there is no such folder"),
        (["train", "train", "binary.d"], "dynmargin train: binary.d: it is a folder"),
        (["predict", "test", "model.npz", "no/out"], "dynmargin predict: no: there is no such folder"),
        (["train", "train", "--epsilon", "2"], "dynmargin train: argument --epsilon: 2 is not above 0 and at most 1"),
        (["train", "train", "-c", "0"], "argument -c: 0 is not positive"),
        (["train", "train", "-v", "1"], "1 is less than 2"),
        (["train", "train", "-w1", "x"], "dynmargin train: -w1 needs a positive weight, got x"),
        (["train", "train", "--algorithm", "other"], "invalid choice: 'other'"),
        (["train", "train", "-c", "inf", "--algorithm", "newton"], "needs a finite C"),
        (["train"], "the following arguments are required: DATA"),
        (["verify", "train", "train"], "dynmargin verify: train is not a dynmargin model, or it is damaged"),
        (["verify", "model.npz", "table.csv"], "column 'kind' holds string"),
        (["predict", "test", "nowhere.npz"], "dynmargin predict: nowhere.npz: no such file or directory"),
        (["convert", "train", "x"], "dynmargin convert: train is not a dynmargin model, or it is damaged"),
        (["train", "train", "train"], "dynmargin train: train: the output is the input"),
        (["train", "train", "./linked"], "dynmargin train: ./linked: the output is the input"),
        (["predict", "test", "model.npz", "test"], "dynmargin predict: test: the output is the input"),
        (["predict", "test", "model.npz", "model.npz"], "dynmargin predict: model.npz: the output is the input"),
        (["convert", "model.npz", "model.npz"], "dynmargin convert: model.npz: the output is the input"),
        (["data", "convert", "train", "train"], "dynmargin data: train: the output is the input"),
        (["compare", "train", "--csv", "train"], "dynmargin compare: train: the output is the input"),
        (["compare", "train", "--algorithms", "other"], "no algorithm is called 'other'"),
        (["compare", "train", "--peers", "pdm"], "no peer is called 'pdm'"),
        (["train", "train", "-B", "nan"], "argument -B: nan is not finite"),
        (["train", "train", "-B", "inf"], "argument -B: inf is not finite"),
        (["train", "train", "-w", "2"], "dynmargin train: -w needs the label right after it, as in -w1 2"),
        (["train", "train", "-w1", "inf"], "dynmargin train: -w1 needs a positive weight, got inf"),
        (["nothing"], "invalid choice: 'nothing'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_errors_are_one_line_and_code_3(words, message, run, folder):
    (folder / "binary.d").mkdir(exist_ok=True)
    for name, text in {
        "broken": "1 1:1\n1 x\n",
        "one-class": "1 1:1\n1 2:1\n",
        "empty": "",
        "with-nan": "1 1:1\n-1 1:2 2:nan\n",
        "nan-label": "nan 1:1\n-1 1:2\n",
    }.items():
        (folder / name).write_text(text)
    if not (folder / "linked").exists():
        (folder / "linked").symlink_to("train")
    before = {name: (folder / name).read_bytes() for name in ("train", "test", "model.npz")}
    code, out, err = run(*words)
    assert (code, out) == (3, "")
    assert before == {name: (folder / name).read_bytes() for name in before}
    last = err.splitlines()[-1]
    assert message in last
    assert last.startswith("dynmargin")
    assert len(err.splitlines()) <= 2  # what was read, and what is wrong
    assert not (folder / "m.npz").exists()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_every_command_has_help_with_an_example_and_its_exit_codes(command, run):
    name = command.__name__.rpartition(".")[2]
    code, out, _ = run(*{"data": ("data", "convert")}.get(name, (name,)), "--help")
    assert code == 0
    assert "example" in out
    assert "exit codes: 0" in out


def test_version(run):
    import dynmargin

    assert run("--version") == (0, f"dynmargin {dynmargin.__version__}\n", "")


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
    assert re.search(r"\r\x1b\[Kgap [\d.]+%, margin \S+, at most \S+, \d+\.\d s, \d+ pass", shown)
    assert shown.endswith("\r\x1b[K")  # cleared at the end
    assert b"achieves epsilon" in done.stdout


def test_ctrl_c_keeps_what_has_been_reached(run, monkeypatch):
    import logging
    import signal

    class Press(logging.Handler):
        pressed = False

        def emit(self, record):
            if not self.pressed:
                self.pressed = True
                signal.raise_signal(signal.SIGINT)

    handler = Press()
    logger.addHandler(handler)
    try:
        code, _, err = run("train", "train", "interrupted.npz", "--algorithm", "pdm", "--epsilon", "1e-9")
    finally:
        logger.removeHandler(handler)
    assert code == 1
    assert "interrupted after" in err
    assert run("verify", "interrupted.npz", "train")[0] == 0


def test_ctrl_c_ends_a_cross_validation(run):
    import logging
    import signal

    class Press(logging.Handler):
        pressed = 0

        def emit(self, record):
            if not self.pressed:
                self.pressed += 1
                signal.raise_signal(signal.SIGINT)

    handler = Press()
    logger.addHandler(handler)
    try:
        code, out, _ = run("train", "-v", "5", "train", "--algorithm", "pdm", "--epsilon", "1e-4")
    finally:
        logger.removeHandler(handler)
    assert (code, out, handler.pressed) == (130, "", 1)


def test_compare_prints_writes_and_draws(run, folder):
    words = ("--algorithms", "pdm,newton,perceptron", "--peers", "liblinear-dcd", "-c", "0.5", "--epsilon", "0.02")
    code, out, err = run("compare", "train", *words, "--csv", "compared.csv", "--plot", "compared.png")
    assert (code, err) == (0, "")
    titles, *lines = (line.split() for line in out.splitlines())
    assert titles[:5] == ["algorithm", "gap", "margin", "upper_bound", "achieved"]
    assert [(line[0], line[4]) for line in lines] == [
        *(("pdm", "yes"), ("newton", "yes"), ("perceptron", "no"), ("liblinear-dcd", "yes")),
    ]
    assert lines[3][5] == "-"  # a peer does not tell its updates
    table = np.genfromtxt(folder / "compared.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    assert np.allclose(table["margin"], [float(line[2]) for line in lines], rtol=1e-3)
    assert (table["margin"] < table["upper_bound"]).all()
    assert (folder / "compared.png").read_bytes().startswith(b"\x89PNG")


def test_compare_takes_tables_and_other_peers(run):
    code, out, _ = run("compare", "table.csv", "--label", "kind", "--peers", "liblinear-newton", "--csv", "-")
    assert code == 0
    names = [line.split(",")[0] for line in out.splitlines()]
    assert names == ["algorithm", "pdm", "pdm-succ", "romma", "mpu", "dcd", "newton", "liblinear-newton"]


def test_the_demo_proves_and_draws(run, folder):
    code, out, _ = run("demo", "picture.png")
    assert code == 0
    assert "verified from the data: proven" in out
    assert (folder / "picture.png").stat().st_size > 1000


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
