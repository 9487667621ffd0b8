"""Nothing is silent for long, and a limit of time that packing uses up is an error."""

import os
import pty
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from dynmargin import MaxMarginClassifier, PDMClassifier
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.wording import SHELL, speaking
from dynmargin.progress.ticker import Ticker
from dynmargin.training import phases
from dynmargin.training.request import Request


def until(condition):
    """Wait until another thread has done it."""
    while not condition():
        time.sleep(0.01)


def test_a_silence_is_broken_with_what_goes_on():
    shown = []
    with Ticker(shown.append, "reading", silence=0.01) as ticker:
        until(lambda: shown)
        phases.enter("packing")
        until(lambda: any(text.startswith("packing, 0 s") for text in shown))
        phases.enter(None)
        assert shown[-1] == ""
        assert ticker.phase is None
    assert shown[0].startswith("reading, ")
    assert phases.listeners == []
    assert not ticker.thread.is_alive()


def test_whoever_shows_something_else_is_not_interrupted():
    shown = []
    with Ticker(shown.append, "training", silence=1e9):
        phases.heard()
    assert shown == []


def test_a_fit_says_what_it_does(rng):
    entered = []

    class Listener:
        enter = staticmethod(entered.append)
        heard = staticmethod(lambda: entered.append("check"))

    phases.listeners.append(Listener())
    try:
        PDMClassifier().fit(rng.normal(size=(50, 3)), np.arange(50) % 2)
    finally:
        phases.listeners.clear()
    assert entered[:2] == ["packing the rows", "training"]
    assert {"proving", "check"} <= set(entered)


def test_a_verbose_fit_leaves_no_thread_behind(rng):
    MaxMarginClassifier(verbose=1).fit(rng.normal(size=(50, 3)), np.arange(50) % 2)
    assert not [thread for thread in threading.enumerate() if thread.name == "dynmargin-ticker"]


def test_a_limit_that_packing_uses_up_is_an_error(rng, monkeypatch):
    matrix = as_matrix(rng.normal(size=(50, 3)))
    started = time.perf_counter() - 10.0
    assert phases.pack(matrix, Request(max_time=0.1, started=started)).n_rows == 50  # it was not packing that took long
    monkeypatch.setattr(phases, "LEAST_PACKING", -1.0)
    assert phases.pack(matrix, Request(started=started)).n_rows == 50
    assert phases.pack(matrix, Request(max_time=1e9, started=started)).n_rows == 50
    with pytest.raises(
        TimeoutError, match=r"max_time=0.1 was over before the rows were packed \(10\.\d s\), so there is"
    ):
        phases.pack(matrix, Request(max_time=0.1, started=started))
    with speaking(SHELL), pytest.raises(TimeoutError, match=r"--max-time 0.1 was over"):
        phases.pack(matrix, Request(max_time=0.1, started=started))


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
def test_a_terminal_shows_that_something_is_being_read(tmp_path):
    """A pipe that nobody writes to for a while: the terminal shows what is waited for."""
    os.mkfifo(tmp_path / "slow")
    main, terminal = pty.openpty()
    command = [sys.executable, "-m", "dynmargin", "train", "slow", "m.npz"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=terminal, stdout=subprocess.DEVNULL) as process:
        os.close(terminal)
        with open(tmp_path / "slow", "w") as pipe:
            seen = b""
            while b"reading slow, " not in seen:
                seen += os.read(main, 4096)
            pipe.write("1 1:1\n-1 2:1\n")
        while process.poll() is None:
            try:
                os.read(main, 4096)
            except OSError:
                break
    os.close(main)
    assert process.returncode == 0
