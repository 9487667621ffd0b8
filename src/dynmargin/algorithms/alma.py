"""ALMA, the approximate large margin algorithm."""

from .. import _core
from ..outcome import Outcome
from ..task import Task
from ..training import Plan, train
from .rescaling import RescalingTrainer


def train_alma(task: Task, plan: Plan, *, alpha: float = 0.5) -> Outcome:
    """Run ALMA_2(alpha)."""
    return train(task, RescalingTrainer(task, _core.Alma(alpha, task.R), plan), plan)
