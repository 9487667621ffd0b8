"""Progress of a comparison and of a search for C."""

import logging

from ..progress.live import Live
from ..training import phases
from .options import notice


class Followed(Live):
    """Follows the log of a comparison: a line for every algorithm that has ended, and for what it warns of.

    Checks of the bounds are shown on a terminal only, without the time left: each line is about a different algorithm.
    """

    def __init__(self, epsilon: float) -> None:
        super().__init__(epsilon, [], steady=False)

    def emit(self, record: logging.LogRecord) -> None:
        """Show what has ended, or how it goes."""
        compared: str | None = getattr(record, "compared", None)
        if compared is not None:
            notice(compared)
        elif self.line.on_terminal:
            super().emit(record)


class Searched(Live):
    """Follows the log of a search for C: one line that is rewritten on a terminal, one line per second elsewhere."""

    def __init__(self) -> None:
        super().__init__(0.0, [])  # of the checks, which are too many to read

    def emit(self, record: logging.LogRecord) -> None:
        """Show what is proven so far."""
        if not hasattr(record, "check"):
            phases.heard()
            self.show(record.getMessage())
