"""The making of a table: what runs, for how long, and how much is left."""

import sys
import time

from .live import TerminalLine


class TableProgress:
    """Reports on standard error: one line that is rewritten on a terminal, one line per event elsewhere."""

    def __init__(self) -> None:
        self.line = TerminalLine()
        self.what, self.left, self.began = "", "", 0.0

    def begin(self, what: str, left: int) -> None:
        """Show what has begun, and how many cells are left after it."""
        self.what, self.left = what, f"{left} cell{'' if left == 1 else 's'} left"
        self.began = time.perf_counter()
        self.tick(0.0)

    def tick(self, seconds: float) -> None:
        """Show that it is still going on."""
        self.line.rewrite(f"{self.what}: {seconds:.0f} s ({self.left})")

    def end(self, outcome: str) -> None:
        """Report how it ended."""
        self.line.rewrite("")
        seconds = time.perf_counter() - self.began
        print(f"{self.what}: {outcome} ({seconds:.1f} s by the clock; {self.left})", file=sys.stderr, flush=True)
