"""The pictures of a report, each an inline SVG with a caption, a description, and what its points say.

matplotlib draws them. It is what the displays already use, and its SVG is text that the page's own colours and fonts
apply to; the script of an interactive library alone would be several times as large as the page may be.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..certificate.certificate import Certificate
from ..displays.convergence import ConvergenceDisplay, proven_by_then
from ..displays.style import BOUND, INK, PALE, PROVEN, QUIET, beside, few_ticks, tidy
from ..problem.statement import counted, in_percent
from .markup import Markup, element
from .measures import Curve
from .subject import Subject, Values, shown
from .svg import as_svg

# In inches. Small, for a phone; the page makes it larger where there is room.
WIDTH, HEIGHT = 4.6, 3.2
FONT_SIZE = 12.0  # points
MOST_CLASSES = 12  # in a picture with a line or a panel for each
HISTOGRAMS = 4  # up to so many classes have a histogram each, more have a box each

Point = tuple[float, list[float], str]  # where in the SVG, and in words


def draw(
    name: str, caption: str, described: str, paint: Callable[[Any], Sequence[Point] | None], height: float = HEIGHT
) -> Markup:
    """Let a function paint on axes; if it returns points, the picture can be read off at each of them."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"font.size": FONT_SIZE, "axes.titlesize": FONT_SIZE, "text.usetex": False}):
        figure = Figure(figsize=(WIDTH, height), dpi=72, layout="constrained")
        ax = figure.add_subplot()
        points = paint(ax)
        bottom = round(figure.bbox.height - ax.bbox.y0, 1)
        drawn = as_svg(figure, name, described)
    heading = element("figcaption", caption)
    if not points:
        return element("figure", heading, drawn)
    slider = element("input", type="range", id=f"{name}-slider", min=0, max=len(points) - 1, value=0)
    label = element("label", "Hover over the picture, or move along it here", for_=f"{name}-slider")
    output = element("output", for_=f"{name}-slider")
    reading = element("div", label, slider, output, class_="reading", hidden=True)
    texts = json.dumps([[round(x, 1), [round(y, 1) for y in ys], words] for x, ys, words in points])
    by = "x" if len(points[0][1]) > 1 else "distance"
    return element("figure", heading, drawn, reading, data_points=texts, data_by=by, data_bottom=bottom)


def on_svg(ax: Any, x: Any, y: Any) -> tuple[Values, Values]:
    """Return where points of the data are in the SVG, whose y points down; those outside are at its edge."""
    ax.figure.draw_without_rendering()
    inside = np.clip(np.asarray(y, dtype=float), *ax.get_ylim())
    places = ax.transData.transform(np.column_stack([x, inside]))
    return places[:, 0], ax.figure.bbox.height - places[:, 1]


def certificate(found: Certificate) -> Markup:
    """Draw the two bounds on a line: what is reached, and where the best margin can be."""
    what = "value 1 / √(2 objective)" if found.loss == "hinge" else found.margin_name

    def paint(ax: Any) -> None:
        margin, bound = found.margin, found.upper_bound
        ax.barh([0], [margin], height=0.5, color=PROVEN)
        ax.barh([0], [bound - margin], left=[margin], height=0.5, color=BOUND)
        ax.set(xlim=(0, 1.02 * bound), ylim=(-1.15, 1.15), yticks=[], xlabel=what)
        ax.annotate(f"has {margin:.6g}", (margin, 0.3), ha="right", va="bottom", color=PROVEN, fontsize="small")
        text = f"nobody can have more than {bound:.6g}"
        ax.annotate(text, (bound, -0.3), ha="right", va="top", color=BOUND, fontsize="small")
        few_ticks(ax.xaxis, 1.0, 1.0)
        tidy(ax, grid="")
        ax.spines["left"].set_visible(False)

    described = f"A bar from zero to the proven {what} {found.margin:.6g}; a short piece more reaches the upper bound"
    described += f" {found.upper_bound:.6g}."
    return draw("certificate", f"The {what} reached, and the most that is possible", described, paint, 1.9)


