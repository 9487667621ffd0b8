"""Every command has help, errors are one line, and the commands that only show something."""

import os
import signal

import numpy as np
import pytest

from dynmargin.cli.parser import COMMANDS
from dynmargin.comparison.peers import ScikitLearnSGD


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "nowhere"], "dynmargin train: nowhere: no such file or directory"),
        (["train", "broken"], "dynmargin train: broken, line 2, column 3: expected index:value, found 'x'"),
        (["train", "one-class"], "dynmargin train: there is only one class, 1; a classifier needs two or more"),
        (["train", "empty", "m.npz"], "dynmargin train: empty: there are no rows"),
        (
            ["train", "with-nan"],
            "dynmargin train: row 2 of with-nan (counting from 1) has the value nan; all values must be finite",
        ),
        (
            ["train", "nan-label"],
            "dynmargin train: the label of row 1 of nan-label (counting from 1) is nan, which is not a label",
        ),
        (["train", "train", "no/such/folder/m.npz"], "dynmargin train: no/such/folder: there is no such folder"),
        (["train", "train", "binary.d"], "dynmargin train: binary.d: it is a folder"),
        (["predict", "test", "model.npz", "no/out"], "dynmargin predict: no: there is no such folder"),
        (["train", "train", "--epsilon", "2"], "dynmargin train: argument --epsilon: 2 is not a number above 0 and"),
        (["train", "train", "-c", "0"], "argument -c: 0 is not positive"),
        (["train", "train", "-v", "1"], "1 is less than 2"),
        (["train", "train", "-v", "1201"], "-v 1201 makes more folds than there are rows (1200)"),
        (["train", "train", "m.npz", "-C", "-v", "1201"], "-v 1201 makes more folds than there are rows"),
        (["compare", "train", "--algorithms", "newton", "-c", "inf"], "'newton' needs a finite -c"),
        (["train", "train", "-w1", "x"], "dynmargin train: -w1 needs a positive weight, got x"),
        (["train", "train", "--algorithm", "other"], "invalid choice: 'other'"),
        (["train", "train", "-c", "inf", "--algorithm", "newton"], "needs a finite -c"),
        (["train"], "the following arguments are required: DATA"),
        (["train", "", "m.npz"], "dynmargin train: the name of DATA is empty"),
        (["predict", "test", "model.npz", ""], "dynmargin predict: the name of OUT is empty"),
        (["verify", "train", "train"], "dynmargin verify: train is not a dynmargin model, or it is damaged"),
        (["verify", "model.npz", "table.csv"], "column 'kind' holds text"),
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


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_and_its_exit_codes(name, run):
    code, out, _ = run(*{"data": ("data", "convert")}.get(name, (name,)), "--help")
    assert code == 0
    assert "example" in out
    assert "exit codes: 0" in out


def test_version(run):
    import dynmargin

    assert run("--version") == (0, f"dynmargin {dynmargin.__version__}\n", "")


def test_compare_prints_writes_and_draws(run, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    words = ("--algorithms", "pdm,newton,perceptron", "--peers", "liblinear-dcd", "-c", "0.5", "--epsilon", "0.02")
    code, out, err = run("compare", "train", *words, "--csv", "compared.csv", "--plot", "compared.png")
    assert code == 0
    reported = [line for line in err.splitlines() if " of 4: " in line]
    assert [line.split()[1:4] for line in reported] == [
        [f"{name},", str(place), "of"] for place, name in enumerate(("pdm", "newton", "perceptron", "liblinear-dcd"), 1)
    ]
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


def test_compare_shows_warnings_unless_it_is_quiet(run):
    words = ("compare", "train", "--algorithms", "pdm", "--max-time", "1e-9")
    code, _, err = run(*words)
    assert code == 0
    assert "dynmargin: pdm: --max-time is reached after" in err
    assert run(*words, "-q")[2] == ""


def test_compare_takes_tables_and_other_peers(run):
    code, out, _ = run("compare", "table.csv", "--label", "kind", "--peers", "liblinear-newton", "--csv", "-")
    assert code == 0
    names = [line.split(",")[0] for line in out.splitlines()]
    assert names == ["algorithm", "pdm", "pdm-succ", "romma", "mpu", "dcd", "newton", "liblinear-newton"]


def test_ctrl_c_ends_a_comparison_while_a_peer_trains(run, monkeypatch):
    """Other libraries do not look for it, and a handler in Python would wait until they are done."""
    seen, fit = [], ScikitLearnSGD.fit

    def spied(self, *arguments):
        seen.append(signal.getsignal(signal.SIGINT))
        return fit(self, *arguments)

    monkeypatch.setattr(ScikitLearnSGD, "fit", spied)
    assert run("compare", "train", "--algorithms", "newton", "--peers", "sgd")[0] == 0
    assert seen == [signal.SIG_DFL]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_demo_proves_and_draws(run, folder):
    code, out, _ = run("demo", "picture.png")
    assert code == 0
    assert "verified from the data: proven" in out
    assert (folder / "picture.png").stat().st_size > 1000


def test_a_quiet_verify_tells_by_its_exit_code(run, folder):
    for option in ("-q", "--quiet"):
        assert run("verify", option, "model.npz", "train") == (0, "", "")
        assert run("verify", "model.npz", "test", option) == (2, "", "")
        assert run("verify", option, "model.npz", "train", "-c", "7") == (2, "", "")
    assert '"verdict": "proven"' in run("verify", "-q", "--json", "model.npz", "train")[1]
    code, out, err = run("verify", "-q", "model.npz", "nosuch")
    assert (code, out, err) == (3, "", "dynmargin verify: nosuch: no such file or directory\n")


def test_advice_can_be_pasted_into_a_shell(run, folder):
    (folder / "two words").write_text((folder / "train").read_text())
    err = run("train", "two words", "--memory", "1GB")[2]
    assert err.endswith("write one with dynmargin data convert 'two words' 'two words.dm/'\n")
    assert run("convert", "model.npz", "their model") == (0, "", "")
    assert run("info", "their model")[2].endswith("with dynmargin convert 'their model' 'their model.npz'\n")
    (folder / "just a folder").mkdir()
    assert run("info", "just a folder")[2].endswith("just a folder: is a directory\n")
    assert run("train", "just a folder")[2].endswith("use a pattern such as 'just a folder/*'\n")


def test_standard_input_is_read_once(run):
    for words in (("train", "-", "m.npz"), ("verify", "model.npz", "-"), ("report", "model.npz", "-", "-o", "r.html")):
        code, _, err = run(*words, "--weights", "-", stdin=b"1\n")
        assert (code, err) == (3, f"dynmargin {words[0]}: only one of DATA and --weights can be standard input\n")


def test_what_cannot_be_written_is_named_before_or_after(run, folder):
    code, out, err = run("demo", "nowhere/bounds.png")
    assert (code, out, err) == (3, "", "dynmargin demo: nowhere: there is no such folder\n")
    assert run("demo", str(folder))[::2] == (3, f"dynmargin demo: {folder}: it is a folder\n")
    if os.path.exists("/dev/full"):
        assert run("train", "-q", "train", "/dev/full")[::2] == (
            3,
            "dynmargin train: /dev/full: no space left on device\n",
        )


def test_nothing_to_predict_is_said(run, folder):
    (folder / "none").write_text("\n")
    assert run("predict", "none", "model.npz") == (0, "", "dynmargin: there are no rows to predict\n")
    assert "abc is not a share of the rows, such as 99.9%" in run("train", "train", "--until-settled", "abc")[2]
