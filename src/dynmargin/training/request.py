"""What is asked of a fit: how close to the best margin, in which order rows are presented, and the limits."""

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from ..certificate.certificate import Certificate
from .checkpoint import Checkpoint, Keeper
from .result import Check
from .schedule import Schedule

LARGEST_COUNT = 2**53  # counts stay integers that a double holds exactly

Stop = Literal["certificate", "convergence", "predictions"]
Watch = Callable[[Check, Callable[[], Certificate]], bool]  # sees every check; True to stop

logger = logging.getLogger("dynmargin")


@dataclass(frozen=True)
class Request:
    """What every run of a fit is asked to do, and when it has to end all the same.

    Attributes
    ----------
    epsilon : float
        The gap to be proven.
    stop : {"certificate", "convergence", "predictions"}
        Whether the proof, the algorithm's own rule or the number of settled rows ends a fit. To a run, the last is a
        proof of one gap after the other (`settling`).
    schedule : str or Schedule
        The order of presentation.
    seed : int
        What makes a run reproducible.
    margin_floor : float
        The fraction of the longest pattern below which no hard margin is looked for.
    max_updates : int
        Per run.
    max_time : float or None
        Seconds for all runs of a fit together.
    n_jobs : int
        How many threads all runs together may use.
    only_own_updates : bool
        Whether the counts have to be those of updates that were really made, so that a later fit can continue.
    started, deadline : float
        On the clock of time.perf_counter; the deadline is that of one run.
    warn, watch : callable
        Who is told about slow runs, and who sees every check.
    interrupted : threading.Event
        Set when Ctrl-C was pressed; shared by all runs of a fit.
    checkpoint : Checkpoint or None
        The file that the fit can be continued from.
    snapshots : Keeper or None
        Where one run continues from, and where its state goes: the part of the file that belongs to it, or memory.
    """

    epsilon: float = 0.01
    stop: Stop = "certificate"
    schedule: str | Schedule = "fast"
    seed: int = 0
    margin_floor: float = 1e-4
    max_updates: int = LARGEST_COUNT
    max_time: float | None = None
    n_jobs: int = 1
    only_own_updates: bool = False
    started: float = field(default_factory=time.perf_counter)
    deadline: float = math.inf
    warn: Callable[[str], None] = logger.warning
    watch: Watch | None = None
    interrupted: threading.Event = field(default_factory=threading.Event)
    checkpoint: Checkpoint | None = None
    snapshots: Keeper | None = None
