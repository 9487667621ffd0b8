"""The paper's own curves: the directional margin and the upper bound ‖a‖/t against t, for PDM, PDM-succ and PFM."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _core
from ..displays.style import BOUND, CHOSEN, INK, PALE, PROVEN, beside, few_ticks, key, plain, tidy
from ..theory import after_run_accuracy
from .cells import Cells, Key, Result
from .columns import Measured, Task
from .problems import Problem

WORK = "curves"
SUCCESSIVE, ETA = 0.5, 8  # PDM-succ's first accuracy, and what it is divided by from run to run
MARGIN, BEST = r"$\gamma'_d$", r"$\gamma_d$"
COLOURS = {"pdm": PROVEN, "pdm-succ": CHOSEN, "pfm": BOUND}


@dataclass(frozen=True)
class Curve:
    """An algorithm whose run is recorded."""

    name: str
    title: str
    beta_of: str = ""

    def run(self, task: Task) -> Measured:
        """Record a run; its seconds are no measure of the algorithm, because of the checks in between."""
        from .trajectory import Rule, trajectory

        rules: list[Rule]
        if task.beta is not None:
            rules = [_core.FixedMargin(task.beta)]
        else:
            rules = [_core.DynamicMargin(epsilon) for epsilon in accuracies(self.name, task.epsilon)]
        start = time.process_time()
        moments, ended = trajectory(task.problem, task.X, task.y, rules, task.seed, plain=self.name == "pdm")
        last = moments[-1]
        return Measured(
            last.margin,
            last.t,
            time.process_time() - start,
            ended,
            "",
            curve=[(m.t, m.margin, m.bound) for m in moments],
        )


def accuracies(name: str, epsilon: float) -> list[float]:
    """Return the accuracies of PDM's runs, one after the other."""
    found = [epsilon]
    if name == "pdm-succ":
        found, stage = [], SUCCESSIVE
        while stage > epsilon:
            found.append(stage)
            stage /= ETA
        found.append(epsilon)
    return found


CURVES = (Curve("pdm", "PDM"), Curve("pdm-succ", "PDM-succ"), Curve("pfm", "PFM (PDM's margin)", beta_of="pdm"))


def stored_curves(problem: Problem, epsilon: float, out: Path) -> dict[str, Result]:
    """Read the curves of a problem that are on disk."""
    cells = Cells(out / "cells")
    found = {curve.name: cells.read(Key(WORK, problem.name, curve.name, epsilon, 0)) for curve in CURVES}
    return {name: result for name, result in found.items() if result is not None and result.state == "done"}


def draw_curves(problem: Problem, epsilon: float, results: dict[str, Result]) -> Any:
    """Draw both quantities against t, and below them the after-run estimate (5)."""
    from matplotlib import pyplot

    titles = {curve.name: curve.title for curve in CURVES}
    curves = {name: result.curve or [] for name, result in results.items()}
    # Every bound of every run holds, and every margin was reached: gamma_d is between the best of them.
    least = min(bound for curve in curves.values() for _, _, bound in curve)
    best = max(margin for curve in curves.values() for _, margin, _ in curve)

    figure, panels = pyplot.subplots(3, 1, figsize=(8, 9), layout="constrained", sharex=True, height_ratios=(3, 2, 2))
    above, close, below = panels
    bound_lines, margin_lines, ends = [], [], []
    for name, curve in curves.items():
        colour, title = COLOURS[name], titles[name]
        t, margins, bounds = zip(*curve, strict=True)
        for ax in (above, close):
            bound_lines += ax.plot(t, bounds, color=colour, linewidth=1.5)
            margin_lines += ax.plot(t, margins, linestyle=(0, (4, 2)), color=colour, linewidth=1.2)
            ax.plot(t[-1], margins[-1], "o", color=colour)
        estimates = [after_run_accuracy(margin, bound * updates, updates) for updates, margin, bound in curve]
        below.plot(t, estimates, color=colour, linewidth=1.5)
        below.plot(t[-1], estimates[-1], "o", color=colour)
        ended = f"{title}: {results[name].ended}, t = {t[-1]:,}, estimate {estimates[-1]:.4f}"
        ends.append((ended, colour))
    close.axhspan(best, least, color=PALE, linewidth=0)
    close.axhline((1 - epsilon) * least, color=INK, linestyle=(0, (1, 1.5)))
    below.axhline(epsilon, color=INK, linestyle=(0, (1, 1.5)))

    few_ticks(below.xaxis, 1.0, max(curve[-1][0] for curve in curves.values()), log=True)
    above.set_yscale("symlog", linthresh=2 * best)
    above.axhline(0, color=PALE, linewidth=0.8, zorder=0)
    _few_powers(above)
    above.set_ylabel("margin")
    tidy(above, f"{problem.title}, epsilon = {epsilon:g}: the bounds (solid) and the margins (dashed) meet")
    key(above, [(titles[name], COLOURS[name]) for name in curves])
    close.set(ylim=(0.9 * best, 1.1 * best), ylabel="margin, close to the best")
    few_ticks(close.yaxis, 1.0, 1.0)
    tidy(close)
    below.set(xlabel="t, the number of updates", ylabel=f"1 - {MARGIN} t / ‖a‖   (5)")
    few_ticks(below.yaxis, epsilon / 2, below.get_ylim()[1], log=True)
    below.set_ylim(bottom=epsilon / 4)
    tidy(below)
    _on_the_left(close, least, f"{BEST}, the best margin, is in the grey band", 2)
    _on_the_left(close, (1 - epsilon) * least, f"the guarantee: (1 - {epsilon:g}) {BEST}", -3)
    _on_the_left(below, epsilon, f"the guarantee: epsilon = {epsilon:g}", -3)
    key(below, ends, "upper right")
    below.set_ylim(top=below.get_ylim()[1] * 30)  # room for the words
    names = [(bound_lines[0], "‖a‖/t, the upper bound"), (margin_lines[0], "the directional margin")]
    beside(above, names, at=0.4)
    return figure


def _on_the_left(ax: Any, y: float, words: str, points: float) -> None:
    """Write words at the left end of a horizontal line, some points above or below it."""
    ax.annotate(
        words,
        (0.01, y),
        (0, points),
        xycoords=ax.get_yaxis_transform(),
        textcoords="offset points",
        va="bottom" if points > 0 else "top",
        fontsize="small",
        color=INK,
    )


def _few_powers(ax: Any) -> None:
    """Leave few ticks on an axis that is logarithmic on both sides of zero."""
    low, high = ax.get_ylim()
    powers = [10.0**power for power in range(-9, 9)]
    shown = [
        side * power
        for side in (-1, 1)
        for power in powers
        if low <= side * power <= high and power >= ax.yaxis.get_transform().linthresh
    ]
    ax.set_yticks([*sorted(shown), 0.0], [*(plain(value) for value in sorted(shown)), "0"])
    ax.minorticks_off()
