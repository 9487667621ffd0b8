"""One problem for two classes, one a class for more, trained over the same packed rows, perhaps in threads."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .joint.problem import JointProblem
from .joint.task import JointTask
from .outcome import Outcome
from .problem import BinaryProblem
from .side_by_side import run_each
from .task import Task
from .training import Plan

Weights = NDArray[np.float64]


def binary_problems(
    classes: NDArray[Any], C: float, class_weights: Weights, rho: float, free_bias: bool = False
) -> list[BinaryProblem]:
    """State the problems; against the rest, a class weight counts for its own class only, as in LIBLINEAR."""
    costs = C * class_weights
    rho = 0.0 if free_bias else rho
    if len(classes) == 2:
        return [BinaryProblem(classes[1], float(costs[1]), float(costs[0]), rho, free_bias=free_bias)]
    return [
        BinaryProblem(label, float(cost), C, rho, free_bias=free_bias)
        for label, cost in zip(classes, costs, strict=True)
    ]


def require_weight_in_every_class(classes: NDArray[Any], y: NDArray[Any], sample_weight: Weights | None) -> None:
    """Refuse weights that leave no row of some class."""
    if sample_weight is None:
        return
    for label in classes:
        if not sample_weight[y == label].any():
            raise ValueError(f"all rows of class {label} have weight zero; drop the class, or give it weight")


def train_each(
    matrix: _core.Matrix,
    y: NDArray[Any],
    sample_weight: Weights | None,
    problems: Sequence[BinaryProblem | JointProblem],
    plan: Plan,
    max_time: float | None,
    train: Callable[[Task, Plan], Outcome],
    n_jobs: int = 1,
    packed: _core.PackedRows | None = None,
) -> list[Outcome]:
    """Train on every problem; `max_time` in seconds is for all together. After Ctrl-C the rest get a first slice."""
    rows = packed or _core.pack(matrix)

    def train_one(index: int, plan: Plan) -> Outcome:
        deadline = share_of_time(plan.started, max_time, len(problems) - index, n_jobs)
        problem = problems[index]
        if isinstance(problem, JointProblem):
            task: Task = JointTask(matrix, rows, problem, y, sample_weight, index)  # type: ignore[arg-type]
        else:
            task = Task(matrix, rows, problem, y, sample_weight, index)
        return train(task, replace(plan, deadline=deadline))

    return run_each(train_one, len(problems), plan, n_jobs)


def share_of_time(started: float, max_time: float | None, tasks_left: int, n_jobs: int) -> float:
    """Share the time left evenly among the tasks left, of which so many run at once."""
    now = time.perf_counter()
    return math.inf if max_time is None else now + (started + max_time - now) * min(1.0, n_jobs / tasks_left)


def shortfall(outcomes: list[Outcome], classes: NDArray[Any]) -> str | None:
    """Say what a user should know about the classes that did not end as asked."""
    short = [(outcome.certificate.gap, i) for i, outcome in enumerate(outcomes) if outcome.shortfall()]
    if not short:
        return None
    most = max(short)[1]
    prefix = f"{len(short)} of {len(outcomes)} classes fell short, class {classes[most]} most: "
    return (prefix if len(outcomes) > 1 else "") + str(outcomes[most].shortfall())
