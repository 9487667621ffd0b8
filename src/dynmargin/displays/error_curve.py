"""The bounds of the cross-validation error, at every C."""

from typing import Any, Self

import numpy as np

from ..path.error_curve import ErrorCurve, percent
from ..problem.statement import counted
from .fitted import axes_for, last_step
from .style import BAND, BOUND, CHOSEN, INK, PROVEN, QUIET, few_ticks, tidy


class ErrorCurveDisplay:
    """The cross-validation error at every C between two proven bounds; use `from_estimator` to make one.

    Parameters
    ----------
    curve : ErrorCurve
        The ``curve_`` of a `MaxMarginClassifierCV` that was fitted with a ``tolerance``.
    name : str, default=""
        The title.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        What was drawn on.
    lower_line_, upper_line_ : matplotlib artists
        The two bounds.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from dynmargin import ErrorCurveDisplay, MaxMarginClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = MaxMarginClassifierCV(tolerance=0.05, C_range=(0.1, 10.0), cv=3).fit(X, y == 1)
    >>> ErrorCurveDisplay.from_estimator(search).ax_.get_ylabel()
    'cross-validation error'
    """

    def __init__(self, curve: ErrorCurve, name: str = "") -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the bounds that a fitted search has proven.

        Parameters
        ----------
        estimator : fitted classifier
            A `MaxMarginClassifierCV` that was fitted with a ``tolerance``, or a pipeline that ends with one.
        ax
            As in `plot`.

        Returns
        -------
        ErrorCurveDisplay
            What was drawn.
        """
        classifier = last_step(estimator)
        curve = getattr(classifier, "curve_", None)
        if not isinstance(curve, ErrorCurve):
            raise ValueError("nothing is proven between the values of C; fit MaxMarginClassifierCV with a tolerance")
        return cls(curve, type(classifier).__name__).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        ErrorCurveDisplay
            This one.
        """
        self.ax_ = ax = axes_for(ax)
        from matplotlib.ticker import PercentFormatter

        self.figure_ = ax.figure
        curve = self.curve
        thin: dict[str, Any] = {"baseline": None, "linewidth": 0.8}
        ax.stairs(curve.upper, curve.edges, baseline=curve.lower, fill=True, color=BAND, zorder=0)
        self.upper_line_ = ax.stairs(curve.upper, curve.edges, color=BOUND, label="upper bound", **thin)
        self.lower_line_ = ax.stairs(curve.lower, curve.edges, color=PROVEN, label="lower bound", **thin)
        trained = f"{counted(len(curve.Cs), 'value')} trained"
        ax.plot(curve.Cs, curve.errors[:, 1], ".", color=INK, markersize=3, label=trained)
        least = float(curve.lower.min())
        ax.axhline(least, color=CHOSEN, linestyle=(0, (5, 2)), linewidth=1)
        ax.plot([curve.C], [curve.error], "o", color=CHOSEN, markeredgecolor="white", markersize=8)
        highest = curve.errors[:, 1].max()
        room = max(highest - least, 2 * curve.tolerance, 1e-3)
        low, high = least - 0.35 * room, highest + 0.5 * room
        ax.set(xlabel="C: what a slack costs", ylabel="cross-validation error", ylim=(low, high))
        ax.set_xlim(curve.edges[0], curve.edges[-1])
        few_ticks(ax.xaxis, float(curve.edges[0]), float(curve.edges[-1]), log=True)
        few_ticks(ax.yaxis, 1.0, 1.0)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        proven = percent(curve.proven, up=True)
        tidy(ax, f"{self.name}: no C is better by more than {proven}".removeprefix(": "))
        # Nothing is below the least lower bound: there is room for words.
        left = np.log(curve.C / curve.edges[0]) < 0.5 * np.log(curve.edges[-1] / curve.edges[0])
        words = f"chosen: C = {curve.C:.4g}\nno C has less than {percent(least, up=False)}"
        ax.annotate(
            words,
            (curve.C, curve.error),
            (curve.C, least - 0.07 * room),
            arrowprops={"arrowstyle": "-", "color": CHOSEN, "linewidth": 1, "relpos": (0 if left else 1, 1)},
            ha="left" if left else "right",
            va="top",
            color=CHOSEN,
            fontsize="small",
        )
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17), "ncols": 3, "frameon": False}
        ax.legend(**below, fontsize="small", labelcolor=QUIET, handlelength=1.2, columnspacing=1.0)
        return self
