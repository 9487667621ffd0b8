"""The tests, and the command, work wherever they are started from."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def ignore_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})


@pytest.mark.skipif(os.name != "posix", reason="signals are not inherited")
def test_tests_that_press_ctrl_c_pass_in_the_background_of_a_shell():
    test = "tests/test_control.py::test_ctrl_c_twice_leaves_a_loop_of_fits"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    done = subprocess.run(words, cwd=ROOT, preexec_fn=ignore_interrupts, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(os.name != "posix", reason="there are no such surroundings")
def test_the_command_works_in_poor_surroundings(tmp_path):
    """No home, no terminal, no input, the plainest locale, nothing readable by others, a path that is not ASCII."""
    folder = tmp_path / "ein Ördner, no. 1"
    folder.mkdir()
    (folder / "däta").write_text("+1 1:1\n-1 1:-1\n")
    surroundings = os.environ | {"HOME": "/nonexistent", "TERM": "dumb", "LC_ALL": "C", "TZ": "Asia/Kathmandu"}
    for words in (["train", "däta", "mödel.npz"], ["verify", "mödel.npz", "däta"]):
        done = subprocess.run(
            [sys.executable, "-m", "dynmargin", *words],
            cwd=folder,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            umask=0o077,
        )
        assert done.returncode == 0, done.stderr.decode()
    assert sorted(path.name for path in folder.iterdir()) == ["däta", "mödel.npz"]  # and nothing else is left
