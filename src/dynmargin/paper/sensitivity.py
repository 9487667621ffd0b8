"""What PDM's parameters and devices are worth: one of them is varied at a time, the others stay as in the paper."""

import csv
import io
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..displays.style import BOUND, CHOSEN, FURTHER, INK, LINES, MARKERS, PALE, PROVEN, few_ticks, key, tidy
from ..training.schedule import PAPER, Schedule
from .cells import Key, Result
from .columns import Measured, Task, run_ours
from .tables import Table, describe

WORK = "sensitivity"
BASE = "as in the paper"


@dataclass(frozen=True)
class Variation:
    """A run of PDM with something changed; of PDM-succ if there is an `eta`.

    `delta` is a multiple of the Delta that the paper takes for the problem.
    """

    name: str
    title: str
    epsilon: float | None = None
    delta: float = 1.0
    rho: float = 1.0
    eta: float | None = None
    schedule: Schedule = PAPER
    beta_of: str = ""

    def run(self, task: Task) -> Measured:
        """Train with the change."""
        problem = replace(task.problem, delta=task.problem.delta * self.delta)
        task = task._replace(problem=problem, epsilon=self.epsilon or task.epsilon)
        options: dict[str, Any] = {"C": problem.C, "stop": "convergence", "schedule": self.schedule}
        return run_ours("pdm", task, task.X, {**options, "intercept_scaling": self.rho, "eta": self.eta})


class Family(NamedTuple):
    """What is varied, and the values with their variations; the paper's own value is among them."""

    title: str
    values: dict[str, Variation]
    paper: str  # the paper's value


BASELINE = Variation("base", BASE)


def _numbers(title: str, values: Sequence[float], paper: float, make: Callable[[str, str, float], Variation]) -> Family:
    made = {f"{value:g}": make(f"{title}-{value:g}", f"{title} {value:g}", value) for value in values}
    return Family(title, {**made, f"{paper:g}": BASELINE}, f"{paper:g}")


def _schedules(title: str, changes: dict[str, dict[str, Any]], paper: str) -> Family:
    made = {
        value: BASELINE
        if value == paper
        else Variation(f"{title}-{value}".replace(" ", "-"), f"{title} {value}", schedule=replace(PAPER, **change))
        for value, change in changes.items()
    }
    return Family(title, made, paper)


SINGLE: dict[str, Any] = {"multiple_updates": False}
FULL_ONLY: dict[str, Any] = {"rounds": (0, 0, 0)}
IN_ORDER: dict[str, Any] = {"shuffle_first": False}
NO_FIRST: dict[str, Any] = {"first_width": None, "single_updates_first": False}

FAMILIES = (
    _numbers(
        "epsilon",
        (0.2, 0.1, 0.05, 0.02, 0.01, 0.005),
        0.01,
        lambda name, title, value: Variation(name, title, epsilon=value),
    ),
    _numbers("Delta", (0.1, 0.3, 1, 3), 1, lambda name, title, value: Variation(name, title, delta=value)),
    _numbers("rho", (0.1, 0.3, 1, 3, 10), 1, lambda name, title, value: Variation(name, title, rho=value)),
    Family(
        "eta",
        {"none": BASELINE}
        | {f"{eta}": Variation(f"eta-{eta}", f"PDM-succ, eta {eta}", eta=eta) for eta in (2, 4, 8, 50)},
        "none",
    ),
    _schedules("c1", {f"{c:g}": {"widths": (c, 1.1)} for c in (1.1, 1.5, 2.2, 3.0, 5.0)}, "2.2"),
    _schedules("c2", {f"{c:g}": {"widths": (2.2, c)} for c in (1.0, 1.05, 1.1, 1.3, 2.2)}, "1.1"),
    _schedules(
        "N_ep",
        {
            f"{a},{b},{c}": {"rounds": (a, b, c)}
            for a, b, c in ((1, 1, 1), (1, 5, 5), (3, 4, 4), (9, 3, 3), (9, 12, 12), (18, 24, 24), (36, 48, 48))
        },
        "9,12,12",
    ),
    _schedules(
        "devices",
        {
            "all": {},
            "no multiple updates": SINGLE,
            "no active sets": FULL_ONLY,
            "no first-epoch rules": NO_FIRST,
            "none of the three": {**SINGLE, **FULL_ONLY, **NO_FIRST},
            "first pass in file order": IN_ORDER,
        },
        "all",
    ),
)
DEVICES = FAMILIES[-1]
VARIATIONS = tuple({variation.name: variation for family in FAMILIES for variation in family.values.values()}.values())


class Outcome(NamedTuple):
    """A variation on a problem: medians over the seeds, None where there is nothing to show."""

    problem: str
    family: Family
    value: str
    margin: float | None
    updates: float | None
    seconds: float | None
    error: float | None
    remark: str


