"""A check of the bounds as a line of text."""

from .outcome import Check
from .progress import Progress


class CheckLine:
    """Puts the checks of a fit in words, with the time that is left as far as it can be told."""

    def __init__(self, epsilon: float, labels: list[str]) -> None:
        self.epsilon = epsilon
        self.labels = labels  # of the problems; empty when there is only one
        self.runs: dict[int, tuple[Progress, float]] = {}  # of each problem: its past and when it began

    def describe(self, check: Check) -> str:
        """Put a check in a line."""
        progress, began = self.runs.setdefault(check.problem, (Progress(self.epsilon), check.time))
        progress.record(check, check.gap, check.passes, check.time - began)
        which = f"class {self.labels[check.problem]}: " if self.labels else ""
        left = progress.projected_seconds() - (check.time - began)
        eta = f", about {max(left, 0):.0f} s left" if left < 1e6 else ""
        return (  # what matters most first: the end is cut where the screen is narrow
            f"{which}gap {check.gap:.2%}{eta}, margin {check.margin:.6g}, at most {check.upper_bound:.6g}, "
            f"{check.time:.1f} s, {check.passes} passes, {check.updates} updates"
        )
