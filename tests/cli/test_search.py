"""`dynmargin train --search-C`: a C with a proof for the whole range, and the model trained with it."""

import io
import re
import sys

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from dynmargin import load


@pytest.fixture(scope="module")
def small(folder):
    """Two overlapping classes of 120 rows."""
    random = np.random.default_rng(0)
    y = np.repeat([1, -1], 60)
    dump_svmlight_file(random.normal(size=(120, 3)) + 0.5 * y[:, None], y, str(folder / "small"), zero_based=False)
    return folder


def test_the_model_has_the_c_that_was_found(run, small):
    command = ("train", "small", "found.npz", "--search-C", "--tolerance", "0.1", "--C-range", "0.01", "10")
    code, out, err = run(*command, "-v", "3")
    assert code == 0
    proof = re.match(r"C = (\S+) has a cross-validation error of at most .*; no C from 0\.01 to 10 ", out)
    assert out.endswith("model written to found.npz\n")
    assert "values of C trained" in err
    model = load("found.npz")
    assert f"{model.parameters['C']:.4g}" == proof[1]
    assert model.certificate.problem.C_positive == model.parameters["C"]
    assert model.parameters["search"] == out.splitlines()[0]
    assert run(*command, "-v", "3", "-q")[1:] == ("", "")
    assert run("verify", "found.npz", "small", "-c", repr(model.parameters["C"]))[0] == 0


def test_progress_is_one_line_on_a_terminal_and_lines_elsewhere(run, small, monkeypatch):
    command = ("train", "small", "found.npz", "--search-C", "--tolerance", "0.1", "--C-range", "0.01", "10")
    monkeypatch.setattr("dynmargin.progress.live.LOG_SECONDS", 0.0)
    monkeypatch.setattr("dynmargin.progress.live.LINE_SECONDS", 0.0)
    err = run(*command)[2]
    assert len([line for line in err.splitlines() if "of C trained" in line]) > 1
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    assert run(*command)[0] == 0
    shown = terminal.getvalue()
    assert shown.count("of C trained") > 1
    assert not [line for line in shown.split("\n")[:-1] if "of C trained" in line.rpartition("\x1b[K")[2]]


def test_what_is_not_proven_is_said_and_has_its_code(run, small):
    code, out, err = run("train", "small", "few.npz", "--search-C", "--tolerance", "0.001", "--max-fits", "2")
    assert code == 1
    assert "0.10 % was asked for, but --max-fits was reached; 2 values of C were trained" in err
    assert "model written to few.npz" in out
    assert load("few.npz").certificate.achieved


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-c", "2"), "-c and --search-C cannot be combined"),
        (("--C-range", "2", "1"), "the smaller one first"),
        (("--C-range", "1", "inf"), "two finite numbers"),
        (("--multi-class", "joint"), "no proof for --multi-class joint"),
        (("--algorithm", "dcd-hinge"), "squared slacks only"),
        (("--C-range", "1e-200", "1"), "beyond what double precision"),
        (("--tolerance", "0"), "not between 0 and 1"),
        (("--max-fits", "1"), "1 is less than 2"),
    ],
)
def test_what_cannot_be_searched_is_refused(options, message, run, small):
    code, _, err = run("train", "small", "none.npz", "--search-C", *options)
    assert code == 3
    assert message in err
    assert not (small / "none.npz").exists()


def test_options_of_a_search_need_one(run):
    for words in (["--tolerance", "0.01"], ["--max-fits", "3"], ["--C-range", "1", "2"]):
        code, _, err = run("train", "train", *words)
        assert code == 3
        assert f"{words[0]} needs --search-C" in err
