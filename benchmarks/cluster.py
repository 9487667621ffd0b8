"""A cluster of two processes against one process, against Spark, and simulated: raw figures, piece by piece.

    python -m benchmarks cluster --what covertype        two workers / one process, Covertype x 10
    python -m benchmarks cluster --what spark            Spark ML's LinearSVC on the same rows (pip install pyspark)
    python -m benchmarks cluster --what wide             rcv1-like:1000000 over two workers / one process
    python -m benchmarks cluster --what simulated        rounds with 2 to 64 shards, shuffled and sorted by label
    python -m benchmarks cluster --what model            constants of the cost model, its predictions, and the picture

Every certificate is verified by one process on all rows together.
"""

import json
import os
import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from dynmargin import DCDClassifier, MaxMarginClassifier
from dynmargin.problem.problems import state_problems
from dynmargin.shards.executor import InProcess
from dynmargin.shards.fit import fit, survey
from dynmargin.shards.shard import Shard
from dynmargin.training.request import Request

from . import cluster_model, sets

CLOCK = time.perf_counter
PIECES = ("covertype", "spark", "wide", "simulated", "model")
ITERATIONS = (1, 2, 5, 10, 20, 50, 100)  # of Spark
WITHIN = 1.02  # of the optimum


def add_arguments(parser):
    sets.add_data_dir(parser)
    parser.add_argument("--what", default="simulated", help=f"of {', '.join(PIECES)}, separated by commas")
    parser.add_argument("--copies", type=int, default=10, help="of Covertype's rows")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of rcv1-like")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parts", type=int, default=2, help="partitions per worker")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epsilon", type=float, default=0.01)
    parser.add_argument("--out", default="benchmark-results", help="folder for raw figures and the picture")


def local_cluster(workers):
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit=0)
    return Client(cluster)


def shared_arrays(X, y, folder):
    """Write the arrays of a CSR matrix, so that workers can read their own rows."""
    for name, array in {"data": X.data, "indices": X.indices, "indptr": X.indptr, "y": y}.items():
        np.save(Path(folder) / f"{name}.npy", array)


def part_of(folder, begin, end, n_features):
    """Read some rows and their labels, on the worker that will have them."""
    arrays = {name: np.load(Path(folder) / f"{name}.npy", mmap_mode="r") for name in ("data", "indices", "indptr", "y")}
    starts = np.array(arrays["indptr"][begin : end + 1])
    entries = slice(int(starts[0]), int(starts[-1]))
    values, columns = np.array(arrays["data"][entries]), np.array(arrays["indices"][entries])
    X = sp.csr_matrix((values, columns, starts - starts[0]), shape=(end - begin, n_features))
    return X, np.array(arrays["y"][begin:end])


def persisted(client, X, y, n_parts, folder):
    """Let the workers hold the rows in memory, as CSR, before any clock starts."""
    import dask
    from distributed import wait

    shared_arrays(X, y, folder)
    cuts = np.linspace(0, X.shape[0], n_parts + 1).astype(int).tolist()
    read = dask.delayed(part_of, nout=2)
    pairs = [read(str(folder), begin, end, X.shape[1]) for begin, end in pairwise(cuts)]
    flat = client.persist([part for pair in pairs for part in (pair[0], pair[1])])
    wait(flat)
    return flat[0::2], flat[1::2]


def timed(function):
    start = CLOCK()
    found = function()
    return CLOCK() - start, found


def against_one_process(X, y, C, asked, name):
    """Time a cluster and one process in turns; verify both."""
    from dynmargin.dask import DaskMaxMarginClassifier

    X = sp.csr_matrix(X)
    rows = []
    with tempfile.TemporaryDirectory() as folder, local_cluster(asked.workers) as client:
        parts = persisted(client, X, y, asked.workers * asked.parts, folder)

        def over_cluster():
            return DaskMaxMarginClassifier(asked.epsilon, C=C, random_state=0, client=client).fit(*parts)

        def alone():
            return MaxMarginClassifier(asked.epsilon, C=C, random_state=0).fit(X, y)

        for repeat in range(asked.repeats + 1):
            one, local = timed(alone)
            many, distributed = timed(over_cluster)
            if repeat == 0:  # the first ones also load code
                for classifier in (local, distributed):
                    print(f"{name}: {classifier.algorithm_}; {classifier.certificate_}")
                verified = distributed.certificate_.to_local().verify(X, y)
                print(f"{name}: verified by one process: {verified.verdict}")
                for check in distributed.history_:
                    print(f"    {check.time:.3f} s, {check.passes} rounds, gap {check.gap:.3g}")
                continue
            rows.append({"set": name, "one process": one, "cluster": many, "ratio": many / one})
            print(f"{name}: one process {one:.2f} s, {asked.workers} workers {many:.2f} s, ratio {many / one:.2f}")
        client.cluster.close()
    if rows:
        print(f"{name}: median ratio {statistics.median(row['ratio'] for row in rows):.2f}")
    return rows


