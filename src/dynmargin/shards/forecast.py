"""When a check is due: what the upper bounds of all passes, which cost nothing, say about the gap."""

import math

# Where a gap is that many times what the upper bound exceeds the optimum by, the margin is short of it by almost as
# much. (Generated texts, 600,000 x 47,236: 1.6 to 1.8 at gaps from 14 % to 0.9 %.)
GAP_PER_EXCESS = 1.8
PATIENCE = 1.5  # times the passes up to the last check: then there is another one, whatever the bounds say
FIRST_CHECK = 16  # passes, at the latest


class Forecast:
    """The gap, as far as the last three upper bounds show where they are going.

    They fall by a factor per pass, so the optimum is the sum of a geometric series away. A check shows how much of the
    gap is missing there.
    """

    def __init__(self) -> None:
        self.bounds = [math.inf] * 3
        self.ratio, self.last_check = GAP_PER_EXCESS, 0

    def passed(self, upper_bound: float) -> None:
        """Take note of the upper bound after a pass."""
        self.bounds = [*self.bounds[1:], upper_bound]

    @property
    def gap(self) -> float:
        """The gap that the bounds suggest; infinite if they do not fall regularly yet."""
        first, second, third = self.bounds
        before, now = first - second, second - third
        if now <= 0 and math.isfinite(first):
            return 0.0  # there is no more to come
        if not 0 < now < before < math.inf:
            return math.inf
        return self.ratio * now * now / (before - now) / third

    def due(self, passes: int, epsilon: float) -> bool:
        """Whether a check is worth a pass."""
        return self.gap <= epsilon or passes >= max(FIRST_CHECK, PATIENCE * self.last_check)

    def checked(self, passes: int, gap: float) -> None:
        """Learn from a check what the gap is."""
        if 0 < self.gap < math.inf and 0 < gap < math.inf:
            self.ratio *= gap / self.gap
        self.last_check = passes

    def numbers(self) -> list[float]:
        """Return the state."""
        return [*self.bounds, self.ratio, self.last_check]

    @classmethod
    def from_numbers(cls, numbers: list[float]) -> "Forecast":
        """Return the forecast of a state."""
        found = cls()
        *found.bounds, found.ratio, last_check = numbers
        found.last_check = int(last_check)
        return found