def gaps(certificates: Sequence[Certificate]) -> Markup:
    """Draw the gap of each class against the one asked for; of many classes those with the largest."""
    worst = sorted(certificates, key=lambda found: -found.gap)[:MOST_CLASSES]
    epsilon = worst[0].epsilon

    def paint(ax: Any) -> None:
        lengths = [min(1.0, found.gap) for found in worst]
        places = np.arange(len(worst))
        ax.barh(places, lengths, height=0.6, color=[PROVEN if found.achieved else BOUND for found in worst])
        ax.set_yticks(places, [shown(found.problem.positive)[:20] for found in worst], parse_math=False)
        ax.invert_yaxis()
        ax.axvline(epsilon, color=INK, linestyle=(0, (5, 2)), linewidth=1)
        ax.set(xlabel="proven gap, in % of the best margin", xlim=(0, 1.15 * max(*lengths, epsilon)))
        ax.text(epsilon, -0.7, "asked for", ha="right", va="bottom", fontsize="small", color=INK)
        few_ticks(ax.xaxis, 1.0, 1.0)
        ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")
        tidy(ax, grid="x")

    which = f"the {len(worst)} classes with the largest gaps" if len(worst) < len(certificates) else "every class"
    largest = f"the largest is {in_percent(worst[0].gap, 3)}, and {in_percent(epsilon, 3)} was asked for"
    described = f"One bar for {which}: {largest}."
    caption = f"How far each class can be from its best margin, at most: {which}"
    return draw("certificate", caption, described, paint, 1.2 + 0.27 * len(worst))


def convergence(subject: Subject) -> Markup | None:
    """Draw the bounds of the class with the largest gap, check after check."""
    found = subject.model.certificates
    worst = int(np.argmax([one.gap for one in found])) if found else 0
    history = [check for check in subject.model.history if check.problem == worst]
    history = [check for check in history if np.isfinite([check.margin, check.upper_bound]).all()]
    if not history:
        return None
    timed = all(np.isfinite(check.time) for check in history)

    def paint(ax: Any) -> list[Point]:
        ConvergenceDisplay(history).plot(ax)
        ax.set_title("")
        points: list[Point] = []
        when = [check.time if timed else check.passes for check in history]
        margins, bounds = proven_by_then(history)
        (right, low), (_, high) = on_svg(ax, when, margins), on_svg(ax, when, bounds)
        for i, check in enumerate(history):
            passes = counted(check.passes, "pass", "passes")
            moment = f"{check.time:.3g} s, {passes}" if timed else passes
            gap = f"gap {in_percent(1 - margins[i] / bounds[i], 2)}" if margins[i] > 0 else "nothing proven yet"
            proven = f"margin {margins[i]:.5g}, nobody above {bounds[i]:.5g}"
            points.append((right[i], [low[i], high[i]], f"{moment}, {check.updates:,} updates: {proven}, {gap}"))
        return points

    of_class = f" of class {shown(found[worst].problem.positive)}, which has the largest gap," if len(found) > 1 else ""
    first, last = history[0], history[-1]
    described = f"Two curves that meet: the margin rises from {first.margin:.4g} to {last.margin:.4g}, the upper bound"
    described += f" falls from {first.upper_bound:.4g} to {last.upper_bound:.4g}, in {len(history)} checks."
    caption = f"The bounds{of_class} during training: the best margin was always in the grey area"
    return draw("convergence", caption, described, paint)


def margins(subject: Subject) -> Markup:
    """Draw how far the rows of each class are on their own side; of many classes, those with most errors."""
    found, actual, labels = subject.margins, subject.actual, subject.classes
    here = [place for place in range(len(labels)) if (actual == place).any()]
    wrong = {place: float(np.mean(found[actual == place] < 0)) for place in here}
    most = sorted(here, key=lambda place: -wrong[place])[:MOST_CLASSES]
    chosen = [place for place in here if place in most]
    proven = subject.model.certificates[0].margin if subject.in_units_of_the_margin else None
    histograms = len(chosen) <= HISTOGRAMS

    def paint(ax: Any) -> None:
        low, high = np.percentile(found, [0.5, 99.5])
        low, high = min(low, 0.0, proven or 0.0), max(high, 0.0, proven or 0.0)
        edges = np.linspace(low, high, 41) if high > low else np.linspace(-1, 1, 41)
        for line, place in enumerate(chosen):
            (_histogram if histograms else _box)(ax, found[actual == place], edges, -line)
        between = "\n" if histograms else ", "
        names = [f"{labels[place][:18]}{between}{in_percent(wrong[place], 1)} wrong" for place in chosen]
        top, middle, under = (0.95, 0.35, 0.05) if histograms else (0.6, 0.0, 0.6)
        ax.set_yticks([middle - line for line in range(len(chosen))], names, parse_math=False)
        ax.axvline(0, color=INK, linewidth=1)
        ax.set(xlim=(edges[0], edges[-1]), ylim=(1 - len(chosen) - under, top + 0.28))
        ax.set_xlabel("score of own class minus best other" if proven is None else "distance from the boundary")
        near: dict[str, Any] = {"textcoords": "offset points", "va": "bottom", "fontsize": "small"}
        ax.annotate("wrong", (0, top), (-4, 0), ha="right", color=BOUND, **near)
        ax.annotate("right", (0, top), (4, 0), ha="left", color=PROVEN, **near)
        if proven is not None:
            ax.axvline(proven, color=PROVEN, linewidth=1, linestyle=(0, (5, 2)))
        few_ticks(ax.xaxis, 1.0, 1.0)
        tidy(ax, grid="x")
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)

    parts = [
        f"{labels[place]}: {in_percent(wrong[place], 1)} of {int((actual == place).sum())} rows wrong"
        for place in chosen
    ]
    described = "The margins of rows by class. " + "; ".join(parts) + "."
    caption = "Margins of the rows by class: left of the solid line they are misclassified"
    caption += "" if proven is None else "; the dashed line is the proven margin"
    if len(chosen) < len(here):
        caption += f"; the {len(chosen)} classes with most errors"
    if not histograms:
        caption += "; a bar holds half of the rows, a line 90 %"
    return draw("margins", caption, described, paint, 1.1 + (0.75 if histograms else 0.33) * len(chosen))


