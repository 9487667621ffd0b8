"""The bounds against time."""

from typing import Any, Literal, Self

from ..outcome import Check
from .fitted import axes_for, last_step, problem_of, title_of

AXES = {"time": "seconds", "passes": "passes over the data"}


class ConvergenceDisplay:
    """The upper bound falling and the margin rising, check after check.

    Use `from_estimator` to make one. With the hinge loss both are 1 / sqrt(2 objective), as in the certificate.

    Parameters
    ----------
    history : list of Check
        The checks of one problem.
    name : str, default=""
        The title.

    Attributes
    ----------
    ax_ : matplotlib axes
        What was drawn on.
    figure_ : matplotlib figure
        Its figure.
    line_, bound_line_ : matplotlib lines
        The margin and the upper bound.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from dynmargin import ConvergenceDisplay, PDMClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]], [0, 1]
    >>> display = ConvergenceDisplay.from_estimator(PDMClassifier().fit(X, y))
    >>> display.ax_.get_xlabel()
    'seconds'
    """

    def __init__(self, history: list[Check], name: str = "") -> None:
        self.history = history
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, label: Any = None, against: Literal["time", "passes"] = "time", ax: Any = None
    ) -> Self:
        """Draw the convergence of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier
            One of ours, or a pipeline that ends with one.
        label : object, optional
            With more than two classes, the one to draw; without it the one with the largest gap.
        against : {"time", "passes"}, default="time"
            What goes to the right.
        ax : matplotlib axes, optional
            Where to draw; a new figure without it.

        Returns
        -------
        ConvergenceDisplay
            What was drawn.
        """
        classifier = last_step(estimator)
        problem = problem_of(classifier, label)
        history = [check for check in classifier.history_ if check.problem == problem]
        return cls(history, title_of(classifier, classifier.certificates_[problem])).plot(ax, against=against)

    def plot(self, ax: Any = None, *, against: Literal["time", "passes"] = "time") -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure without it.
        against : {"time", "passes"}, default="time"
            What goes to the right.

        Returns
        -------
        ConvergenceDisplay
            This one.
        """
        if against not in AXES:
            raise ValueError(f'against must be "time" or "passes", got {against!r}')
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        right = [getattr(check, against) for check in self.history]
        margins, bounds = [check.margin for check in self.history], [check.upper_bound for check in self.history]
        (self.bound_line_,) = ax.plot(right, bounds, label="no classifier has more (upper bound)", color="tab:red")
        (self.line_,) = ax.plot(right, margins, label="margin proven", color="tab:blue")
        ax.fill_between(right, margins, bounds, color="0.9", label="where the best margin is")
        ax.set(xlabel=AXES[against], ylabel="margin", xscale="log")
        last = self.history[-1]
        ax.set_title(f"{self.name}: proven gap {last.gap:.2%} after {last.passes} passes".removeprefix(": "))
        ax.legend()
        return self
