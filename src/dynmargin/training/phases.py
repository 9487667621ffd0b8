"""What goes on where no check of the bounds tells: reading, packing, proving. Whoever shows progress listens."""

import math
import time
from typing import TYPE_CHECKING, Protocol

from .. import _core
from ..problem.wording import wording

if TYPE_CHECKING:
    from .request import Request

LEAST_PACKING = 0.05  # seconds of work that packing gets in any case: few rows have a model, however short the limit is


class Listener(Protocol):
    """Someone who shows progress."""

    def enter(self, phase: str | None) -> None:
        """Take note of what begins now; None if there is nothing to wait for any more."""

    def heard(self) -> None:
        """Take note that something was shown."""


listeners: list[Listener] = []


def enter(phase: str | None) -> None:
    """Say what begins now."""
    for listener in listeners:
        listener.enter(phase)


def heard() -> None:
    """Say that something was shown, so that there is no silence to break."""
    for listener in listeners:
        listener.heard()


def pack(matrix: _core.Matrix, request: "Request") -> _core.PackedRows:
    """Pack the rows; a limit of time that is over before they are packed leaves no model to return."""
    enter("packing the rows")
    limit = request.max_time
    left = math.inf if limit is None else request.started + limit - time.perf_counter()
    try:
        rows = _core.pack(matrix, request.n_jobs, left, LEAST_PACKING)
    except TimeoutError:
        assert limit is not None
        raise too_late(limit, request.started, "packed") from None
    enter("training")
    return rows


def too_late(limit: float, started: float, done: str) -> TimeoutError:
    """Return the error of a limit of time that was over before something was done to the rows."""
    setting, elapsed = wording().setting("max_time", f"{limit:g}"), time.perf_counter() - started
    return TimeoutError(f"{setting} was over before the rows were {done} ({elapsed:.1f} s), so there is no model")
