"""MPU, the margin perceptron with unlearning; the rule is our derivation, see ``margin_unlearning.hpp``."""

from .. import _core
from ..outcome import Outcome
from ..task import Task
from ..training import Plan
from .dual import DualTrainer, train_dual

PAPER_WIDTH, PAPER_ROUNDS = 1.01, 5  # as the PDM paper reports for MPU: two active sets, five rounds each


def train_mpu(task: Task, plan: Plan, *, gap: float = 3.0) -> Outcome:
    """Run MPU with the dead zone db = `gap` R² and the threshold b that guarantees epsilon."""
    db = gap * task.R**2
    b = db * (1 - plan.epsilon) / plan.epsilon
    step = _core.MarginUnlearning(b, db)
    schedule = _core.GainSchedule()
    if plan.schedule == "paper":  # set 2 holds what acted in set 1
        near = PAPER_WIDTH * b / step.target
        schedule = _core.GainSchedule(depth=2, most_rounds=PAPER_ROUNDS, worthwhile=0.0, above_mean=0.0, near=near)
    return train_dual(task, plan, DualTrainer(task, step, schedule, plan))
