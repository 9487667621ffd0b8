"""ROMMA, the relaxed online maximum margin algorithm, plain and aggressive."""

from .. import _core
from ..outcome import Outcome
from ..task import Task
from ..training import Plan, train
from .pdm import finer_accuracies
from .rescaling import RescalingTrainer


def train_romma(task: Task, plan: Plan, *, aggressive: bool = True) -> Outcome:
    """Run aggressive ROMMA with accuracy delta = epsilon, or plain ROMMA, which only wants every score positive."""
    if not aggressive:
        return train(task, RescalingTrainer(task, _core.Romma(0.0), plan), plan)
    finer = finer_accuracies(plan.epsilon) if plan.stop == "certificate" else iter(())
    rules = (_core.Romma(1 - delta) for delta in finer)
    return train(task, RescalingTrainer(task, _core.Romma(1 - plan.epsilon), plan), plan, rules)
