"""A sign of life: says what goes on, and for how long, wherever nothing else is shown for a second."""

import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Self

from ..training import phases

SILENCE = 1.0  # seconds after which something is shown
WAKE_SECONDS = 0.2


class Ticker:
    """Breaks silences from a thread of its own: the core works without holding Python up. Use it as a context."""

    def __init__(self, show: Callable[[str], None], phase: str | None = None, silence: float = SILENCE) -> None:
        self.show = show
        self.silence = silence
        self.phase = phase
        self.began = self.last = time.perf_counter()
        self.over = Event()
        self.thread = Thread(target=self._run, name="dynmargin-ticker", daemon=True)

    def __enter__(self) -> Self:
        """Begin to listen."""
        phases.listeners.append(self)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End the thread."""
        phases.listeners.remove(self)
        self.over.set()
        self.thread.join()

    def enter(self, phase: str | None) -> None:
        """Take note of what begins now; the line of what has ended is cleared."""
        if phase != self.phase:
            self.phase, self.began = phase, time.perf_counter()
        if phase is None:
            self.show("")

    def heard(self) -> None:
        """Wait for the next silence."""
        self.last = time.perf_counter()

    def _run(self) -> None:
        while not self.over.wait(min(WAKE_SECONDS, self.silence)):
            now, phase = time.perf_counter(), self.phase
            if phase is not None and now - self.last >= self.silence:
                self.last = now
                self.show(f"{phase}, {now - self.began:.0f} s")
