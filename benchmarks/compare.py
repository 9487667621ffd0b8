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

from dynmargin.displays.style import BOUND, CHOSEN, FURTHER, MARKERS, PROVEN, beside, few_ticks, tidy

from .adapters import Ours, adapters
from .oracle import Rungs, oracles
from .sets import add_data_dir, load, names_of
from .truth import margin_of


def add_arguments(parser):
    sets = "names, LIBSVM files, random:SEED or random:FIRST-LAST, separable:SEED, or a group: varied, hard"
    parser.add_argument("--sets", default="adult,web,covertype", help=sets)
    parser.add_argument("--epsilon", type=float, default=0.01)
    parser.add_argument("--C", type=float, help="instead of the problem's own")
    parser.add_argument("--runs", type=int, default=5, help="0 only looks for the settings of the peers")
    parser.add_argument("--only", help="libraries whose name contains one of these, separated by commas")
    parser.add_argument(
        "--limit", type=float, default=60.0, help="seconds for a fit, and for all runs of one that is slow"
    )
    parser.add_argument("--out", default="benchmark-results", help="folder for raw figures and pictures")
    parser.add_argument("--multicore", metavar="PYTHON", help="an interpreter that has liblinear-multicore")
    add_data_dir(parser)


def timed(adapter, setting):
    wall, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        w, b = adapter.fit(setting)
    return adapter.seconds or time.perf_counter() - wall, time.process_time() - cpu, w, b


def compare_set(name, arguments, rungs):
    X, y, C = load(name, arguments.data_dir)
    C = arguments.C or C
    problem = f"{name} C={C:g}"
    best, upper_bound = rungs.best_margin(problem, X, y, C, arguments.limit)
    epsilon = arguments.epsilon
    nonzeros = X.nnz if hasattr(X, "nnz") else X.size
    print(
        f"\n{name}: {X.shape[0]} x {X.shape[1]}, {nonzeros / X.shape[0]:.1f} stored per row, C={C:.4g}, "
        f"best margin {best:.6g} (proven gap {1 - best / upper_bound:.1g}), epsilon {epsilon}",
        flush=True,
    )

    contestants, traces = [], {}
    everybody = adapters(arguments.only and arguments.only.split(","), arguments.multicore)
    for adapter in everybody:
        if isinstance(adapter, Ours) and not (np.isinf(C) and adapter.algorithm == "newton"):
            adapter.prepare(X, y, C)
            adapter.epsilon, adapter.limit = epsilon, arguments.limit
            contestants.append((adapter, None))
    peers = [adapter for adapter in everybody if not isinstance(adapter, Ours)]
    settings = oracles(peers, problem, X, y, C, (1 - epsilon) * best, arguments.limit, rungs)
    for peer in peers:
        found, traces[peer.name] = settings[peer.name]
        if found is None:
            print(f"  {peer.name:20} does not reach it, or takes far longer than another", flush=True)
        else:
            peer.name += f" C={found[1]:g}" if np.isinf(C) else ""
            contestants.append((peer, found[0]))

    walls = {adapter.name: [] for adapter, _ in contestants}
    cpus = {adapter.name: [] for adapter, _ in contestants}
    results = {adapter.name: set() for adapter, _ in contestants}
    for seed in range(arguments.runs):
        for adapter, setting in contestants:
            if sum(walls[adapter.name]) > arguments.limit:
                continue
            adapter.seed = seed
            wall, cpu, w, b = timed(adapter, setting)
            walls[adapter.name].append(wall)
            cpus[adapter.name].append(cpu)
            if isinstance(adapter, Ours):
                certificate = adapter.classifier.certificate_
                verdict = certificate.verify(adapter.X, y).verdict if certificate.achieved else "not achieved"
                results[adapter.name].add(verdict)
                traces[adapter.name] = [
                    (check.time, check.margin, check.upper_bound) for check in adapter.classifier.history_
                ]
            else:
                results[adapter.name].add(f"gap {1 - margin_of(X, y, C, w, b) / best:.5f}")
    if not arguments.runs:
        return [], best, {}

    walls_of_peers = {
        adapter.name: statistics.median(walls[adapter.name])
        for adapter, _ in contestants
        if not isinstance(adapter, Ours)
    }
    fastest = min(walls_of_peers.values(), default=float("nan"))  # nan where no peer reaches it
    rows = []
    for adapter, setting in contestants:
        wall = statistics.median(walls[adapter.name])
        reached = not isinstance(adapter, Ours) or results[adapter.name] == {"proven"}
        rows.append(
            {
                "set": name,
                "rows": X.shape[0],
                "columns": X.shape[1],
                "nonzeros": int(nonzeros),
                "C": C,
                "epsilon": epsilon,
                "library": adapter.name.partition(" C=")[0],
                "ours": isinstance(adapter, Ours),
                "setting": setting,
                "reached": reached,
                "wall": wall if reached else arguments.limit,
                "cpu": statistics.median(cpus[adapter.name]),
                "ratio": (wall if reached else arguments.limit) / fastest,
                "conversion": adapter.conversion,
                "algorithm": getattr(getattr(adapter, "classifier", None), "algorithm_", ""),
                "result": sorted(results[adapter.name]),
                "walls": walls[adapter.name],
            }
        )
        print(
            f"  {adapter.name:20} setting {setting!s:8} wall {wall * 1e3:9.1f} ms cpu {rows[-1]['cpu'] * 1e3:9.1f} ms  "
            f"ratio {rows[-1]['ratio']:6.2f}  conversion {adapter.conversion * 1e3:6.1f} ms  "
            f"{', '.join(rows[-1]['result'])} {rows[-1]['algorithm']}",
            flush=True,
        )
    return rows, best, traces


