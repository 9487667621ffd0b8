"""What a run leaves behind: its checks, the reason it stopped, its certificate."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from ..certificate.certificate import Certificate

StopReason = Literal[
    "certificate",
    "predictions",
    "converged",
    "own_rule",
    "inseparable",
    "infeasible",
    "stalled",
    "max_updates",
    "max_time",
    "interrupted",
    "callback",
    "online",  # no run at all: the rows were presented once
]

AS_ASKED = ("predictions", "converged", "own_rule", "callback")  # ends that need no comment, whatever was proven

UNFINISHED = ("max_time", "interrupted", "callback")  # a run that ended like this continues from its checkpoint

ROUNDING = 1e-6  # a gap below which a run that gets no further is at the end of the doubles

LIMITS = {
    "stalled": "the bounds hardly move any more (less than 1 % in 1,000 passes)",
    "max_updates": "max_updates is reached",
    "max_time": "max_time is reached",
    "interrupted": "interrupted",
}


class Check(NamedTuple):
    """What was known at one check of the bounds: one row of ``history_``.

    Attributes
    ----------
    time : float
        Seconds since the fit began.
    passes, updates : int
        Made so far.
    margin, upper_bound : float
        What the weights have, and what no classifier can exceed.
    problem : int
        The number of the problem that is trained.
    """

    time: float
    passes: int
    updates: int
    margin: float
    upper_bound: float
    problem: int

    @property
    def gap(self) -> float:
        """``1 - margin / upper_bound``."""
        return 1 - self.margin / self.upper_bound if 0 < self.upper_bound < math.inf else math.inf


@dataclass(frozen=True)
class Result:
    """A finished run.

    Attributes
    ----------
    certificate : Certificate
        What is proven.
    stop_reason : str
        Why it ended.
    passes, updates : int
        How much work it was.
    history : list of Check
        The checks on the way.
    R : float
        The length of the longest pattern.
    beta : float
        The margin that PFM looked for.
    dual_scale : float or None
        What a count is worth as a dual weight, where that is known.
    algorithm : str
        What was chosen and why, where there was a choice.
    stream : Stream or None
        To continue from, where that was asked for.
    """

    certificate: Certificate
    stop_reason: StopReason
    passes: int
    updates: int
    history: list[Check]
    R: float
    beta: float = math.nan
    dual_scale: float | None = None
    algorithm: str = ""
    stream: Any = None

    def by_own_rule(self) -> "Result":
        """Say so when an algorithm's own rule was satisfied before the gap asked for was proven."""
        satisfied = self.stop_reason == "converged" and not self.certificate.achieved
        return replace(self, stop_reason="own_rule") if satisfied else self

    def shortfall(self) -> str | None:
        """Say what a user should know when the run did not end as asked."""
        if self.certificate.achieved or self.stop_reason in AS_ASKED:
            return None
        margin, upper_bound, gap = self.certificate.margin, self.certificate.upper_bound, self.certificate.gap
        if self.stop_reason == "inseparable":
            return (
                f"no margin above {upper_bound:.3g} exists, and the longest pattern has length {self.R:.3g}: "
                "the classes are not separable, or barely. Use a finite C, or a smaller margin_floor."
            )
        if self.stop_reason == "infeasible":
            return (
                f"beta={self.beta:.6g} is too large: no classifier has a margin above it. The margin reached is "
                f"{margin:.6g}, the upper bound from the counts {upper_bound:.6g}. Use a smaller beta, or beta=None."
            )
        problem = self.certificate.problem
        advice = "use a smaller C, or NewtonClassifier, which copes with any scale; "
        if problem.joint:  # PDM is the only one that trains for it
            advice = "use a smaller C, "
        if problem.hard_margin:  # Newton's method has none
            advice = ""
        reason = LIMITS[self.stop_reason]
        if self.stop_reason == "stalled" and gap < ROUNDING:
            reason, advice = "rounding leaves no room for a smaller gap", ""
        digits = max(1, math.ceil(-math.log10(gap)) - 1) if 0 < gap < 1 else 1
        what = "the margin is at least" if problem.loss == "squared_hinge" else "1 / sqrt(objective) is at least"
        ratio = f" (R/margin is {self.R / margin:.2g})" if margin > 0 else ""
        return (
            f"{reason} after {self.history[-1].time:.1f} s: the proven gap is {gap:.3g}, not "
            f"{self.certificate.epsilon:g}; {what} {max(0.0, 1 - gap):.{digits}%} of the best. "
            f"To get closer, scale the features{ratio}, {advice}or ask for a larger epsilon."
        )
