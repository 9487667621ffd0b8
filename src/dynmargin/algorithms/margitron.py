"""The margitron, a perceptron whose margin threshold is a power of t or of ‖a‖; see ``margitron.hpp``.

Its threshold parameter b depends on the margin sought, gamma_d; an upper bound of it will do, but (bound / gamma_d) to
the power 2 / epsilon is what a bad one costs in updates. Every perceptron proves such a bound as it goes, ‖a‖/t, so a
run can find its own: converge with a coarse accuracy, look at the bounds, take a finer one.
"""

from collections.abc import Iterator
from math import inf, log, sqrt
from typing import Literal

from .. import _core
from ..outcome import Outcome
from ..task import Task
from ..theory import margitron_threshold
from ..training import Plan, train
from .pdm import SMALLEST_ACCURACY

Growth = Literal["updates", "norm"]


def train_margitron(task: Task, plan: Plan, *, growth: Growth = "updates", gamma_bound: float | None = None) -> Outcome:
    """Run the margitron with accuracy epsilon; without a bound on gamma_d the run finds its own."""
    schedule = task.schedule(plan.schedule).for_other_rules()
    if gamma_bound is not None:
        b = margitron_threshold(task.R, min(gamma_bound, task.R), plan.epsilon, growth)
        return train(task, task.trainer(margitron_rule(b, plan.epsilon, growth), schedule, plan.seed), plan)
    trainer = task.trainer(margitron_rule(0.0, 1.0, growth), schedule, plan.seed)
    return train(task, trainer, plan, bootstrapped_rules(trainer, task.R, plan, growth))


def margitron_rule(b: float, accuracy: float, growth: Growth) -> _core.MargitronUpdates | _core.MargitronNorm:
    """Give the rule that reaches the fraction 1 - accuracy/2 of the best margin as b grows."""
    if growth == "updates":
        return _core.MargitronUpdates(b, 1 - accuracy)
    return _core.MargitronNorm(b, 2 * (1 - accuracy) / (2 - accuracy))


def bootstrapped_rules(
    trainer: _core.Trainer, R: float, plan: Plan, growth: Growth
) -> Iterator[_core.MargitronUpdates | _core.MargitronNorm]:
    """Give the rules of successive runs, beginning after a perceptron (accuracy 1, b = 0) has converged.

    With gamma_d known up to a factor r the next accuracy is ln(r), so that the error of the bound costs at most a
    factor e² in updates, and at most half the last one, so that there is an end to it.

    The state is carried over, which is legitimate as long as ‖a‖ is within what the new threshold would have allowed
    by now: ‖a‖² <= 2b t^(2-e) / (2-e), or ‖a‖^(2-s) <= (2-s) b t. b is at least what that takes.
    """
    accuracy = 1.0
    while accuracy > SMALLEST_ACCURACY:
        bounds, t = trainer.check(), trainer.updates
        if plan.stop == "convergence" and bounds.directional_margin >= (1 - plan.epsilon) * bounds.upper_bound:
            return
        known_up_to = bounds.upper_bound / bounds.margin if bounds.margin > 0 else inf
        finer = min(accuracy / 2, log(known_up_to))
        accuracy = max(finer, plan.epsilon) if accuracy > plan.epsilon else accuracy / 2
        b = margitron_threshold(R, min(bounds.upper_bound, R), accuracy, growth)
        norm = sqrt(trainer.norm2)
        if growth == "updates":
            allowed = (1 - accuracy / 2) * (norm / t) ** 2 * t**accuracy
        else:
            allowed = (1 - accuracy / 2) * norm / t * norm ** (accuracy / (2 - accuracy))
        yield margitron_rule(max(b, allowed), accuracy, growth)
