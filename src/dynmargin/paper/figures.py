"""Pictures of the paper's claims, from cells: its curves, updates against epsilon, Table 1 as bars, sensitivity."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import theory
from ..progress.table import TableProgress
from . import curves
from .cells import Cells
from .problems import Problem
from .readers import Rows
from .rendering import PAPER_EPSILON, UNITS, Line, lines
from .tables import Order, Table, columns_of, run_tables

EPSILONS = (0.5, 0.2, 0.1, 0.05, 0.02, PAPER_EPSILON)
MOST_SEEDS = 100


def require_matplotlib() -> None:
    """Say what is missing before anything is computed."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError("figures need matplotlib: pip install dynmargin[plots]") from None
    matplotlib.use("agg")


def save(figure: Any, path: Path) -> Path:
    """Write a picture and forget it."""
    from matplotlib import pyplot

    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return path


def draw_all(
    problems: list[Problem], folder: Path, out: Path, limit: float, resume: bool, progress: TableProgress
) -> Iterator[Path]:
    """Compute the cells that are missing and draw: two pictures per problem whose data are here, and Table 1."""
    cells = Cells(out / "cells")
    here = [problem for problem in problems if problem.find(folder) is not None]
    if here:
        recorded = Table(Order(curves.WORK, here, curves.CURVES, PAPER_EPSILON, 1, limit, folder))
        columns = columns_of("table1", ["pdm", "pfm"])
        runs = {epsilon: Table(Order("table1", here, columns, epsilon, 1, limit, folder)) for epsilon in EPSILONS}
        kept = [(table, resume or epsilon == PAPER_EPSILON) for epsilon, table in runs.items()]  # Table 1's own
        run_tables([(recorded, resume), *kept], cells, progress)
    for problem in here:
        if found := curves.stored_curves(problem, PAPER_EPSILON, out):
            yield save(curves.draw_curves(problem, PAPER_EPSILON, found), out / f"curves-{problem.name}.png")
        updates = {epsilon: updates_of(table, problem) for epsilon, table in runs.items()}
        if any("pdm" in found for found in updates.values()):
            X, _ = problem.load(folder)
            yield save(draw_updates(problem, X, updates), out / f"updates-{problem.name}.png")
    table = stored_table_1(problems, out)
    if table.results:
        yield save(draw_bars(table), out / "table1.png")


class Converged(NamedTuple):
    """A run that converged: its margin, the margin it proved, its updates."""

    margin: float
    proven: float
    updates: int


def updates_of(table: Table, problem: Problem) -> dict[str, Converged]:
    """Return the columns that converged."""
    return {
        key.column: Converged(result.margin, result.proven, result.updates)
        for key, result in table.results.items()
        if key.problem == problem.name and result.ended == "converged"
        if result.margin is not None and result.proven is not None and result.updates is not None
    }


