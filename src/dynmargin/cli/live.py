"""What is seen of a run while it goes on: one line that is rewritten on a terminal, log lines elsewhere."""

import logging
import math
import shutil
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..outcome import Check

LOG_SECONDS = 1.0  # between log lines
LINE_SECONDS = 0.1  # between changes of the live line


class Live(logging.Handler):
    """Follows the log of training; use it as a context."""

    def __init__(self, epsilon: float, labels: list[str]) -> None:
        super().__init__()
        from ..check_line import CheckLine

        self.words = CheckLine(epsilon, labels)
        self.terminal = sys.stderr.isatty()
        self.shown = -math.inf

    def __enter__(self) -> "Live":
        """Begin to follow."""
        logger = logging.getLogger("dynmargin")
        self.level_before = logger.level
        logger.setLevel(logging.INFO)
        logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the line."""
        logger = logging.getLogger("dynmargin")
        logger.setLevel(self.level_before)
        logger.removeHandler(self)
        self._rewrite("")

    def emit(self, record: logging.LogRecord) -> None:
        """Show a check of the bounds."""
        check: Check | None = getattr(record, "check", None)
        if check is None:
            return
        line, now = self.words.describe(check), time.perf_counter()
        if now - self.shown < (LINE_SECONDS if self.terminal else LOG_SECONDS):
            return
        self.shown = now
        if self.terminal:
            self._rewrite(line)
        else:
            print(line, file=sys.stderr, flush=True)

    def _rewrite(self, line: str) -> None:
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{line[:width]}", end="", file=sys.stderr, flush=True)
