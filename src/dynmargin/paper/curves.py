"""The paper's own curves: the directional margin and the upper bound ‖a‖/t against t, for PDM, PDM-succ and PFM."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _core
from ..theory import after_run_accuracy
from .cells import Cells, Key, Result
from .columns import Measured, Task
from .problems import Problem

WORK = "curves"
SUCCESSIVE, ETA = 0.5, 8  # PDM-succ's first accuracy, and what it is divided by from run to run
MARGIN, BEST = r"$\gamma'_d$", r"$\gamma_d$"
COLOURS = {"pdm": "tab:blue", "pdm-succ": "tab:green", "pfm": "tab:orange"}


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

    figure, panels = pyplot.subplots(
        3, 1, figsize=(9, 10.5), layout="constrained", sharex=True, height_ratios=(3, 2, 2)
    )
    above, close, below = panels
    for name, curve in curves.items():
        colour, title = COLOURS[name], titles[name]
        t, margins, bounds = zip(*curve, strict=True)
        for ax in (above, close):
            ax.plot(t, bounds, color=colour, label=f"{title}: ‖a‖/t, the upper bound")
            ax.plot(t, margins, "--", color=colour, label=f"{title}: {MARGIN}, the directional margin")
            ax.plot(t[-1], margins[-1], "o", color=colour)
        estimates = [after_run_accuracy(margin, bound * updates, updates) for updates, margin, bound in curve]
        below.plot(t, estimates, color=colour)
        ended = f"{title}: {results[name].ended}, t = {t[-1]:,}, estimate {estimates[-1]:.4f}"
        below.plot(t[-1], estimates[-1], "o", color=colour, label=ended)
    close.axhspan(best, least, color="lightgrey", label=f"{BEST} is here")
    close.axhline((1 - epsilon) * least, color="black", linestyle=":", label=f"the guarantee, (1 - {epsilon:g}) {BEST}")
    below.axhline(epsilon, color="black", linestyle=":", label=f"the guarantee, epsilon = {epsilon:g}")

    above.set_yscale("symlog", linthresh=2 * best)
    above.axhline(0, color="lightgrey", linewidth=0.8, zorder=0)
    above.set(title=f"{problem.title}, epsilon = {epsilon:g}", ylabel="margin")
    above.legend(fontsize=8)
    close.set(ylim=(0.9 * best, 1.1 * best), ylabel=f"margin, close to {BEST}")
    close.legend(handles=close.get_legend_handles_labels()[0][-2:], fontsize=8, loc="lower left")
    below.set(xscale="log", yscale="log", xlabel="t, the number of updates", ylabel=f"1 - {MARGIN} t / ‖a‖   (5)")
    below.set_ylim(bottom=epsilon / 2)
    below.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0.01, 0.18))
    return figure
