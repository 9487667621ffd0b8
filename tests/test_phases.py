"""Nothing is silent for long, and a limit of time that packing uses up is an error."""

import os
import pty
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from dynmargin import MaxMarginClassifier, PDMClassifier, _core
from dynmargin.cli.main import main
from dynmargin.data.dataset import Csr
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


@pytest.fixture
def entered():
    """What is said to go on, as it is said."""
    entered = []

    class Listener:
        enter = staticmethod(entered.append)
        heard = staticmethod(lambda: entered.append("check"))

    phases.listeners.append(Listener())
    yield entered
    phases.listeners.clear()


def test_a_fit_says_what_it_does(rng, entered):
    PDMClassifier().fit(rng.normal(size=(50, 3)), np.arange(50) % 2)
    assert entered[:2] == ["packing the rows", "training"]
    assert {"proving", "check"} <= set(entered)


@pytest.mark.parametrize("out", ["rows/", "rows.npz"])
def test_a_conversion_says_that_it_reads(out, tmp_path, monkeypatch, entered):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.svm").write_text("1 1:1\n-1 1:2\n")
    assert main(["data", "convert", "rows.svm", out]) == 0
    assert entered[0] == "reading rows.svm"


def test_a_verbose_fit_leaves_no_thread_behind(rng):
    MaxMarginClassifier(verbose=1).fit(rng.normal(size=(50, 3)), np.arange(50) % 2)
    assert not [thread for thread in threading.enumerate() if thread.name == "dynmargin-ticker"]


@pytest.fixture
def endless():
    """A matrix that takes no memory, minutes to go through, and more memory to pack than there is."""
    return as_matrix(np.broadcast_to(np.linspace(0.1, 1.0, 100_000), (1_000_000, 100_000)))


def test_few_rows_are_packed_however_short_the_limit_is(rng):
    matrix = as_matrix(rng.normal(size=(50, 3)))
    started = time.perf_counter() - 10.0
    assert phases.pack(matrix, Request(max_time=0.1, started=started)).n_rows == 50
    assert _core.pack(matrix, 1, 0.0).n_rows == 50
    assert phases.pack(matrix, Request(max_time=1e300)).n_rows == 50
    assert phases.pack(matrix, Request(max_time=np.inf)).n_rows == 50


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_limit_that_is_over_while_rows_are_packed_is_an_error(endless, n_jobs):
    request = Request(max_time=0.01, started=time.perf_counter() - 10.0, n_jobs=n_jobs)
    with pytest.raises(
        TimeoutError, match=r"max_time=0.01 was over before the rows were packed \(10\.\d s\), so there is no model"
    ):
        phases.pack(endless, request)
    with speaking(SHELL), pytest.raises(TimeoutError, match=r"--max-time 0.01 was over"):
        phases.pack(endless, request)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("sparse", [False, True])
def test_whatever_is_packed_can_be_given_up(sparse, n_threads):
    columns = np.tile(np.arange(0, 40_000, 200), 6_000)
    rows = Csr(np.full(len(columns), 0.1), columns, np.arange(0, len(columns) + 1, 200), (6_000, 40_000))
    matrix = as_matrix(rows if sparse else np.full((20_000, 100), 0.1))
    with pytest.raises(TimeoutError):
        _core.pack(matrix, n_threads, 0.0)
    assert _core.pack(matrix, n_threads).n_nonzeros == (1_200_000 if sparse else 2_000_000)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm clock")
@pytest.mark.parametrize("n_threads", [1, 3])
def test_ctrl_c_ends_packing(endless, n_threads):
    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            _core.pack(endless, n_threads)
    finally:
        signal.signal(signal.SIGALRM, before)


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
