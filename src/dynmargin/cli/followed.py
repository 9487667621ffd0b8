"""A comparison as it goes on: a line for every algorithm that has ended, and for what it warns of."""

import logging

from ..progress.live import Live
from .options import notice


class Followed(Live):
    """Follows the log of a comparison; checks of the bounds are shown on a terminal only."""

    def emit(self, record: logging.LogRecord) -> None:
        """Show what has ended, or how it goes."""
        compared: str | None = getattr(record, "compared", None)
        if compared is not None:
            notice(compared)
        elif self.line.on_terminal:
            super().emit(record)
