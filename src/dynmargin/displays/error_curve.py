"""The bounds of the cross-validation error, at every C."""

from typing import Any, Self

from ..path.error_curve import ErrorCurve, percent
from ..problem.statement import counted
from .fitted import axes_for, last_step


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
    >>> ErrorCurveDisplay.from_estimator(search).ax_.get_xlabel()
    'C'
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
        from matplotlib.ticker import PercentFormatter

        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        curve = self.curve
        thin: dict[str, Any] = {"baseline": None, "linewidth": 0.8}
        self.upper_line_ = ax.stairs(curve.upper, curve.edges, color="tab:red", label="not above, at any C", **thin)
        self.lower_line_ = ax.stairs(curve.lower, curve.edges, color="tab:blue", label="not below, at any C", **thin)
        ax.stairs(curve.upper, curve.edges, baseline=curve.lower, fill=True, color="0.9", zorder=0)
        trained = f"{counted(len(curve.Cs), 'value')} trained"
        ax.plot(curve.Cs, curve.errors[:, 1], ".", color="black", markersize=3, label=trained)
        ax.plot([curve.C], [curve.error], "o", color="tab:green", label=f"chosen: C = {curve.C:.4g}")
        least = float(curve.lower.min())
        nowhere_less = f"no C has less than {percent(least, up=False)}"
        ax.axhline(least, color="tab:green", linestyle="--", linewidth=1, label=nowhere_less)
        highest = curve.errors[:, 1].max()
        room = max(highest - least, 2 * curve.tolerance, 1e-3)
        ax.set(xlabel="C", ylabel="cross-validation error", xscale="log", xlim=(curve.edges[0], curve.edges[-1]))
        ax.set_ylim(max(0.0, least - 0.2 * room), highest + 0.5 * room)
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        proven = percent(curve.proven, up=True)
        ax.set_title(f"{self.name}: no C is better by more than {proven}".removeprefix(": "))
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False)  # below: the curves are wide
        return self
