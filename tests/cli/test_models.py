"""What is done with a model file or a data file: verify, predict, info, convert, data convert."""

import lzma
import subprocess
import sys
from dataclasses import replace

import numpy as np

from dynmargin import load, read_libsvm
from dynmargin.model import model_file
from dynmargin.problem.wording import SHELL, speaking


def test_verify_tells_other_data_from_another_order(run, folder):
    assert run("verify", "model.npz", "train")[0] == 0
    code, out, _ = run("verify", "model.npz", "test")
    assert (code, out) == (2, "other data: it was made for 1200 labelled rows and 64 features\n")
    lines = (folder / "train").read_text().splitlines()
    (folder / "reversed").write_text("\n".join(lines[::-1]))
    assert run("verify", "model.npz", "reversed")[:2] == (2, "other data: the rows are the same, in another order\n")
    (folder / "touched").write_text("\n".join([lines[0] + "5", *lines[1:]]))
    code, out, _ = run("verify", "model.npz", "touched")
    assert code == 2
    assert out.startswith("other data: rows, labels")


def test_verify_does_not_believe_a_forgery(run, folder):
    model = load(folder / "model.npz")
    (certificate,) = model.certificates
    lower = replace(certificate, upper_bound=certificate.upper_bound * 0.999)
    replace(model, certificates=(lower,)).save(folder / "forged.npz")
    code, out, _ = run("verify", "forged.npz", "train")
    assert code == 1
    assert out.startswith("not proven: the counts prove an upper bound of")
    replace(model, coef=model.coef * 1.5).save(folder / "forged.npz")
    assert run("verify", "forged.npz", "train")[0] == 1
    with np.load(folder / "model.npz") as archive:
        np.savez(folder / "forged.npz", **{**archive, "upper_bound": archive["upper_bound"] * 0.999})
    code, _, err = run("verify", "forged.npz", "train")
    assert (code, err) == (
        3,
        "dynmargin verify: forged.npz is damaged: upper_bound is not what its manifest says\n",
    )


def test_verify_states_the_problem_and_takes_expectations(run, folder):
    code, out, _ = run("verify", "model.npz", "train")
    problem = (
        "the problem: classes -1, 1; squared hinge, C = 1, an intercept with scaling 1; 1200 rows, 64 features, "
        "without sample weights"
    )
    assert (code, out.splitlines()[-1]) == (0, problem)
    assert (
        run("verify", "model.npz", "train", "-c", "1", "-B", "1", "--classes=-1,+1.0", "--loss", "squared_hinge")[0]
        == 0
    )
    for words, detail in (
        (("-c", "2"), "C = 1, not C = 2 for every row"),
        (("--classes", "1,2,3"), "the classes are -1, 1, not 1, 2, 3"),
        (("--classes", "1,one"), "the classes are -1, 1, not 1, one"),
        (("--loss", "hinge"), "the loss is squared_hinge, not hinge"),
        (("-B", "2"), "it has an intercept with scaling 1, but an intercept with scaling 2 was asked for"),
        (("-B", "-1"), "it has an intercept with scaling 1, but no intercept was asked for"),
    ):
        assert run("verify", "model.npz", "train", *words) == (2, f"other problem: {detail}\n", "")
    assert run("train", "-q", "-w1", "3", "train", "priced.npz", "--algorithm", "dcd-hinge", "-c", "0.1")[0] == 0
    code, out, _ = run("verify", "priced.npz", "train", "--loss", "hinge")
    assert code == 0
    assert "classes -1, 1; hinge, C = 0.30000000000000004 for class 1, 0.1 for class -1, an intercept" in out
    assert run("verify", "priced.npz", "train", "-c", "0.1")[0] == 2


def test_verify_can_demand_the_intercept(run):
    words = ("--algorithm", "decomposition")
    for trained, asked, code in ((("-B", "-1"), "-1", 0), (("-B", "-1"), "1", 2), (words, "1", 2), (words, "-1", 2)):
        assert run("train", "-q", *trained, "train", "intercept.npz")[0] == 0
        assert run("verify", "intercept.npz", "train", "-B", asked)[0] == code


def test_what_the_file_claims_is_called_a_claim(run):
    """The epsilon that was asked for is stored, not proven."""
    assert "; the file says that 1.000 % was asked for\n" in run("verify", "model.npz", "train")[1]


