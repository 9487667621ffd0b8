"""Algorithms that also rescale the weight vector: ROMMA, ALMA, CRAMMA and MICRA."""

import math
from dataclasses import replace

from .. import _core
from ..problem.packed import PackedProblem
from ..training.request import Request
from ..training.result import Result
from ..training.run import Refinement, train
from ..training.schedule import Schedule
from .pdm import finer_accuracy, schedule_for, to_core

# The paper's ROMMA has active sets of its own and a permutation at the beginning of a full epoch (Section 5). Here: one
# set, of the patterns that the full pass updated on, is presented until it makes no update, or so often that it may
# never come to that: without a margin, updates go on for ever, and only a full pass sees it.
PAPER_ROMMA = Schedule(
    rounds=(10_000, 0, 0),
    widths=(1.0, 1.0),
    single_updates_first=False,
    shuffle_active_sets=False,
    balanced=False,
    inner_passes=math.inf,
    taking_back=False,
    mixing=False,
    renewal=False,
    polish=False,
)

Rule = _core.Romma | _core.Alma | _core.MistakeControlled


def start(problem: PackedProblem, rule: Rule, request: Request) -> _core.RescalingTrainer:
    """Start a run."""
    schedule = to_core(schedule_for(problem, request))
    key = problem.key(request.seed)
    return _core.RescalingTrainer(problem.rows, problem.binary, rule, schedule, request.epsilon, key)


def train_romma(problem: PackedProblem, request: Request, *, aggressive: bool) -> Result:
    """Run aggressive ROMMA with accuracy delta = epsilon, or plain ROMMA, which only wants every score positive."""
    if request.schedule == "paper":
        request = replace(request, schedule=PAPER_ROMMA)
    if not aggressive:
        return train(problem, start(problem, _core.Romma(0.0), request), request)
    trainer = start(problem, _core.Romma(1 - request.epsilon), request)

    def finer(last: float) -> float | None:
        if (delta := finer_accuracy(last, request)) is not None:
            trainer.set_rule(_core.Romma(1 - delta))
        return delta

    return train(problem, trainer, request, Refinement(request.epsilon, finer))


def train_alma(problem: PackedProblem, request: Request, *, alpha: float) -> Result:
    """Run ALMA_2(alpha)."""
    return train(problem, start(problem, _core.Alma(alpha, problem.R), request), request)


def train_micra(
    problem: PackedProblem, request: Request, *, threshold: float, power: float, rate: float, zeta: float
) -> Result:
    """Run MICRA: threshold R / t^power, rate / t^zeta."""
    rule = _core.MistakeControlled(threshold * problem.R, power, rate, zeta, problem.R)
    return train(problem, start(problem, rule, request), request)


def train_cramma(problem: PackedProblem, request: Request, *, threshold: float, power: float, rate: float) -> Result:
    """Run CRAMMA, which is MICRA at a constant rate."""
    return train_micra(problem, request, threshold=threshold, power=power, rate=rate, zeta=0.0)