def outcomes(table: Table) -> Iterator[Outcome]:
    """Yield what is known of every variation."""
    order = table.order
    for problem in order.problems:
        for family in FAMILIES:
            for value, variation in family.values.items():
                keys = [Key(WORK, problem.name, variation.name, order.epsilon, seed) for seed in range(order.seeds)]
                results = [table.results[key] for key in keys if key in table.results]
                (margin, updates, seconds, error), remark = _medians(results)
                yield Outcome(problem.name, family, value, margin, updates, seconds, error, remark)


def _medians(results: list[Result]) -> tuple[list[float | None], str]:
    if not results:
        return [None] * 4, "not run yet"
    if bad := [result for result in results if result.state != "done"]:
        return [None] * 4, describe(bad[0])
    columns = zip(*((r.margin, r.updates, r.seconds, r.error) for r in results), strict=True)
    figures = [None if None in column else float(statistics.median(column)) for column in columns]
    return figures, "; ".join(sorted({result.ended for result in results} - {"converged"}))


def as_csv(table: Table) -> str:
    """Return all outcomes with all digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["set", "varied", "value", "margin", "updates", "cpu_seconds", "training_error", "remark"])
    for outcome in outcomes(table):
        figures = ["" if value is None else repr(value) for value in outcome[3:7]]
        writer.writerow([outcome.problem, outcome.family.title, outcome.value, *figures, outcome.remark])
    return text.getvalue()


def as_markdown(table: Table) -> str:
    """Return a table per problem for documents; the paper's own value is in bold."""
    header = ["varied", "value", "margin x 1e4", "updates / 1e6", "CPU s", "training error %", "remark"]
    blocks = []
    for problem in table.order.problems:
        grid = [header, ["---", "---", "---:", "---:", "---:", "---:", "---"]]
        for outcome in outcomes(table):
            if outcome.problem == problem.name:
                grid.append(_words(outcome))
        blocks.append(f"{problem.title}\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in grid))
    return "\n\n".join(blocks) + "\n"


def _words(outcome: Outcome) -> list[str]:
    scaled = zip((outcome.margin, outcome.updates, outcome.seconds, outcome.error), (1e4, 1e-6, 1, 100), strict=True)
    figures = ["-" if value is None else f"{unit * value:.4g}" for value, unit in scaled]
    value = f"**{outcome.value}**" if outcome.value == outcome.family.paper else outcome.value
    return [outcome.family.title, value, *figures, outcome.remark]


MEASURES = ("updates", "seconds", "margin", "error")
LABELS = ("updates", "CPU seconds", "margin", "training error")
COLOURS = (PROVEN, BOUND, CHOSEN, *FURTHER)


def draw_sensitivity(table: Table) -> Any:
    """Draw a row per family and a column per measure, a line per problem; all relative to the paper's own setting."""
    from matplotlib import pyplot

    found = list(outcomes(table))
    size = (12, 0.6 + 1.9 * len(FAMILIES))
    figure, grid = pyplot.subplots(len(FAMILIES), len(MEASURES), figsize=size, layout="constrained", squeeze=False)
    looks = dict(
        zip([one.name for one in table.order.problems], zip(COLOURS, MARKERS, LINES, strict=False), strict=False)
    )
    for axes, family in zip(grid, FAMILIES, strict=True):
        places = range(len(family.values))
        names = [value.replace(" ", "\n").replace(",", "\n") for value in family.values]
        for ax, measure in zip(axes, MEASURES, strict=True):
            for problem in table.order.problems:
                own = {o.value: getattr(o, measure) for o in found if o.problem == problem.name and o.family == family}
                base = own[family.paper] or math.nan
                values = [math.nan if value is None else value / base for value in own.values()]
                colour, marker, dashes = looks.get(problem.name, (COLOURS[0], "o", "-"))
                style = "none" if family is DEVICES else dashes
                ax.plot(places, values, color=colour, marker=marker, markersize=4, linestyle=style, linewidth=1.2)
            ax.set_xticks(places, names)
            known = [value for line in ax.lines for value in np.ravel(line.get_ydata()) if value > 0]
            low, high = min(known, default=1.0), max(known, default=1.0)
            if measure in ("updates", "seconds"):
                low, high = min(0.45, low / 1.3), max(2.2, 1.3 * high)  # small changes look small
                few_ticks(ax.yaxis, low, high, log=True)
            else:
                room = 0.08 * (high - low)
                low, high = min(low - room, 0.98), max(high + room, 1.02)
                few_ticks(ax.yaxis, 1.0, 1.0)
                ax.ticklabel_format(axis="y", useOffset=False)
            ax.set_ylim(low, high)
            ax.axvline(list(family.values).index(family.paper), color=PALE, zorder=0)
            tidy(ax)
            ax.tick_params(axis="x", labelsize="x-small")
        axes[0].set_ylabel(family.title)
    for ax, label in zip(grid[0], LABELS, strict=True):
        tidy(ax, label)
    key(
        grid[0][0],
        [(problem.title, looks.get(problem.name, COLOURS)[0]) for problem in table.order.problems],
        "lower right",
    )
    figure.suptitle("One parameter of PDM varied at a time, relative to the paper's setting (grey line)", color=INK)
    return figure
