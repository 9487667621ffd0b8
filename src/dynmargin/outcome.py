"""What a run of training leaves behind."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .certificate import Certificate

StopReason = Literal[
    "certificate", "converged", "inseparable", "infeasible", "stalled", "max_updates", "max_time", "interrupted"
]


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

    @property
    def updates(self) -> int:
        """How many updates were made: t."""
        return self.certificate.counts.sum()

    def shortfall(self) -> str | None:
        """Say what a user should know when the run did not end as asked."""
        if self.certificate.achieved or self.stop_reason == "converged":
            return None
        margin, upper_bound, gap = self.certificate.margin, self.certificate.upper_bound, self.certificate.gap
        if self.stop_reason == "inseparable":
            return (
                f"no margin above {upper_bound:.3g} exists, and the longest pattern has length {self.R:.3g}: "
                "the classes are not separable, or hardly so. Use a finite C, or a smaller margin_floor."
            )
        if self.stop_reason == "infeasible":
            return (
                f"no classifier has a margin of beta={self.beta:.6g}: the upper bound is {upper_bound:.6g} "
                f"and the margin reached {margin:.6g}. Use a smaller beta, or beta=None."
            )
        why = {
            "stalled": "the bounds have stopped moving",
            "max_updates": "max_updates is reached",
            "max_time": "max_time is reached",
            "interrupted": "interrupted",
        }[self.stop_reason]
        ratio = f" (R/margin is {self.R / margin:.2g})" if margin > 0 else ""
        return (
            f"{why} after {self.history[-1].time:.1f} s: "
            f"the proven gap is {gap:.3g}, not {self.certificate.epsilon:g}; the "
            f"margin is at least {max(0.0, 1 - gap):.1%} of the best. To get closer, scale the features{ratio}, "
            "allow more time, or ask for a larger epsilon."
        )
