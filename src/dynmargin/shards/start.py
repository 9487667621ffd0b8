"""Where a run begins: the solution on a sample of all rows, or the mean of what every shard finds by itself."""

import numpy as np

from .. import _core
from ..algorithms.newton import SUBSET_STEPS
from ..problem.matrix import as_matrix
from ..problem.problems import BinaryProblem
from .path import Vector
from .point import zeros
from .problem import ShardedProblem
from .shard import Shard
from .some_rows import SomeRows, join

LARGEST_SHARE = 0.25  # of all rows
# Rows per coordinate. What the sample's solution is short of the best falls with that number, whatever the number of
# all rows. With too few it fits them too well, and the first steps on all rows are short ones. (Rounds to a certified
# 1 % from a sample of 17, of 41 and of 65 rows per coordinate, and from zero: Adult 6 to 9, -, 4 and 6; Web 11, 9, -
# and 8.)
FEWEST_ROWS, MOST_ROWS = 50, 500
MOST_ENTRIES = 5e6  # non-zeros of the sample: 60 MB that are sent to one process


def start_on_sample(problem: ShardedProblem, price: float, seed: int) -> Vector:
    """Return the solution on a sample where there are many more rows than columns, else zero."""
    w = zeros(problem)
    affordable = MOST_ENTRIES / max(1, problem.nonzeros)
    size = min(int(min(LARGEST_SHARE, affordable) * problem.n_rows), MOST_ROWS * len(w))
    if size < FEWEST_ROWS * len(w):
        return w
    n_shards = len(problem.lengths)
    seeds = [(seed, problem.index, i) for i in range(n_shards)]
    parts = problem.shards.map_each(_sample, seeds, problem.problem, size / problem.n_rows)
    matrix, sample = join(parts, problem.n_features)
    rows, core = _core.pack(as_matrix(matrix)), problem.problem.to_core(sample.sides, sample.weights)
    del matrix, sample
    members = np.arange(rows.n_rows, dtype=np.uint32)
    packed = np.zeros(rows.n_columns + 1)
    point = _core.Newton(rows, core, members, packed, scale=price * problem.n_rows / max(1, len(members)))
    for _ in range(SUBSET_STEPS):
        point.step()
    found = point.w()
    places = np.arange(problem.n_features) if rows.columns is None else rows.columns.astype(np.int64)
    w[places], w[-1] = found[:-1], found[-1]
    return w


# Visits per row that every shard spends on its own solution. (300,000 texts of 47,236 words, two shards; seconds of the
# slower worker to a certified 1 %: 1.97 without, 1.73 with 4 visits, 1.51 with 8, 2.02 with 12.)
OWN_VISITS = 8.0


def start_on_shards(problem: ShardedProblem, seed: int) -> Vector:
    """Return the mean of what every shard takes for the solution, where shards are large, else zero.

    To every shard all others are copies of itself: slacks cost as many times as much as there are shards. The mean is
    a good start where rows are spread evenly over the shards.
    """
    n_shards, w = len(problem.lengths), zeros(problem)
    if problem.n_rows < problem.n_features * n_shards:
        return w
    seeds = [(seed, problem.index, i) for i in range(n_shards)]
    w = problem.shards.sum_each(_own_solution, seeds, problem.problem, n_shards) / n_shards
    return w if np.isfinite(w).all() else zeros(problem)


def _own_solution(shard: Shard, seed: tuple[int, ...], problem: BinaryProblem, n_shards: int) -> Vector:
    return shard.own_solution(problem, seed, n_shards, OWN_VISITS)


def _sample(shard: Shard, seed: tuple[int, ...], problem: BinaryProblem, share: float) -> SomeRows:
    own = shard.of(problem)
    return own.sample(seed, round(share * len(own.members)))
