"""PDM, the perceptron with dynamic margin, and PDM-succ, its successive runs (Sections 2 to 4 of the paper)."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..outcome import Outcome
from ..task import Task
from ..training import LARGEST_COUNT, Plan, train

SMALLEST_ACCURACY = 1e-14  # a rule accuracy below this is lost in rounding


def train_pdm(
    task: Task,
    plan: Plan,
    *,
    eta: float | None = None,
    start: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
) -> Outcome:
    """Run PDM, or PDM-succ when `eta` is given.

    `start` are rows and their counts to begin with: the run goes on as a later stage of successive runs would.
    """
    accuracy, schedule = plan.epsilon, task.schedule(plan.schedule)
    if plan.stop == "certificate":
        accuracy *= schedule.rule_accuracy
    if eta is not None or start is not None:
        schedule = schedule.for_other_rules()
    elif plan.stop == "convergence" or plan.whole_run or plan.max_updates < LARGEST_COUNT:
        schedule = replace(schedule, mixing=False)  # the rule's own run is asked for, or its updates are counted
    accuracies = successive_accuracies(accuracy, eta)
    if plan.stop == "certificate":
        accuracies = chain(accuracies, finer_accuracies(accuracy))
    rules = map(_core.DynamicMargin, accuracies)
    trainer = task.trainer(next(rules), schedule, plan.seed)
    if start is not None:
        trainer.start_from(*start)
        plan = replace(plan, max_updates=min(plan.max_updates + trainer.updates, LARGEST_COUNT))
    return train(task, trainer, plan, rules)


def successive_accuracies(epsilon: float, eta: float | None) -> Iterator[float]:
    """Give PDM-succ's accuracies: 1/2, divided by eta until epsilon is reached; without eta, epsilon alone."""
    accuracy = 0.5
    while eta is not None and accuracy > epsilon:
        yield accuracy
        accuracy /= eta
    yield epsilon


def finer_accuracies(accuracy: float) -> Iterator[float]:
    """Give accuracies to go on with when rounding keeps a converged run from being certified."""
    while accuracy > SMALLEST_ACCURACY:
        accuracy /= 10
        yield accuracy
