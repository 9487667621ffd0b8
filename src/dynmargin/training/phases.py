"""What goes on where no check of the bounds tells: reading, packing, proving. Whoever shows progress listens."""

import time
from typing import TYPE_CHECKING, Protocol

from .. import _core
from ..problem.wording import wording

if TYPE_CHECKING:
    from .request import Request

LEAST_PACKING = 0.05  # seconds of work: below, packing is not what a limit of time was spent on


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
    """Pack the rows; a limit of time that this has used up leaves no model to return."""
    enter("packing the rows")
    began = time.thread_time()
    rows = _core.pack(matrix, request.n_jobs)
    worked = time.thread_time() - began
    enter("training")
    limit, elapsed = request.max_time, time.perf_counter() - request.started
    if limit is not None and elapsed > limit and worked > LEAST_PACKING:
        setting = wording().setting("max_time", f"{limit:g}")
        raise TimeoutError(f"{setting} was over before the rows were packed ({elapsed:.1f} s), so there is no model")
    return rows
