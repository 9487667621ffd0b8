"""CRAMMA and MICRA, the constant rate and the mistake-controlled rule algorithm for approximate maximum margins."""

from .. import _core
from ..outcome import Outcome
from ..task import Task
from ..training import Plan, train
from .rescaling import RescalingTrainer


def train_micra(task: Task, plan: Plan, *, beta: float, power: float, eta: float, zeta: float = 0.0) -> Outcome:
    """Run MICRA, or with `zeta` = 0 CRAMMA: threshold beta R / t^power, rate eta / t^zeta."""
    rule = _core.MistakeControlled(beta * task.R, power, eta, zeta, task.R)
    return train(task, RescalingTrainer(task, rule, plan), plan)
