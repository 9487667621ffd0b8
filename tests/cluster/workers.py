"""A real cluster on this machine: a scheduler, and workers that are processes of their own and can be killed."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from distributed import Client, LocalCluster

HERE = Path(__file__).parents[1]  # workers load functions of the tests by name


class Workers:
    """Workers of one thread each, started by command; no nanny restarts them."""

    def __init__(self, n_workers):
        quiet = {"dashboard_address": None, "silence_logs": 50}
        self.scheduler = LocalCluster(n_workers=0, processes=False, protocol="tcp://", host="127.0.0.1", **quiet)
        self.processes = []
        for _ in range(n_workers):
            self.start()
        self.client = Client(self.scheduler)
        self.client.wait_for_workers(n_workers, timeout=120)

    def start(self):
        """Start one more worker."""
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.scheduler.scheduler_address]
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0", "--death-timeout", "600"]
        folder = ["--local-directory", tempfile.gettempdir()]
        paths = [str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.processes.append(subprocess.Popen([*command, *options, *folder], env=environment, **silent))

    def kill(self, which):
        """Kill a worker without warning."""
        process = self.processes.pop(which)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def refill(self, n_workers):
        """Start workers until there are that many, and wait for them; one may have left by itself on a busy machine."""
        self.processes = [process for process in self.processes if process.poll() is None]
        while len(self.processes) < n_workers:
            self.start()
        self.client.wait_for_workers(n_workers, timeout=120)

    def close(self):
        """End everything."""
        self.client.close()
        self.scheduler.close()
        for process in self.processes:
            process.kill()
            process.wait()
