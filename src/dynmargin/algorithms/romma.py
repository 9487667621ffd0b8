"""ROMMA, the relaxed online maximum margin algorithm, plain and aggressive."""

import math
from dataclasses import replace

from .. import _core
from ..outcome import Outcome
from ..schedule import Schedule
from ..task import Task
from ..training import Plan, train
from .pdm import finer_accuracies
from .rescaling import RescalingTrainer

# The paper's ROMMA has active sets of its own and a permutation at the beginning of a full epoch (Section 5). Here: one
# set, of the patterns that the full pass updated on, is presented until it makes no update.
PAPER_SCHEDULE = Schedule(
    rounds=(2**31 - 1, 0, 0),
    widths=(1.0, 1.0),
    single_updates_first=False,
    shuffle_active_sets=False,
    balanced=False,
    inner_passes=math.inf,
    mixing=False,
)


def train_romma(task: Task, plan: Plan, *, aggressive: bool = True) -> Outcome:
    """Run aggressive ROMMA with accuracy delta = epsilon, or plain ROMMA, which only wants every score positive."""
    if plan.schedule == "paper":
        plan = replace(plan, schedule=PAPER_SCHEDULE)
    if not aggressive:
        return train(task, RescalingTrainer(task, _core.Romma(0.0), plan), plan)
    finer = finer_accuracies(plan.epsilon) if plan.stop == "certificate" else iter(())
    rules = (_core.Romma(1 - delta) for delta in finer)
    return train(task, RescalingTrainer(task, _core.Romma(1 - plan.epsilon), plan), plan, rules)
