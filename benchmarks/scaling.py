"""How time, passes, updates and memory grow with rows, features, accuracy and C, for ours and for the best peer.

Each series changes one property of a base problem (rcv1-like text; for Newton a dense problem with few features) and
fits a power law to the times. The peer is LinearSVC with its oracle tolerance, dual for the text and primal for the
dense problem.
"""

import ctypes
import json
import time
import warnings
from pathlib import Path

import numpy as np

from dynmargin.comparison.compare import make
from dynmargin.comparison.peers import small_csr
from dynmargin.displays.style import BOUND, CHOSEN, FURTHER, MARKERS, PROVEN, QUIET, beside, few_ticks, tidy

from .adapters import LADDER, LINEAR_SVC, Theirs
from .memory import resident
from .sets import classification, rcv1_like
from .truth import margin_of

BASE_ROWS, BASE_EPSILON, BASE_C, BASE_C_TALL = 30_000, 0.01, 1 / (2 * 0.3**2), 0.01
WIDE = ("PDM", "PDM-succ", "DCD", "LinearSVC dual")
TALL = ("PDM", "PDM-succ", "Newton", "LinearSVC primal")


def add_arguments(parser):
    parser.add_argument("--series", default="rows,features,features-tall,epsilon,epsilon-tall,C,C-tall")
    parser.add_argument("--rows", default="1e4,3e4,1e5,3e5,1e6", help="for the series of rows; 3e6 needs 12 GB")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which an algorithm is abandoned")
    parser.add_argument("--out", default="benchmark-results", help="folder for raw figures and the picture")


