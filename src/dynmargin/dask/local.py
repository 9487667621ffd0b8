"""A cluster of processes of this machine, for as long as a command runs."""

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from typing import Any

from distributed import Client, LocalCluster, WorkerPlugin


class IgnoreCtrlC(WorkerPlugin):
    """Lets workers live on: a terminal sends Ctrl-C to all processes, but it is meant for the one that leads."""

    def setup(self, worker: Any) -> None:
        """Ignore it from now on."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def ctrl_c_later() -> Iterator[None]:
    """Let Ctrl-C wait until the end of the context; a second one does not wait.

    Processes started inside never get it, if they are started by this thread or by one that begins inside: they inherit
    what it blocks. Other threads of ours may still take the signal, so a handler remembers it.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):  # ignored, as nohup does
        yield
        return
    pressed = threading.Event()

    def remember(*_: object) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, remember)
    can_block = hasattr(signal, "pthread_sigmask")  # not on Windows
    if can_block:
        resource_tracker.ensure_running()  # multiprocessing's own process; starting it later would unblock the signal
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if can_block:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
    if pressed.is_set():
        signal.raise_signal(signal.SIGINT)


@contextmanager
def local_cluster(n_workers: int) -> Iterator[Client]:
    """Start that many workers, processes of one thread each, and connect to them.

    A cluster that is interrupted while it starts cannot be closed, so Ctrl-C waits for that.
    What a task raises is raised here again, so workers do not log it: a user would see a traceback before the sentence.
    """
    options = {
        "threads_per_worker": 1,
        "dashboard_address": ":0",
        "memory_limit": 0,
        "silence_logs": logging.CRITICAL,
    }
    with ExitStack() as opened:
        with ctrl_c_later():
            cluster = opened.enter_context(LocalCluster(n_workers=n_workers, **options))
            client = opened.enter_context(Client(cluster))
            client.register_plugin(IgnoreCtrlC())
        yield client
