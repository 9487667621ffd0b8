"""A fit that survives its process: snapshots of its runs in one file, from which another process continues.

A run is deterministic, so one that continues from a snapshot ends with the same model as one that was never disturbed,
bit for bit. The file holds plain arrays and JSON, like a model file. It belongs to one fit: the data, the parameters
and the version of dynmargin have to be those that it was written with.

A fit has a job for each problem. A job is trained in one stage or several (PFM without ``beta`` runs PDM first), and
every call of `training.run.train` is a stage.
"""

import hashlib
import json
import logging
import math
import os
import struct
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..certificate.certify import certify
from ..certificate.counts import SparseCounts
from ..data.archives import contents
from ..data.atomic import STDOUT, atomic_write, require_writable
from ..data.dataset import DataError
from ..data.npz import read_arrays, write_arrays
from ..problem.packed import PackedProblem
from ..problem.problems import Weights
from .result import UNFINISHED, Check, Result, StopReason
from .trainer import Trainer

_log = logging.getLogger("dynmargin")

FORMAT, VERSION = "dynmargin checkpoint", 1
COST = 0.02  # of the time of a fit that snapshots may take

Arrays = dict[str, NDArray[Any]]
_FIGURES = ("stop_reason", "passes", "updates", "beta", "dual_scale", "algorithm", "newton")
# What damaged files end in.
_MISFITS = (KeyError, ValueError, TypeError, IndexError, OverflowError, RecursionError)


class Resumable(Protocol):
    """A run, as far as snapshots go."""

    trainer: Trainer

    def numbers(self) -> dict[str, Any]:
        """Return what a snapshot has to hold beside the trainer's own state."""

    def restore(self, numbers: dict[str, Any]) -> None:
        """Continue from a snapshot."""


class Keeper(Protocol):
    """Where a run begins, and where its state goes."""

    def begin(self, run: Any) -> "Result | None":
        """Continue a run where it was left; return its result if it was over."""

    def keep(self, run: Any) -> None:
        """Take a snapshot now and then."""

    def take(self, run: Any, result: "Result | None" = None) -> None:
        """Take a snapshot at the end."""


class CheckpointError(ValueError):
    """A checkpoint that cannot be continued from: it is damaged, or belongs to another fit.

    Examples
    --------
    >>> import tempfile
    >>> from dynmargin import CheckpointError, PDMClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]], [0, 1]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fitted = PDMClassifier(checkpoint=f"{folder}/fit").fit(X, y)
    ...     try:
    ...         fitted.set_params(C=2.0).fit(X, y)
    ...     except CheckpointError:
    ...         print("it belongs to another C")
    it belongs to another C
    """


@dataclass
class Stage:
    """A run as it was at some moment.

    Attributes
    ----------
    state : array of uint8
        The trainer's part of it.
    numbers : dict
        The part of the loop around it.
    result : Result or None
        What came out, once the run is over.
    """

    state: NDArray[np.uint8]
    numbers: dict[str, Any]
    result: Result | None = None


@dataclass
class Progress:
    """What is known of one problem: the result, or the stages so far."""

    stages: list[Stage] = field(default_factory=list)
    result: Result | None = None


