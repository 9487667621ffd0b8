"""Training until predictions are settled, whatever gap that takes.

A fit is asked for a gap; then the rows that are settled are counted. If they are too few, the same runs continue to a
smaller gap. The radius of the ball around the optimum falls like the square root of the gap, so the rows themselves
tell how small it has to be.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..certificate.ball import Settled
from ..certificate.settled_share import percent
from ..problem.packed import PackedProblem
from ..problem.wording import any_of, wording
from .checkpoint import Stage
from .fit import Fit, Train
from .request import Request
from .result import UNFINISHED, Result, StopReason, limit_text

# The centre moves too while the radius shrinks, so the next gap is a little less than what the rows tell, and at least
# this much less than the last one.
SHRINKAGE, LEAST_STEP = 0.7, 0.25
LIMITED = {*UNFINISHED, "max_updates"}  # reasons that end all runs; a class that has stalled does not end the others
Each = Callable[[Callable[[Any], NDArray[Any]]], NDArray[Any]]  # applies a function of rows to all of them
SMALLEST_GAP = 1e-14  # what doubles can prove; below, a run ends where rounding ends it


@dataclass(frozen=True)
class SettledFit(Fit):
    """A fit that was to settle rows.

    Attributes
    ----------
    asked, share : float
        The share of the rows that was to be settled, and the one that is.
    """

    asked: float = 1.0
    share: float = 0.0

    @property
    def achieved(self) -> bool:
        """Whether enough rows are settled."""
        return self.share >= self.asked

    @property
    def shortfall(self) -> str | None:
        """What a user should know if too few rows are settled."""
        if self.achieved:
            return None
        ended, words = self.worst.stop_reason, wording()
        reason = _WHY.get(ended) or (limit_text(ended) if ended in LIMITED else f"the training ended ({ended})")
        gap = max(certificate.gap for certificate in self.certificates)
        advice = [
            "give it more time" if self.worst.stop_reason in LIMITED else "",
            words.scaling,
            f"use a smaller {words.name('C')}",
        ]
        return (
            f"{percent(self.share)} of the rows are settled, not {percent(self.asked)}: {reason} at a proven gap of "
            f"{gap:.3g}. To settle more, {any_of(advice)}; or ask for fewer rows."
        )


_WHY = {
    "stalled": "rounding leaves no room for a smaller gap, or the bounds hardly move any more,",
    "inseparable": "the classes are not separable, or barely,",
    "certificate": "no smaller gap can be proven",
}


class Continuation:
    """The state in which a run was left, kept in memory: the next request continues from there."""

    def __init__(self) -> None:
        self.stage: Stage | None = None

    def begin(self, run: Any) -> Result | None:
        """Continue where the run was left, with the gap that is asked for now.

        How long that gap takes is not worth a warning: nobody has asked for it, and rows may be settled before.
        """
        if self.stage is not None:
            run.trainer.restore(self.stage.state)
            trend = {**self.stage.numbers["trend"], "epsilon": run.request.epsilon, "checks": 0}
            run.restore({**self.stage.numbers, "trend": trend})
            run.warned = True
        return None

    def keep(self, run: Any) -> None:
        """Do nothing: what matters is the end of the run."""

    def take(self, run: Any, result: Result | None = None) -> None:
        """Remember the state in which the run ended."""
        if result is None:
            self.stage = Stage(run.trainer.snapshot(), run.numbers())


def fit_until_settled(
    fit: Callable[[Request, Train], Fit],
    request: Request,
    train: Train,
    each: Each,
    share: float,
    *,
    others: bool = False,
) -> SettledFit:
    """Train until that share of rows is settled, or a limit is met.

    `fit` trains on all problems for a request; it is called for one gap after the other, and continues. `each` applies
    a function to the rows, wherever they are. Certificates name the share that is reached, unless the rows are `others`
    than those of the training.
    """
    left_at: dict[int, Continuation] = {}

    def continued(problem: PackedProblem, asked: Request) -> Result:
        return train(problem, replace(asked, snapshots=left_at.setdefault(problem.index, Continuation())))

    gap = request.epsilon
    while True:
        fitted = fit(replace(request, stop="certificate", epsilon=gap), continued)
        known = Settled(fitted.certificates, fitted.coef, fitted.intercept)
        found = float(each(known.of).mean())
        reasons = {result.stop_reason for result in fitted.results}
        over = bool(reasons & LIMITED) or "certificate" not in reasons
        if found >= share or over or gap <= SMALLEST_GAP:
            reason: StopReason | None = "predictions" if found >= share else None
            known_share = None if others else found
            return SettledFit(
                [_as_asked(result, request, known_share, reason) for result in fitted.results], share, found
            )
        gap = max(SMALLEST_GAP, next_gap(each(known.ratios), share, gap, fitted))


def next_gap(ratios: NDArray[np.float64], share: float, gap: float, fitted: Fit) -> float:
    """Return the gap to ask for next: so small that the rows that have to be settled will be, if they stay in place."""
    ratios = np.sort(ratios)
    needed = ratios[len(ratios) - math.ceil(share * len(ratios))]
    reached = min(gap, max(certificate.gap for certificate in fitted.certificates))
    return float(max(0.0, reached) * min(LEAST_STEP, (SHRINKAGE * needed) ** 2))


def with_share(fitted: Fit, share: float) -> Fit:
    """Return a fit whose certificates say which share of the training rows is settled."""
    return Fit(
        [replace(result, certificate=replace(result.certificate, settled_share=share)) for result in fitted.results]
    )


def _as_asked(result: Result, request: Request, share: float | None, reason: StopReason | None) -> Result:
    """Return a result as the user asked for it: settled rows are the reason to stop, epsilon is what was asked."""
    certificate = replace(result.certificate, epsilon=request.epsilon, settled_share=share)
    return replace(result, certificate=certificate, stop_reason=reason or result.stop_reason)
