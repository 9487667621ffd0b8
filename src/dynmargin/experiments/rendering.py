"""A table as text for a terminal, CSV, Markdown and LaTeX: ours, the paper's and their ratio side by side."""

import csv
import io
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .cells import Key, Result
from .columns import COLUMNS, Column
from .problems import Problem
from .published import NOTES, Figures, published
from .tables import Table, installed

DASH = "-"
UNITS = ("margin x 1e4", "updates / 1e6", "CPU s")
HEADER = ["set", "algorithm", *(word for unit in UNITS for word in (unit, "paper", "ratio")), "remark"]
PAPER_EPSILON = 0.01
GOOD_ENDS = {"converged", "certificate"}
MARGIN_TOLERANCE = 0.0015  # a margin further off than this is pointed out


@dataclass(frozen=True)
class Line:
    """A row of the table: an algorithm on a set, medians over the seeds."""

    problem: Problem
    column: Column
    ours: Figures
    paper: Figures
    remark: str

    @property
    def ratios(self) -> Figures:
        """Ours by the paper's."""
        pairs = zip(self.ours, self.paper, strict=True)
        return Figures(*(mine / theirs if mine is not None and theirs else None for mine, theirs in pairs))


def lines(table: Table) -> Iterator[Line]:
    """Make the rows; none is left out, whatever became of it."""
    order = table.order
    for problem in order.problems:
        for column in order.columns:
            keys = [Key(order.table, problem.name, column.name, order.epsilon, seed) for seed in range(order.seeds)]
            results = [table.results[key] for key in keys if key in table.results]
            figures = published(order.table, problem.name, column.paper)
            yield Line(problem, column, _medians(results), figures, _remark(table, problem, column, results))


def _medians(results: list[Result]) -> Figures:
    if not results or any(result.state != "done" for result in results):
        return Figures(None, None, None)

    def median(values: list[float | int | None], unit: float) -> float | None:
        numbers = [value * unit for value in values if value is not None]
        return statistics.median(numbers) if len(numbers) == len(values) else None

    return Figures(
        median([result.margin for result in results], 1e4),
        median([result.updates for result in results], 1e-6),
        median([result.seconds for result in results], 1.0),
    )


def _remark(table: Table, problem: Problem, column: Column, results: list[Result]) -> str:
    if not installed(column):
        return "not installed: pip install dynmargin[paper]"
    if not results:
        if problem.name in table.trouble:
            return (
                table.trouble[problem.name].partition(":")[0] if problem.find(table.order.data) is None else "refused"
            )
        return f"no margin of {COLUMNS[column.beta_of].title} to aim at" if column.beta_of else "not run yet"
    bad = [result for result in results if result.state != "done"]
    if bad:
        return f"> {bad[0].limit:g} s" if bad[0].state == "over limit" else f"failed: {bad[0].message}"
    ends = sorted({result.ended for result in results} - GOOD_ENDS)
    verdicts = sorted({result.verdict for result in results} - {"proven", ""})
    missing = table.order.seeds - len(results)
    return "; ".join([*ends, *verdicts, *([f"{missing} seeds not run yet"] if missing else [])])


def remarks(table: Table) -> list[str]:
    """Say below the table what is missing, what differs, and why."""
    order = table.order
    said = []
    for problem in order.problems:
        if problem.name in table.trouble:
            said.append(f"{problem.title}: {table.trouble[problem.name]}")
        if problem.stands_for and problem in order.problems:
            said.append(f"{problem.title}: a stand-in, not the paper's data; the paper has no figures for it")
    for line in lines(table):
        ratio = line.ratios.margin
        name = f"{line.problem.title}, {line.column.title}"
        if ratio is not None and abs(ratio - 1) > MARGIN_TOLERANCE:
            said.append(f"{name}: the margin differs from the paper's by {ratio - 1:+.2%}")
        if line.ours.updates is not None and (note := NOTES.get((order.table, line.problem.name, line.column.name))):
            said.append(f"{name}: {note}")
    if order.table == 2:
        said.append(
            "SVM-light: our own decomposition SVM runs in its place; the margin is geometric. DCD-L2 of LIBLINEAR: the "
            "margin is that of its weights with the best slacks, because it does not hand out its dual weights"
        )
    if order.epsilon != PAPER_EPSILON:
        said.append(f"the paper's figures are for epsilon {PAPER_EPSILON:g}")
    runs = "one run each" if order.seeds == 1 else f"medians of {order.seeds} runs"
    said.append(
        f"epsilon {order.epsilon:g}, {runs}; CPU seconds of training, here and on the paper's 2.5 GHz Core 2 Duo"
    )
    return said


