"""Time to a given accuracy: ours, certified, against peers with their oracle setting.

Each peer gets the loosest tolerance of a fine ladder that truly reaches 1 - epsilon of the best margin, which it cannot
know by itself. Then all are run in turn, round after round, and medians are compared. All start from a matrix in memory
and end with weights.
"""

import json
import os
import statistics
import time
import warnings
from pathlib import Path

import numpy as np

from .adapters import Ours, adapters
from .sets import HARD, VARIED, add_data_dir, load
from .truth import best_margin, margin_of

GROUPS = {"varied": list(VARIED), "hard": list(HARD)}
HARD_MARGIN_COSTS = [10.0**e for e in range(9)]


def add_arguments(parser):
    sets = "names, LIBSVM files, random:SEED, or a group: varied, hard"
    parser.add_argument("--sets", default="adult,web,covertype", help=sets)
    parser.add_argument("--epsilon", type=float, default=0.01)
    parser.add_argument("--C", type=float, help="instead of the problem's own")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", help="libraries whose name contains one of these, separated by commas")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which a peer's ladder is abandoned")
    parser.add_argument("--out", default="benchmark-results", help="folder for raw figures and pictures")
    add_data_dir(parser)


def timed(adapter, setting):
    wall, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        w, b = adapter.fit(setting)
    return time.perf_counter() - wall, time.process_time() - cpu, w, b


def oracle(adapter, X, y, C, target, limit, trace):
    """Return the loosest setting that reaches the target, or None; every try is a point of the adapter's curve.

    No peer has a hard margin. It gets the smallest C whose solution has the margin, and a tolerance for that.
    """
    if np.isfinite(C):
        return loosest(adapter, X, y, C, target, limit, trace)
    for cost in HARD_MARGIN_COSTS:
        adapter.prepare(X, y, cost)
        if (setting := loosest(adapter, X, y, C, target, limit, trace)) is not None:
            adapter.name += f" C={cost:g}"
            return setting
    return None


def loosest(adapter, X, y, C, target, limit, trace):
    before = -np.inf
    for setting in adapter.settings:
        wall, _, w, b = timed(adapter, setting)
        margin = margin_of(X, y, C, w, b)
        trace.append((wall, margin))
        if margin >= target:
            return (setting,)
        if wall > limit or (setting < 1e-3 and abs(margin - before) <= 1e-4 * abs(margin)):
            return None  # too slow, or its solution does not reach the target
        before = margin
    return None


def compare_set(name, arguments):
    X, y, C = load(name, arguments.data_dir)
    if arguments.C:
        C = arguments.C
    best = best_margin(X, y, C)
    epsilon = arguments.epsilon
    print(f"\n{name}: {X.shape[0]} x {X.shape[1]}, C={C:.4g}, best margin {best:.6g}, epsilon {epsilon}", flush=True)

    contestants, traces = [], {}
    for adapter in adapters(arguments.only and arguments.only.split(",")):
        adapter.prepare(X, y, C)
        adapter.epsilon = epsilon
        if isinstance(adapter, Ours):
            setting = (None,) if not (np.isinf(C) and adapter.name.startswith("Newton")) else None
        else:
            traces[adapter.name] = []
            setting = oracle(adapter, X, y, C, (1 - epsilon) * best, arguments.limit, traces[adapter.name])
        if setting is None:
            print(f"  {adapter.name:20} does not reach it", flush=True)
        else:
            contestants.append((adapter, setting[0]))

    walls = {adapter.name: [] for adapter, _ in contestants}
    cpus = {adapter.name: [] for adapter, _ in contestants}
    verdicts = {}
    for seed in range(arguments.runs):
        for adapter, setting in contestants:
            adapter.seed = seed
            wall, cpu, w, b = timed(adapter, setting)
            walls[adapter.name].append(wall)
            cpus[adapter.name].append(cpu)
            if isinstance(adapter, Ours):
                certificate = adapter.classifier.certificate_
                proven = certificate.verify(adapter.X, y).verdict if certificate.achieved else "not achieved"
                verdicts.setdefault(adapter.name, set()).add(proven)
                traces[adapter.name] = [
                    (check.time, check.margin, check.upper_bound) for check in adapter.classifier.history_
                ]
            else:
                verdicts.setdefault(adapter.name, set()).add(f"gap {1 - margin_of(X, y, C, w, b) / best:.4f}")

    peers = {name: statistics.median(values) for name, values in walls.items() if not is_ours(name, contestants)}
    fastest = min(peers.values(), default=float("nan"))
    rows = []
    for adapter, setting in contestants:
        wall = statistics.median(walls[adapter.name])
        reached = not isinstance(adapter, Ours) or verdicts[adapter.name] == {"proven"}
        rows.append(
            {
                "set": name,
                "library": adapter.name,
                "setting": setting,
                "wall": wall,
                "cpu": statistics.median(cpus[adapter.name]),
                "ratio": wall / fastest if reached else None,
                "conversion": adapter.conversion,
                "result": sorted(verdicts[adapter.name]),
                "walls": walls[adapter.name],
            }
        )
        print(
            f"  {adapter.name:20} setting {setting!s:8} wall {wall * 1e3:9.1f} ms cpu {rows[-1]['cpu'] * 1e3:9.1f} ms  "
            f"ratio {wall / fastest if reached else np.inf:6.2f}  conversion {adapter.conversion * 1e3:6.1f} ms  "
            f"{', '.join(rows[-1]['result'])}",
            flush=True,
        )
    return rows, best, traces


def is_ours(name, contestants):
    return any(adapter.name == name and isinstance(adapter, Ours) for adapter, _ in contestants)


def draw(name, best, traces, folder):
    """Draw the certified gap (ours) and the true gap (peers) against time."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    ax = pyplot.subplots(figsize=(7, 4.5), layout="constrained")[1]
    for library, trace in traces.items():
        if not trace:
            continue
        gaps = [1 - point[1] / (point[2] if len(point) == 3 else best) for point in trace]
        ax.plot([point[0] for point in trace], gaps, "-" if len(trace[0]) == 3 else ":o", ms=3, label=library)
    ax.set(
        xlabel="seconds",
        ylabel="gap: certified (lines), true (dots)",
        xscale="log",
        yscale="log",
        title=name,
        ylim=(1e-6, 1),
    )
    ax.legend(fontsize=7)
    ax.figure.savefig(folder / f"{name.replace('/', '_').replace(':', '-')}.png", dpi=130)
    pyplot.close(ax.figure)


def run(arguments):
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    everything = []
    for name in [name for given in arguments.sets.split(",") for name in GROUPS.get(given, [given])]:
        rows, best, traces = compare_set(name, arguments)
        everything += rows
        (folder / "compare.json").write_text(json.dumps(everything, indent=1))
        draw(name, best, traces, folder)
    print("\nratio to the fastest peer, geometric mean and worst:")
    for library in dict.fromkeys(row["library"] for row in everything):
        ratios = [row["ratio"] for row in everything if row["library"] == library]
        finite = [ratio for ratio in ratios if ratio is not None and np.isfinite(ratio)]  # nan if no peer reaches it
        figures = f"{statistics.geometric_mean(finite):6.2f} {max(finite):6.2f}" if finite else f"{'-':>6} {'-':>6}"
        unproven = f", not proven on {ratios.count(None)} more" if None in ratios else ""
        print(f"  {library:20} {figures}  over {len(finite)} sets{unproven}")
    print(f"\nraw figures and pictures: {folder}{os.sep}")
