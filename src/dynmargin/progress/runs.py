"""How far many runs are, in one moving line: those of a cross-validation, or of a search for C."""

import logging
import math
import sys
import threading
import time

from ..problem.packed import PackedProblem
from ..training.duration import in_words
from ..training.fit import Train
from ..training.request import Request, logger
from ..training.result import Result
from .bar import MovingBar, console_for_bars
from .live import LINE_SECONDS, LOG_SECONDS, TerminalLine


class Runs(logging.Handler):
    """Counts the runs that are done, and follows what the log says of a search; use it as a context.

    Where there is neither a terminal nor a notebook, a line is printed now and then.
    """

    def __init__(self, total: int | None, max_time: float | None) -> None:
        super().__init__()
        self.total, self.max_time = total, max_time
        self.done, self.news = 0, ""
        self.began, self.shown = time.perf_counter(), -math.inf
        self.counting = threading.Lock()
        console = console_for_bars()
        self.bar = None if console is None else MovingBar(console, total)
        self.line = TerminalLine()

    def __enter__(self) -> "Runs":
        """Begin to follow."""
        self.before = logger.level, logger.propagate
        # Whoever has asked for the log gets it all the same; nobody else gets a line for every check.
        logger.propagate = logger.propagate and logger.isEnabledFor(logging.INFO)
        logger.setLevel(min(logging.INFO, logger.getEffectiveLevel()))
        logger.addHandler(self)
        (self.bar or self.line).__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the last line where it is."""
        logger.removeHandler(self)
        level, logger.propagate = self.before
        logger.setLevel(level)
        (self.bar or self.line).__exit__()

    def around(self, train: Train) -> Train:
        """Count the runs of a function that trains."""

        def counted(problem: PackedProblem, request: Request) -> Result:
            result = train(problem, request)
            with self.counting:
                self.done += 1
                self.show()
            return result

        return counted

    def emit(self, record: logging.LogRecord) -> None:
        """Take what the log says of a search; the checks of its runs are too many to read."""
        if not hasattr(record, "check"):
            with self.counting:
                self.news = record.getMessage()
                self.show()

    def show(self) -> None:
        """Show how far it is, unless that has only just been shown."""
        now, text = time.perf_counter(), self.describe()
        if self.bar is not None:
            self.bar.update(self.done, text)
        elif now - self.shown >= (LINE_SECONDS if self.line.on_terminal else LOG_SECONDS):
            self.shown = now
            self.line.rewrite(text)
            if not self.line.on_terminal:
                print(text, file=sys.stderr, flush=True)

    def describe(self) -> str:
        """Put it into words."""
        if self.total is None:
            return self.news or f"{self.done} runs"
        seconds = time.perf_counter() - self.began
        left = seconds / max(1, self.done) * (self.total - self.done)
        left = left if self.max_time is None else min(left, max(0.0, self.max_time - seconds))
        return f"{self.done} of {self.total} runs, about {in_words(left)} left"
