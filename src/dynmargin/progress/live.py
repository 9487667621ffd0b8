"""The checks of a run as it goes on: one line that is rewritten on a terminal, log lines elsewhere."""

import logging
import math
import shutil
import sys
import time

from ..problem.statement import work_text
from ..training.request import logger
from ..training.result import Check
from ..training.run import Trend

LOG_SECONDS = 1.0  # between log lines
LINE_SECONDS = 0.1  # between changes of the live line


class CheckLine:
    """Puts the checks of a fit into words, with the time left as far as it can be projected."""

    def __init__(self, epsilon: float, labels: list[str]) -> None:
        self.epsilon = epsilon
        self.labels = labels  # of the problems; empty when there is only one
        self.runs: dict[int, tuple[Trend, float]] = {}  # of each problem: its trend, and when it began

    def describe(self, check: Check) -> str:
        """Put a check into one line."""
        trend, began = self.runs.setdefault(check.problem, (Trend(self.epsilon), check.time))
        trend.record(check, check.gap, check.time - began)
        which = f"class {self.labels[check.problem]}: " if self.labels else ""
        left = trend.projected_seconds() - (check.time - began)
        time_left = f", about {max(left, 0):.0f} s left" if left < 1e6 else ""
        return (  # what matters most comes first: a narrow screen cuts off the end
            f"{which}gap {check.gap:.2%}{time_left}, margin {check.margin:.6g}, at most {check.upper_bound:.6g}, "
            f"{check.time:.1f} s, {work_text(check.passes, check.updates)}"
        )


class TerminalLine:
    """The last line on standard error, if that is a terminal."""

    def __init__(self) -> None:
        self.on_terminal = sys.stderr.isatty()

    def rewrite(self, line: str) -> None:
        """Replace what the line shows; elsewhere than on a terminal, do nothing."""
        if self.on_terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{line[:width]}", end="", file=sys.stderr, flush=True)


class Live(logging.Handler):
    """Follows the log of training; use it as a context."""

    def __init__(self, epsilon: float, labels: list[str]) -> None:
        super().__init__()
        self.words = CheckLine(epsilon, labels)
        self.line = TerminalLine()
        self.pause = LINE_SECONDS if self.line.on_terminal else LOG_SECONDS
        self.shown = -math.inf

    def __enter__(self) -> "Live":
        """Begin to follow."""
        self.level_before = logger.level
        logger.setLevel(logging.INFO)
        logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the line."""
        logger.setLevel(self.level_before)
        logger.removeHandler(self)
        self.line.rewrite("")

    def emit(self, record: logging.LogRecord) -> None:
        """Show a check of the bounds."""
        check: Check | None = getattr(record, "check", None)
        if check is None:
            return
        text, now = self.words.describe(check), time.perf_counter()
        if now - self.shown >= self.pause:
            self.shown = now
            self.line.rewrite(text)
            if not self.line.on_terminal:
                print(text, file=sys.stderr, flush=True)
