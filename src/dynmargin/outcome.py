"""What a run of training leaves behind."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from .certificate import Certificate
from .joint.certificate import JointCertificate

StopReason = Literal[
    "certificate",
    "converged",
    "own rule",
    "inseparable",
    "infeasible",
    "stalled",
    "max_updates",
    "max_time",
    "interrupted",
    "callback",
    "online",  # no run at all: the rows were presented once
]


class Bounds(NamedTuple):
    """What the weights and counts of the moment are worth."""

    margin: float
    upper_bound: float
    directional_margin: float


class Check(NamedTuple):
    """What was known at one check of the bounds: a row of ``history_``."""

    time: float
    passes: int
    updates: int
    margin: float
    upper_bound: float
    problem: int

    @property
    def gap(self) -> float:
        """``1 - margin / upper_bound``."""
        return 1 - self.margin / self.upper_bound if self.upper_bound > 0 else math.inf


@dataclass(frozen=True)
class Outcome:
    """A finished run."""

    certificate: Certificate
    stop_reason: StopReason
    passes: int
    history: list[Check]
    R: float  # max ‖y_k‖
    beta: float = math.nan  # the margin that PFM looked for
    dual_scale: float | None = None  # what a count is worth as a dual weight, where that is known
    stream: Any = None  # to go on from, for the algorithms that can

    @property
    def updates(self) -> int:
        """How many updates were made."""
        return self.history[-1].updates

    def by_own_rule(self) -> "Outcome":
        """Say so when an algorithm was content by its own rule before the gap asked for was proven."""
        content = self.stop_reason == "converged" and not self.certificate.achieved
        return replace(self, stop_reason="own rule") if content else self

    def shortfall(self) -> str | None:
        """Say what a user should know when the run did not end as asked."""
        if self.certificate.achieved or self.stop_reason in ("converged", "own rule", "callback"):
            return None
        margin, upper_bound, gap = self.certificate.margin, self.certificate.upper_bound, self.certificate.gap
        if self.stop_reason == "inseparable":
            return (
                f"no margin above {upper_bound:.3g} exists, and the longest pattern has length {self.R:.3g}: "
                "the classes are not separable, or hardly so. Use a finite C, or a smaller margin_floor."
            )
        if self.stop_reason == "infeasible":
            return (
                f"beta={self.beta:.6g} is too large: no classifier has a margin above it. The margin reached is "
                f"{margin:.6g}, the upper bound from the counts {upper_bound:.6g}. Use a smaller beta, or beta=None."
            )
        why = {
            "stalled": "the bounds hardly move any more (less than 1 % in 1,000 passes)",
            "max_updates": "max_updates is reached",
            "max_time": "max_time is reached",
            "interrupted": "interrupted",
        }[self.stop_reason]
        advice = "use a smaller C, or NewtonClassifier, which does not mind the scale; "
        if isinstance(self.certificate, JointCertificate):  # which PDM alone has
            advice = "use a smaller C, "
        if self.certificate.problem.hard_margin:  # which Newton's method has not
            advice = ""
        digits = max(1, math.ceil(-math.log10(gap)) - 1) if 0 < gap < 1 else 1
        what = (
            "the margin is at least" if self.certificate.loss == "squared_hinge" else "1 / sqrt(objective) is at least"
        )
        ratio = f" (R/margin is {self.R / margin:.2g})" if margin > 0 else ""
        return (
            f"{why} after {self.history[-1].time:.1f} s: the proven gap is {gap:.3g}, not "
            f"{self.certificate.epsilon:g}; {what} {max(0.0, 1 - gap):.{digits}%} of the best. "
            f"To get closer, scale the features{ratio}, {advice}or ask for a larger epsilon."
        )