class PeakMemory:
    """The growth of the resident set while a block runs (Linux)."""

    def __enter__(self):
        ctypes.CDLL(None).malloc_trim(0)  # memory that earlier fits have freed must not hide what this one needs
        self.before = resident("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak
        return self

    def __exit__(self, *exception):
        self.extra = resident("VmHWM") - self.before


def ours(name, X, y, C, epsilon, limit):
    classifier = make(name.lower(), epsilon=epsilon, C=C, max_time=limit, random_state=0)
    with PeakMemory() as memory:
        start = time.perf_counter()
        classifier.fit(X, y)
        seconds = time.perf_counter() - start
    certificate = classifier.certificate_
    return {
        "seconds": seconds,
        "done": certificate.achieved,
        "passes": classifier.n_iter_,
        "updates": classifier.n_updates_,
        "bytes": memory.extra,
        "margin": certificate.margin,
        "bound": certificate.upper_bound,
    }


def peer(name, X, y, C, epsilon, limit, bound):
    """Run with the loosest tolerance whose weights have 1 - epsilon of a margin that no classifier exceeds."""
    adapter = Theirs(name, LINEAR_SVC[name]())
    adapter.prepare(X, y, C)
    for tolerance in LADDER:
        with PeakMemory() as memory:
            start = time.perf_counter()
            w, b = adapter.fit(tolerance)
            seconds = time.perf_counter() - start
        done = margin_of(X, y, C, w, b) >= (1 - epsilon) * bound
        if done or seconds > limit:
            return {"seconds": seconds, "done": bool(done), "tolerance": tolerance, "bytes": memory.extra}
    return {"seconds": seconds, "done": False, "tolerance": tolerance, "bytes": memory.extra}


def point(algorithms, X, y, C, epsilon, limit, lost):
    """Run all algorithms on one problem, but for those in `lost`, which were abandoned at an easier one."""
    found = {}
    for name in algorithms:
        if name in lost:
            continue
        if name.startswith("LinearSVC"):
            # A tight bound, so that the peer is not asked for more than epsilon.
            tight = min(value["bound"] for value in found.values() if "bound" in value)
            margin = max(value["margin"] for value in found.values() if "margin" in value)
            found[name] = peer(name, X, y, C, epsilon, limit, (tight * margin) ** 0.5)
        else:
            found[name] = ours(name, X, y, C, epsilon, limit)
        if not found[name]["done"]:
            lost.add(name)
    return found


def series(title, algorithms, values, problem, limit, results):
    """Run a series of problems; `problem` makes X, y, C and epsilon from a value."""
    print(f"\n{title}", flush=True)
    figures, lost = {}, set()
    for value in values:
        X, y, C, epsilon = problem(value)
        figures[value] = point(algorithms, X, y, C, epsilon, limit, lost)
        for name, found in figures[value].items():
            extra = f"passes {found['passes']:6} updates {found['updates']:10}" if "passes" in found else " " * 35
            print(
                f"  {value:>10g} {name:18} {found['seconds']:9.3f} s  {extra}  {found['bytes'] / 1e6:8.1f} MB"
                f"{'' if found['done'] else '  (abandoned)'}",
                flush=True,
            )
    exponents = {}
    for name in algorithms:
        done = [
            (value, figures[value][name]["seconds"]) for value in values if figures[value].get(name, {}).get("done")
        ]
        if len(done) >= 3:
            x, t = np.log(np.array(done)).T
            exponents[name] = float(np.polyfit(x, t, 1)[0])
    print("  exponents: " + ", ".join(f"{name} {exponent:.2f}" for name, exponent in exponents.items()), flush=True)
    results[title] = {"values": list(values), "table": {str(v): t for v, t in figures.items()}, "exponents": exponents}


def text(rows, features=47236):
    X, y = rcv1_like(rows, features, seed=3)
    return small_csr(X).astype(np.float32), y


def table(features):
    X, y = classification(BASE_ROWS, features, n_informative=max(2, features // 3), n_redundant=0, class_sep=0.5)
    return X.astype(np.float32), y


def run(arguments):
    warnings.filterwarnings("ignore")
    limit, results = arguments.limit, {}
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    rows = [int(float(value)) for value in arguments.rows.split(",")]
    base = text(BASE_ROWS)
    dense = table(50)
    epsilons = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)
    costs = (0.01, 0.1, 1.0, 10.0, 100.0)
    plans = {
        "rows": ("time against rows, rcv1-like", WIDE, rows, lambda n: (*text(n), BASE_C, BASE_EPSILON)),
        "features": (
            "time against features, rcv1-like",
            WIDE,
            (1_000, 10_000, 100_000, 1_000_000),
            lambda d: (*text(BASE_ROWS, d), BASE_C, BASE_EPSILON),
        ),
        "features-tall": (
            "time against features, dense",
            TALL,
            (10, 30, 100, 300),
            lambda d: (*table(d), BASE_C_TALL, BASE_EPSILON),
        ),
        "epsilon": ("time against epsilon, rcv1-like", WIDE, epsilons, lambda e: (*base, BASE_C, e)),
        "epsilon-tall": ("time against epsilon, dense", TALL, epsilons, lambda e: (*dense, BASE_C_TALL, e)),
        "C": ("time against C, rcv1-like", WIDE, costs, lambda C: (*base, C, BASE_EPSILON)),
        "C-tall": ("time against C, dense", TALL, costs, lambda C: (*dense, C, BASE_EPSILON)),
    }
    for name in arguments.series.split(","):
        title, algorithms, values, problem = plans[name]
        series(title, algorithms, values, problem, limit, results)
        (folder / "scaling.json").write_text(json.dumps(results, indent=1))
    draw(results, folder / "scaling.png")
    print(f"\nraw figures and a picture: {folder}")


AXES = {"rows": "rows", "features": "features", "epsilon": "epsilon: the gap asked for", "C": "C: what a slack costs"}
DATA = {"dense": "dense table", "rcv1-like": "sparse text"}


def draw(results, path):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    columns = min(3, len(results))
    lines = -(-len(results) // columns)
    size = (4 * columns, 3.2 * lines)
    figure, axes = pyplot.subplots(lines, columns, figsize=size, layout="constrained", squeeze=False)
    for ax in axes.flat[len(results) :]:
        ax.remove()
    names = list(
        dict.fromkeys(name for result in results.values() for table in result["table"].values() for name in table)
    )
    colours = dict(zip(names, (PROVEN, BOUND, CHOSEN, *FURTHER), strict=False))
    for ax, (title, result) in zip(axes.flat, results.items(), strict=False):
        labels, seen = [], []
        for name in names:
            points = [
                (float(value), table[name]["seconds"])
                for value, table in result["table"].items()
                if table.get(name, {}).get("done")
            ]
            if points:
                exponent = result["exponents"].get(name)
                label = name if exponent is None else f"{name} ({exponent:.2f})"
                marker = MARKERS[names.index(name) % 4]
                (line,) = ax.plot(*zip(*points, strict=True), marker, linestyle="-", ms=4, color=colours[name])
                labels.append((line, label))
                seen += points
        if not seen:
            continue
        kind, _, data = title.removeprefix("time against ").partition(", ")
        ax.set(xlabel=AXES[kind], ylabel="seconds")
        few_ticks(ax.xaxis, min(x for x, _ in seen), max(x for x, _ in seen), log=True)
        few_ticks(ax.yaxis, min(y for _, y in seen), max(y for _, y in seen), log=True)
        ax.margins(y=0.15)
        tidy(ax, f"Time against {kind}, {DATA.get(data, data)}")
        beside(ax, labels)
    figure.suptitle("In brackets: the exponent, 1 is in proportion", fontsize="small", color=QUIET)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
