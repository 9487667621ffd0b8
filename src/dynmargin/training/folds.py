"""Cross-validation over one packed copy of the rows: a fold is the same rows, without weight on those held out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.problems import Problem, Weights
from ..problem.statement import counted
from ..problem.wording import wording
from .fit import Fit, Job, Train, run_jobs
from .request import Request

StateProblems = Callable[["Fold", float], Sequence[Problem]]


@dataclass(frozen=True)
class Fold:
    """What one split trains on.

    Attributes
    ----------
    classes : array
        The labels of the rows with a weight.
    weight : array
        One per row, 0 for those held out; a row drawn twice counts twice.
    """

    classes: NDArray[Any]
    weight: Weights

    @classmethod
    def of(cls, number: int, train: Any, y: NDArray[Any], sample_weight: Weights | None) -> "Fold":
        """Make the fold that trains on some rows; a row that is named twice counts twice."""
        weight = np.bincount(np.arange(len(y))[train], minlength=len(y)).astype(np.float64)
        if sample_weight is not None:
            weight *= sample_weight
        classes = np.unique(y[weight > 0])
        if len(classes) < 2:
            left, first = counted(len(classes), "class", "classes"), wording().first_row
            which = f"fold {number + first} (counting from {first})"
            raise ValueError(f"{which} leaves only {left} to train on; {wording().splitting}")
        return cls(classes, weight)


def stratified_folds(y: NDArray[Any], classes: NDArray[Any], n_folds: int, seed: int) -> NDArray[np.int64]:
    """Assign every row to a fold at random, each class evenly."""
    random, fold = np.random.default_rng(seed), np.empty(len(y), dtype=np.int64)
    begin = 0
    for label in classes:
        members = random.permutation(np.flatnonzero(y == label))
        fold[members] = (begin + np.arange(len(members))) % n_folds
        begin += len(members)
    return fold


def fit_folds(
    matrix: _core.Matrix,
    rows: _core.PackedRows,
    y: NDArray[Any],
    folds: Sequence[Fold],
    Cs: Sequence[float],
    state_problems: StateProblems,
    request: Request,
    train: Train,
    later: int = 0,
) -> list[list[Fit]]:
    """Return the fits by fold and by C. Large Cs, which take longest, are trained first."""
    problems = {(f, C): list(state_problems(fold, C)) for f, fold in enumerate(folds) for C in Cs}
    keys = [(f, C, k) for C in reversed(Cs) for f in range(len(folds)) for k in range(len(problems[f, C]))]
    jobs = [Job(problems[f, C][k], folds[f].weight, k) for f, C, k in keys]
    found = dict(zip(keys, run_jobs(matrix, rows, y, jobs, request, train, later), strict=True))
    return [[Fit([found[f, C, k] for k in range(len(problems[f, C]))]) for C in Cs] for f in range(len(folds))]
