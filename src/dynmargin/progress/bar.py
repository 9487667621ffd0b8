"""What ``verbose=1`` shows in a terminal or a notebook: a bar and a line beside it; it needs rich."""

import math
import time
from typing import Any, Self

from ..training.result import Check
from .live import CheckLine

REFRESH_SECONDS = 0.1


class MovingBar:
    """A bar and a line of text in one place of a terminal or a notebook; use it as a context.

    What is printed meanwhile, such as a warning, goes above it.
    """

    def __init__(self, console: Any, total: float | None) -> None:
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        self.shown = -math.inf
        self.notebook: bool = console.is_jupyter
        text = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True))
        self.progress = Progress(BarColumn(bar_width=10), text, console=console, auto_refresh=False, expand=True)
        self.bar = self.progress.add_task("", total=total)

    def __enter__(self) -> Self:
        """Begin to draw."""
        if self.notebook:  # not by rich itself, which would need ipywidgets
            from IPython.display import display

            self.cell = display(self.progress, display_id=True)
        else:
            self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the last line where it is."""
        self.redraw()
        if not self.notebook:
            self.progress.stop()

    def update(self, completed: float, line: str) -> None:
        """Show how far it is, unless it has only just been shown."""
        now = time.perf_counter()
        self.progress.update(self.bar, completed=completed, description=line)
        if now - self.shown >= REFRESH_SECONDS:
            self.shown = now
            self.redraw()

    def say(self, text: str) -> None:
        """Show what goes on where there is no check to show."""
        if text:
            self.progress.update(self.bar, description=text)
            self.redraw()

    def redraw(self) -> None:
        """Show the present state."""
        if self.notebook:
            self.cell.update(self.progress)
        else:
            self.progress.refresh()


class ProgressBar(MovingBar):
    """A bar that is full when every problem has the gap asked for, and the last check beside it.

    The bar follows the logarithm of the gap: from 1 to 0.1 is as far as from 0.1 to 0.01.
    """

    def __init__(self, console: Any, words: CheckLine) -> None:
        self.words, self.epsilon = words, words.epsilon
        self.reached = [0.0] * max(1, len(words.labels))
        super().__init__(console, len(self.reached))

    def show(self, check: Check) -> None:
        """Show a check, unless the last one has only just been shown."""
        self.reached[check.problem] = max(self.reached[check.problem], self.fraction(check.gap))
        self.update(sum(self.reached), self.words.describe(check))

    def fraction(self, gap: float) -> float:
        """Return how much of the way to epsilon a gap is."""
        if gap <= self.epsilon:
            return 1.0
        return math.log(gap) / math.log(self.epsilon) if gap < 1 else 0.0


def progress_bar(words: CheckLine) -> ProgressBar | None:
    """Return a bar for checks; None without rich, or where there is neither a terminal nor a notebook."""
    console = console_for_bars()
    return None if console is None else ProgressBar(console, words)


def console_for_bars() -> Any:
    """Return where bars can be drawn; None without rich, or where there is neither a terminal nor a notebook."""
    try:
        from rich.console import Console
    except ImportError:
        return None
    console = Console(stderr=True)
    return console if console.is_terminal or console.is_jupyter else None
