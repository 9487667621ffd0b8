"""Pictures of the paper's claims: the bounds falling onto the margin, updates against epsilon, Table 1 as bars."""

import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import theory
from ..displays.convergence import ConvergenceDisplay
from ..outcome import Check
from .cells import Cells, Key
from .problems import Problem
from .readers import Rows, Sides
from .rendering import PAPER_EPSILON, UNITS, lines
from .tables import Order, Table, columns_of

EPSILONS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
MOST_SEEDS = 100


def draw_all(problems: list[Problem], folder: Path, out: Path, limit: float) -> Iterator[Path]:
    """Draw into a folder, two pictures a problem that is here, and Table 1 if cells of it are; yields their paths."""
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
    if table.ran:
        yield save(draw_bars(table), "table1.png")


def run(classifier: Any, X: Rows, y: Sides) -> Any:
    """Train; a run that ends by its time limit is drawn as far as it went."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return classifier.fit(X, y)


def draw_bounds(problem: Problem, X: Rows, y: Sides, limit: float) -> Any:
    """Draw ‖a‖/t and the margin against passes for PDM and PDM-succ (the mechanism of Section 2)."""
    from matplotlib import pyplot

    from ..classifiers.pdm import PDMClassifier

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
    setting: dict[str, Any] = {
        "C": problem.C,
        "stop": "convergence",
        "schedule": "paper",
        "max_time": limit,
        "random_state": 0,
    }
    histories: list[list[Check]] = [run(PDMClassifier(eta=eta, **setting), X, y).history_ for eta in (None, 8)]
    best = max(check.margin for history in histories for check in history)
    least = min(check.upper_bound for history in histories for check in history)
    for ax, history, name in zip(axes, histories, ("PDM", "PDM-succ"), strict=True):
        ConvergenceDisplay(history).plot(ax, against="passes")
        ax.axhspan(best, least, color="black", label="gamma_d is here")
        ax.set(title=f"{problem.title}, {name}: {history[-1].updates:.3g} updates", ylim=(0.5 * best, 2 * least))
        ax.legend(loc="upper right")
    return figure


def draw_updates(problem: Problem, X: Rows, y: Sides, limit: float) -> Any:
    """Draw the updates of PDM and PFM against epsilon, and what Theorems 1 and 2 allow at most."""
    from matplotlib import pyplot

    from ..classifiers.pdm import PDMClassifier
    from ..classifiers.pfm import PFMClassifier

    setting: dict[str, Any] = {
        "C": problem.C,
        "stop": "convergence",
        "schedule": "paper",
        "max_time": limit,
        "random_state": 0,
    }
    pdm = [run(PDMClassifier(epsilon, **setting), X, y) for epsilon in EPSILONS]
    gamma_d = max(classifier.certificate_.margin for classifier in pdm)  # the best proven: bounds stay bounds with it
    pfm = [run(PFMClassifier((1 - epsilon) * gamma_d, **setting), X, y) for epsilon in EPSILONS]
    squares = np.asarray(X.multiply(X).sum(axis=1)).max()
    R = math.sqrt(squares + 1 + problem.delta**2)
    allowed = [theory.pfm_update_bound(R, gamma_d, epsilon) for epsilon in EPSILONS]
    fine = np.geomspace(EPSILONS[-1], EPSILONS[0], 200)
    exploding = [theory.pdm_update_bound(R, gamma_d, float(epsilon)) for epsilon in fine]

    figure, ax = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for classifiers, name, colour in ((pdm, "PDM", "tab:blue"), (pfm, "PFM", "tab:orange")):
        reached = [c.n_updates_ if c.stop_reason_ == "converged" else math.nan for c in classifiers]
        ax.plot(EPSILONS, reached, "o-", color=colour, label=f"{name}, updates")
    ax.plot(EPSILONS, allowed, "--", color="tab:orange", label="Theorem 1: PFM needs no more")
    ax.plot(fine, exploding, "--", color="tab:blue", label="Theorem 2: PDM needs no more (leaves the picture)")
    ax.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="updates", title=problem.title)
    ax.set_ylim(min(c.n_updates_ for c in (*pdm, *pfm)) / 3, 1e4 * max(allowed))
    ax.invert_xaxis()
    ax.legend()
    return figure


def stored_table_1(problems: list[Problem], out: Path) -> Table:
    """Gather the cells of Table 1 that are on disk."""
    cells, columns, epsilon = Cells(out / "cells"), columns_of(1, None), PAPER_EPSILON
    results = {}
    for problem in problems:
        for column in columns:
            for seed in range(MOST_SEEDS):
                key = Key(1, problem.name, column.name, epsilon, seed)
                if (result := cells.read(key)) and result.state == "done":
                    results[key] = result
    shown = [problem for problem in problems if any(key.problem == problem.name for key in results)]
    seeds = 1 + max((key.seed for key in results), default=0)
    return Table(Order(1, shown, columns, epsilon, seeds, None, out), results)


def draw_bars(table: Table) -> Any:
    """Draw Table 1, ours against the paper's, a panel for margins, updates and seconds."""
    from matplotlib import pyplot

    rows = list(lines(table))
    names = [f"{line.problem.title} {line.column.title}" for line in rows]
    height = 1 + 0.28 * len(rows)
    figure, axes = pyplot.subplots(1, 3, figsize=(13, max(3.0, height)), layout="constrained", sharey=True)
    for j, (ax, unit) in enumerate(zip(axes, UNITS, strict=True)):
        places = np.arange(len(rows))
        for shift, whose, label in ((-0.2, "ours", "ours"), (0.2, "paper", "paper")):
            values = [getattr(line, whose)[j] for line in rows]
            ax.barh(places + shift, [math.nan if v is None else v for v in values], height=0.4, label=label)
        ax.set(xlabel=unit, xscale="linear" if j == 0 else "log", yticks=places, yticklabels=names)
    axes[0].invert_yaxis()
    axes[2].legend()
    return figure
