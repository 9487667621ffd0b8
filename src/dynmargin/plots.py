"""Pictures; they need matplotlib (``pip install dynmargin[plots]``)."""

from collections.abc import Sequence
from typing import Any

from .outcome import Check


def plot_convergence(history: list[Check], ax: Any = None) -> Any:
    """Draw the upper bound falling and the margin rising against full passes.

    Parameters
    ----------
    history : list of Check
        The ``history_`` of a classifier trained on two classes.
    ax : matplotlib axes, optional
        Where to draw; a new figure without it.

    Returns
    -------
    matplotlib axes
        What was drawn on.
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=(7, 4), layout="constrained")[1]
    passes = [check.passes for check in history]
    margins, bounds = [check.margin for check in history], [check.upper_bound for check in history]
    ax.plot(passes, bounds, label="no classifier has more (upper bound)", color="tab:red")
    ax.plot(passes, margins, label="margin proven", color="tab:blue")
    ax.fill_between(passes, margins, bounds, color="0.9", label="where the best margin is")
    ax.set(xlabel="passes over the data", ylabel="margin", xscale="log")
    ax.set_title(f"proven gap after {passes[-1]} passes: {history[-1].gap:.2%}")
    ax.legend()
    return ax


def plot_comparison(curves: Sequence[tuple[str, Sequence[tuple[float, float]]]], epsilon: float, ax: Any) -> Any:
    """Draw certified gaps falling with time, one line an algorithm; `dynmargin.compare` calls it.

    Parameters
    ----------
    curves : list of (str, list of (float, float))
        For each algorithm its name and seconds with gaps; a single pair is drawn as a point.
    epsilon : float
        The gap that was asked for.
    ax : matplotlib axes
        Where to draw.

    Returns
    -------
    matplotlib axes
        What was drawn on.
    """
    for i, (name, points) in enumerate(curves):
        seconds = [time for time, _ in points]
        gaps = [min(gap, 1.0) for _, gap in points]  # above 1 nothing is separated yet
        line, marker = ("-", "--", "-.", ":")[i // 10 % 4], "."  # there are ten colours
        if len(points) == 1:
            line, marker = "none", "o"
        ax.plot(seconds, gaps, linestyle=line, marker=marker, color=f"C{i % 10}", label=name)
    ax.axhline(epsilon, color="0.6", linewidth=0.8, label=f"epsilon={epsilon:g}")
    ax.set(xlabel="seconds", ylabel="certified gap", xscale="log")
    ax.set_yscale("log", nonpositive="clip")
    ax.legend(fontsize="small", ncols=1 + len(curves) // 10)
    return ax
