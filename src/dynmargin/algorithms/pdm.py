"""PDM, the perceptron with dynamic margin, and PDM-succ, its successive runs (Sections 2 to 4 of the paper)."""

from .. import _core
from ..outcome import Outcome
from ..task import Task
from ..training import Plan, train

SMALLEST_ACCURACY = 1e-14  # a rule accuracy below this is lost in rounding


def train_pdm(task: Task, plan: Plan, *, eta: float | None = None) -> Outcome:
    """Run PDM, or PDM-succ when `eta` is given."""
    accuracy, schedule = plan.epsilon, plan.schedule
    if plan.stop == "certificate":
        accuracy *= schedule.rule_accuracy
    if eta is not None:
        schedule = schedule.without_first_pass_rules()
    first, *further = successive_accuracies(accuracy, eta)
    if plan.stop == "certificate":
        further += finer_accuracies(accuracy)
    return train(task, task.trainer(_core.DynamicMargin(first), schedule, plan.seed), plan, further)


def successive_accuracies(epsilon: float, eta: float | None) -> list[float]:
    """List PDM-succ's accuracies: 1/2, divided by eta until epsilon is reached; without eta, epsilon alone."""
    if eta is None or epsilon >= 0.5:
        return [epsilon]
    accuracies = [0.5]
    while accuracies[-1] > epsilon:
        accuracies.append(max(accuracies[-1] / eta, epsilon))
    return accuracies


def finer_accuracies(accuracy: float) -> list[float]:
    """List accuracies to go on with when rounding keeps a converged run from being certified."""
    finer: list[float] = []
    while accuracy > SMALLEST_ACCURACY:
        accuracy /= 10
        finer.append(accuracy)
    return finer