def _margin(value: float | None) -> str:
    return DASH if value is None else f"{value:#.4g}"


def _updates(value: float | None) -> str:
    return DASH if value is None else f"{value:#.4g}" if value < 1e4 else f"{value:.0f}"


def _seconds(value: float | None) -> str:
    return DASH if value is None else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _ratio(value: float | None) -> str:
    return DASH if value is None else f"{value:.4f}" if 0.99 < value < 1.01 else f"{value:#.3g}"


FORMATS = (_margin, _updates, _seconds)


def _words(line: Line) -> list[str]:
    """Put a row into words, as people read it."""
    words = [line.problem.title, line.column.title]
    limit = line.remark if line.remark.startswith("> ") else ""
    for write, mine, theirs, ratio in zip(FORMATS, line.ours, line.paper, line.ratios, strict=True):
        shown = limit if write is _seconds and limit else write(mine)
        words += [shown, DASH if theirs is None else repr(theirs), _ratio(ratio)]
    return [*words, "" if limit else line.remark]


def as_text(table: Table) -> str:
    """For a terminal."""
    grid = [HEADER, *(_words(line) for line in lines(table))]
    widths = [max(len(row[j]) for row in grid) for j in range(len(HEADER))]
    text, last = [], ""
    for row in grid:
        shown = ["" if row[0] == last else row[0], *row[1:]]
        last = row[0]
        cells = [
            word.ljust(width) if j in (0, 1, len(HEADER) - 1) else word.rjust(width)
            for j, (word, width) in enumerate(zip(shown, widths, strict=True))
        ]
        text.append("  ".join(cells).rstrip())
    return "\n".join([*text, "", *remarks(table), ""])


def as_csv(table: Table) -> str:
    """All digits; what a dash stands for is left empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ("margin_e4", "updates_millions", "cpu_seconds")
    writer.writerow(
        ["set", "column", *(f"{name}{what}" for name in names for what in ("", "_paper", "_ratio")), "remark"]
    )
    for line in lines(table):
        figures = [
            "" if value is None else repr(value)
            for triple in zip(line.ours, line.paper, line.ratios, strict=True)
            for value in triple
        ]
        writer.writerow([line.problem.name, line.column.name, *figures, line.remark])
    return text.getvalue()


def as_markdown(table: Table) -> str:
    """For documents."""
    grid = [HEADER, ["---", "---", *["---:"] * (3 * len(UNITS)), "---"], *(_words(line) for line in lines(table))]
    rows = [f"| {' | '.join(word.replace('|', '/') for word in row)} |" for row in grid]
    return "\n".join([*rows, "", *(f"- {remark}" for remark in remarks(table)), ""])


def as_latex(table: Table) -> str:
    """For papers: a tabular that needs no package."""
    grid = [HEADER, *(_words(line) for line in lines(table))]
    rows = [" & ".join(_escape(word) for word in row) + r" \\" for row in grid]
    notes = [f"% {remark}" for remark in remarks(table)]
    begin = r"\begin{tabular}{ll" + "r" * (3 * len(UNITS)) + "l}"
    return "\n".join([begin, r"\hline", rows[0], r"\hline", *rows[1:], r"\hline", r"\end{tabular}", *notes, ""])


def _escape(word: str) -> str:
    if word == DASH:
        return "--"
    special = {
        "%": r"\%",
        "&": r"\&",
        "_": r"\_",
        "#": r"\#",
        "$": r"\$",
        ">": "$>$",
        "<": "$<$",
        "\\": r"\textbackslash{}",
    }
    return "".join(special.get(letter, letter) for letter in word)


FILES: dict[str, Callable[[Table], str]] = {".csv": as_csv, ".md": as_markdown, ".tex": as_latex}
