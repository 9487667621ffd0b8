"""A table as text for a terminal, CSV, Markdown and LaTeX: ours, the paper's and their ratio side by side.

With several seeds ours is the median, with the range behind it.
"""

import csv
import io
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..comparison.rendering import align
from .cells import Result
from .columns import COLUMNS, Runnable
from .problems import Problem
from .published import NONE, NOTES, Figures, published
from .tables import Table, describe, installed

DASH = "-"
UNITS = ("margin x 1e4", "updates / 1e6", "CPU s")
GEOMETRIC = "geometric"
HEADER = ["set", "algorithm", *(word for unit in UNITS for word in (unit, "paper", "ratio")), GEOMETRIC, "remark"]
PAPER_EPSILON = 0.01
GOOD_ENDS = {"converged", "certificate"}
MARGIN_TOLERANCE = 0.0015  # a margin that differs by more is pointed out
LATEX = str.maketrans({**{c: f"\\{c}" for c in "%&_#$"}, ">": "$>$", "<": "$<$", "\\": r"\textbackslash{}"})


@dataclass(frozen=True)
class Line:
    """A row of the table: an algorithm on a set; of ours the median, the least and the most over the seeds."""

    problem: Problem
    column: Runnable
    ours: Figures
    least: Figures
    most: Figures
    geometric: float | None  # x 1e4, the median
    paper: Figures
    remark: str

    @property
    def ratios(self) -> Figures:
        """Ours divided by the paper's."""
        pairs = zip(self.ours, self.paper, strict=True)
        return Figures(*(mine / theirs if mine is not None and theirs else None for mine, theirs in pairs))


def lines(table: Table) -> Iterator[Line]:
    """Yield the rows; none is left out, however it ended."""
    order = table.order
    for problem in order.problems:
        for column in order.columns:
            results = [table.results[key] for key in order.keys(problem, [column]) if key in table.results]
            ours, least, most = (_over_seeds(results, choose) for choose in (statistics.median, min, max))
            geometric = [result.geometric for result in results if result.geometric is not None]
            yield Line(
                *(problem, column, ours, least, most),
                1e4 * statistics.median(geometric) if geometric and ours.margin is not None else None,
                published(order.work, problem.name, getattr(column, "paper", column.name)),
                _remark(table, problem, column, results),
            )


def _over_seeds(results: list[Result], choose: Callable[[Sequence[float]], float]) -> Figures:
    if not results or any(result.state != "done" for result in results):
        return NONE
    runs = zip(*((result.margin, result.updates, result.seconds) for result in results), strict=True)
    return Figures(
        *(
            None if None in values else unit * choose(values)
            for values, unit in zip(runs, (1e4, 1e-6, 1.0), strict=True)
        )
    )


def _remark(table: Table, problem: Problem, column: Runnable, results: list[Result]) -> str:
    if not installed(column):
        return "not installed: pip install liblinear-official"
    if not results:
        if trouble := table.trouble.get(problem.name):
            return trouble.partition(":")[0] if problem.find(table.order.data) is None else "refused"
        return f"no margin of {COLUMNS[column.beta_of].title} to aim at" if column.beta_of else "not run yet"
    if bad := [result for result in results if result.state != "done"]:
        return describe(bad[0])
    ends = sorted({result.ended for result in results} - GOOD_ENDS)
    verdicts = sorted({result.verdict for result in results} - {"proven", ""})
    missing = table.order.seeds - len(results)
    return "; ".join([*ends, *verdicts, *([f"{missing} seeds not run yet"] if missing else [])])


