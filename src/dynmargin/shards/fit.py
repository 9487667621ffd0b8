"""A fit over shards: what there is, the problems, one run after the other."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..certificate.certificate import Certificate
from ..problem.problems import BinaryProblem, label_text, require_two_classes
from ..problem.statement import counted, in_percent
from ..training.checkpoint import CheckpointError
from ..training.fit import Fit
from ..training.request import Request
from ..training.result import Result
from ..training.run import Refinement, Run, complete
from .audit import Audit
from .cost import alone_is_faster
from .executor import Executor
from .newton import ShardedNewton
from .path import Vector
from .point import Point, zeros
from .problem import ShardedProblem
from .shard import Shard, Survey
from .shipping import Shipping, ShippingRun

if TYPE_CHECKING:
    from ..problem.packed import PackedProblem
    from ..training.trainer import Trainer


@dataclass(frozen=True)
class Data:
    """What all shards together hold.

    Attributes
    ----------
    shards : Executor
        Where they are.
    lengths : list of int
        How many rows each has.
    n_features : int
        The number of columns.
    classes : array
        The labels, in order.
    weights : array of float64
        What the rows of each class weigh together.
    nonzeros : int
        How many values are not zero.
    """

    shards: Executor
    lengths: list[int]
    n_features: int
    classes: NDArray[Any]
    weights: Vector
    nonzeros: int

    def faster_alone(self, workers: int) -> bool:
        """Whether one machine that can hold the rows is expected to be faster than so many workers."""
        exact = self.n_features <= _core.MOST_HESSIAN_COLUMNS
        return alone_is_faster(self.nonzeros, max(1, workers), exact=exact)


def survey(shards: Executor) -> Data:
    """Ask the shards what there is; refuse what cannot be trained on."""
    parts: list[Survey] = shards.map(Shard.survey)
    columns = {part.n_features for part in parts}
    if len(columns) > 1:
        raise ValueError(f"partitions have different numbers of features: {sorted(columns)}")
    if len({part.weighted for part in parts}) > 1:
        raise ValueError("some partitions have sample weights and some have none")
    held = [part for part in parts if part.n_rows > 0]
    if not held:
        raise ValueError("there are no rows")
    if len({_is_text(part.classes) for part in held}) > 1:  # numpy would make text of the numbers
        raise ValueError("the labels are text in some partitions and numbers in others")
    classes = np.unique(np.concatenate([part.classes for part in held]))
    require_two_classes(classes)
    weights, rows = np.zeros(len(classes)), np.zeros(len(classes))
    for part in held:
        places = np.searchsorted(classes, part.classes)
        weights[places] += part.weights
        rows[places] += part.rows
    for label in classes[weights == 0]:
        raise ValueError(f"all rows of class {label_text(label)} have weight zero; drop the class, or give it weight")
    nonzeros = sum(part.nonzeros for part in parts)
    return Data(shards, [part.n_rows for part in parts], columns.pop(), classes, weights, nonzeros)


def _is_text(classes: NDArray[Any]) -> bool:
    return classes.dtype.kind in "US" or (classes.dtype.kind == "O" and isinstance(classes[0], str))


class ShardedRun(Run):
    """A run over shards: it is proven where the rows are."""

    problem: Any  # a ShardedProblem
    trainer: Any

    def certify(self, bounds: _core.Bounds | None = None) -> Certificate:
        """Prove what the last point is worth."""
        point = self.trainer.point or Point(self.problem, zeros(self.problem))  # interrupted before there was any
        audit = Audit(self.problem, point.path, point.sums.total, point.w, epsilon=self.request.epsilon)
        self.sides = audit.sides
        return replace(audit.certificate, directional_margin=point.true_margin)


@dataclass(frozen=True)
class ShardedFit(Fit):
    """A fit, and the sides of the rows that have a count, by problem."""

    sides: tuple[NDArray[np.int8], ...] = ()


def support_of(
    certificates: Sequence[Certificate], sides: Sequence[NDArray[np.int8]]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows with a count, and their signed counts, scaled as in `MarginClassifier`."""
    counts = [certificate.counts for certificate in certificates]
    support = counts[0].indices if len(counts) == 1 else np.unique(np.concatenate([one.indices for one in counts]))
    dual_coef = np.zeros((len(counts), len(support)))
    for row, certificate, one, own_sides in zip(dual_coef, certificates, counts, sides, strict=True):
        bound = certificate.upper_bound
        scale = 1 / (bound * bound * one.data.sum()) if 0 < bound < np.inf else 0.0
        row[np.searchsorted(support, one.indices)] = scale * (own_sides * one.data)
    return support, dual_coef


