"""PDM, the perceptron with dynamic margin, PDM-succ, its successive runs, and PFM (Sections 2 to 5 of the paper)."""

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from ..certificate.weights import Counts
from ..problem.packed import PackedProblem
from ..training.request import LARGEST_COUNT, Request
from ..training.result import Result
from ..training.run import Refinement, train
from ..training.schedule import NAMED, Schedule

SMALLEST_ACCURACY = 1e-14  # a rule accuracy below this is lost in rounding


def schedule_for(problem: PackedProblem, request: Request) -> Schedule:
    """Look up the schedule that was asked for; the one called "fast" depends on the problem."""
    if isinstance(request.schedule, Schedule):
        return request.schedule
    return NAMED[request.schedule, problem.wide, problem.hard_margin]


def to_core(schedule: Schedule) -> _core.Schedule:
    """Return a schedule as the compiled core takes it."""
    return _core.Schedule(
        schedule.rounds,
        schedule.widths,
        schedule.widths[0] if schedule.first_width is None else schedule.first_width,
        schedule.multiple_updates,
        schedule.single_updates_first,
        schedule.shuffle_first,
        schedule.shuffle_active_sets,
        schedule.balanced,
        schedule.inner_passes,
        schedule.taking_back,
        schedule.mixing,
        schedule.renewal,
        schedule.polish,
    )


def train_pdm(
    problem: PackedProblem, request: Request, *, eta: float | None = None, start: Counts | None = None
) -> Result:
    """Run PDM, or PDM-succ when `eta` is given.

    `start` holds rows and their counts to begin with: the run goes on as a later stage of successive runs would.
    """
    accuracy, schedule = request.epsilon, schedule_for(problem, request)
    if request.stop == "certificate":
        accuracy *= schedule.rule_accuracy
    if eta is not None or start is not None:
        schedule = schedule.for_other_rules()
    elif request.stop == "convergence" or request.only_own_updates or request.max_updates < LARGEST_COUNT:
        # The rule's own run is asked for, or its updates are counted.
        schedule = schedule.with_own_updates_only()
    first = accuracy if eta is None else max(accuracy, 0.5)
    rule, key = _core.DynamicMargin(first), problem.key(request.seed)
    trainer = problem.core.start(problem.rows, rule, to_core(schedule), request.epsilon, key)
    if start is not None:
        cast("_core.Trainer", trainer).start_from(*start)  # a joint fit has no counts to start from
        request = replace(request, max_updates=min(request.max_updates + trainer.updates, LARGEST_COUNT))

    def finer(last: float) -> float | None:
        """Divide by eta until the accuracy is reached (PDM-succ); beyond it only a proof may still be missing."""
        following = max(last / eta, accuracy) if eta is not None and last > accuracy else finer_accuracy(last, request)
        if following is not None:
            trainer.set_rule(_core.DynamicMargin(following))
        return following

    return train(problem, trainer, request, Refinement(first, finer))


def start_pdm(problem: PackedProblem, request: Request) -> tuple[_core.Trainer, float]:
    """Begin a run of PDM in a race for a certificate; return it and the accuracy of its rule."""
    schedule = schedule_for(problem, request)
    accuracy = request.epsilon * schedule.rule_accuracy
    rule, key = _core.DynamicMargin(accuracy), problem.key(request.seed)
    return problem.binary.start(problem.rows, rule, to_core(schedule), request.epsilon, key), accuracy


def finer_accuracy(accuracy: float, request: Request) -> float | None:
    """Return the accuracy to go on with when rounding keeps a converged run from being certified."""
    return accuracy / 10 if request.stop == "certificate" and accuracy > SMALLEST_ACCURACY else None


def train_pfm(problem: PackedProblem, request: Request, *, beta: ArrayLike | None) -> Result:
    """Run PFM with a fixed margin, a number or one per class.

    Without one, take the directional margin that PDM converges to (Section 5).
    """
    if beta is None:
        pdm = train_pdm(problem, replace(request, stop="convergence"))
        if pdm.stop_reason != "converged":  # there is no margin to fix: what PDM has reached is the result
            return pdm
        margin = pdm.certificate.directional_margin
    else:
        margin = float(np.ravel(beta)[problem.index if np.ndim(beta) else 0])
    schedule = to_core(schedule_for(problem, request).for_other_rules())
    rule = _core.FixedMargin(margin)
    trainer = problem.binary.start(problem.rows, rule, schedule, request.epsilon, problem.key(request.seed))
    return replace(train(problem, trainer, request), beta=margin)
