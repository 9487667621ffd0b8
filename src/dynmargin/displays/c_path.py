"""A path over C: weights, margin, gap and errors."""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ..path.c_path import CPath
from ..problem.statement import counted

Values = NDArray[np.float64]
Panel = Literal["weights", "margin", "gap", "errors"]

MOST_LINES = 30  # of weights; more cannot be told apart


class CPathDisplay:
    """Weights, margin, gap and errors against C, with what is proven; use `from_path` to make one.

    Parameters
    ----------
    path : CPath
        The path.
    Cs : array
        The values of C to draw.
    weights : array of shape (n_Cs, n_features)
        The weights of the class that is drawn.
    bounds : array of shape (n_Cs, 2)
        Its margin and upper bound.
    errors : array of shape (n_Cs,) or None
        The fraction of rows that each model gets wrong.
    name : str, default=""
        The title.

    Attributes
    ----------
    axes_ : dict
        The axes, by what they show.
    figure_ : matplotlib figure
        What was drawn on.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from dynmargin import CPathDisplay, c_path
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1]
    >>> display = CPathDisplay.from_path(c_path(X, y, 0.1, 10.0), X, y)
    >>> sorted(display.axes_)
    ['errors', 'gap', 'margin', 'weights']
    """

    def __init__(
        self, path: CPath, Cs: Values, weights: Values, bounds: Values, errors: Values | None = None, name: str = ""
    ) -> None:
        self.path = path
        self.Cs = Cs
        self.weights = weights
        self.bounds = bounds
        self.errors = errors
        self.name = name

    @property
    def gaps(self) -> Values:
        """The proven gap at each C."""
        return 1 - self.bounds[:, 0] / self.bounds[:, 1]

    @classmethod
    def from_path(
        cls,
        path: CPath,
        X: Any = None,
        y: Any = None,
        *,
        label: Any = None,
        n_points: int = 200,
        show: Sequence[Panel] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw a path.

        Parameters
        ----------
        path : CPath
            What `c_path` returns.
        X : array or sparse matrix of shape (n_samples, n_features), optional
            Rows to count errors on, trained on or not; without them no errors are drawn.
        y : array of shape (n_samples,), optional
            Their labels.
        label : object, optional
            With more than two classes, the one whose weights, margin and gap are drawn; by default the first.
        n_points : int, default=200
            At how many values of C.
        show, ax
            As in `plot`.

        Returns
        -------
        CPathDisplay
            What was drawn.
        """
        labels = path.classes.tolist()
        several = len(labels) > 2
        if label is not None and label not in labels:
            raise ValueError(f"label={label!r} is none of the classes {labels}")
        if (X is None) != (y is None):
            raise ValueError("to count errors, X and y are both needed")
        place = labels.index(label) if several and label is not None else 0
        Cs = np.unique(np.concatenate([np.geomspace(path.C_low, path.C_high, n_points), path.Cs]))
        Cs = Cs[(Cs >= path.C_low) & (Cs <= path.C_high)]  # the ends of a geometric series may be off by a rounding
        weights = np.array([path.weights(C)[0][place] for C in Cs])
        errors = None
        if X is not None:
            rows, truth = X if hasattr(X, "tocsr") else np.asarray(X), np.ravel(y)
            errors = np.array([float(np.mean(path.predict(rows, C) != truth)) for C in Cs])
        bounds = np.array([path.bounds(C)[place] for C in Cs])
        name = f"class {labels[place]} against the rest" if several else ""
        return cls(path, Cs, weights, bounds, errors, name).plot(ax, show=show)

    def plot(self, ax: Any = None, *, show: Sequence[Panel] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or sequence of them, optional
            Where to draw, one for each of `show`; by default on a new figure.
        show : sequence of {"weights", "margin", "gap", "errors"}, optional
            What to draw; by default all that there is.

        Returns
        -------
        CPathDisplay
            This one.
        """
        draw = {"weights": self._weights, "margin": self._margin, "gap": self._gap, "errors": self._errors}
        panels = (
            [panel for panel in draw if panel != "errors" or self.errors is not None] if show is None else list(show)
        )
        if unknown := [panel for panel in panels if panel not in draw]:
            raise ValueError(f'show takes "weights", "margin", "gap" and "errors", got {unknown[0]!r}')
        if "errors" in panels and self.errors is None:
            raise ValueError("there are no errors to show; give from_path rows and labels to count them on")
        axes = _axes(ax, len(panels))
        self.axes_, self.figure_ = dict(zip(panels, axes, strict=True)), axes[0].figure
        for panel, on in self.axes_.items():
            draw[panel](on)
            on.set(xlabel="C", xscale="log", xlim=(self.Cs[0], self.Cs[-1]) if len(self.Cs) > 1 else None)
            for C in self.path.Cs:  # where models were trained
                on.axvline(C, ymax=0.03, color="0.4", linewidth=0.8)
        if self.name:
            self.figure_.suptitle(self.name)
        return self

    def _weights(self, ax: Any) -> None:
        # Between fits the model is a combination that holds for a while, so that its weights go up in steps; lines from
        # fit to fit show better where the optimum goes.
        trained = np.isin(self.Cs, self.path.Cs)
        largest = np.argsort(-np.abs(self.weights).max(axis=0), kind="stable")[:MOST_LINES]
        ax.plot(self.Cs[trained], self.weights[np.ix_(trained, np.sort(largest))], linewidth=1)
        ax.axhline(0.0, color="black", linewidth=0.5)
        many = self.weights.shape[1] > MOST_LINES
        ax.set(ylabel="weight", title=f"the {MOST_LINES} largest weights" if many else "weights")

    def _margin(self, ax: Any) -> None:
        margins, upper_bounds = self.bounds.T
        ax.plot(self.Cs, upper_bounds, color="tab:red", label="no classifier has more")
        ax.plot(self.Cs, margins, color="tab:blue", label="margin proven")
        ax.set(ylabel="margin", yscale="log", title="margin, with its slacks")
        ax.legend()

    def _gap(self, ax: Any) -> None:
        ax.plot(self.Cs, self.gaps, color="tab:blue", label="proven at this C")
        ax.axhline(self.path.epsilon, color="tab:red", linestyle="--", label=f"epsilon = {self.path.epsilon:g}")
        ax.set(ylabel="gap", title=f"gap, {counted(len(self.path.Cs), 'fit')}", ylim=(0, 1.35 * self.path.epsilon))
        ax.legend(loc="upper center", ncols=2)

    def _errors(self, ax: Any) -> None:
        from matplotlib.ticker import PercentFormatter

        errors = np.zeros(0) if self.errors is None else self.errors
        ax.plot(self.Cs, errors, color="black", drawstyle="steps-mid")
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.set(ylabel="rows", title="rows that are wrong")


def _axes(ax: Any, count: int) -> list[Any]:
    """Return as many axes as needed: those given, or new ones, two in a row."""
    if ax is not None:
        axes = list(np.ravel(ax))
        if len(axes) != count:
            raise ValueError(f"{count} axes are needed, one for each of what is shown; got {len(axes)}")
        return axes
    from matplotlib import pyplot

    columns = min(2, count)
    lines = -(-count // 2)
    figure, axes = pyplot.subplots(
        lines, columns, figsize=(5 * columns, 3.3 * lines), layout="constrained", squeeze=False
    )
    for unused in np.ravel(axes)[count:]:
        figure.delaxes(unused)
    return list(np.ravel(axes)[:count])
