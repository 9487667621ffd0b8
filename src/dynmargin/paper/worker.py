"""A process that loads a problem once and computes cells on request: whatever a cell does, it can be ended.

Nothing in a peer's compiled code checks the clock; a process can be killed without its help.
"""

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from .columns import Runnable, Task
from .problems import Problem

POLL_SECONDS = 0.1


class OverLimit(Exception):
    """A cell took longer than it was allowed."""


class WorkerError(Exception):
    """What went wrong on the other side, as a sentence."""


class Worker:
    """The parent's side; ``tick`` is called with the seconds so far while it waits."""

    def __init__(self, problem: Problem, folder: Path, tick: Callable[[float], None]) -> None:
        context = multiprocessing.get_context("spawn")  # the same on all systems, and no threads are forked
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, problem, folder), daemon=True)
        self.process.start()
        theirs.close()
        self.tick = tick

    def loaded(self) -> None:
        """Wait until the problem is loaded."""
        self._receive(None)

    def compute(self, limit: float | None, column: Runnable, epsilon: float, seed: int, beta: float | None) -> Any:
        """Compute a cell in `limit` seconds."""
        self.connection.send((column, epsilon, seed, beta))
        return self._receive(limit)

    def end(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.connection.close()

    def _receive(self, limit: float | None) -> Any:
        start = time.perf_counter()
        while not self.connection.poll(POLL_SECONDS):
            seconds = time.perf_counter() - start
            if limit is not None and seconds > limit:
                raise OverLimit
            self.tick(seconds)
        try:
            good, content = self.connection.recv()
        except EOFError:
            self.process.join()
            raise WorkerError(f"the process ended with code {self.process.exitcode}") from None
        if not good:
            raise WorkerError(content)
        return content


def _serve(connection: Connection, problem: Problem, folder: Path) -> None:
    """Serve requests on the child's side."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    threading.Thread(target=_end_with_parent, daemon=True).start()
    warnings.simplefilter("ignore")  # how a run ended is in the table
    data: list[Any] = []

    def load() -> None:
        data.extend(problem.load(folder))

    def compute(column: Runnable, epsilon: float, seed: int, beta: float | None) -> Any:
        return column.run(Task(data[0], data[1], problem, epsilon, seed, beta))

    if not _answer(connection, load):
        return
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        _answer(connection, partial(compute, *request))


def _answer(connection: Connection, work: Callable[[], Any]) -> bool:
    try:
        connection.send((True, work()))
    except MemoryError:
        connection.send((False, "there is not enough memory for this"))
    except Exception as error:  # to be shown in the table
        connection.send((False, str(error) or type(error).__name__))
    else:
        return True
    return False


def _end_with_parent() -> None:
    """End this process when the parent is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
