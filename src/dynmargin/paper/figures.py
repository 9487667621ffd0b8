"""Pictures of the paper's claims, from cells: its curves, updates against epsilon, Table 1 as bars, sensitivity."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import theory
from ..displays.style import BOUND, INK, PALE, PROVEN, QUIET, beside, few_ticks, tidy
from ..progress.table import TableProgress
from . import curves
from .cells import Cells
from .problems import PROBLEMS, Problem
from .published import TABLES
from .readers import Rows
from .rendering import PAPER_EPSILON, Line, lines
from .tables import Order, Table, columns_of, run_tables

EPSILONS = (0.5, 0.2, 0.1, 0.05, 0.02, PAPER_EPSILON)
MOST_SEEDS = 100
AXES = ("margin, in units of 0.0001", "updates, in millions", "CPU seconds")


def require_matplotlib() -> None:
    """Say what is missing before anything is computed."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError("figures need matplotlib: pip install matplotlib") from None
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
    labels = []
    for column, name, colour, marker in (("pdm", "PDM", PROVEN, "o"), ("pfm", "PFM, to PDM's margin", BOUND, "s")):
        made = {epsilon: runs[column].updates for epsilon, runs in found.items() if column in runs}
        (line,) = ax.plot(list(made), list(made.values()), f"{marker}-", color=colour, linewidth=2)
        labels.append((line, name))
    (line,) = ax.plot(list(allowed), list(allowed.values()), linestyle=(0, (5, 2)), color=BOUND)
    labels.append((line, "Theorem 1: PFM makes no more"))
    (line,) = ax.plot(fine, exploding, linestyle=(0, (5, 2)), color=PROVEN)
    labels.append((line, "Theorem 2: PDM makes no more"))
    start = [theory.monotone_from(R, gamma_d, float(epsilon)) for epsilon in fine]
    (line,) = ax.plot(fine, start, linestyle=(0, (1, 1.5)), color=QUIET)
    labels.append((line, "from here on ‖a‖/t always falls"))
    least = min(run.updates for runs in found.values() for run in runs.values())
    ax.set(xlabel="epsilon", ylabel="updates")
    few_ticks(ax.yaxis, least / 3, 1e5 * max(start), log=True)
    ax.set_ylim(least / 3, 1e5 * max(start))
    ax.set_xscale("log")
    ax.set_xticks(list(found), [f"{epsilon:g}" for epsilon in found])
    ax.minorticks_off()
    ax.invert_xaxis()
    tidy(ax, f"{problem.title}: the updates that are made, and the most that the theorems allow (dashed)")
    beside(ax, labels, at=0.9)
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
    """Draw Table 1, ours against the paper's: one panel each for margins, updates and seconds; ranges over seeds.

    Dots, not bars: updates and seconds need a logarithmic axis, on which the length of a bar means nothing.
    """
    from matplotlib import pyplot

    rows = list(lines(table))
    places = _places(rows)
    height = max(3.0, 1.6 + 0.26 * len(rows))
    figure, axes = pyplot.subplots(1, 3, figsize=(12, height), layout="constrained", sharey=True)
    for j, (ax, unit) in enumerate(zip(axes, AXES, strict=True)):
        ours, paper = (np.array([_or_nan(getattr(line, whose)[j]) for line in rows]) for whose in ("ours", "paper"))
        least, most = (np.array([_or_nan(getattr(line, end)[j]) for line in rows]) for end in ("least", "most"))
        ax.hlines(places, ours, paper, color=PALE, linewidth=1, zorder=1)
        ax.hlines(places, least, most, color=PROVEN, linewidth=3, zorder=2)
        ax.plot(paper, places, "D", color=BOUND, markerfacecolor="white", markersize=6, zorder=3)
        ax.plot(ours, places, "o", color=PROVEN, markersize=5, zorder=4)
        known = np.concatenate([ours, paper])
        known = known[known > 0]
        few_ticks(ax.xaxis, known.min(initial=np.inf), known.max(initial=0.0), log=j > 0)
        ax.set_xlabel(unit)
        ax.margins(x=0.12)
        if j == 0:  # margins of different sets differ a lot, those of one set hardly: the numbers say more
            for place, one, other in zip(places, ours, paper, strict=True):
                both = [f"{value:.4g}" for value in dict.fromkeys((one, other)) if not math.isnan(value)]
                ax.annotate(
                    ", ".join(dict.fromkeys(both)),
                    (np.nanmax([one, other, 0]), place),
                    (8, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize="x-small",
                    color=QUIET,
                )
            ax.set_xlim(0, 1.45 * known.max(initial=0.0))
        tidy(ax, grid="both")
    axes[0].set_yticks(places, [f"{line.problem.title}, {line.column.title}" for line in rows])
    axes[0].invert_yaxis()
    figure.suptitle(f"Table 1: ours (dots: median and range) and the paper's (diamonds){_left_out(table)}", color=INK)
    return figure


def _left_out(table: Table) -> str:
    """Say which sets of the paper are not in the picture."""
    missing = [
        PROBLEMS[name].title for name in TABLES["table1"] if name not in {one.name for one in table.order.problems}
    ]
    return f"\nwithout {', '.join(missing)}: no results are stored for them" if missing else ""


def _places(rows: Sequence[Line]) -> Any:
    """Return where the rows go, with a gap between problems."""
    problems = list(dict.fromkeys(line.problem.name for line in rows))
    return np.array([i + 0.6 * problems.index(line.problem.name) for i, line in enumerate(rows)])


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
