"""How all pictures look: a few colours, quiet frames, few ticks, and labels beside what they name."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# Two leading colours that stay apart for the colour-blind and, one dark and one light, in grey print. All of them have
# a contrast of 4.5 to white, as text needs it. The report page has a second set of these for its dark theme.
PROVEN = "#0b4a8f"  # what the classifier has: its margin
BOUND = "#b85c00"  # what no classifier can exceed
CHOSEN = "#1a7a4c"
INK = "#1d2126"
QUIET = "#5d6570"  # axes, ticks, notes
PALE = "#b9c0c9"  # bars behind something else
BAND = "#e9ecf0"  # where something must lie, and grids
FURTHER = ("#8a3d8f", "#00708a", "#7a6a00", "#a3324f", "#3f4a56", "#5a6f00", "#6a4fc0", "#7d4b2a")
LINES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.4)), (0, (6, 2, 1, 2)))
MARKERS = ("o", "s", "^", "D")

FEW_TICKS = 5
LOG_SPAN = 8.0  # below that, the ticks of a logarithmic axis would be too few to read


def tidy(ax: Any, title: str = "", *, grid: str = "y") -> None:
    """Give axes the quiet look: a title that says what one sees, no box, faint grid lines."""
    ax.spines[["top", "right"]].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(PALE)
    ax.tick_params(which="both", colors=QUIET, labelsize="small", length=3)
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set(color=QUIET, fontsize="small")
    if grid:
        ax.grid(axis=grid, color=BAND, linewidth=0.8)
        ax.set_axisbelow(True)
    if title:
        ax.set_title(wrapped(ax, title), fontsize="medium", color=INK, parse_math=False)


def wrapped(ax: Any, title: str) -> str:
    """Break a title into lines that fit its column of the figure; a character takes about 0.6 of the size of type."""
    import textwrap

    from matplotlib import rcParams

    place = ax.get_subplotspec()
    columns = 1 if place is None else place.get_gridspec().ncols / len(place.colspan)
    width = 0.95 * ax.figure.get_size_inches()[0] / columns
    return "\n".join(textwrap.wrap(title, max(20, int(72 * width / (0.6 * rcParams["font.size"])))))


def few_ticks(axis: Any, low: float, high: float, *, log: bool | None = None) -> None:
    """Choose a scale for positive values and a few round ticks: logarithmic if they span much, unless it is said."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    span = high / low if 0 < low <= high < np.inf else 1.0
    log = span >= LOG_SPAN if log is None else log
    name = axis.axis_name
    getattr(axis.axes, f"set_{name}scale")("log" if log else "linear")
    if not log:
        axis.set_major_locator(MaxNLocator(FEW_TICKS, steps=[1, 2, 5, 10]))
        return
    halves = (1.0, 2.0, 5.0) if span < 100 else (1.0, 3.0) if span < 1000 else (1.0,)
    # Over less than a decade, round numbers at even distances: matplotlib itself would take any that are close.
    few = MaxNLocator(4, steps=[1, 2, 5, 10])
    axis.set_major_locator(LogLocator(subs=halves, numticks=7) if span >= LOG_SPAN else few)
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))


def plain(value: float) -> str:
    """Write a tick: 0.01, 30, 1,000, 2 M; powers of ten only where nothing else is short."""
    size = abs(value)
    if size == 0 or 1e-4 <= size < 1e4:
        return f"{value:,.4g}" if size < 1000 else f"{value:,.0f}"
    for unit, name in ((1e9, " bn"), (1e6, " M"), (1e3, " k")):
        if unit <= size < 1000 * unit:
            return f"{value / unit:.3g}{name}"
    exponent = math.floor(math.log10(size) + 1e-9)
    mantissa = value / 10.0**exponent
    power = f"10$^{{{exponent}}}$"
    return power if abs(mantissa - 1) < 1e-6 else f"{mantissa:g}·{power}"


def beside(
    ax: Any, labels: Sequence[tuple[Any, str]], avoid: Iterable[Any] = (), at: float = 1.0, above: bool = True
) -> list[Any]:
    """Write a label beside each line, where it covers no line and no other label.

    Where there is no such place beside it, a label is written further away, and a thin line leads to it.

    Parameters
    ----------
    ax : matplotlib axes
        Where the lines are; what they show must be final.
    labels : sequence of (line, str)
        The lines and their names.
    avoid : iterable of lines
        More lines that must not be covered.
    at : float, default=1.0
        How far along its line a label is tried first: 1 is the end.
    above : bool, default=True
        On which side of its line a label is written if there is room on both.

    Returns
    -------
    list of matplotlib texts
        One per label.
    """
    ax.figure.draw_without_rendering()  # the layout decides where the axes are
    frame = ax.get_window_extent()
    paths = {id(line): _on_screen(ax, line) for line in (*(line for line, _ in labels), *avoid)}
    crowd = np.concatenate([*paths.values(), np.empty((0, 2))])
    taken: list[Any] = [text.get_window_extent() for text in ax.texts]
    written = []
    for line, name in labels:
        text = ax.annotate(
            name,
            (0, 0),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize="small",
            color=line.get_color(),
            parse_math=False,
            annotation_clip=False,
        )
        box = text.get_window_extent()
        path = paths[id(line)]
        seen = path[(path[:, 1] >= frame.y0) & (path[:, 1] <= frame.y1)]
        path = seen if len(seen) else path
        occupied = _Occupied(crowd, taken, frame, box.width, box.height)
        beside_it, up, right, crowded = _best_place(path, occupied, at, above)
        text.xy = ax.transData.inverted().transform(beside_it)
        text.set(va="bottom" if up else "top", ha="right" if right else "left")
        text.set_position((0, GAP_POINTS if up else -GAP_POINTS))
        if crowded and (corner := _empty_place(beside_it, occupied)) is not None:
            _lead_to(text, line.get_color(), np.subtract(corner, beside_it), box)
        taken.append(text.get_window_extent())
        written.append(text)
    return written


