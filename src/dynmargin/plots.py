"""Pictures; they need matplotlib (``pip install dynmargin[plots]``)."""

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
