"""Training over shards until predictions are settled."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..certificate.ball import Settled
from ..problem.problems import BinaryProblem
from ..training.fit import Fit, Train
from ..training.request import Request
from ..training.settling import Each, SettledFit, fit_until_settled
from .fit import Data, Runs, ShardedFit, fit, unchanged
from .shard import Shard


@dataclass(frozen=True)
class SettledShardedFit(SettledFit, ShardedFit):
    """A fit over shards that was to settle rows."""


def each_shard(data: Data) -> Each:
    """Return how a function is applied to all rows that take part, where they are."""
    return lambda function: np.concatenate(data.shards.map(Shard.each, function))


def settled_share(data: Data, fitted: Fit) -> float:
    """Return which share of the rows that take part is settled."""
    known = Settled(fitted.certificates, fitted.coef, fitted.intercept)
    return float(each_shard(data)(known.of).mean())


def fit_settled(
    data: Data,
    problems: Sequence[BinaryProblem],
    request: Request,
    share: float,
    settle_on: Each | None = None,
    around: Callable[[Any], Any] = unchanged,
    runs: Runs | None = None,
) -> SettledShardedFit:
    """Train until that share of the rows is settled, or of the rows that `settle_on` applies functions to."""
    runs = runs or Runs()

    def to_gap(asked: Request, train: Train) -> Fit:
        return fit(data, problems, asked, lambda _: train, runs)

    each, train = settle_on or each_shard(data), around(runs.train)
    found = fit_until_settled(to_gap, request, train, each, share, others=settle_on is not None)
    sides = tuple(runs.sides[index] for index in range(len(problems)))
    return SettledShardedFit(found.results, sides, found.asked, found.share)
