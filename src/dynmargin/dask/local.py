"""A cluster of processes of this machine, for as long as a command runs."""

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client, LocalCluster, WorkerPlugin


class IgnoreCtrlC(WorkerPlugin):
    """Lets workers live on: a terminal sends Ctrl-C to all processes, but it is meant for the one that leads."""

    def setup(self, worker: Any) -> None:
        """Ignore it from now on."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def local_cluster(n_workers: int) -> Iterator[Client]:
    """Start that many workers, processes of one thread each, and connect to them.

    What a task raises is raised here again, so workers do not log it: a user would see a traceback before the sentence.
    """
    options = {
        "threads_per_worker": 1,
        "dashboard_address": ":0",
        "memory_limit": 0,
        "silence_logs": logging.CRITICAL,
    }
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        client.register_plugin(IgnoreCtrlC())
        yield client
