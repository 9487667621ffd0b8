"""Watching the bounds move: whether a run has stalled, and how long it will take."""

import math
from collections import deque
from typing import NamedTuple

from .outcome import Check

STALL_PASSES, STALL_FRACTION = 1000, 0.01  # so many full passes without a fall by this fraction are a stall
SLOW_SECONDS = 60.0  # a projected time beyond this is worth a warning,
SLOW_AFTER_SECONDS, SLOW_AFTER_CHECKS = 2.0, 5  # but not before the projection has something to go by


class Moment(NamedTuple):
    """A check, as far as projections go."""

    visits: float
    seconds: float
    gap: float


class Progress:
    """The recent past of a run that is to bring a gap down to epsilon."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon
        self.best_gap = self.best_bound = math.inf
        self.passes = 0  # of the last check,
        self.passes_moved = 0  # and of the one at which the gap or the upper bound last fell by STALL_FRACTION
        self.checks = 0
        self.recent: deque[Moment] = deque()  # the last half of the visits

    def record(self, check: Check, gap: float, visits: int, seconds: float) -> None:
        """Take note of a check; `gap` is the one that the run is to close, `seconds` the time it has had for it."""
        self.passes, fallen = check.passes, 1 - STALL_FRACTION
        if gap < fallen * self.best_gap:
            self.best_gap, self.passes_moved = gap, check.passes
        if check.upper_bound < fallen * self.best_bound:
            self.best_bound, self.passes_moved = check.upper_bound, check.passes
        self.checks += 1
        self.recent.append(Moment(visits, seconds, gap))
        while len(self.recent) > 2 and self.recent[0].visits < visits / 2:
            self.recent.popleft()

    def stalled(self) -> bool:
        """Whether neither the gap nor the upper bound has fallen for too long."""
        return self.passes - self.passes_moved >= STALL_PASSES

    def slow(self) -> bool:
        """Whether the user should hear that this will take long."""
        enough = self.recent[-1].seconds > SLOW_AFTER_SECONDS and self.checks >= SLOW_AFTER_CHECKS
        return enough and self.projected_seconds() > SLOW_SECONDS

    def projected_seconds(self) -> float:
        """When the gap will be epsilon if it goes on falling as a power of time, as over the last half of the run."""
        return self._extrapolate(self.recent[0].seconds, self.recent[-1].seconds)

    def projected_visits(self) -> float:
        """How many visits of a row there will have been by then; does not depend on the clock."""
        return self._extrapolate(self.recent[0].visits, self.recent[-1].visits)

    def _extrapolate(self, then: float, now: float) -> float:
        gap_then, gap = self.recent[0].gap, self.recent[-1].gap
        if not (0 < then < now and 0 < gap < gap_then < math.inf):
            return math.inf
        power = math.log(gap_then / gap) / math.log(now / then)
        logarithm = math.log(now) + math.log(gap / self.epsilon) / power
        return math.exp(logarithm) if logarithm < 700 else math.inf

    def message(self, check: Check, R: float) -> str:
        """Say how long it may take, and what to do about it."""
        projected = self.projected_seconds()
        expected = f"about {projected:.0f} s" if projected < 1e6 else "very long"
        ratio = f" R/margin is {R / check.margin:.2g}." if check.margin > 0 else ""
        return (
            f"epsilon={self.epsilon:g} will take {expected}: "
            f"after {check.time:.0f} s the proven gap is {check.gap:.3g}.{ratio} "
            "Scale the features (StandardScaler, or MaxAbsScaler for sparse data), ask for a larger epsilon, "
            "or set max_time."
        )
