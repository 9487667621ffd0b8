"""Training on folds over one packed copy: a fold is the same rows with no weight on those held out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .one_vs_rest import binary_problems, share_of_time
from .outcome import Outcome
from .side_by_side import run_each
from .task import Task
from .training import Plan

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class Fold:
    """What one split trains on."""

    classes: NDArray[Any]  # that have a row with a weight
    class_weights: Weights
    weight: Weights  # one a row, 0 for those held out; a row drawn twice counts twice

    @property
    def n_problems(self) -> int:
        """One for two classes, one a class for more."""
        return 1 if len(self.classes) == 2 else len(self.classes)


def train_folds(
    matrix: _core.Matrix,
    rows: _core.PackedRows,
    y: NDArray[Any],
    folds: list[Fold],
    Cs: Weights,
    rho: float,
    plan: Plan,
    max_time: float | None,
    train: Callable[[Task, Plan], Outcome],
    n_jobs: int,
) -> list[list[list[Outcome]]]:
    """Give the outcomes by fold, by C and by class.

    `max_time` is for all and the final fit on all rows together. Large Cs, which take longest, come first.
    """
    jobs = [(f, c, k) for c in reversed(range(len(Cs))) for f, fold in enumerate(folds) for k in range(fold.n_problems)]

    def train_one(index: int, plan: Plan) -> Outcome:
        f, c, k = jobs[index]
        fold = folds[f]
        problem = binary_problems(fold.classes, float(Cs[c]), fold.class_weights, rho)[k]
        still_to_do = len(jobs) - index + folds[0].n_problems
        deadline = share_of_time(plan.started, max_time, still_to_do, n_jobs)
        return train(Task(matrix, rows, problem, y, fold.weight, k), replace(plan, deadline=deadline))

    found = dict(zip(jobs, run_each(train_one, len(jobs), plan, n_jobs), strict=True))
    return [[[found[f, c, k] for k in range(fold.n_problems)] for c in range(len(Cs))] for f, fold in enumerate(folds)]
