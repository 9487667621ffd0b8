"""A path over C: weights, margin, gap and errors."""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ..path.c_path import CPath
from ..problem.statement import counted
from .fitted import require_matplotlib
from .style import BOUND, CHOSEN, PALE, PROVEN, QUIET, beside, few_ticks, tidy

Values = NDArray[np.float64]
Panel = Literal["weights", "margin", "gap", "errors"]

MOST_LINES = 30  # of weights; more cannot be told apart
NAMED = 3  # of them


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
            raise ValueError(f"label={label!r} is not one of the classes {labels}")
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
            on.set(xlabel="C: what a slack costs", xlim=(self.Cs[0], self.Cs[-1]) if len(self.Cs) > 1 else None)
            few_ticks(on.xaxis, self.Cs[0], self.Cs[-1], log=True)
            draw[panel](on)
            for C in self.path.Cs:  # where models were trained
                on.axvline(C, ymax=0.02, color=QUIET, linewidth=0.8)
        return self

    def _of_class(self, title: str) -> str:
        return f"{title}, {self.name}" if self.name else title

    def _weights(self, ax: Any) -> None:
        # Between fits the model is a combination that holds for a while, so that its weights go up in steps; lines from
        # fit to fit show better where the optimum goes.
        trained = np.isin(self.Cs, self.path.Cs)
        order = np.argsort(-np.abs(self.weights).max(axis=0), kind="stable")[:MOST_LINES]
        lines = [
            ax.plot(self.Cs[trained], self.weights[trained, j], color=PALE, linewidth=0.8)[0] for j in reversed(order)
        ]
        largest = list(zip(order, reversed(lines), strict=True))[:NAMED]
        for (_, line), colour in zip(largest, (PROVEN, BOUND, CHOSEN), strict=False):
            line.set(color=colour, linewidth=1.5)
        ax.axhline(0.0, color=QUIET, linewidth=0.8)
        few_ticks(ax.yaxis, 1.0, 1.0)
        many = self.weights.shape[1] > MOST_LINES
        tidy(ax, self._of_class(f"The {MOST_LINES} largest weights" if many else "Weights"))
        ax.set_ylabel("weight")
        beside(ax, [(line, self._feature(j)) for j, line in largest], avoid=lines)

    def _feature(self, column: int) -> str:
        names = self.path.feature_names
        return f"feature {column}" if names is None else str(names[column])

    def _margin(self, ax: Any) -> None:
        margins, upper_bounds = self.bounds.T
        (line,) = ax.plot(self.Cs, margins, color=PROVEN, linewidth=2)
        ax.plot(self.Cs, upper_bounds, color=BOUND, linestyle=(0, (4, 3)), linewidth=1)
        few_ticks(ax.yaxis, float(margins[margins > 0].min(initial=np.inf)), float(upper_bounds.max()))
        ax.set_ylabel("margin, with its slacks")
        worst = float(self.gaps.max())
        tidy(ax, self._of_class(f"Margin: within {100 * worst:.2g} % of the best at every C"))
        beside(ax, [(line, "margin proven; dashed: none has more")], at=0.3)

    def _gap(self, ax: Any) -> None:
        ax.plot(self.Cs, 100 * self.gaps, color=PROVEN, linewidth=1)
        epsilon = 100 * self.path.epsilon
        asked = ax.axhline(epsilon, color=BOUND, linestyle=(0, (5, 2)), linewidth=1.5)
        ax.set(ylabel="proven gap, %", ylim=(0, 1.35 * epsilon))
        few_ticks(ax.yaxis, 1.0, 1.0)
        tidy(ax, self._of_class(f"Proven gap: {counted(len(self.path.Cs), 'fit')} cover every C"))
        asked.set_xdata([self.Cs[0], self.Cs[-1]])
        asked.set_transform(ax.transData)
        beside(ax, [(asked, f"epsilon: {epsilon:g} % was asked for")])

    def _errors(self, ax: Any) -> None:
        errors = np.zeros(0) if self.errors is None else 100 * self.errors
        (line,) = ax.plot(self.Cs, errors, color=PROVEN, drawstyle="steps-mid", linewidth=1.5)
        best = int(np.argmin(errors))
        (lowest,) = ax.plot(self.Cs[best], errors[best], "o", color=CHOSEN, markersize=5)
        ax.set(ylabel="rows that are wrong, %")
        room = 0.15 * (errors.max() - errors.min()) or 0.5
        ax.set_ylim(max(0.0, errors.min() - room), errors.max() + room)
        few_ticks(ax.yaxis, 1.0, 1.0)
        tidy(ax, "Rows that are wrong")
        beside(ax, [(lowest, f"{errors[best]:.3g} % at C = {self.Cs[best]:.3g}")], avoid=[line])


def _axes(ax: Any, count: int) -> list[Any]:
    """Return as many axes as needed: those given, or new ones, two in a row."""
    if ax is not None:
        axes = list(np.ravel(ax))
        if len(axes) != count:
            raise ValueError(f"{count} axes are needed, one for each of what is shown; got {len(axes)}")
        return axes
    require_matplotlib()
    from matplotlib import pyplot

    columns = min(2, count)
    lines = -(-count // 2)
    figure, axes = pyplot.subplots(
        lines, columns, figsize=(5 * columns, 3.3 * lines), layout="constrained", squeeze=False
    )
    for unused in np.ravel(axes)[count:]:
        figure.delaxes(unused)
    return list(np.ravel(axes)[:count])
