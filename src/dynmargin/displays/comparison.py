"""Certified gaps of several algorithms against time."""

from collections.abc import Sequence
from typing import Any


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