def draw(name, best, traces, folder):
    """Draw the certified gap (ours) and the true gap (peers) against time."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    ax = pyplot.subplots(figsize=(7, 4.5), layout="constrained")[1]
    colours, labels = (PROVEN, BOUND, CHOSEN, *FURTHER), []
    for i, (library, trace) in enumerate(traces.items()):
        if not trace:
            continue
        gaps = [1 - point[1] / (point[2] if len(point) == 3 else best) for point in trace]
        look = {"linestyle": "-"} if len(trace[0]) == 3 else {"linestyle": (0, (1, 1.5)), "marker": MARKERS[i % 4]}
        (line,) = ax.plot([point[0] for point in trace], gaps, ms=4, color=colours[i % len(colours)], **look)
        labels.append((line, library))
    seconds = [point[0] for trace in traces.values() for point in trace]
    ax.set(xlabel="seconds", ylabel="gap: certified (lines), true (dots)")
    few_ticks(ax.xaxis, min(seconds, default=1.0), max(seconds, default=1.0), log=True)
    few_ticks(ax.yaxis, 1e-6, 1.0, log=True)
    ax.set_ylim(1e-6, 1)
    tidy(ax, f"{name}: gap against time, lower left is better")
    beside(ax, labels)
    ax.figure.savefig(folder / f"{name.replace('/', '_').replace(':', '-')}.png", dpi=130)
    pyplot.close(ax.figure)


def run(arguments):
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    rungs, everything = Rungs(folder), []
    for name in names_of(arguments.sets):
        rows, best, traces = compare_set(name, arguments, rungs)
        everything += rows
        (folder / "compare.json").write_text(json.dumps(everything, indent=1))
        if traces and not name.startswith(("random:", "separable:")):
            draw(name, best, traces, folder)
    if everything:
        summarise(everything)
    print(f"\nraw figures and pictures: {folder}{os.sep}")


def summarise(everything):
    print("\nratio to the fastest peer (a fit of ours without a proof counts as the limit):")
    names = list(dict.fromkeys(row["library"] for row in everything))
    for library in names:
        of_library = [row for row in everything if row["library"] == library]
        ratios = [row["ratio"] for row in of_library if np.isfinite(row["ratio"])]
        figures = (
            f"geometric mean {statistics.geometric_mean(ratios):6.3f}  worst {max(ratios):6.2f}  "
            f"above 1 {sum(ratio > 1 for ratio in ratios) / len(ratios):4.0%}"
            if ratios
            else "no peer"
        )
        alone = [row["set"] for row in of_library if row["ours"] and not np.isfinite(row["ratio"])]
        missed = [row["set"] for row in of_library if not row["reached"]]
        print(
            f"  {library:20} {figures}  over {len(ratios)} problems"
            + (f"; no peer on {', '.join(alone)}" if alone else "")
            + (f"; not proven on {', '.join(missed)}" if missed else "")
        )
    print_regret(everything)


def print_regret(everything):
    """Print how much longer the front door takes than the best of the algorithms it chooses from."""
    walls = {}
    for row in everything:
        if row["ours"] and row["library"].endswith("float32"):
            walls.setdefault(row["set"], {})[row["library"]] = row["wall"]
    regrets = [
        of_set["MaxMargin float32"] / min(wall for name, wall in of_set.items() if name != "MaxMargin float32")
        for of_set in walls.values()
        if "MaxMargin float32" in of_set and len(of_set) > 1
    ]
    if regrets:
        mean = statistics.geometric_mean(regrets)
        print(f"  regret of the choice: geometric mean {mean:.3f}, worst {max(regrets):.2f}")
