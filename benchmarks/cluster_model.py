"""The cost model of a cluster: measured constants, predictions of runs that are then made, and the picture."""

import tempfile
import time
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

import numpy as np

from dynmargin.dask.parts import Part
from dynmargin.problem.problems import state_problems
from dynmargin.shards.audit import Audit
from dynmargin.shards.cost import Constants, seconds
from dynmargin.shards.path import Path as Points
from dynmargin.shards.problem import ShardedProblem
from dynmargin.shards.shard import Shard

CLOCK = time.perf_counter
N_FEATURES = 54
POINTS = 3  # of a fit on Covertype
MEASURED = 2  # copies of Covertype that the constants are measured on
COPIES = (1, 2, 5, 10)  # of Covertype, to be predicted


def best_of(function, times=3):
    """Return the shortest time of several, and the last result."""
    found = []
    for _ in range(times):
        start = CLOCK()
        result = function()
        found.append(CLOCK() - start)
    return min(found), result


def measured_constants(client, parts, rows, C, workers, repeats):
    """Measure on the cluster itself what a worker takes per row, all of them at once, and what an exchange costs."""
    from dynmargin.dask.cluster import Cluster
    from dynmargin.dask.parts import partitions
    from dynmargin.shards.start import start_on_sample

    each = rows / workers
    with Cluster(client, [Part(np.eye(4), np.array([0, 1, 0, 1])) for _ in range(workers)]) as tiny:
        tiny.map(Shard.survey)
        latency = best_of(lambda: [tiny.map(Shard.survey) for _ in range(20)], repeats)[0] / 20

    def packed():
        cluster = Cluster(client, partitions(*parts))
        return cluster, cluster.map(Shard.survey)

    pack, (cluster, survey) = best_of(packed, repeats)
    with cluster:
        problem = state_problems(survey[0].classes, C, np.ones(2), rho=1.0)[0]
        lengths = [part.n_rows for part in survey]

        def set_up():
            cluster.map(Shard.forget, problem)
            found = ShardedProblem(cluster, problem, lengths, N_FEATURES)
            return found, found.digests

        setup, (sharded, _) = best_of(set_up, repeats)
        start, w = best_of(lambda: start_on_sample(sharded, 1.0, 0), repeats)
        point, sums = best_of(lambda: cluster.sum(Shard.point, problem, Points(w), False), repeats)
        both, _ = best_of(lambda: cluster.sum(Shard.point, problem, Points(w), True), repeats)
        path = Points(w)
        cluster.sum(Shard.point, problem, path, False)
        audit, _ = best_of(lambda: cluster.sum(_audit_alone, problem, path, sums.total, w), repeats)
        all_of_it, _ = best_of(lambda: Audit(sharded, path, sums.total, w, epsilon=0.01), repeats)
    return Constants(
        pack=(pack - latency) / each,
        setup=max(0.0, setup - 3 * latency) / each,
        point=max(0.0, point - latency) / each,
        hessian=max(0.0, both - point) / each,
        audit=max(0.0, audit - latency) / each,
        gather=max(0.0, all_of_it - audit) / rows,
        latency=latency,
        start=start - latency,
    )


def _audit_alone(shard, problem, path, total, w):
    """Do what a worker does for the audit, and send the sums only."""
    return shard.audit(problem, path, 2.0**52 / total, w[:-1].copy(), float(w[-1]), False).evidence


def run(asked, load, persisted, local_cluster):
    """Measure, predict, run, draw."""
    from dynmargin.dask import DaskMaxMarginClassifier

    found = []
    with local_cluster(asked.workers) as client:
        X, y, C = load(Namespace(**{**vars(asked), "copies": MEASURED}))
        with tempfile.TemporaryDirectory() as folder:
            parts = persisted(client, X, y, asked.workers, folder)
            constants = measured_constants(client, parts, X.shape[0], C, asked.workers, asked.repeats)
        print({name: f"{value:.3g}" for name, value in asdict(constants).items()})
        for copies in [copies for copies in COPIES if copies <= asked.copies]:
            X, y, C = load(Namespace(**{**vars(asked), "copies": copies}))
            with tempfile.TemporaryDirectory() as folder:
                parts = persisted(client, X, y, asked.workers, folder)
                rows = X.shape[0]

                def fit(parts=parts, C=C):
                    return DaskMaxMarginClassifier(asked.epsilon, C=C, random_state=0, client=client).fit(*parts)

                fit()
                measured, classifier = best_of(fit, asked.repeats)
            predicted = seconds(constants, rows, asked.workers, points=classifier.n_iter_)
            ratio = predicted / measured
            print(f"{rows} rows: measured {measured:.2f} s, predicted {predicted:.2f} s, ratio {ratio:.2f}")
            found.append({"rows": rows, "measured": measured, "predicted": predicted})
        client.cluster.close()
    draw(constants, found, asked.workers, Path(asked.out) / "clusters.png")
    return {"constants": asdict(constants), "runs": found}


def draw(constants, found, workers, path):
    """Draw times against rows: dots are measured, lines are predicted."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    rows = np.logspace(5.5, 9, 60)
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.85, 4))
    largest = max((row["rows"] for row in found), default=0)
    for colour, k in zip(colours, (1, 2, 16, 64), strict=True):
        times = [seconds(constants, m, k, points=POINTS) for m in rows]
        axes.plot(rows, times, color=colour, label=f"{k} worker{'s' if k > 1 else ''}, predicted")
    if found:
        axes.plot(
            [row["rows"] for row in found],
            [row["measured"] for row in found],
            "o",
            color="crimson",
            label=f"{workers} workers, measured",
        )
        axes.axvspan(rows[0], largest, color="0.92", zorder=0)
        where = {"transform": axes.get_xaxis_transform(), "fontsize": 8, "va": "top"}
        axes.text(largest * 0.93, 0.97, "two workers measured", ha="right", **where)
        axes.text(largest * 1.07, 0.97, "all prediction", ha="left", **where)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="rows (54 features, 12 of them not zero)",
        ylabel="seconds to a certified 1 %",
    )
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)
    print(f"picture: {path}")
