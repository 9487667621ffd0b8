"""The one way to fit: problems over the same packed rows, trained one after the other or in threads.

Estimators, the command line and cross-validation convert what comes in and publish what comes out; the rest is here.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..certificate.certificate import Certificate
from ..data.limits import require_memory
from ..problem.packed import PackedProblem
from ..problem.problems import Problem, Weights, label_text
from .checkpoint import CheckpointError
from .phases import pack
from .request import Request
from .result import Check, Result
from .threads import run_in_threads

Train = Callable[[PackedProblem, Request], Result]

BYTES_PER_FEATURE = 64  # at least: several vectors of weights, whatever the rows hold
MANY_FEATURES = 1_000_000  # from here on that is worth a look at the memory


@dataclass(frozen=True)
class Fit:
    """The runs of a fit: one for two classes or a joint margin, one per class otherwise."""

    results: list[Result]

    @property
    def certificates(self) -> list[Certificate]:
        """What is proven, one per problem."""
        return [result.certificate for result in self.results]

    @property
    def worst(self) -> Result:
        """The run with the largest gap."""
        return max(self.results, key=lambda result: result.certificate.gap)

    @property
    def achieved(self) -> bool:
        """Whether epsilon is proven for every problem."""
        return all(certificate.achieved for certificate in self.certificates)

    @property
    def coef(self) -> NDArray[np.float64]:
        """The weights, one row per problem or per class."""
        weights = [certificate.weights_copy() for certificate in self.certificates]
        return np.atleast_2d(weights[0]) if len(weights) == 1 else np.vstack(weights)

    @property
    def intercept(self) -> NDArray[np.float64]:
        """The intercepts."""
        return np.hstack([certificate.intercept for certificate in self.certificates])

    @property
    def updates(self) -> int:
        """The updates of all runs."""
        return sum(result.updates for result in self.results)

    @property
    def passes(self) -> int:
        """The most passes of any run."""
        return max(result.passes for result in self.results)

    @property
    def history(self) -> list[Check]:
        """The checks of all runs."""
        return [check for result in self.results for check in result.history]

    @property
    def shortfall(self) -> str | None:
        """What a user should know about the runs that did not end as asked."""
        if self.achieved:
            return None
        short = [result for result in self.results if result.shortfall()]
        if not short:
            return None
        most = max(short, key=lambda result: result.certificate.gap)
        label = label_text(most.certificate.problem.positive)
        prefix = f"{len(short)} of {len(self.results)} classes fell short, class {label} most: "
        several = len(self.results) > 1
        return (prefix if several else "") + str(most.shortfall(time_shared=several))


@dataclass(frozen=True)
class Job:
    """One problem to be trained on, over the rows that have a weight."""

    problem: Problem
    sample_weight: Weights | None
    index: int  # of the problem in its fit: the order of presentation depends on it


def fit(
    matrix: _core.Matrix,
    y: NDArray[Any],
    sample_weight: Weights | None,
    problems: Sequence[Problem],
    request: Request,
    train: Train,
    rows: _core.PackedRows | None = None,
) -> Fit:
    """Train on every problem; after Ctrl-C the rest get a first slice. `rows` are those of the matrix, if packed."""
    rows, checkpoint = rows or pack(matrix, request), request.checkpoint
    if checkpoint is not None:
        checkpoint.begin(rows, y, sample_weight, request.seed)
    jobs = [Job(problem, sample_weight, index) for index, problem in enumerate(problems)]
    return Fit(run_jobs(matrix, rows, y, jobs, request, train))


def run_jobs(
    matrix: _core.Matrix,
    rows: _core.PackedRows,
    y: NDArray[Any],
    jobs: Sequence[Job],
    request: Request,
    train: Train,
    later: int = 0,
) -> list[Result]:
    """Train on every job; the time left is shared evenly among the jobs left and as many `later` ones.

    Threads are for jobs first. Where there are at least twice as many threads as jobs, each job has several.
    """
    if matrix.n_columns > MANY_FEATURES:
        require_memory(f"training with {matrix.n_columns} features", BYTES_PER_FEATURE * matrix.n_columns)

    at_once = min(request.n_jobs, len(jobs))
    n_threads = request.n_jobs // max(1, at_once)

    def run(place: int, request: Request) -> Result:
        job = jobs[place]
        problem = PackedProblem(matrix, rows, job.problem, y, job.sample_weight, job.index, n_threads)
        if request.max_time is None:
            return train(problem, request)
        now, left = time.perf_counter(), len(jobs) - place + later
        share = (request.started + request.max_time - now) * min(1.0, request.n_jobs / left)
        return train(problem, replace(request, deadline=now + share))

    checkpoint = request.checkpoint
    if checkpoint is None and at_once <= 1:
        return [run(place, request) for place in range(len(jobs))]
    # In threads Ctrl-C ends runs between two slices, where a snapshot can be taken, and nowhere else.
    try:
        return run_in_threads(run, len(jobs), request)
    except CheckpointError:
        checkpoint = None  # what is there belongs to another fit
        raise
    finally:
        if checkpoint is not None:
            checkpoint.write()