def _histogram(ax: Any, rows: Values, edges: Values, base: float) -> None:
    heights, _ = np.histogram(rows.clip(edges[0], edges[-1]), edges)
    heights = 0.8 * heights / max(1, heights.max())
    middle = (edges[1:] + edges[:-1]) / 2
    colours = [BOUND if place < 0 else PROVEN for place in middle]
    ax.bar(middle, heights, np.diff(edges), bottom=base, color=colours, linewidth=0)
    ax.axhline(base, color=PALE, linewidth=0.8)


def _box(ax: Any, rows: Values, edges: Values, base: float) -> None:
    ends = np.percentile(rows, [5, 25, 50, 75, 95]).clip(edges[0], edges[-1])
    ax.plot(ends[[0, 4]], [base, base], color=QUIET, linewidth=1)
    ax.plot(ends[[1, 3]], [base, base], color=PROVEN, linewidth=7, solid_capstyle="butt")
    ax.plot(ends[2], base, "o", color="white", markersize=4)


def trade_offs(name: str, curves: Sequence[Curve], caption: str, axes: tuple[str, str], chance: Any) -> Markup:
    """Draw ROC or precision-recall curves: the worst class in colour, the others pale behind it."""
    worst = min(curves, key=lambda curve: curve.area)
    what = "AUC" if name == "roc" else "average precision"

    def paint(ax: Any) -> list[Point]:
        for curve in curves:
            if curve is not worst:
                ax.plot(curve.x, curve.y, color=PALE, linewidth=1)
        style = {"drawstyle": "default" if name == "roc" else "steps-pre"}
        (line,) = ax.plot(worst.x, worst.y, color=PROVEN, linewidth=2, **style)
        (by_chance,) = ax.plot(*chance(worst), color=QUIET, linewidth=1, linestyle=(0, (1, 1.5)))
        ax.set(xlabel=axes[0], ylabel=axes[1], xlim=(-0.02, 1.02), ylim=(-0.02, 1.04))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
        tidy(ax)
        of_class = f"{worst.label[:20]}: " if len(curves) > 1 else ""
        beside(ax, [(line, f"{of_class}{what} {worst.area:.4f}"), (by_chance, "by chance")], at=0.5)
        points: list[Point] = []
        right, up = on_svg(ax, worst.x, worst.y)
        for i, (x, y, threshold) in enumerate(zip(worst.x, worst.y, worst.thresholds, strict=True)):
            where = f"score above {threshold:.3g}" if np.isfinite(threshold) else "no row"
            seen = f"{in_percent(x, 1)} {axes[0].split(',')[0]}, {in_percent(y, 1)} {axes[1].split(',')[0]}"
            points.append((right[i], [up[i]], f"{where}: {seen}"))
        return points

    others = f"; the other {len(curves) - 1} classes are pale" if len(curves) > 1 else ""
    described = f"{caption}. Class {worst.label}: {what} {worst.area:.4f}{others}."
    of_worst = f", worst class in colour: {worst.label}" if len(curves) > 1 else f" for class {worst.label}"
    return draw(name, f"{caption}{of_worst}", described, paint)


__all__ = ["certificate", "convergence", "gaps", "margins", "trade_offs"]
