"""One problem for two classes, one a class for more, trained one after the other over the same packed rows."""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .outcome import Outcome
from .problem import BinaryProblem
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


def train_each(
    matrix: _core.Matrix,
    y: NDArray[Any],
    sample_weight: Weights | None,
    problems: list[BinaryProblem],
    plan: Plan,
    max_time: float | None,
    train: Callable[[Task, Plan], Outcome],
) -> list[Outcome]:
    """Train on every problem; `max_time` in seconds is for all together. After Ctrl-C the rest get a first slice."""
    rows = _core.pack(matrix)
    outcomes: list[Outcome] = []
    for index, problem in enumerate(problems):
        interrupted = any(outcome.stop_reason == "interrupted" for outcome in outcomes)
        deadline = _deadline(plan.started, max_time, len(problems) - index, interrupted)
        outcome = train(Task(matrix, rows, problem, y, sample_weight, index), replace(plan, deadline=deadline))
        outcomes.append(replace(outcome, stop_reason="interrupted") if interrupted else outcome)
    return outcomes


def _deadline(started: float, max_time: float | None, tasks_left: int, interrupted: bool) -> float:
    """Share the time left evenly among the tasks left."""
    now = time.perf_counter()
    if interrupted:
        return now
    return math.inf if max_time is None else now + (started + max_time - now) / tasks_left


def shortfall(outcomes: list[Outcome], classes: NDArray[Any]) -> str | None:
    """Say what a user should know about the classes that did not end as asked."""
    short = [(outcome.certificate.gap, i) for i, outcome in enumerate(outcomes) if outcome.shortfall()]
    if not short:
        return None
    most = max(short)[1]
    prefix = f"{len(short)} of {len(outcomes)} classes fell short, class {classes[most]} most: "
    return (prefix if len(outcomes) > 1 else "") + str(outcomes[most].shortfall())
