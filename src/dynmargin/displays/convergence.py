"""The bounds against time."""

from typing import Any, Literal, Self

from ..training.result import Check
from .fitted import axes_for, last_step, problem_of, title_of

AXES = {"time": "seconds", "passes": "passes over the data"}


class ConvergenceDisplay:
    """The upper bound falling and the margin rising, check after check; use `from_estimator` to make one.

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
            raise ValueError("there is no history to draw: partial_fit and certify leave none; call fit to have one")
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
            A classifier of dynmargin, or a pipeline that ends with one. It must have been trained by `fit`:
            `partial_fit` leaves no history.
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

    def plot(self, ax: Any = None, *, against: Literal["time", "passes"] = "time") -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default on a new figure.
        against : {"time", "passes"}, default="time"
            What the horizontal axis shows.

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
        (self.bound_line_,) = ax.plot(right, bounds, label="upper bound: no classifier has more", color="tab:red")
        (self.line_,) = ax.plot(right, margins, label="margin proven", color="tab:blue")
        ax.fill_between(right, margins, bounds, color="0.9", label="where the best margin is")
        ax.set(xlabel=AXES[against], ylabel="margin", xscale="log")
        last = self.history[-1]
        ax.set_title(f"{self.name}: proven gap {last.gap:.2%} after {last.passes} passes".removeprefix(": "))
        ax.legend()
        return self
