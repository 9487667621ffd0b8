"""The exit code is that of the verdict, whatever becomes of the output."""

import os
import subprocess
import sys
from contextlib import suppress
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

    def shell(line, **streams):
        done = subprocess.run(
            ["bash", "-c", line.replace("dynmargin", PROGRAM)],
            cwd=folder,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": request.param},
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},
        )
        err = done.stderr or ""
        assert "Traceback" not in err
        assert "Exception ignored" not in err
        return done.returncode, err

    return shell


def test_standard_output_has_other_names(shell, folder):
    """A pipe has no path of its own: a temporary file beside it was asked for, after the training."""
    for name in ("/dev/stdout", "/dev/fd/1"):
        assert shell(f"set -o pipefail; dynmargin train train {name} | cat > piped.npz")[0] == 0
        assert shell(f"dynmargin train train {name} > written.npz")[0] == 0
        for model in ("piped.npz", "written.npz"):
            assert (folder / model).read_bytes() == (folder / "model.npz").read_bytes()  # and no text after it
    assert shell("dynmargin train train //dev/stdout | cat > piped.npz")[0] == 0
    assert (folder / "piped.npz").read_bytes() == (folder / "model.npz").read_bytes()
    assert shell("dynmargin predict test model.npz /dev/stdout | head -1 > label.txt")[0] == 0
    assert (folder / "label.txt").read_text() in ("1\n", "-1\n")


def test_a_model_can_be_written_to_another_program(shell, folder):
    assert shell("dynmargin train -q train >(cat > given.npz) && wait $!")[0] == 0
    assert (folder / "given.npz").read_bytes() == (folder / "model.npz").read_bytes()


def test_a_checkpoint_is_a_file(shell, folder):
    code, err = shell("dynmargin train train m.npz --checkpoint /dev/stdout | cat; exit ${PIPESTATUS[0]}")
    assert (code, "it is not a file" in err) == (3, True)


@pytest.fixture
def unread():
    """A pipe whose reader is gone."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.fixture
def full():
    """A pipe that is full, whose reader is slow, and on which writing does not wait."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, b"x")
    yield writer
    os.close(reader)
    os.close(writer)


def test_a_reader_that_is_gone_does_not_change_the_verdict(shell, unproven, unread):
    assert shell(f"dynmargin verify {unproven} train", stdout=unread) == (1, "")
    assert shell("dynmargin verify model.npz train", stdout=unread) == (0, "")
    assert shell("dynmargin verify model.npz test", stdout=unread) == (2, "")
    assert shell("dynmargin verify model.npz train -c 2", stdout=unread) == (2, "")


def test_output_that_nobody_reads_to_its_end_is_not_done(shell, unread):
    """The code of a program that a broken pipe has ended."""
    assert shell("dynmargin predict train model.npz - --scores", stdout=unread)[0] == 141
    assert shell("dynmargin train -q train -", stdout=unread)[0] == 141


def test_a_reader_that_is_gone_does_not_change_what_is_proven(shell, folder, unread):
    for algorithm, code in (("newton", 0), ("perceptron", 1)):
        (folder / "unread.npz").unlink(missing_ok=True)
        line = f"dynmargin train train unread.npz --algorithm {algorithm}"
        assert shell(line, stdout=unread, stderr=unread)[0] == code
        assert load(folder / "unread.npz").certificates  # written all the same


def test_a_standard_error_that_is_full_does_not_end_the_training(shell, folder, full):
    (folder / "full.npz").unlink(missing_ok=True)
    assert shell("dynmargin train train full.npz", stderr=full)[0] == 0
    assert load(folder / "full.npz").certificates


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


def test_help_without_a_reader_is_no_failure(shell, unread):
    assert shell("dynmargin verify --help", stdout=unread) == (0, "")