GAP_POINTS = 4
SPACE = 6  # pixels between two labels side by side


def key(ax: Any, entries: Sequence[tuple[str, str]], corner: str = "upper right") -> None:
    """Write names in their colours, line by line, into a corner that is empty: a legend without a box."""
    up, right = corner.startswith("upper"), corner.endswith("right")
    size = ax.xaxis.label.get_size() * 1.35  # points between two lines
    for line, (text, colour) in enumerate(entries if up else list(reversed(entries))):
        ax.annotate(
            text,
            (1 if right else 0, 1 if up else 0),
            (-6 if right else 6, -(line + 0.3) * size if up else (line + 0.3) * size),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right" if right else "left",
            va="top" if up else "bottom",
            color=colour,
            fontsize="small",
        )


@dataclass(frozen=True)
class _Occupied:
    """What a box of some size may cover, all in pixels: points on lines, other labels, and what is not in the frame."""

    crowd: Any
    taken: Sequence[Any]
    frame: Any
    width: float
    height: float

    def covered(self, left: float, bottom: float) -> float:
        """Return how bad a place is: the points that are covered there, and far more for the rest."""
        crowd, frame, width, height = self.crowd, self.frame, self.width, self.height
        inside = frame.x0 <= left and left + width <= frame.x1 + 2
        inside &= frame.y0 <= bottom and bottom + height <= frame.y1 + 0.4 * height
        covered = (crowd[:, 0] > left - 2) & (crowd[:, 0] < left + width + 2)
        covered &= (crowd[:, 1] > bottom - 2) & (crowd[:, 1] < bottom + height + 2)
        clash = any(
            box.x0 - SPACE < left + width and left < box.x1 + SPACE and box.y0 < bottom + height and bottom < box.y1
            for box in self.taken
        )
        return float(covered.sum() + 1000 * clash + 2000 * (not inside))

    def crosses_labels(self, begin: Any, end: Any) -> bool:
        """Whether a straight line crosses a label."""
        return any(box.contains(*point) for point in np.linspace(begin, end, 20) for box in self.taken)


def _empty_place(point: Any, occupied: _Occupied) -> tuple[float, float] | None:
    """Return the lower left corner of the closest box that covers nothing; None if there is no such place nearby."""
    x, y = point
    width, height = occupied.width, occupied.height
    for distance in np.arange(2.0, 12.0, 0.5) * height:
        for angle in np.radians([-90, -60, -120, -30, -150, 90, 60, 120, 30, 150, 0, 180]):
            across, up = x + distance * np.cos(angle), y + distance * np.sin(angle)
            corner = across - width * (0.5 - 0.5 * np.cos(angle)), up - height / 2
            if occupied.covered(*corner) == 0 and not occupied.crosses_labels(point, (across, up)):
                return corner
    return None


def _lead_to(text: Any, colour: Any, offset: Any, box: Any) -> None:
    """Move a label so that its lower left corner is `offset` pixels from its point, and draw a thin line to it."""
    points = 72 / text.figure.dpi
    text.set(ha="left", va="bottom")
    text.set_position((offset[0] * points, offset[1] * points))
    nearest = np.clip(0, offset, np.add(offset, (box.width, box.height)))
    thin = {"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 3}
    text.axes.annotate("", text.xy, nearest * points, textcoords="offset points", arrowprops=thin)


def _best_place(path: Any, occupied: _Occupied, at: float, wanted: bool) -> tuple[Any, bool, bool, bool]:
    """Return where to write: the point beside which a box covers least, above or below it, right or left.

    And whether it covers anything even there. A little more distance than a letter's height keeps the label off the
    line.
    """
    width, height = occupied.width, occupied.height
    best, found = math.inf, (path[-1], True, True)
    places = np.linspace(len(path) - 1, 0, 60).astype(int)
    for place in places[np.argsort(np.abs(places - at * (len(path) - 1)), kind="stable")]:
        x, y = path[place]
        for above in (True, False):
            for right in (True, False):
                left = x - width if right else x
                bottom = y + 0.35 * height if above else y - 1.35 * height
                badness = occupied.covered(left, bottom) + 0.5 * (above is not wanted)
                if badness < best:
                    best, found = badness, ((x, y), above, right)
                if best == 0:
                    return (*found, False)
    return (*found, best >= 1)


def _on_screen(ax: Any, line: Any) -> Any:
    """Return points on a line, a pixel or two apart, in pixels."""
    points = ax.transData.transform(np.column_stack(line.get_data()).astype(float))
    points = points[np.isfinite(points).all(axis=1)]
    frame = ax.get_window_extent()
    points[:, 1] = points[:, 1].clip(frame.y0 - 100, frame.y1 + 100)  # nobody sees how far it goes beyond
    if line.get_drawstyle().startswith("steps") and len(points) > 1:
        corners = np.column_stack([points[1:, 0], points[:-1, 1]])
        points = np.concatenate([np.column_stack([points[:-1], corners]).reshape(-1, 2), points[-1:]])
    if len(points) < 2:
        return points if len(points) else np.array([ax.transAxes.transform((0.5, 0.5))])
    lengths = np.hypot(*np.diff(points, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(lengths)])
    even = np.linspace(0, along[-1], int(min(4000, max(2, along[-1]))))
    return np.column_stack([np.interp(even, along, points[:, 0]), np.interp(even, along, points[:, 1])])