class Checkpoint:
    """The file of a fit, and what is in it.

    Parameters
    ----------
    path : path
        The file.
    every : float
        Seconds between two files; more where they would take over 2 % of the time.
    parameters : mapping
        What decides the result of the fit, beside the data and the seed.
    warn : callable
        Who is told when the file cannot be written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        every: float,
        parameters: Mapping[str, Any],
        warn: Callable[[str], None] = _log.warning,
    ) -> None:
        if os.fspath(path) == STDOUT:
            raise ValueError("a checkpoint is read and written again and again; name a file")
        require_writable(path)
        self.path = path
        self.every = every
        self.warn = warn
        self.due = time.perf_counter() + every  # for all runs: they share the file and what it costs
        self.spent = 0.0  # on snapshots since the last file
        self.running: set[Snapshots] = set()
        self.awaited: set[Snapshots] = set()  # whose snapshots the next file waits for
        self.seed: int | None = None  # of the fit that the file belongs to
        self.parameters = {name: _written(value) for name, value in parameters.items()}
        self.parameters["version of dynmargin"] = version("dynmargin")
        self.parameters["machine"] = f"{sys.byteorder} endian, {struct.calcsize('P')} bytes"  # snapshots are its memory
        self.data: str | None = None
        self.jobs: dict[str, Progress] = {}
        self.stored: Arrays = {}
        self.lock = threading.Lock()
        if os.path.exists(path):
            self._read()

    def begin(self, rows: _core.PackedRows, y: NDArray[Any], sample_weight: Weights | None, seed: int) -> None:
        """Make sure that the file belongs to this data and this seed, if there is one."""
        everywhere = _core.Problem(np.ones(len(y), dtype=np.int8), 0.0, 1.0, 1.0)
        y = y.astype(np.int64) if y.dtype.kind in "iu" else y
        digest = hashlib.sha256(repr((everywhere.digest(rows), rows.n_matrix_columns, y.dtype.str)).encode())
        digest.update(repr(y.tolist()).encode() if y.dtype.kind == "O" else np.ascontiguousarray(y).tobytes())
        digest.update(b"" if sample_weight is None else np.ascontiguousarray(sample_weight).tobytes())
        self.claim(digest.hexdigest(), seed)

    def claim(self, data: str, seed: int) -> None:
        """Make sure that the file belongs to the data with this digest and to this seed, if there is one."""
        if self.data not in (None, data):
            raise self._other("other data: rows, labels or sample_weight differ")
        if self.seed not in (None, seed):
            raise self._other("another seed")
        self.data, self.seed = data, seed

    def around(self, train: Callable[..., Result]) -> Callable[..., Result]:
        """Make the training on a problem continue from what the file has of it."""

        def kept(problem: PackedProblem, request: Any) -> Result:
            snapshots = Snapshots(self, problem, request.epsilon)
            if snapshots.job.result is not None:
                return snapshots.job.result
            with self.lock:
                self.running.add(snapshots)
            try:
                result = train(problem, replace(request, snapshots=snapshots))
                if result.stop_reason not in UNFINISHED:
                    with self.lock:
                        snapshots.job.stages, snapshots.job.result = [], result
            finally:
                with self.lock:
                    self.running.discard(snapshots)
            self.arrived(snapshots)
            return result

        return kept

    def progress(self, problem: PackedProblem, epsilon: float) -> Progress:
        """Return what is known of a problem."""
        stated = problem.problem
        identity = (problem.index, problem.digests, stated.numbers(), [_written(label) for label in stated.labels])
        key = hashlib.sha256(repr(identity).encode()).hexdigest()
        with self.lock:
            names = [name for name in self.stored if name.startswith(key)]
            job = self.jobs.setdefault(key, Progress())
            try:
                _restore(job, {name.removeprefix(f"{key}/"): self.stored[name] for name in names}, problem, epsilon)
            except _MISFITS as error:
                raise self.damaged() from error
            for name in names:
                del self.stored[name]
        return job

    def wants(self, snapshots: "Snapshots") -> bool:
        """Whether the next file waits for a snapshot of this run; when one is due, it waits for all that run."""
        with self.lock:
            if time.perf_counter() >= self.due:
                self.due, self.awaited = math.inf, set(self.running)
            return snapshots in self.awaited

    def arrived(self, snapshots: "Snapshots") -> None:
        """Take note of a snapshot, or of the end of a run; write the file if that was the last one awaited."""
        with self.lock:
            last = self.awaited == {snapshots} or (not self.awaited and time.perf_counter() >= self.due)
            self.awaited.discard(snapshots)
        if last:
            self.write()

    def write(self) -> None:
        """Write the file; if that fails, the one before stays as it is and the training goes on."""
        began = time.perf_counter()
        self._write()
        with self.lock:
            now = time.perf_counter()
            self.due = now + max(self.every, (now - began + self.spent) / COST)
            self.spent = 0.0

    def _write(self) -> None:
        with self.lock:
            arrays: Arrays = dict(self.stored)  # of jobs that have not begun again yet
            for key, job in self.jobs.items():
                arrays |= {f"{key}/{name}": array for name, array in _arrays_of(job).items()}
            if not arrays:  # nothing has begun: there is nothing to continue from
                return
            header = {"parameters": self.parameters, "data": self.data, "seed": self.seed}
            try:
                with atomic_write(self.path) as file:
                    write_arrays(
                        file,
                        {
                            "format": np.array(FORMAT),
                            "version": np.array(VERSION),
                            "header": _text(header),
                            **{f"jobs/{name}": array for name, array in arrays.items()},
                        },
                    )
            except (OSError, MemoryError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                before = "; the one before is intact" if os.path.exists(self.path) else ""
                self.warn(
                    f"the checkpoint {os.fspath(self.path)} could not be written ({reason}); training goes on{before}"
                )

    def _read(self) -> None:
        try:
            arrays = read_arrays(contents(self.path), os.fspath(self.path), lambda _: True)
            known, number = arrays["format"].item() == FORMAT, int(arrays["version"])
            header = json.loads(arrays["header"].item()) if known and number <= VERSION else {}
            parameters = dict(header.get("parameters", {}))
            self.data, self.seed = header.get("data"), header.get("seed")
        except DataError as error:  # also of a file that may not be read, or takes too much memory
            raise CheckpointError(
                f"{error}, so training cannot continue from it. Remove it, or name another file"
            ) from error
        except _MISFITS as error:
            raise self.damaged() from error
        if not (known and isinstance(self.data, str | None) and isinstance(self.seed, int | None)):
            raise self.damaged()
        if number > VERSION:
            raise CheckpointError(f"{os.fspath(self.path)} was written by a newer dynmargin; upgrade dynmargin")
        for name in sorted(parameters.keys() | self.parameters.keys()):
            then, now = parameters.get(name), self.parameters.get(name)
            if then != now:
                between = " " if name.startswith("-") else "="  # an option of the command line, or a parameter
                raise self._other(f"{name}{between}{then}, not {now}")
        self.stored = {name.removeprefix("jobs/"): arrays[name] for name in arrays if name.startswith("jobs/")}

    def _other(self, difference: str) -> CheckpointError:
        return CheckpointError(
            f"the checkpoint {os.fspath(self.path)} was written for {difference}. Remove it to begin anew, or name "
            "another file"
        )

    def damaged(self) -> CheckpointError:
        """Return the error that says so."""
        return CheckpointError(
            f"{os.fspath(self.path)} is not a checkpoint, or it is damaged. Remove it to begin anew, or name another "
            "file"
        )


class Snapshots:
    """The stages of one job."""

    def __init__(self, checkpoint: Checkpoint, problem: PackedProblem, epsilon: float) -> None:
        self.checkpoint = checkpoint
        self.job = checkpoint.progress(problem, epsilon)
        self.number = -1  # of the stage that is running

    def begin(self, run: Resumable) -> Result | None:
        """Begin the next stage where it was left; return its result if it was over."""
        self.number += 1
        if self.number >= len(self.job.stages):
            return None
        stage = self.job.stages[self.number]
        try:
            run.trainer.restore(stage.state)
            run.restore(stage.numbers)
        except _MISFITS as error:
            raise self.checkpoint.damaged() from error
        return stage.result

    def keep(self, run: Resumable) -> None:
        """Take a snapshot, if the next file waits for it."""
        if self.checkpoint.wants(self):
            self.take(run)
            self.checkpoint.arrived(self)

    def take(self, run: Resumable, result: Result | None = None) -> None:
        """Take a snapshot; the next file that is written has it."""
        began = time.perf_counter()
        stage = Stage(run.trainer.snapshot(), run.numbers(), result)
        with self.checkpoint.lock:
            self.job.stages[self.number :] = [stage]
            self.checkpoint.spent += time.perf_counter() - began


def _written(value: Any) -> str:
    """Write a parameter or a label, numbers of the same value in the same way."""
    value = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
    if isinstance(value, Mapping):
        return repr(sorted((_written(key), _written(item)) for key, item in value.items()))
    return repr(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else repr(value)


def _text(value: Any) -> NDArray[np.str_]:
    return np.array(json.dumps(value))


def _arrays_of(job: Progress) -> Arrays:
    """Return a job as plain arrays."""
    if job.result is not None:
        return _arrays_of_result(job.result, "result/")
    arrays: Arrays = {}
    for i, stage in enumerate(job.stages):
        arrays |= {f"{i}/state": stage.state, f"{i}/numbers": _text(stage.numbers)}
        if stage.result is not None:
            arrays |= _arrays_of_result(stage.result, f"{i}/result/")
    return arrays


def _arrays_of_result(result: Result, prefix: str) -> Arrays:
    certificate = result.certificate
    figures = {name: getattr(result, name) for name in _FIGURES}
    history = [list(check) for check in result.history]
    return {
        f"{prefix}figures": _text([figures, certificate.directional_margin, history]),
        f"{prefix}weights": certificate.weights,
        f"{prefix}intercept": np.asarray(certificate.intercept),
        f"{prefix}count_rows": certificate.counts.indices,
        f"{prefix}count_values": certificate.counts.data,
    }


def _restore(job: Progress, arrays: Arrays, problem: PackedProblem, epsilon: float) -> None:
    """Bring back what a file holds of a job."""
    if "result/figures" in arrays:
        job.result = _result(arrays, "result/", problem, epsilon)
        return
    while (prefix := f"{len(job.stages)}/") + "state" in arrays:
        over = f"{prefix}result/figures" in arrays
        result = _result(arrays, f"{prefix}result/", problem, epsilon) if over else None
        job.stages.append(Stage(arrays[f"{prefix}state"], json.loads(arrays[f"{prefix}numbers"].item()), result))


def _result(arrays: Arrays, prefix: str, problem: PackedProblem, epsilon: float) -> Result:
    """Bring back a result; its bounds are proven again, whoever wrote the file."""
    figures, directional_margin, history = json.loads(arrays[f"{prefix}figures"].item())
    n_rows, stated, intercept = problem.matrix.n_rows, problem.problem, arrays[f"{prefix}intercept"]
    counts = SparseCounts(arrays[f"{prefix}count_rows"], arrays[f"{prefix}count_values"], stated.counts_shape(n_rows))
    weights = arrays[f"{prefix}weights"]
    certificate = certify(
        problem.provable,
        stated,
        problem.core,
        problem.digests,
        problem.unpack(problem.pack(weights)),
        intercept if stated.joint else float(intercept),
        counts,
        epsilon=epsilon,
        directional_margin=directional_margin,
    )
    reason = figures["stop_reason"]
    if reason not in get_args(StopReason) or (reason == "certificate" and not certificate.achieved):
        raise ValueError("a stop reason that is not known, or not true")
    return Result(certificate, history=[Check(*check) for check in history], R=problem.R, **figures)