def many_covertypes(asked):
    X, y, C = sets.load("covertype", asked.data_dir)
    X = sp.csr_matrix(X)
    return sp.vstack([X] * asked.copies, format="csr"), np.tile(y, asked.copies), C


def covertype(asked):
    return against_one_process(*many_covertypes(asked), asked, f"covertype x {asked.copies}")


def wide(asked):
    X, y, C = sets.load(f"rcv1-like:{asked.rows}", asked.data_dir)
    return against_one_process(X, y, C, asked, f"rcv1-like:{asked.rows}")


def spark(asked):
    """Time Spark's LinearSVC with cached rows at the fewest iterations that get within 2 % of the optimum.

    It minimises the mean hinge plus ‖w‖² regParam / 2; with regParam = 1 / (n C) that is the objective of LinearSVC
    over n C, but for the intercept, which is free there. The lower bound is that of our hinge certificate, whose
    intercept is regularised. Spark's own is not held against it: its objective is taken without.
    """
    from pyspark.ml.classification import LinearSVC
    from pyspark.sql import SparkSession
    from sklearn.datasets import dump_svmlight_file

    X, y, C = many_covertypes(asked)
    seconds, ours = timed(lambda: DCDClassifier(0.005, C=C, loss="hinge", random_state=0, max_time=1200).fit(X, y))
    optimum = ours.certificate_.dual
    print(f"hinge: {ours.certificate_} in {seconds:.1f} s")
    memory = {"spark.driver.memory": "8g", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    builder = SparkSession.builder.master(f"local[{asked.workers}]")
    for key, value in memory.items():
        builder = builder.config(key, value)
    session, rows = builder.getOrCreate(), []
    session.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.svm")
        dump_svmlight_file(X, (y > 0).astype(int), path, zero_based=False)
        frame = session.read.format("libsvm").option("numFeatures", str(X.shape[1])).load(path)
        frame = frame.repartition(asked.workers).cache()
        print(f"spark: {frame.count()} rows cached")
        for iterations in ITERATIONS:
            machine = LinearSVC(maxIter=iterations, regParam=1 / (len(y) * C), standardization=False, tol=0.0)
            seconds, model = timed(lambda machine=machine: machine.fit(frame))
            w, b = model.coefficients.toArray(), model.intercept
            slack = np.maximum(0, 1 - y * (X @ w + b))
            objective = 0.5 * float(w @ w) + C * float(slack.sum())
            rows.append({"iterations": iterations, "seconds": seconds, "objective / optimum": objective / optimum})
            print(f"spark: {iterations} iterations, {seconds:.1f} s, objective / optimum {objective / optimum:.4f}")
            if objective <= WITHIN * optimum:
                break
    session.stop()
    return rows


def simulated(asked):
    """Count rounds with the real merging in one process; sorted by label, most shards have a single class."""
    rows = []
    for name in ("adult", "web"):
        X, y, C = sets.load(name, asked.data_dir)
        X = sp.csr_matrix(X)
        shuffled = np.random.default_rng(0).permutation(len(y))
        for order_name, order in {"shuffled": shuffled, "sorted": np.argsort(y, kind="stable")}.items():
            for n_shards in (2, 4, 8, 16, 32, 64):
                own, labels = X[order], y[order]
                cuts = np.linspace(0, len(y), n_shards + 1).astype(int)
                shards = [Shard(own[a:b], labels[a:b]) for a, b in pairwise(cuts)]
                data = survey(InProcess(shards))
                problems = state_problems(data.classes, C, np.ones(2), rho=1.0)
                seconds, found = timed(
                    lambda data=data, problems=problems: fit(data, problems, Request(epsilon=asked.epsilon))
                )
                certificate, rounds = found.certificates[0], found.passes
                verified = certificate.verify(own, labels).verdict
                row = {"set": name, "order": order_name, "shards": n_shards, "rounds": rounds}
                rows.append({**row, "gap": certificate.gap, "seconds": seconds, "verified": verified})
                what = f"{name}, {order_name}, {n_shards} shards"
                print(f"{what}: {rounds} rounds, gap {certificate.gap:.2g}, {verified}")
    return rows


def model(asked):
    return cluster_model.run(asked, many_covertypes, persisted, local_cluster)


def run(asked):
    pieces = asked.what.split(",")
    unknown = [piece for piece in pieces if piece not in PIECES]
    if unknown:
        raise SystemExit(f"there is no piece {unknown[0]!r}; there are {', '.join(PIECES)}")
    folder = Path(asked.out)
    folder.mkdir(parents=True, exist_ok=True)
    for piece in pieces:
        rows = globals()[piece](asked)
        (folder / f"cluster-{piece}.json").write_text(json.dumps(rows, indent=1))