def draw_updates(problem: Problem, X: Rows, found: dict[float, dict[str, Converged]]) -> Any:
    """Draw the updates of PDM and PFM against epsilon, and the most that Theorems 1 and 2 allow."""
    from matplotlib import pyplot

    gamma_d = max(run.proven for runs in found.values() for run in runs.values())  # not too large: bounds stay bounds
    R = math.sqrt(np.asarray(X.multiply(X).sum(axis=1)).max() + 1 + problem.delta**2)
    # PFM's margin is the one that PDM has reached: its own epsilon is what that falls short of gamma_d.
    shortfalls = {epsilon: 1 - runs["pdm"].margin / gamma_d for epsilon, runs in found.items() if "pdm" in runs}
    allowed = {e: theory.pfm_update_bound(R, gamma_d, short) for e, short in shortfalls.items() if 0 < short < 1}
    fine = np.geomspace(min(found), max(found), 200)
    exploding = [theory.pdm_update_bound(R, gamma_d, float(epsilon)) for epsilon in fine]

    figure, ax = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for column, name, colour in (("pdm", "PDM", "tab:blue"), ("pfm", "PFM (PDM's margin)", "tab:orange")):
        made = {epsilon: runs[column].updates for epsilon, runs in found.items() if column in runs}
        ax.plot(list(made), list(made.values()), "o-", color=colour, label=f"{name}, updates")
    ax.plot(list(allowed), list(allowed.values()), "--", color="tab:orange", label="Theorem 1: most updates of PFM")
    ax.plot(fine, exploding, "--", color="tab:blue", label="Theorem 2: most updates of PDM (leaves the picture)")
    start = [theory.monotone_from(R, gamma_d, float(epsilon)) for epsilon in fine]
    ax.plot(fine, start, ":", color="grey", label="‖a‖/t falls with every update from here on")
    least = min(run.updates for runs in found.values() for run in runs.values())
    ax.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="updates", title=problem.title)
    ax.set_ylim(least / 3, 1e5 * max(start))
    ax.set_xticks(list(found), [f"{epsilon:g}" for epsilon in found])
    ax.minorticks_off()
    ax.invert_xaxis()
    ax.legend(fontsize=8, loc="upper right")
    return figure


def stored_table_1(problems: list[Problem], out: Path) -> Table:
    """Gather the cells of Table 1 that are on disk."""
    cells = Cells(out / "cells")
    everything = Order("table1", problems, columns_of("table1", None), PAPER_EPSILON, MOST_SEEDS, None, out)
    keys = [key for problem in problems for key in everything.keys(problem, everything.columns)]
    results = {key: found for key in keys if (found := cells.read(key)) and found.state == "done"}
    shown = [problem for problem in problems if any(key.problem == problem.name for key in results)]
    seeds = 1 + max((key.seed for key in results), default=0)
    return Table(replace(everything, problems=shown, seeds=seeds), results)


def draw_bars(table: Table) -> Any:
    """Draw Table 1, ours against the paper's: one panel each for margins, updates and seconds; ranges over seeds."""
    from matplotlib import pyplot
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    rows = list(lines(table))
    places = _places(rows)
    figure, axes = pyplot.subplots(
        1, 3, figsize=(13, max(3.5, 1.2 + 0.42 * len(rows))), layout="constrained", sharey=True
    )
    for j, (ax, unit) in enumerate(zip(axes, UNITS, strict=True)):
        ours, paper = ([_or_nan(getattr(line, whose)[j]) for line in rows] for whose in ("ours", "paper"))
        spread = [
            [abs(middle - _or_nan(getattr(line, end)[j])) for line, middle in zip(rows, ours, strict=True)]
            for end in ("least", "most")
        ]
        ax.barh(places - 0.2, ours, height=0.4, xerr=spread, capsize=2, label="ours (median and range)")
        ax.barh(places + 0.2, paper, height=0.4, label="the paper's")
        ax.set(xlabel=unit, xscale="linear" if j == 0 else "log")
        if j > 0:  # plain numbers
            ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=30))
            ax.xaxis.set_minor_locator(NullLocator())
            ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            ax.tick_params(axis="x", labelsize=8)
        ax.margins(x=0.08)
        if (
            j == 0
        ):  # margins of different sets differ a lot, those of one set hardly: the numbers say more than the bars
            for place, value in zip((*(places - 0.2), *(places + 0.2)), (*ours, *paper), strict=True):
                if not math.isnan(value):
                    ax.text(value, place, f" {value:.4g}", va="center", fontsize=7)
            ax.margins(x=0.18)
    axes[0].set_yticks(places, [f"{line.problem.title}, {line.column.title}" for line in rows])
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=2)
    return figure


def _places(rows: Sequence[Line]) -> Any:
    """Return where the rows go, with a gap between problems."""
    problems = list(dict.fromkeys(line.problem.name for line in rows))
    return np.array([i + 0.6 * problems.index(line.problem.name) for i, line in enumerate(rows)])


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
