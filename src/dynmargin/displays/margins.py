"""The margins of the rows."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..certificate.ball import Settled
from ..certificate.certificate import Certificate
from ..problem.statement import in_percent
from .fitted import axes_for, before_last_step, last_step, problem_of, title_of
from .style import BOUND, INK, PALE, PROVEN, few_ticks, tidy

Values = NDArray[np.float64]


def margins_of_rows(certificate: Certificate, X: Any, y: Any) -> Values:
    """Return the signed distance of every row from the decision boundary, in the units of the certified margin.

    That is l_k (w x_k + b) / ‖a‖; for a joint margin the score of the own class minus the best of the others, over ‖a‖.
    The length ‖a‖ is the one that the certified margin was divided by: for the hard margin (and the geometric one) that
    of the weights with the augmented coordinate b / rho; for the soft margin, whose slacks are coordinates of a, the
    square root of twice the objective, 1 / margin.
    """
    scores = np.asarray(X @ certificate.weights.T) + certificate.intercept
    return in_units_of(certificate, certificate.problem.margins(scores, y))


def in_units_of(certificate: Certificate, scores: Values) -> Values:
    """Return scores, those of rows on their own side, in the units of the certified margin."""
    problem = certificate.problem
    if not problem.hard_margin and certificate.margin > 0:
        margins: Values = scores * certificate.margin
        return margins
    augmented = np.linalg.norm(certificate.intercept) / problem.rho if problem.rho > 0 else 0.0
    length = float(np.hypot(np.linalg.norm(certificate.weights), augmented))
    return scores / length if length > 0 else scores


class MarginDisplay:
    """A histogram of the margins of rows, with the margin that is certified; use `from_estimator` to make one.

    Rows to the left of the certified margin rely on slacks; those below zero are misclassified. Open rows are shaded:
    more training may still change their predictions.

    Parameters
    ----------
    margins : array of shape (n_samples,)
        The signed distance of every row from the decision boundary, in the units of the certified margin.
    certificate : Certificate
        What is proven.
    name : str, default=""
        The title.
    open_rows : array of bool of shape (n_samples,), optional
        The rows whose predictions are not settled; None where that is not known.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        What was drawn on.
    margin_line_, bound_line_ : matplotlib lines
        The certified margin and the upper bound.
    open_area_ : matplotlib collection
        The open rows, where they are known.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from dynmargin import MarginDisplay, PDMClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]], [0, 1]
    >>> display = MarginDisplay.from_estimator(PDMClassifier(C=float("inf")).fit(X, y), X, y)
    >>> bool(display.margins.min() >= display.certificate.margin)
    True
    """

    def __init__(
        self,
        margins: Values,
        certificate: Certificate,
        name: str = "",
        open_rows: NDArray[np.bool_] | None = None,
    ) -> None:
        self.margins = margins
        self.certificate = certificate
        self.name = name
        self.open_rows = open_rows

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, label: Any = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the margins that rows have with a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier
            A classifier of dynmargin, or a pipeline that ends with one. After `partial_fit` it needs `certify` first.
        X : array or sparse matrix of shape (n_samples, n_features)
            The rows: those it was trained on, or others.
        y : array of shape (n_samples,)
            Their labels.
        label : object, optional
            With more than two classes, the one to draw against the rest; by default the one with the largest gap.
        ax, **kwargs
            As in `plot`.

        Returns
        -------
        MarginDisplay
            What was drawn.
        """
        from sklearn.utils.validation import validate_data

        classifier = last_step(estimator)
        rows = validate_data(classifier, before_last_step(estimator, X), accept_sparse="csr", reset=False)
        certificate = classifier.certificates_[problem_of(classifier, label)]
        if not isinstance(certificate, Certificate):
            raise ValueError("no margin is proven after partial_fit; call certify(X, y) or fit(X, y) first")
        margins = margins_of_rows(certificate, rows, np.ravel(y))
        open_rows = None
        if not certificate.problem.free_bias:
            own = np.atleast_2d(certificate.weights), np.atleast_1d(certificate.intercept)
            open_rows = ~Settled([certificate], *own).of(rows)
        return cls(margins, certificate, title_of(classifier, certificate), open_rows).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default on a new figure.
        **kwargs : dict
            Options of ``Axes.hist``.

        Returns
        -------
        MarginDisplay
            This one.
        """
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        margin, upper_bound = self.certificate.margin, self.certificate.upper_bound
        heights, edges, _ = ax.hist(self.margins, **{"bins": 50, "color": PALE, **kwargs})
        notes = [(f"margin proven {margin:.4g}, none above {upper_bound:.4g}", PROVEN)]
        if self.open_rows is not None:
            open_counts, _ = np.histogram(self.margins[self.open_rows], edges)
            style = {"step": "post", "color": BOUND, "alpha": 0.8, "linewidth": 0}
            self.open_area_ = ax.fill_between(edges, np.append(open_counts, 0), **style)
            open_share = self.open_rows.mean()
            note = f"{in_percent(open_share, 2)} open: more training may change them" if open_share else "all settled"
            notes.append((note, BOUND))
        # The notes have a band of their own above the bars; the lines end below it.
        top = 1.06 + 0.1 * len(notes)
        ax.set_ylim(0, float(np.max(heights)) * top)
        for line, (note, colour) in enumerate(notes):
            place = 1 - 0.1 * (line + 0.5) / top
            ax.text(1, place, note, transform=ax.transAxes, ha="right", va="center", color=colour, fontsize="small")
        ax.axvline(0.0, ymax=1 / top, color=INK, linewidth=1)
        self.margin_line_ = ax.axvline(margin, ymax=1 / top, color=PROVEN, linewidth=1.5)
        self.bound_line_ = ax.axvline(upper_bound, ymax=1 / top, color=BOUND, linewidth=1.5, linestyle=(0, (4, 3)))
        ax.set(xlabel="margin of a row: negative is wrong", ylabel="rows")
        few_ticks(ax.xaxis, 1.0, 1.0)
        few_ticks(ax.yaxis, 1.0, 1.0)
        wrong = np.mean(self.margins < 0)
        share = f"{in_percent(wrong, 2)} of the rows are wrong" if wrong else "no row is wrong"
        tidy(ax, f"{self.name}: {share}".removeprefix(": "))
        return self
