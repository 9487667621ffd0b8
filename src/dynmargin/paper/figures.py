"""Pictures of the paper's claims: the bounds approaching the margin, updates against epsilon, Table 1 as bars."""

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import theory
from ..displays.convergence import ConvergenceDisplay
from ..training.result import Check
from .cells import Cells
from .problems import Problem
from .readers import Rows, Sides
from .rendering import PAPER_EPSILON, UNITS, lines
from .tables import Order, Table, columns_of

EPSILONS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
MOST_SEEDS = 100


def draw_all(problems: list[Problem], folder: Path, out: Path, limit: float) -> Iterator[Path]:
    """Draw into a folder: two pictures per problem whose data are here, and Table 1 from its cells; yield the paths."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError("figures need matplotlib: pip install dynmargin[plots]") from None
    matplotlib.use("agg")
    from matplotlib import pyplot

    def save(figure: Any, name: str) -> Path:
        path = out / name
        figure.savefig(path, dpi=150)
        pyplot.close(figure)
        return path

    for problem in problems:
        if problem.find(folder) is not None:
            X, y = problem.load(folder)
            yield save(draw_bounds(problem, X, y, limit), f"bounds-{problem.name}.png")
            yield save(draw_updates(problem, X, y, limit), f"updates-{problem.name}.png")
    table = stored_table_1(problems, out)
    if table.results:
        yield save(draw_bars(table), "table1.png")


def run(name: str, problem: Problem, X: Rows, y: Sides, limit: float, **options: Any) -> Any:
    """Train one of our algorithms as in the paper; a run that meets its time limit is drawn as far as it went."""
    from ..comparison.compare import make

    setting = {"C": problem.C, "stop": "convergence", "schedule": "paper", "max_time": limit, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(name, **setting, **options).fit(X, y)


def draw_bounds(problem: Problem, X: Rows, y: Sides, limit: float) -> Any:
    """Draw ‖a‖/t and the margin against passes for PDM and PDM-succ (the mechanism of Section 2)."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
    histories: list[list[Check]] = [run(name, problem, X, y, limit).history_ for name in ("pdm", "pdm-succ")]
    best = max(check.margin for history in histories for check in history)
    least = min(check.upper_bound for history in histories for check in history)
    for ax, history, name in zip(axes, histories, ("PDM", "PDM-succ"), strict=True):
        ConvergenceDisplay(history).plot(ax, against="passes")
        ax.axhspan(best, least, color="black", label="gamma_d is here")
        ax.set(title=f"{problem.title}, {name}: {history[-1].updates:.3g} updates", ylim=(0.5 * best, 2 * least))
        ax.legend(loc="upper right")
    return figure


def draw_updates(problem: Problem, X: Rows, y: Sides, limit: float) -> Any:
    """Draw the updates of PDM and PFM against epsilon, and the most that Theorems 1 and 2 allow."""
    from matplotlib import pyplot

    pdm = [run("pdm", problem, X, y, limit, epsilon=epsilon) for epsilon in EPSILONS]
    gamma_d = max(classifier.certificate_.margin for classifier in pdm)  # the best proven: bounds stay bounds with it
    pfm = [run("pfm", problem, X, y, limit, beta=(1 - epsilon) * gamma_d) for epsilon in EPSILONS]
    R = math.sqrt(np.asarray(X.multiply(X).sum(axis=1)).max() + 1 + problem.delta**2)
    allowed = [theory.pfm_update_bound(R, gamma_d, epsilon) for epsilon in EPSILONS]
    fine = np.geomspace(EPSILONS[-1], EPSILONS[0], 200)
    exploding = [theory.pdm_update_bound(R, gamma_d, float(epsilon)) for epsilon in fine]

    figure, ax = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for classifiers, name, colour in ((pdm, "PDM", "tab:blue"), (pfm, "PFM", "tab:orange")):
        reached = [c.n_updates_ if c.stop_reason_ == "converged" else math.nan for c in classifiers]
        ax.plot(EPSILONS, reached, "o-", color=colour, label=f"{name}, updates")
    ax.plot(EPSILONS, allowed, "--", color="tab:orange", label="Theorem 1: most updates of PFM")
    ax.plot(fine, exploding, "--", color="tab:blue", label="Theorem 2: most updates of PDM (leaves the picture)")
    ax.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="updates", title=problem.title)
    ax.set_ylim(min(c.n_updates_ for c in (*pdm, *pfm)) / 3, 1e4 * max(allowed))
    ax.invert_xaxis()
    ax.legend()
    return figure


def stored_table_1(problems: list[Problem], out: Path) -> Table:
    """Gather the cells of Table 1 that are on disk."""
    cells = Cells(out / "cells")
    everything = Order(1, problems, columns_of(1, None), PAPER_EPSILON, MOST_SEEDS, None, out)
    keys = [key for problem in problems for key in everything.keys(problem, everything.columns)]
    results = {key: found for key in keys if (found := cells.read(key)) and found.state == "done"}
    shown = [problem for problem in problems if any(key.problem == problem.name for key in results)]
    seeds = 1 + max((key.seed for key in results), default=0)
    return Table(replace(everything, problems=shown, seeds=seeds), results)


def draw_bars(table: Table) -> Any:
    """Draw Table 1, ours against the paper's: one panel each for margins, updates and seconds."""
    from matplotlib import pyplot

    rows = list(lines(table))
    names, places = [f"{line.problem.title} {line.column.title}" for line in rows], np.arange(len(rows))
    size = (13, max(3.0, 1 + 0.28 * len(rows)))
    figure, axes = pyplot.subplots(1, 3, figsize=size, layout="constrained", sharey=True)
    for j, (ax, unit) in enumerate(zip(axes, UNITS, strict=True)):
        for shift, whose in ((-0.2, "ours"), (0.2, "paper")):
            values = [getattr(line, whose)[j] for line in rows]
            ax.barh(places + shift, [math.nan if v is None else v for v in values], height=0.4, label=whose)
        ax.set(xlabel=unit, xscale="linear" if j == 0 else "log", yticks=places, yticklabels=names)
    axes[0].invert_yaxis()
    axes[2].legend()
    return figure