def test_columns_that_the_model_does_not_know_are_other_data_for_verify_and_unused_in_predict(run, folder):
    (folder / "c.csv").write_text("c,label\n1,x\n2,y\n3,y\n")
    (folder / "abc.csv").write_text("a,b,c,label\n5,0,1,x\n6,0,2,y\n7,0,3,y\n")
    (folder / "bc.csv").write_text("b,c,label\n0,1,x\n0,2,y\n0,3,y\n")
    assert run("train", "-q", "c.csv", "c.npz", "--label", "label", "-c", "100")[0] == 0
    code, out, _ = run("verify", "c.npz", "c.csv")
    assert (code, "; 3 rows, 1 feature, without sample weights; labels" in out) == (0, True)
    for words in ((), ("--label", "label")):
        found = run("verify", "c.npz", "abc.csv", *words)
        assert found == (2, "other data: the table also has the columns a, b; leave them out with --drop a,b\n", "")
    advice = "leave it out with --drop b"
    assert run("verify", "c.npz", "bc.csv") == (2, f"other data: the table also has the column b; {advice}\n", "")
    assert run("verify", "c.npz", "bc.csv", "--drop", "b")[0] == 0
    code, out, err = run("predict", "abc.csv", "c.npz")
    assert (code, out, err) == (
        0,
        run("predict", "c.csv", "c.npz")[1],
        "dynmargin: the model does not use the columns a, b\n",
    )


def test_verify_says_which_column_has_the_labels(run, folder):
    assert run("train", "-q", "table.csv", "labelled.npz", "--label", "kind") == (0, "", "")
    code, out, _ = run("verify", "labelled.npz", "table.csv", "--classes", "odd,even")
    assert (code, out.endswith("; labels from the column kind, as the model says\n")) == (0, True)
    code, out, _ = run("verify", "labelled.npz", "table.csv", "--label", "1")
    assert (code, out.endswith("; labels from the column kind\n")) == (0, True)
    renamed = (folder / "table.csv").read_text().replace("kind", "label", 1)
    (folder / "renamed.csv").write_text(renamed)
    code, out, _ = run("verify", "labelled.npz", "renamed.csv")
    assert (code, out.endswith("; labels from the column label, where the model says kind\n")) == (0, True)


def test_verify_covers_every_row(run, folder):
    """A row of zero weight may have any label, but only if the one who verifies says that its weight is zero."""
    lines = (folder / "train").read_text().splitlines()
    (folder / "some").write_text("\n".join("0" if k % 50 == 0 else "1" for k in range(len(lines))))
    relabelled = [f"7 {line.partition(' ')[2]}" if k % 50 == 0 else line for k, line in enumerate(lines)]
    (folder / "relabelled").write_text("\n".join(relabelled))
    assert run("train", "-q", "train", "some.npz", "--weights", "some") == (0, "", "")
    code, out, _ = run("verify", "some.npz", "relabelled", "--weights", "some")
    assert (code, "with sample weights" in out) == (0, True)
    code, out, _ = run("verify", "some.npz", "relabelled")
    assert (code, out) == (
        2,
        "other data: row 1 (counting from 1) has the label 7, which is not one of the classes -1, 1\n",
    )


def test_labels_cannot_forge_a_verdict(run, folder):
    """What a file holds is printed as text, never as lines or colours of its own."""
    model = load(folder / "model.npz")
    forged = np.array(["1\nproven: all is well", "\x1b[32m2"])
    replace(model, classes=forged, parameters={"a\nb": "c\rd"}).save(folder / "lines.npz")
    code, out, _ = run("info", "lines.npz")
    assert code == 0
    assert not any(line.startswith("proven") for line in out.splitlines())
    assert out.replace("\n", "").isprintable()


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
    assert run("train", "-q", "--algorithm", "decomposition", "train", "free.npz")[0] == 0
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
    digest = model_file.digest(np.fromfile(folder / "model.npz", np.uint8), "model.npz")
    assert out.startswith(
        f"classes       -1, 1\nfeatures      64\nbias          1\ndigest        {digest}\nfirst index   1\n"
        "problem       classes -1, 1; squared hinge, C = 1, an intercept with scaling 1; 1200 rows, 64 features\n"
    )
    with speaking(SHELL):
        assert str(load(folder / "model.npz").certificate) in out


def test_a_model_that_could_not_be_read_back_is_not_written(run, folder):
    rows = {"X": np.eye(3), "y": np.array([0.0, 1.0, 1.0])}
    np.savez(folder / "misnamed.npz", **rows, feature_names=np.array(["a", "b"]))
    code, out, err = run("train", "misnamed.npz", "misnamed-model.npz")
    assert (code, out) == (3, "")
    assert "feature" in err.splitlines()[-1]
    assert not (folder / "misnamed-model.npz").exists()


def test_info_takes_the_problem_from_the_certificate(run, folder):
    model = load(folder / "model.npz")
    replace(model, parameters={"C": 777.0}).save(folder / "pretended.npz")
    shown, _, stored = run("info", "pretended.npz")[1].partition(
        "how it was trained (as stored; verify does not check it)\n"
    )
    assert "C = 1," in shown
    assert "777" not in shown
    assert stored == "  C             777\n"


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
