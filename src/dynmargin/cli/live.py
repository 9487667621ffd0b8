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
        self.epsilon = epsilon
        self.labels = labels
        self.terminal = sys.stderr.isatty()
        self.problem = -1
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
        from ..progress import Progress

        check: Check | None = getattr(record, "check", None)
        if check is None:
            return
        if check.problem != self.problem:
            self.problem, self.progress, self.began = check.problem, Progress(self.epsilon), check.time
        self.progress.record(check, check.gap, check.passes, check.time - self.began)
        now = time.perf_counter()
        if now - self.shown < (LINE_SECONDS if self.terminal else LOG_SECONDS):
            return
        self.shown = now
        if self.terminal:
            self._rewrite(self.describe(check))
        else:
            print(self.describe(check), file=sys.stderr, flush=True)

    def describe(self, check: "Check") -> str:
        """Put a check in a line."""
        which = f"class {self.labels[check.problem]}: " if self.labels else ""
        left = self.progress.projected_seconds() - (check.time - self.began)
        eta = f", about {max(left, 0):.0f} s left" if left < 1e6 else ""
        return (
            f"{which}{check.time:.1f} s, {check.passes} passes, {check.updates} updates, margin {check.margin:.6g}, "
            f"at most {check.upper_bound:.6g}, gap {check.gap:.2%}{eta}"
        )

    def _rewrite(self, line: str) -> None:
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{line[:width]}", end="", file=sys.stderr, flush=True)