def remarks(table: Table) -> list[str]:
    """Return what to say below the table: what is missing, what differs, and why."""
    order, notes = table.order, []
    for problem in order.problems:
        if problem.name in table.trouble:
            notes.append(f"{problem.title}: {table.trouble[problem.name]}")
        if problem.stands_for:
            notes.append(f"{problem.title}: a stand-in, not the paper's data; the paper has no figures for it")
    for line in lines(table):
        ratio = line.ratios.margin
        name = f"{line.problem.title}, {line.column.title}"
        if ratio is not None and abs(ratio - 1) > MARGIN_TOLERANCE:
            notes.append(f"{name}: the margin differs from the paper's by {100 * (ratio - 1):+.2f} %")
        if line.ours.updates is not None and (note := NOTES.get((order.work, line.problem.name, line.column.name))):
            notes.append(f"{name}: {note}")
    if order.work == "table2":
        notes.append(
            "SVM-light itself is not available here: our own decomposition SVM runs in its place; the margin is "
            "geometric. DCD-L2 of LIBLINEAR: the margin is that of its weights with the best slacks, because it does "
            "not return its dual weights"
        )
    if order.epsilon != PAPER_EPSILON:
        notes.append(f"the paper's figures are for epsilon {PAPER_EPSILON:g}")
    runs = "one run each" if order.seeds == 1 else f"medians and ranges of {order.seeds} runs"
    times = "CPU seconds of training, here and on the paper's 2.5 GHz Core 2 Duo"
    margins = "margins are directional, x 1e4; geometric is the same state's geometric margin"
    return [*notes, f"epsilon {order.epsilon:g}, {runs}; {times}; {margins}"]


def _number(value: float) -> str:
    return f"{value:#.4g}" if value < 1e4 else f"{value:.0f}"


def _seconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _ratio(value: float) -> str:
    return f"{value:.4f}" if 0.99 < value < 1.01 else f"{value:#.3g}"


def _median_and_range(write: Callable[[float], str], median: float, least: float, most: float) -> str:
    shown, low, high = (write(value) for value in (median, least, most))
    return shown if least == most else f"{shown} ({low}-{high})"


def _words(line: Line) -> list[str]:
    """Return a row as people read it."""
    words = [line.problem.title, line.column.title]
    triples = zip(line.ours, line.least, line.most, strict=True)
    for write, ours, paper, ratio in zip((_number, _number, _seconds), triples, line.paper, line.ratios, strict=True):
        median, least, most = ours
        if median is None or least is None or most is None:
            words.append(DASH)
        else:
            words.append(_median_and_range(write, median, least, most))
        words += [DASH if value is None else show(value) for show, value in ((repr, paper), (_ratio, ratio))]
    return [*words, DASH if line.geometric is None else _number(line.geometric), line.remark]


def as_text(table: Table, width: int | None = None) -> str:
    """Return the table for a terminal of some width."""
    grid, last = [HEADER], ""
    for set_name, *words in map(_words, lines(table)):
        grid.append(["" if set_name == last else set_name, *words])
        last = set_name
    left = [word in ("set", "algorithm", "remark") for word in HEADER]
    return "\n".join([align(grid, left, width, n_names=2), "", *remarks(table), ""])


def as_csv(table: Table) -> str:
    """Return the table with all digits; what is a dash elsewhere is left empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ("margin_e4", "updates_millions", "cpu_seconds")
    kinds = ("", "_least", "_most", "_paper", "_ratio")
    writer.writerow(["set", "column", *(f"{name}{kind}" for name in names for kind in kinds), "geometric_e4", "remark"])
    for line in lines(table):
        figures = [
            "" if value is None else repr(value)
            for values in (
                *zip(line.ours, line.least, line.most, line.paper, line.ratios, strict=True),
                [line.geometric],
            )
            for value in values
        ]
        writer.writerow([line.problem.name, line.column.name, *figures, line.remark])
    return text.getvalue()


def as_markdown(table: Table) -> str:
    """Return the table for documents."""
    grid = [HEADER, ["---", "---", *["---:"] * (3 * len(UNITS) + 1), "---"], *map(_words, lines(table))]
    rows = [f"| {' | '.join(word.replace('|', '/') for word in row)} |" for row in grid]
    return "\n".join([*rows, "", *(f"- {remark}" for remark in remarks(table)), ""])


def as_latex(table: Table) -> str:
    """Return the table for papers: a tabular that needs no package."""
    grid = [HEADER, *map(_words, lines(table))]
    rows = [" & ".join("--" if word == DASH else word.translate(LATEX) for word in row) + r" \\" for row in grid]
    notes = [f"% {remark}" for remark in remarks(table)]
    begin = r"\begin{tabular}{ll" + "r" * (3 * len(UNITS) + 1) + "l}"
    return "\n".join([begin, r"\hline", rows[0], r"\hline", *rows[1:], r"\hline", r"\end{tabular}", *notes, ""])


FILES: dict[str, Callable[[Table], str]] = {".csv": as_csv, ".md": as_markdown, ".tex": as_latex}
