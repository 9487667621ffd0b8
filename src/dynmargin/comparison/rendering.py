"""A comparison as text, as CSV and as a picture."""

import csv
import io
import textwrap
from collections.abc import Sequence
from typing import Any

from ..displays.style import BOUND, CHOSEN, FURTHER, LINES, MARKERS, PROVEN, QUIET, beside, few_ticks, tidy
from ..problem.problems import label_text

Records = Sequence[dict[str, Any]]

FORMATS = {  # others: 4 digits
    "updates": "d",
    "passes": "d",
    "seconds": ".3f",
    "gap": ".4f",
    "train_accuracy": ".4f",
    "test_accuracy": ".4f",
}
TEXTS = ("algorithm", "problem", "stop_reason")


def as_text(records: Records, width: int | None = None) -> str:
    """Return the table as plain text; the problem is left out where it is the same for all.

    Columns that do not fit the width follow below, with the names of the algorithms again. The class that the bounds
    are about, the same for all, is named in a line at the end.
    """
    one_problem = len({record["problem"] for record in records}) == 1
    left_out = {"class", "problem"} if one_problem else {"class"}
    titles = [title for title in records[0] if title not in left_out]
    cells = [[_cell(title, record[title]) for title in titles] for record in records]
    table = align([titles, *cells], [title in TEXTS for title in titles], width)
    if "class" not in records[0]:
        return table
    about = f"margin and upper_bound: class {label_text(records[0]['class'])} against the rest, the hardest to separate"
    lines = ["gap: the largest of all classes, each against the rest", about]
    return "\n".join([table, "", *(short for line in lines for short in textwrap.wrap(line, width or len(line)))])


def align(
    grid: Sequence[Sequence[str]], to_the_left: Sequence[bool], width: int | None = None, n_names: int = 1
) -> str:
    """Return a grid of cells as lines in which every column has the width of its widest cell.

    Where the lines would be wider than `width`, the grid is cut into several, each below the last and each with the
    first `n_names` columns.
    """
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    names = list(range(n_names))
    parts = [list(names)]
    for j in range(n_names, len(widths)):
        if width is not None and len(parts[-1]) > n_names and _length(widths, [*parts[-1], j]) > width:
            parts.append(list(names))
        parts[-1].append(j)
    blocks = []
    for part in parts:
        lines = [
            "  ".join(row[j].ljust(widths[j]) if to_the_left[j] else row[j].rjust(widths[j]) for j in part).rstrip()
            for row in grid
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _length(widths: Sequence[int], columns: Sequence[int]) -> int:
    """Return how long a line of these columns is."""
    return sum(widths[j] for j in columns) + 2 * (len(columns) - 1)


def _cell(title: str, value: Any) -> str:
    """Return one value as text; what a peer does not report is a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else format(value, FORMATS.get(title, ".4g"))


def as_csv(records: Records) -> str:
    """Return the table with all its digits; what a peer does not report is left empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def plot(curves: Sequence[tuple[str, Sequence[tuple[float, float]]]], epsilon: float, ax: Any) -> None:
    """Draw certified gaps falling with time, one line per algorithm.

    A curve is the name of an algorithm, and seconds with gaps; a single pair is drawn as a point.
    """
    colours = (PROVEN, BOUND, CHOSEN, *FURTHER)
    lines = []
    for i, (name, points) in enumerate(curves):
        seconds = [time for time, _ in points]
        gaps = [min(gap, 1.0) for _, gap in points]  # above 1 nothing is separated yet
        single = len(points) == 1
        (line,) = ax.plot(
            seconds,
            gaps,
            linestyle="none" if single else LINES[i % len(LINES)],
            marker=MARKERS[i % len(MARKERS)],
            markersize=6 if single else 3,
            linewidth=1.5,
            color=colours[i % len(colours)],
            label=name,
        )
        lines.append((line, name))
    asked = ax.axhline(epsilon, color=QUIET, linewidth=0.8, label=f"epsilon={epsilon:g}")
    times = [time for _, points in curves for time, _ in points if time > 0]
    ax.set(xlabel="seconds", ylabel="certified gap")
    few_ticks(ax.xaxis, min(times, default=1.0), max(times, default=1.0), log=True)
    ax.set_yscale("log", nonpositive="clip")
    low, high = ax.get_ylim()
    few_ticks(ax.yaxis, low, high, log=True)
    ax.margins(x=0.12)
    tidy(ax, "Certified gap against time: lower left is better")
    low, high = ax.get_xlim()
    asked.set(xdata=[low, high], transform=ax.transData)
    ax.set_xlim(low, high)
    beside(ax, [*lines, (asked, "asked for")])
