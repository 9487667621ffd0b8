"""Reading a generated LIBSVM file: ours beside scikit-learn's, in one process, runs interleaved, arrays compared."""

import os
import statistics
import tempfile
import time

import numpy as np
from sklearn.datasets import load_svmlight_file

from dynmargin import read_libsvm

FORMS = {"6 digits": "{:.6g}", "17 digits": "{!r}", "ones": "1"}


def add_arguments(parser):
    parser.add_argument("--megabytes", type=float, default=200.0)
    parser.add_argument("--runs", type=int, default=3)


def generate(path, megabytes, form, seed=0):
    """Write rows of 60 increasing indices up to 100,000 and values in (0, 1)."""
    random, written = np.random.default_rng(seed), 0
    with open(path, "w") as file:
        while written < megabytes * 1e6:
            steps = random.integers(1, 3300, size=(500, 60))
            rows = zip(np.cumsum(steps, axis=1).tolist(), random.random((500, 60)).tolist(), strict=True)
            lines = (" ".join(f"{j}:{form.format(v)}" for j, v in zip(*row, strict=True)) for row in rows)
            labels = random.choice(["+1", "-1"], 500)
            written += file.write("".join(f"{y} {line}\n" for y, line in zip(labels, lines, strict=True)))


def same(ours, theirs):
    (X, y), (X_their, y_their) = ours, theirs
    pairs = ((X.data, X_their.data), (X.indices, X_their.indices), (X.indptr, X_their.indptr), (y, y_their))
    return X.shape == X_their.shape and all(np.array_equal(*pair) for pair in pairs)


def run(arguments):
    print(f"{'values':10} {'MB':>5} {'reader':28} {'median s':>9} {'MB/s':>6} {'CPU s':>6}   all runs")
    for values, form in FORMS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "data")
            generate(path, arguments.megabytes, form)
            megabytes = os.path.getsize(path) / 1e6
            readers = {"dynmargin.read_libsvm": read_libsvm, "sklearn load_svmlight_file": load_svmlight_file}
            times, processor, results = {name: [] for name in readers}, {name: [] for name in readers}, {}
            for _ in range(arguments.runs):
                for name, read in readers.items():
                    start, begin = time.perf_counter(), time.process_time()
                    results[name] = read(path)
                    times[name].append(time.perf_counter() - start)
                    processor[name].append(time.process_time() - begin)
            assert same(*results.values()), "the readers disagree"
        medians = [statistics.median(runs) for runs in times.values()]
        for (name, runs), median in zip(times.items(), medians, strict=True):
            every = " ".join(f"{seconds:.3f}" for seconds in runs)
            cpu = statistics.median(processor[name])
            print(
                f"{values:10} {megabytes:5.0f} {name:28} {median:9.3f} {megabytes / median:6.0f} {cpu:6.2f}   {every}"
            )
        print(f"{values:10} {'':5} equal arrays; {medians[1] / medians[0]:.1f} times as fast", flush=True)
