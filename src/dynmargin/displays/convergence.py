"""The bounds against time."""

import math
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ..training.result import Check
from .fitted import axes_for, last_step, problem_of, title_of
from .style import BAND, BOUND, PROVEN, beside, few_ticks, tidy

Values = NDArray[np.float64]

AXES = {"time": "seconds", "passes": "passes over the data"}


class ConvergenceDisplay:
    """The upper bound falling and the margin rising, check after check; use `from_estimator` to make one.

    What is drawn is the best of what had been proven by then: a bound stays true when a later check gives a worse one.
    With the hinge loss both are 1 / sqrt(2 objective), as in the certificate.

    Parameters
    ----------
    history : list of Check
        The checks of one problem.
    name : str, default=""
        The title.

    Attributes
    ----------
    line_, bound_line_ : matplotlib lines
        The margin and the upper bound.
    ax_, figure_ : matplotlib axes and figure
        What was drawn on.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from dynmargin import ConvergenceDisplay, PDMClassifier
    >>> classifier = PDMClassifier().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    >>> display = ConvergenceDisplay.from_estimator(classifier)
    >>> display.ax_.get_xlabel()
    'seconds'
    """

    def __init__(self, history: list[Check], name: str = "") -> None:
        if not history:
            raise ValueError(
                "there is no history to draw: partial_fit and certify leave none, and older model files have none; "
                "call fit to have one"
            )
        self.history = history
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, label: Any = None, against: Literal["time", "passes"] | None = None, ax: Any = None
    ) -> Self:
        """Draw the convergence of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier
            A classifier of dynmargin, or a pipeline that ends with one, also from ``load(path).to_estimator()``. It
            must have been trained by `fit`: `partial_fit` leaves no history.
        label : object, optional
            With more than two classes, the one to draw; by default the one with the largest gap.
        against, ax
            As in `plot`.

        Returns
        -------
        ConvergenceDisplay
            What was drawn.
        """
        classifier = last_step(estimator)
        problem = problem_of(classifier, label)
        history = [check for check in classifier.history_ if check.problem == problem]
        return cls(history, title_of(classifier, classifier.certificates_[problem])).plot(ax, against=against)

    def plot(self, ax: Any = None, *, against: Literal["time", "passes"] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default on a new figure.
        against : {"time", "passes"}, optional
            What the horizontal axis shows; by default the time, where it is known. A file of a model does not tell it.

        Returns
        -------
        ConvergenceDisplay
            This one.
        """
        timed = all(math.isfinite(check.time) for check in self.history)
        if against is None:
            against = "time" if timed else "passes"
        if against not in AXES:
            raise ValueError(f'against must be "time" or "passes", got {against!r}')
        if against == "time" and not timed:
            raise ValueError('the times of a model from a file are not known; use against="passes"')
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        right = [getattr(check, against) for check in self.history]
        margins, bounds = proven_by_then(self.history)
        (self.bound_line_,) = ax.plot(right, bounds, color=BOUND, linestyle=(0, (5, 1.5)), linewidth=2)
        (self.line_,) = ax.plot(right, margins, color=PROVEN, linewidth=2)
        ax.plot(right[-1:], bounds[-1:], "o", color=BOUND, markersize=4)
        ax.plot(right[-1:], margins[-1:], "o", color=PROVEN, markersize=4)
        ax.fill_between(right, margins, bounds, color=BAND, linewidth=0)
        ax.set(xlabel=AXES[against], ylabel="margin")
        few_ticks(ax.xaxis, min((one for one in right if one > 0), default=1.0), max(right))
        few_ticks(ax.yaxis, 1.0, 1.0)
        if ends := _ends(self.history):
            ax.set_ylim(*ends)
        last = self.history[-1]
        within = f"within {100 * last.gap:.2g} % of the best margin" if last.gap < 1 else "no margin is proven yet"
        tidy(ax, f"{self.name}: {within}".removeprefix(": "))
        beside(ax, [(self.bound_line_, "none has more")], avoid=[self.line_])
        beside(ax, [(self.line_, "margin proven")], avoid=[self.bound_line_], above=False)
        return self


def proven_by_then(history: Sequence[Check]) -> tuple[Values, Values]:
    """Return the largest margin and the smallest upper bound that were known at each check."""
    margins, bounds = (np.array([getattr(check, name) for check in history]) for name in ("margin", "upper_bound"))
    return np.fmax.accumulate(margins), np.fmin.accumulate(bounds)


def _ends(history: list[Check]) -> tuple[float, float] | None:
    """Return the part of the vertical axis in which the bounds meet; they may begin far outside of it."""
    best = history[-1].upper_bound
    known = [value for check in history for value in (check.margin, check.upper_bound) if abs(value) < math.inf]
    if not known or not 0 < best < math.inf:
        return None
    low, high = max(min(known), -0.25 * best), min(max(known), 2 * best)
    room = 0.12 * max(high - low, 1e-3 * best)  # for the labels
    return low - room, high + room
