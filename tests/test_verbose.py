"""What is shown of a fit: a bar that moves, or log lines; and the history as a table afterwards."""

import io
import os
import re
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

from dynmargin import Check, PDMClassifier
from dynmargin.progress.bar import ProgressBar, progress_bar
from dynmargin.progress.live import CheckLine, Live
from dynmargin.training.duration import in_words


def moment(gap, time=1.0, problem=0):
    return Check(time, 3, 1234, 1 - gap, 1.0, problem)


def test_the_progress_bar_shows_the_last_check_and_how_far_it_is():
    rich = pytest.importorskip("rich.console")
    screen = rich.Console(file=io.StringIO(), force_terminal=True, record=True, width=160)
    with ProgressBar(screen, CheckLine(0.01, ["a", "b"])) as bar:
        bar.show(moment(0.1))
        bar.show(moment(0.01, problem=1))
        assert bar.progress.tasks[0].completed == pytest.approx(1.5)  # half of the way for a, all of it for b
        bar.show(moment(0.3))  # nothing is lost that was proven
        assert bar.progress.tasks[0].completed == pytest.approx(1.5)
    text = screen.export_text()
    assert "class a: gap 30.00 %, margin 0.7, at most 1, 1.0 s, 3 passes, 1234 updates" in text


def test_the_line_says_how_much_time_is_left():
    """A gap of 1/time, seen at 1, 2 and 3 s of a run that is to reach 1/100, has about 97 s to go."""
    words = CheckLine(0.01, [])
    lines = [words.describe(Check(5 + time, 100 * time, 1, 1 - 1 / time, 1.0, 0)) for time in (1e-9, 1, 2, 3)]
    assert "left" not in lines[0]
    assert lines[-1] == "gap 33.33 %, about 97 s left, margin 0.666667, at most 1, 8.0 s, 300 passes, 1 update"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "0 s"),
        (97, "97 s"),
        (1500, "25 min"),
        (12_600, "3.5 h"),
        (223_879, "2.6 days"),
        (2_000_000, "23 days"),
    ],
)
def test_durations_are_in_words(seconds, words):
    assert in_words(seconds) == words


def test_no_more_time_is_left_than_max_time_leaves():
    words = CheckLine(1e-6, [], max_time=10.0)
    lines = [words.describe(Check(time, 100, 1, 1 - 1 / time, 1.0, 0)) for time in (1.5, 2, 3, 4)]
    assert "about 6 s left" in lines[-1]
    unlimited = CheckLine(1e-5, [])
    lines = [unlimited.describe(Check(5 + time, 100, 1, 1 - 1 / time, 1.0, 0)) for time in (1e-9, 1, 2, 3)]
    assert "about 27.8 h left" in lines[-1]


SEARCH = """
import logging, sys
from sklearn.datasets import load_digits
from dynmargin import MaxMarginClassifierCV
X, y = load_digits(return_X_y=True)
MaxMarginClassifierCV(Cs=[0.01, 0.1], cv=3, random_state=0, verbose=1).fit(X / 16, y)
"""


def test_a_cross_validation_is_one_moving_line():
    pytest.importorskip("rich")
    shown = on_a_terminal(SEARCH)
    assert "of 70 runs" in shown
    assert "upper bound" not in shown  # no line for a check
    (line,) = [line for line in screen(shown) if line.strip()]
    assert "70 of 70 runs, about 0 s left" in line


def test_a_cross_validation_prints_little_where_there_is_no_terminal():
    fit = SEARCH.splitlines()[-1]
    code = f"{SEARCH}print('then', file=sys.stderr)\nlogging.basicConfig()  # for warnings only\n{fit}"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    plain, logged = run.stderr.split("then\n")
    assert "of 70 runs" in plain
    assert len(plain.splitlines()) < 20
    assert "upper bound" not in logged


def test_a_search_for_c_is_one_moving_line():
    code = SEARCH.replace("Cs=[0.01, 0.1]", "tolerance=0.1, C_range=(0.1, 1.0)").replace("X / 16, y", "X / 16, y % 2")
    shown = on_a_terminal("import sys; sys.modules['rich.console'] = None" + code)
    assert "values of C trained" in shown
    assert "upper bound" not in shown
    assert shown.count("\n") <= 1


WARNING = """
import warnings
from dynmargin import CheckCallback, PDMClassifier
from sklearn.datasets import load_breast_cancer
told = []
def warn(check):
    if not told:
        told.append(check)
        warnings.warn("something is odd")
X, y = load_breast_cancer(return_X_y=True)
PDMClassifier(1e-4, random_state=0, verbose=1).set_callbacks(CheckCallback(warn)).fit(X, y)
"""


