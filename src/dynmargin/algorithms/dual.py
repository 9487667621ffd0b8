"""Algorithms that also take back: dual coordinate descent, MPU, and a decomposition SVM."""

from dataclasses import replace

from .. import _core
from ..problem.packed import PackedProblem
from ..training.request import Request
from ..training.result import Result
from ..training.run import Refinement, train
from .registry import ALGORITHMS

LARGEST_TOLERANCE = 0.99  # with 1, no dual weights at all would satisfy SVM-light's rule
# Visits per row of coordinate descent before its states are mixed: fewer where four states take less room than the
# rows. (Newsgroups take 12 in all, and four states of 1.7 million columns would double the memory of a fit. 7,809 rows
# of 973 columns take 0.71 times the visits for it, 1,901 of 709 columns 0.64 times.)
MIX_AFTER, MIX_SMALL_AFTER, MIXED_STATES = 20.0, 8.0, 4
PAPER_WIDTH, PAPER_ROUNDS = 1.01, 5  # as the PDM paper reports for MPU: two active sets, five rounds each


def train_dcd(problem: PackedProblem, request: Request) -> Result:
    """Run dual coordinate descent (Hsieh and others 2008; LIBLINEAR -s 1 and -s 3).

    With ``stop="convergence"`` LIBLINEAR's rule with tolerance epsilon ends it.
    """
    return _train_dual(problem, request, start_dcd(problem, request))


def start_dcd(problem: PackedProblem, request: Request) -> _core.DualTrainer:
    """Begin a run of dual coordinate descent."""
    if request.stop == "convergence":  # the rule's own run is asked for
        return _start(problem, request, _core.CoordinateDescent(), _core.GainSchedule(), request.epsilon)
    small = MIXED_STATES * (problem.rows.n_columns + problem.n_rows) <= problem.nonzeros
    schedule = _core.GainSchedule(mix_after=MIX_SMALL_AFTER if small else MIX_AFTER)
    return _start(problem, request, _core.CoordinateDescent(), schedule, tolerance=0.0)


def train_mpu(problem: PackedProblem, request: Request, *, dead_zone: float) -> Result:
    """Run the margin perceptron with unlearning; the rule is our derivation, see ``dual/margin_unlearning.hpp``.

    The dead zone is db = `dead_zone` R², and b is the threshold that guarantees epsilon.
    """
    db = dead_zone * (problem.R * problem.R)
    b = db * (1 - request.epsilon) / request.epsilon
    step, schedule = _core.MarginUnlearning(b, db), _core.GainSchedule()
    if request.schedule == "paper":  # set 2 holds what acted in set 1
        near = PAPER_WIDTH * b / step.target
        schedule = _core.GainSchedule(depth=2, most_rounds=PAPER_ROUNDS, worthwhile=0.0, above_mean=0.0, near=near)
    return _train_dual(problem, request, _start(problem, request, step, schedule, tolerance=0.0))


def train_decomposition(problem: PackedProblem, request: Request) -> Result:
    """Run a decomposition SVM after SVM-light, linear kernel and unregularised bias; see ``dual/decomposition.hpp``.

    With ``stop="convergence"`` SVM-light's rule with tolerance epsilon ends it.
    """
    tolerance = min(request.epsilon, LARGEST_TOLERANCE) if request.stop == "convergence" else 0.0
    key = problem.key(request.seed)
    trainer = _core.Decomposition(problem.rows, problem.binary, tolerance, request.epsilon, key)
    result = train(problem, trainer, request, Refinement.none(), steady=ALGORITHMS["decomposition"].steady)
    return _with_dual_scale(result, float(problem.taking_part(trainer.dual_weights()).sum()))


def _start(
    problem: PackedProblem,
    request: Request,
    step: _core.CoordinateDescent | _core.MarginUnlearning,
    schedule: _core.GainSchedule,
    tolerance: float,
) -> _core.DualTrainer:
    return _core.DualTrainer(
        problem.rows,
        problem.binary,
        step,
        schedule,
        request.epsilon,
        tolerance,
        request.stop == "certificate",
        problem.key(request.seed),
    )


def _train_dual(problem: PackedProblem, request: Request, trainer: _core.DualTrainer) -> Result:
    result = train(problem, trainer, request, Refinement.none())
    return _with_dual_scale(result, float(problem.taking_part(trainer.dual_weights()).sum()) / trainer.target)


def _with_dual_scale(result: Result, sum_of_dual_weights: float) -> Result:
    """Add what a count is worth as a dual weight; an own rule that was satisfied before the proof is no convergence."""
    total = result.certificate.counts.sum()
    return replace(result.by_own_rule(), dual_scale=sum_of_dual_weights / total if total else 0.0)
