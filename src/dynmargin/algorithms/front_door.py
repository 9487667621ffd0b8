"""The front door: which algorithm, or which of them in turns, for a problem."""

from dataclasses import replace

from ..problem.packed import PackedProblem
from ..training.request import Request
from ..training.result import Result
from .race import train_race
from .registry import find

FINEST_FOR_PDM = 1e-3  # below, PDM takes long for a hard margin
TALL = 30  # rows per feature: PDM finds a hard margin in 0.3 to 0.9 of DCD's time from here on


def choose(problem: PackedProblem, epsilon: float) -> tuple[str, str] | None:
    """Name the algorithm to take for a problem, and why; None where only the run itself can tell."""
    if problem.problem.joint:
        return "pdm", "the margin is joint"
    if problem.problem.loss == "hinge":
        return "dcd", "the loss is the hinge"
    if problem.hard_margin:
        if problem.n_rows > TALL * problem.rows.n_columns and epsilon >= FINEST_FOR_PDM:
            return "pdm", "the margin is hard, and there are many rows per feature"
        return "dcd", "the margin is hard"
    return None


def train_auto(problem: PackedProblem, request: Request) -> Result:
    """Train by the algorithm that suits the problem, or by several that take turns."""
    chosen = choose(problem, request.epsilon)
    if chosen is None:
        return train_race(problem, request)
    name, reason = chosen
    _, train = find(name)
    result: Result = train(problem, request)
    return replace(result, algorithm=f"{name}: {reason}")
