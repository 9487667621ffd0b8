"""The exit code is that of the verdict, whatever becomes of the output."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from dynmargin import load

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a shell")
PROGRAM = f"{sys.executable} -m dynmargin"


@pytest.fixture(scope="module")
def unproven(folder):
    """A model whose upper bound claims more than its counts prove."""
    model = load(folder / "model.npz")
    (certificate,) = model.certificates
    lower = replace(certificate, upper_bound=certificate.upper_bound * 0.9)
    replace(model, certificates=(lower,)).save(folder / "unproven.npz")
    return "unproven.npz"


@pytest.fixture(params=["", "1"], ids=["buffered", "unbuffered"])
def shell(request, folder):
    """Run a line of shell whose `dynmargin` is ours; return its code and standard error."""

    def shell(line):
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {line.replace('dynmargin', PROGRAM)}"],
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": request.param},
        )
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr
        return done.returncode, done.stderr

    return shell


def test_a_reader_that_is_gone_does_not_change_the_verdict(shell, unproven):
    assert shell(f"dynmargin verify {unproven} train | true") == (1, "")
    assert shell("dynmargin verify model.npz train | true") == (0, "")
    assert shell("dynmargin verify model.npz test | true") == (2, "")
    assert shell("dynmargin verify model.npz train -c 2 | true") == (2, "")


def test_output_that_nobody_reads_to_its_end_is_not_done(shell):
    """The code of a program that a broken pipe has ended."""
    assert shell("dynmargin predict train model.npz - --scores | true")[0] == 141
    assert shell("dynmargin train -q train - | true")[0] == 141


def test_train_says_what_is_proven_even_to_nobody(shell, folder):
    line = "dynmargin train train {} --algorithm {} 2>&1 | true"
    assert shell(line.format("heard.npz", "newton"))[0] in (0, 141)
    assert shell(line.format("heard.npz", "perceptron"))[0] in (1, 141)
    assert load(folder / "heard.npz").certificates  # written all the same


@pytest.mark.parametrize("nowhere", [">&-", ">/dev/full"])
def test_a_verdict_that_cannot_be_printed_is_a_failure(nowhere, shell, unproven):
    if "/dev/full" in nowhere and not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    for words in (
        *("verify model.npz train", f"verify {unproven} train", "info model.npz", "predict test model.npz"),
        *("predict test model.npz -", "train -q train -", "train train n.npz", "convert model.npz -", "data"),
    ):
        code, err = shell(f"dynmargin {words} {nowhere}")
        assert code == 3, words
        assert err.splitlines()[-1].startswith(f"dynmargin {words.split()[0]}: "), words


@pytest.mark.parametrize("nowhere", ["2>&-", "2>/dev/full", "2> >(true)"])
def test_notices_and_progress_may_get_lost(nowhere, shell, folder):
    if "/dev/full" in nowhere and not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    (folder / "unheard.npz").unlink(missing_ok=True)
    assert shell(f"dynmargin train -e 1 train unheard.npz {nowhere}")[0] == 0
    assert np.isfinite(load(folder / "unheard.npz").coef).all()
    assert shell(f"dynmargin verify unheard.npz train {nowhere}")[0] == 0
    assert shell(f"dynmargin verify unheard.npz nothing {nowhere}")[0] == 3
    assert shell(f"dynmargin verify {nowhere}")[0] == 3


def test_a_closed_standard_input_is_named(shell):
    assert shell("dynmargin verify model.npz - <&-") == (
        3,
        "dynmargin verify: standard input: bad file descriptor\n",
    )


def test_help_needs_a_reader_too(shell):
    assert shell("dynmargin verify --help | true")[0] == 0
    assert shell("dynmargin verify --help >&-")[0] in (0, 3)
