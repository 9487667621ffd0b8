"""Perceptrons that only add patterns: the classical one, the one with margin, and the margitron.

The margitron's threshold is a power of t or of ‖a‖; see ``rules/margitron.hpp``. Its threshold parameter b depends on
the margin sought, gamma_d. An upper bound of it is enough, but a bad one costs (bound / gamma_d) to the power
2 / epsilon in updates. Every perceptron proves such a bound as it goes, ‖a‖/t, so a run can find its own: converge with
a coarse accuracy, check the bounds, take a finer one.
"""

from math import inf, sqrt
from typing import Literal

from .. import _core
from ..problem.packed import PackedProblem
from ..theory import margitron_threshold
from ..training.request import Request
from ..training.result import Result
from ..training.run import Refinement, train
from .pdm import SMALLEST_ACCURACY, schedule_for, to_core

Growth = Literal["updates", "norm"]
MargitronRule = _core.MargitronUpdates | _core.MargitronNorm


def start(problem: PackedProblem, rule: _core.ConstantThreshold | MargitronRule, request: Request) -> _core.Trainer:
    """Start a run of a rule that adds patterns, one after the other."""
    schedule = to_core(schedule_for(problem, request).for_other_rules())
    return problem.binary.start(problem.rows, rule, schedule, request.epsilon, problem.key(request.seed))


def train_perceptron(problem: PackedProblem, request: Request) -> Result:
    """Run the classical perceptron."""
    return train(problem, start(problem, _core.ConstantThreshold(0.0), request), request)


def train_margin_perceptron(problem: PackedProblem, request: Request, *, b: float) -> Result:
    """Run the perceptron with margin threshold `b`, in units of R²."""
    return train(problem, start(problem, _core.ConstantThreshold(b * (problem.R * problem.R)), request), request)


def train_margitron(problem: PackedProblem, request: Request, *, growth: Growth, gamma_bound: float | None) -> Result:
    """Run the margitron with accuracy epsilon; without a bound on gamma_d the run finds its own."""
    if gamma_bound is not None:
        b = margitron_threshold(problem.R, min(gamma_bound, problem.R), request.epsilon, growth)
        return train(problem, start(problem, margitron_rule(b, request.epsilon, growth), request), request)
    trainer = start(problem, margitron_rule(0.0, 1.0, growth), request)

    def finer(last: float) -> float | None:
        found = bootstrapped_rule(trainer, problem.R, request, growth, last)
        if found is None:
            return None
        accuracy, rule = found
        trainer.set_rule(rule)
        return accuracy

    return train(problem, trainer, request, Refinement(1.0, finer))


def margitron_rule(b: float, accuracy: float, growth: Growth) -> MargitronRule:
    """Return the rule that reaches the fraction 1 - accuracy/2 of the best margin as b grows."""
    if growth == "updates":
        return _core.MargitronUpdates(b, 1 - accuracy)
    return _core.MargitronNorm(b, 2 * (1 - accuracy) / (2 - accuracy))


def bootstrapped_rule(
    trainer: _core.Trainer, R: float, request: Request, growth: Growth, accuracy: float
) -> tuple[float, MargitronRule] | None:
    """Return the next accuracy of successive runs and its rule; the first is that of a perceptron (accuracy 1, b = 0).

    With gamma_d known up to a factor r the next accuracy is ln(r), so that the error of the bound costs at most a
    factor e² in updates, and at most half the last one, so that the sequence ends.

    The state is carried over, which is legitimate as long as ‖a‖ is within what the new threshold would have allowed
    by now: ‖a‖² <= 2b t^(2-e) / (2-e), or ‖a‖^(2-s) <= (2-s) b t. b is at least what that takes.
    """
    if accuracy <= SMALLEST_ACCURACY:
        return None
    bounds, t = trainer.check(), trainer.updates
    if request.stop == "convergence" and bounds.directional_margin >= (1 - request.epsilon) * bounds.upper_bound:
        return None
    known_up_to = bounds.upper_bound / bounds.margin if bounds.margin > 0 else inf
    finer = min(accuracy / 2, _core.log(known_up_to))
    accuracy = max(finer, request.epsilon) if accuracy > request.epsilon else accuracy / 2
    b = margitron_threshold(R, min(bounds.upper_bound, R), accuracy, growth)
    norm = sqrt(trainer.norm2)
    if growth == "updates":
        allowed = (1 - accuracy / 2) * (norm / t) * (norm / t) * _core.pow(t, accuracy)
    else:
        allowed = (1 - accuracy / 2) * norm / t * _core.pow(norm, accuracy / (2 - accuracy))
    return accuracy, margitron_rule(max(b, allowed), accuracy, growth)
