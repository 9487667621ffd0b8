"""The checks of a run as it goes on: one line that is rewritten on a terminal, log lines elsewhere."""

import logging
import math
import shutil
import sys
import time
from typing import Any, Self, TextIO

from ..problem.statement import in_percent, work_text
from ..training.duration import in_words
from ..training.request import logger
from ..training.result import Check
from ..training.run import Trend

LOG_SECONDS = 1.0  # between log lines
LINE_SECONDS = 0.1  # between changes of the live line
LONGEST_SECONDS = 1e6  # that are projected; beyond, a power law says nothing


class CheckLine:
    """Puts the checks of a fit into words, with the time left as far as it can be projected."""

    def __init__(
        self, epsilon: float, labels: list[str], max_time: float | None = None, *, steady: bool = True
    ) -> None:
        self.epsilon = epsilon
        self.steady = steady  # as in `Trend`
        self.max_time = math.inf if max_time is None else max_time
        self.labels = labels  # of the problems; empty when there is only one
        self.runs: dict[int, tuple[Trend, float]] = {}  # of each problem: its trend, and when it began

    def describe(self, check: Check) -> str:
        """Put a check into one line."""
        trend, began = self.runs.setdefault(check.problem, (Trend(self.epsilon, steady=self.steady), check.time))
        trend.record(check, check.gap, check.time - began)
        which = f"class {self.labels[check.problem]}: " if self.labels else ""
        left = trend.projected_seconds() - (check.time - began)
        left = min(left, self.max_time - check.time)
        time_left = f", about {in_words(max(left, 0))} left" if left < LONGEST_SECONDS else ""
        return (  # what matters most comes first: a narrow screen cuts off the end
            f"{which}gap {in_percent(check.gap, 2)}{time_left}, margin {check.margin:.6g}, "
            f"at most {check.upper_bound:.6g}, {check.time:.1f} s, {work_text(check.passes, check.updates)}"
        )


class TerminalLine:
    """The last line on standard error, if that is a terminal.

    As a context, it makes room for whatever else is written there, such as a warning, which would otherwise begin
    where the line ends.
    """

    def __init__(self) -> None:
        self.on_terminal = sys.stderr.isatty()
        self.screen = sys.stderr

    def __enter__(self) -> Self:
        """Let others write above the line."""
        if self.on_terminal:
            self.screen, sys.stderr = sys.stderr, AboveLine(sys.stderr)
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the line."""
        if self.on_terminal:
            sys.stderr = self.screen
        self.rewrite("")

    def rewrite(self, line: str) -> None:
        """Replace what the line shows; elsewhere than on a terminal, do nothing."""
        if self.on_terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{line[:width]}", end="", file=self.screen, flush=True)


class AboveLine:
    """A terminal on which a line is shown that others do not know of: what they write replaces it."""

    def __init__(self, screen: TextIO) -> None:
        self._screen = screen
        self._at_start = True  # of a line of theirs

    def write(self, text: str) -> int:
        """Clear the line before the first word, unless a line of theirs is not complete."""
        if text and self._at_start:
            self._screen.write("\r\x1b[K")
        self._at_start = text.endswith("\n") if text else self._at_start
        return self._screen.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._screen, name)


class Live(logging.Handler):
    """Follows the log of training; use it as a context."""

    def __init__(
        self, epsilon: float, labels: list[str], max_time: float | None = None, *, steady: bool = True
    ) -> None:
        super().__init__()
        self.words = CheckLine(epsilon, labels, max_time, steady=steady)
        self.line = TerminalLine()
        self.pause = LINE_SECONDS if self.line.on_terminal else LOG_SECONDS
        self.shown = -math.inf

    def __enter__(self) -> "Live":
        """Begin to follow."""
        self.level_before = logger.level
        logger.setLevel(logging.INFO)
        logger.addHandler(self)
        self.line.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the line."""
        logger.setLevel(self.level_before)
        logger.removeHandler(self)
        self.line.__exit__()

    def emit(self, record: logging.LogRecord) -> None:
        """Show a check of the bounds."""
        check: Check | None = getattr(record, "check", None)
        if check is None:
            return
        self.show(self.words.describe(check))

    def show(self, text: str) -> None:
        """Show a line, unless another one has only just been shown."""
        now = time.perf_counter()
        if now - self.shown >= self.pause:
            self.shown = now
            self.line.rewrite(text)
            if not self.line.on_terminal:
                print(text, file=sys.stderr, flush=True)