def unchanged(train: Any) -> Any:
    """Return the training as it is: nobody watches, and there is no checkpoint."""
    return train


class Runs:
    """The runs of a fit, one per problem."""

    def __init__(self) -> None:
        self.sides: dict[int, NDArray[np.int8]] = {}

    def train(self, problem: ShardedProblem, request: Request) -> Result:
        """Train on one problem: by Newton's method, where slacks are squared, else on the rows that decide."""
        if problem.hard_margin or problem.problem.loss != "squared_hinge":
            return self._train_here(problem, request)
        run = ShardedRun(
            cast("PackedProblem", problem), ShardedNewton(problem, request.seed), request, Refinement.none()
        )
        result = complete(run)
        self.sides[problem.index] = run.sides
        how = "exact" if run.trainer.exact else "by conjugate gradients"
        parts = counted(len(problem.lengths), "partition")
        rounds = counted(run.trainer.full_passes, "round")
        return replace(result, algorithm=f"newton: {how}, {rounds} over {parts}", newton=True)

    def _train_here(self, problem: ShardedProblem, request: Request) -> Result:
        trainer = Shipping(problem, request)
        run = ShippingRun(cast("PackedProblem", problem), cast("Trainer", trainer), request, Refinement.none())
        result = complete(run)
        self.sides[problem.index] = trainer.counted[2]
        share, parts = trainer.shipped / problem.n_rows, counted(len(problem.lengths), "partition")
        how = f"{in_percent(share, 2)} of the rows in one place, {counted(trainer.full_passes, 'round')} over {parts}"
        return replace(result, algorithm=f"dcd: {how}")


def fit(
    data: Data,
    problems: Sequence[BinaryProblem],
    request: Request,
    around: Callable[[Any], Any] = unchanged,
    runs: Runs | None = None,
) -> ShardedFit:
    """Train on every problem, one after the other; the time left is shared evenly among those left.

    `around` makes the training on a problem a task that is watched, or continues from a checkpoint; `runs` trains.
    """
    runs, checkpoint = runs or Runs(), request.checkpoint
    train, results = around(runs.train), []
    try:
        for index, stated in enumerate(problems):
            problem = ShardedProblem(data.shards, stated, data.lengths, data.n_features, index)
            if checkpoint is not None and index == 0:
                checkpoint.claim(repr((problem.digests, data.lengths, data.n_features)), request.seed)
            results.append(train(problem, _with_deadline(request, len(problems) - index)))
            if index not in runs.sides:  # a result that was read from a checkpoint
                runs.sides[index] = problem.sides_of(results[-1].certificate.counts.indices)
            data.shards.map(Shard.forget, stated)
    except CheckpointError:
        checkpoint = None  # what is there belongs to another fit
        raise
    finally:
        if checkpoint is not None:
            checkpoint.write()
    return ShardedFit(results, tuple(runs.sides[index] for index in range(len(problems))))


def _with_deadline(request: Request, left: int) -> Request:
    """Give a run its share of the time, when there are so many left."""
    if request.max_time is None:
        return request
    now = time.perf_counter()
    return replace(request, deadline=now + (request.started + request.max_time - now) / left)
