"""Which algorithm suits a problem: a rough count of the work that each would have, from shape, density and stiffness.

The unit is one non-zero worked on in a pass. The constants come from times to a certified 1 % on the varied problems of
the benchmark; being wrong costs time, never the proof.
"""

from dataclasses import replace

from .. import _core
from ..problem.packed import PackedProblem
from ..training.request import Request
from ..training.result import Result
from .registry import find

NEWTON_PASSES = 12.0  # over all rows, the start on a subset included
NEWTON_SOLVES = 1.0  # of d unknowns, all together: this many times d³
DCD_PASSES = 8.0  # and one more for every unit of stiffness; all that again for each factor of 100 in the gap
FINEST_FOR_PDM = 1e-3  # below, PDM takes long for a hard margin
TALL = 30  # rows per feature: PDM finds a hard margin in 0.3 to 0.9 of DCD's time from here on
VISIT = 15.0  # what it costs to find a row, beside its non-zeros


def choose(problem: PackedProblem, epsilon: float) -> tuple[str, str]:
    """Name the algorithm to take for a problem, and why."""
    columns, rows, nonzeros = problem.matrix.n_columns, problem.n_rows, problem.core.n_nonzeros(problem.rows)
    if problem.problem.joint:
        return "pdm", "the margin is joint"
    if problem.problem.loss == "hinge":
        return "dcd", "the loss is the hinge"
    if problem.hard_margin:
        if rows > TALL * columns and epsilon >= FINEST_FOR_PDM:
            return "pdm", "the margin is hard, and there are many rows per feature"
        return "dcd", "the margin is hard"
    if columns > _core.MOST_HESSIAN_COLUMNS:  # beyond, Newton's method needs conjugate gradients
        return "dcd", f"{columns} features, more than {_core.MOST_HESSIAN_COLUMNS}"
    newton = nonzeros * (NEWTON_PASSES + nonzeros / rows / 4) + NEWTON_SOLVES * columns**3
    passes = (DCD_PASSES + problem.stiffness) * max(1.0, -_core.log(epsilon) / _core.log(100))
    dcd = (nonzeros + VISIT * rows) * passes
    comparison = f"about {newton:.1g} steps of work by newton, {dcd:.1g} by dcd"
    return ("newton" if newton < dcd else "dcd"), comparison


def train_auto(problem: PackedProblem, request: Request) -> Result:
    """Train by the algorithm that is likely to have least work."""
    name, reason = choose(problem, request.epsilon)
    _, train = find(name)
    result: Result = train(problem, request)
    return replace(result, algorithm=f"{name}: {reason}")