def screen(shown):
    """Return the lines that are left on a terminal of what was written to it."""
    lines = []
    for line in shown.replace("\r\n", "\n").split("\n"):
        line = re.sub(r"\x1b\[(?!2?K)[0-9;?]*[a-zA-Z]", "", line)
        lines.append(re.split(r"\x1b\[2?K|\r", line)[-1])
    return lines


def test_a_warning_has_a_line_of_its_own():
    pytest.importorskip("rich")
    lines = screen(on_a_terminal(WARNING))
    (found,) = [
        line for line in lines if "something is odd" in line and "warn(" not in line.partition("UserWarning")[0]
    ]
    assert "gap" not in found
    assert not found.startswith("━")


def test_a_warning_has_a_line_of_its_own_on_the_command_line(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    with Live(0.01, []) as live:
        live.line.rewrite("gap 10 %, about 2 s left")
        print("dynmargin: this will take long", file=sys.stderr)
        live.line.rewrite("gap 9 %, about 1 s left")
    assert sys.stderr is terminal
    assert [line.strip() for line in screen(terminal.getvalue())] == ["dynmargin: this will take long", ""]


FIT = """
from sklearn.datasets import load_digits
from dynmargin import PDMClassifier
X, y = load_digits(return_X_y=True)
PDMClassifier(random_state=0, verbose={verbose}).fit(X / 16, y)
"""


def on_a_terminal(code):
    """Run code on a terminal of its own; return what it shows."""
    pty = pytest.importorskip("pty")
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm", COLUMNS="150")
        os.execv(sys.executable, [sys.executable, "-c", code])
    shown = b""
    while True:
        try:
            block = os.read(terminal, 65536)
        except OSError:  # Linux says so at the end
            break
        if not block:
            break
        shown += block
    assert os.waitpid(pid, 0)[1] == 0, shown
    return shown.decode()


def test_verbose_shows_a_moving_line_on_a_terminal():
    pytest.importorskip("rich")
    fit = FIT.splitlines()[-1].format(verbose=2)
    shown, logged = on_a_terminal(FIT.format(verbose=1) + f"print('then')\n{fit}").split("then\r\n")
    assert "━" in shown
    assert "\x1b[2K" in shown  # a line is rewritten
    assert "class 9: " in shown
    assert "class 9 against the rest: " not in shown  # no log line
    assert "class 9 against the rest: " in logged


def test_verbose_logs_lines_without_rich():
    shown = on_a_terminal("import sys; sys.modules['rich.console'] = None" + FIT.format(verbose=1))
    assert "class 9 against the rest: " in shown
    assert "━" not in shown


def test_verbose_logs_lines_where_there_is_no_terminal():
    run = subprocess.run([sys.executable, "-c", FIT.format(verbose=1)], check=True, capture_output=True, text=True)
    assert "class 9 against the rest: " in run.stderr
    assert "━" not in run.stderr
    assert run.stdout == ""


def test_a_notebook_has_the_line_in_its_cell(monkeypatch):
    rich = pytest.importorskip("rich.console")
    seen = []

    class Cell:
        def update(self, line):
            seen.append(line._repr_mimebundle_([], [])["text/html"])

    notebook = ModuleType("IPython.display")
    notebook.display = lambda line, display_id: Cell()
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    monkeypatch.setattr(rich, "_is_jupyter", lambda: True)
    monkeypatch.setattr("rich._console", None)  # rich keeps the console that it makes here
    with progress_bar(CheckLine(0.01, [])) as bar:
        bar.show(moment(0.5))
        bar.show(moment(0.25))
    assert "gap 50.00 %" in seen[0]
    assert "gap 25.00 %" in seen[-1]  # the last one is never left out


def test_history_frame(digits):
    pytest.importorskip("pandas")
    X, y = digits
    X, y = X[y < 3], y[y < 3]
    classifier = PDMClassifier(random_state=0).fit(X, np.array(["zero", "one", "two"])[y])
    frame = classifier.history_frame()
    assert list(frame.columns) == ["time", "passes", "updates", "margin", "upper_bound", "gap", "class"]
    assert len(frame) == len(classifier.history_)
    last = frame.groupby("class").last()
    for label, certificate in zip(classifier.classes_, classifier.certificates_, strict=True):
        assert last.gap[label] == pytest.approx(certificate.gap)
        assert last.margin[label] == certificate.margin
