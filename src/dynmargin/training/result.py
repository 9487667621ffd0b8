"""What a run leaves behind: its checks, the reason it stopped, its certificate."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from ..certificate.certificate import Certificate
from ..problem.statement import in_percent
from ..problem.wording import any_of, wording

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
    "interrupted": "interrupted",
}


def limit_text(reason: str) -> str:
    """Say which limit ended a run."""
    return LIMITS.get(reason) or f"{wording().name(reason)} is reached"


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

    Examples
    --------
    >>> from dynmargin import PDMClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [0, 1, 1]
    >>> last = PDMClassifier(epsilon=0.01, random_state=0).fit(X, y).history_[-1]
    >>> last.gap <= 0.01
    True
    """

    time: float
    passes: int
    updates: int
    margin: float
    upper_bound: float
    problem: int

    @property
    def gap(self) -> float:
        """``1 - margin / upper_bound``; never negative.

        The bounds of a certificate are rounded outward and cannot cross. Those of a check on the way may not be yet:
        at the optimum, the margin may be the larger one by a rounding.
        """
        gap = 1 - self.margin / self.upper_bound if 0 < self.upper_bound < math.inf else math.inf
        return 0.0 if gap < 0 else gap  # NaN stays NaN


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
    newton : bool
        Whether Newton's method has had a turn, so that there is no point in advising it.
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
    newton: bool = False

    def by_own_rule(self) -> "Result":
        """Say so when an algorithm's own rule was satisfied before the gap asked for was proven."""
        satisfied = self.stop_reason == "converged" and not self.certificate.achieved
        return replace(self, stop_reason="own_rule") if satisfied else self

    def shortfall(self, *, time_shared: bool = False) -> str | None:
        """Say what a user should know when the run did not end as asked; others may share the limit of its time."""
        if self.certificate.achieved or self.stop_reason in AS_ASKED:
            return None
        margin, upper_bound, gap = self.certificate.margin, self.certificate.upper_bound, self.certificate.gap
        words = wording()
        if self.stop_reason == "inseparable":
            return (
                f"no margin above {upper_bound:.3g} exists, and the longest pattern has length {self.R:.3g}: "
                f"the classes are not separable, or barely. Use a finite {words.name('C')}"
                + (f", or a smaller {words.name('margin_floor')}." if words.has("margin_floor") else ".")
            )
        if self.stop_reason == "infeasible":
            return (
                f"beta={self.beta:.6g} is too large: no classifier has a margin above it. The margin reached is "
                f"{margin:.6g}, the upper bound from the counts {upper_bound:.6g}. Use a smaller beta, or beta=None."
            )
        problem = self.certificate.problem
        reason = limit_text(self.stop_reason)
        if time_shared and self.stop_reason == "max_time":
            reason = f"{words.name('max_time')}, which the classes share, is reached"
        if self.stop_reason == "stalled" and gap < ROUNDING:
            reason = "rounding leaves no room for a smaller gap"
        digits = max(1, math.ceil(-math.log10(gap)) - 1) if 0 < gap < 1 else 1
        what = "the margin is at least" if problem.loss == "squared_hinge" else "1 / sqrt(objective) is at least"
        ratio = f" (R/margin is {self.R / margin:.2g})" if margin > 0 else ""
        at_the_end = problem.hard_margin or (self.stop_reason == "stalled" and gap < ROUNDING)
        advice = [
            words.scaling and words.scaling + ratio,
            f"raise {words.name(self.stop_reason)}" if self.stop_reason in ("max_time", "max_updates") else "",
            "" if at_the_end else f"use a smaller {words.name('C')}",
            "" if at_the_end or not self._newton_would_do() else f"use {words.newton} (which copes with any scale)",
            f"ask for a larger {words.name('epsilon')}",
        ]
        return (
            f"{reason} after {self.history[-1].time:.1f} s: the proven gap is {gap:.3g}, not "
            f"{self.certificate.epsilon:g}; {what} {in_percent(max(0.0, 1 - gap), digits)} of the best. "
            f"To get closer, {any_of(advice)}."
        )

    def _newton_would_do(self) -> bool:
        """Whether Newton's method solves this problem, and has not had its turn yet."""
        problem = self.certificate.problem
        other = problem.joint or problem.hard_margin or problem.free_bias or problem.loss != "squared_hinge"
        return not (other or self.newton)
