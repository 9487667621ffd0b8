"""A fit over rows on a disk: how much memory it takes, the shards, and which algorithm trains."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _core
from ..certificate.bounds import outward
from ..certificate.certificate import Certificate
from ..certificate.certify import certificate_from
from ..certificate.counts import SparseCounts
from ..problem.problems import BinaryProblem, Weights, require_two_classes
from ..problem.statement import counted
from ..problem.wording import wording
from ..training.request import Request
from ..training.result import Result
from ..training.run import Refinement, Run, complete
from ..training.settling import Each
from .descent import DiskDescent
from .fit import Data, Runs, ShardedFit, ShardedRun, fit, survey, unchanged
from .newton import ShardedNewton
from .pool import PoolSize
from .problem import ShardedProblem
from .room import Room, exact_fits
from .rows_on_disk import RowsOnDisk
from .settling import fit_settled

ABLE = ("auto", "newton", "dcd")  # algorithms


def data_of(rows: RowsOnDisk, sample_weight: Weights | None, room: int) -> Data:
    """Say what there is; the header knows it, unless rows have weights."""
    shards = rows.shards(sample_weight, room)
    if sample_weight is not None:
        return survey(shards)
    folder, classes = rows.folder, rows.classes
    if len(rows) == 0:
        raise ValueError("there are no rows")
    require_two_classes(classes)
    assert folder.labels is not None
    weights = folder.label_rows[np.argsort(folder.labels)].astype(np.float64)
    nonzeros = sum(block.nonzeros for block in folder.blocks)
    return Data(shards, folder.lengths, rows.shape[1], classes, weights, nonzeros)


def fit_on_disk(
    rows: RowsOnDisk,
    sample_weight: Weights | None,
    state: Callable[[Data], Sequence[BinaryProblem]],
    request: Request,
    *,
    algorithm: str = "auto",
    around: Callable[[Any], Any] = unchanged,
    settle: float | None = None,
    settle_on: Each | None = None,
) -> tuple[Data, ShardedFit]:
    """Train on the problems that `state` makes of the data; what would not fit is refused before it begins.

    With `settle`, until that share of the rows is settled, or of the rows that `settle_on` applies functions to.
    """
    folder, words = rows.folder, wording()
    if algorithm not in ABLE:
        *others, last = map(words.text, ABLE)
        able = words.setting("algorithm", f"{', '.join(others)} or {last}")
        raise ValueError(f"rows on a disk are trained on with {able}, not with {words.text(algorithm)}")
    newton = algorithm == "newton" or (algorithm == "auto" and exact_fits(rows.memory_limit, rows.shape[1]))
    exact = newton and rows.shape[1] <= _core.MOST_HESSIAN_COLUMNS
    sizes, lengths = rows.sizes, folder.lengths
    how = {"exact": exact, "gradients": newton and not exact}
    n_problems = 1 if len(rows.classes) == 2 else len(rows.classes)
    room = Room.of(rows.memory_limit, sizes, lengths, rows.shape[1], **how, scaling=rows.at_work, n_problems=n_problems)
    pool = PoolSize.of(0 if newton else room.for_pool, rows, weighted=sample_weight is not None)
    data = data_of(rows, sample_weight, min(room.for_rows, room.for_pool - pool.nbytes))
    runs, problems = NewtonOnDisk() if newton else DescentOnDisk(pool), state(data)
    if problems[0].hard_margin or problems[0].loss != "squared_hinge":
        able = f"{words.setting('loss', words.text('squared_hinge'))} and a finite {words.name('C')}"
        raise ValueError(
            f"rows on a disk are trained on with {able} only; the hinge and the hard margin need rows that fit into "
            "memory"
        )
    if settle is None:
        return data, fit(data, problems, request, around, runs)
    return data, fit_settled(data, problems, request, settle, settle_on, around, runs)


class RunOnDisk(ShardedRun):
    """A run whose shards make room for the counts when it is proven."""

    def certify(self, bounds: Any = None) -> Certificate:
        """Prove what the last point is worth."""
        self.problem.shards.release()
        return super().certify(bounds)


class NewtonOnDisk(Runs):
    """Newton's method, one pass over the disk per point."""

    def train(self, problem: ShardedProblem, request: Request) -> Result:
        """Train on one problem."""
        run = RunOnDisk(problem, ShardedNewton(problem, request.seed), request, Refinement.none())  # type: ignore[arg-type]
        result = complete(run)
        self.sides[problem.index] = run.sides
        how = "exact" if run.trainer.exact else "by conjugate gradients"
        return replace(result, algorithm=f"newton: {how}, {_passes(problem)}", newton=True)


class DescentRun(Run):
    """A run of coordinate descent; what a check has proven is the certificate."""

    problem: Any  # a ShardedProblem
    trainer: Any  # a DiskDescent

    def certify(self, bounds: Any = None) -> Certificate:
        """Make the certificate of the last check; if there is none for this state, check it."""
        trainer, problem = self.trainer, self.problem
        trainer.check()
        stated = problem.problem
        weights, intercept = stated.split(trainer.w.copy())
        weights = np.ascontiguousarray(weights)
        rows, counts = trainer.all_counts()
        proof = outward(trainer.proof, stated, weights.shape, confirming=False)
        return certificate_from(
            proof,
            stated,
            problem.digests,
            weights,
            intercept,
            SparseCounts(rows, counts, (sum(problem.lengths),)),
            epsilon=self.request.epsilon,
            directional_margin=proof[0],
        )


class DescentOnDisk(Runs):
    """Dual coordinate descent, two visits per row and pass over the disk."""

    def __init__(self, pool: PoolSize) -> None:
        super().__init__()
        self.pool = pool

    def train(self, problem: ShardedProblem, request: Request) -> Result:
        """Train on one problem."""
        shards: Any = problem.shards
        trainer = DiskDescent(problem, shards, request.seed, request.epsilon, self.pool)
        run = DescentRun(problem, trainer, request, Refinement.none())  # type: ignore[arg-type]
        result = complete(run)
        self.sides[problem.index] = trainer.sides[result.certificate.counts.indices]
        return replace(result, algorithm=f"dcd: {_passes(problem)}")


def _passes(problem: ShardedProblem) -> str:
    shards: Any = problem.shards
    passes, blocks = counted(shards.passes, "pass", "passes"), counted(len(problem.lengths), "block")
    return f"{passes} over {blocks} on the disk"
