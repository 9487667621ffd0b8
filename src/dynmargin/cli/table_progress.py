"""What runs, how long, and how much is left: one line that is rewritten on a terminal, a line an event elsewhere."""

import shutil
import sys
import time


class TableProgress:
    """Follows the making of a table on standard error."""

    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()
        self.what, self.left, self.began = "", 0, 0.0

    def begin(self, what: str, left: int) -> None:
        """Show what was begun."""
        self.what, self.left, self.began = what, left, time.perf_counter()
        if self.terminal:
            self.tick(0.0)

    def tick(self, seconds: float) -> None:
        """Show that it is still going on."""
        if self.terminal:
            self._rewrite(f"{self.what}: {seconds:.0f} s ({self._rest()})")

    def end(self, outcome: str) -> None:
        """Say what has come of it."""
        self._rewrite("")
        seconds = time.perf_counter() - self.began
        print(f"{self.what}: {outcome} ({seconds:.1f} s by the clock; {self._rest()})", file=sys.stderr, flush=True)

    def _rest(self) -> str:
        return f"{self.left} cell{'' if self.left == 1 else 's'} left"

    def _rewrite(self, line: str) -> None:
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{line[:width]}", end="", file=sys.stderr, flush=True)
