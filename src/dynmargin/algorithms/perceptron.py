"""The perceptron, and the perceptron with margin."""

from .. import _core
from ..outcome import Outcome
from ..task import Task
from ..training import Plan, train


def train_perceptron(task: Task, plan: Plan, *, b: float = 0.0) -> Outcome:
    """Run the perceptron with margin threshold `b`, in units of R²; without one, the classical perceptron."""
    schedule = task.schedule(plan.schedule).for_other_rules()
    return train(task, task.trainer(_core.ConstantThreshold(b * task.R**2), schedule, plan.seed), plan)
