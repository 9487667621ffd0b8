"""Peak extra memory of a fit, beside LinearSVC's on the same data: the resident set of a fresh process.

Usage: python -m benchmarks.memory [--rows 200000] [--features 50000] [--per-row 75]
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def generate(rows, features, per_row, dtype):
    random = np.random.default_rng(0)
    indices = np.sort((features * random.random((rows, per_row)) ** 3).astype(np.int32), axis=1)
    values = np.abs(random.normal(size=rows * per_row)).astype(np.float32)
    X = sp.csr_matrix((values.astype(dtype), indices.ravel(), np.arange(rows + 1, dtype=np.int32) * per_row))
    X.resize(rows, features)
    return X, np.where(X @ random.normal(size=features) > 0, 1, 0)


def resident(name):
    """Return a figure of Linux's account of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def measure(library, dtype, arguments):
    """Print the peak of a fit; run it in a process of its own, where nothing else adds to the peak."""
    X, y = generate(arguments.rows, arguments.features, arguments.per_row, dtype)
    if library == "dynmargin":
        from dynmargin import PDMClassifier

        classifier = PDMClassifier(random_state=0, max_time=2.0)
    else:
        from sklearn.svm import LinearSVC

        classifier = LinearSVC(dual=True, max_iter=5)
    classifier.fit(X[:100], y[:100])  # imports and first use
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak
    classifier.fit(X, y)
    peak = resident("VmHWM")
    print(json.dumps({"extra": peak - before, "nnz": X.nnz, "rows": X.shape[0]}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=50_000)
    parser.add_argument("--per-row", type=int, default=75)
    parser.add_argument("--measure", nargs=2, metavar=("LIBRARY", "DTYPE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(*arguments.measure, arguments)
        return
    print(f"{'library':10} {'input':8} {'MB extra':>9} {'bytes/non-zero':>17} {'bytes/row':>12}")
    for library in ("dynmargin", "LinearSVC"):
        for dtype in ("float32", "float64"):
            shape = [
                f"--{name.replace('_', '-')}={getattr(arguments, name)}" for name in ("rows", "features", "per_row")
            ]
            command = [sys.executable, "-W", "ignore", "-m", "benchmarks.memory", *shape, "--measure", library, dtype]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            print(
                f"{library:10} {dtype:8} {found['extra'] / 1e6:9.1f} {found['extra'] / found['nnz']:17.2f} "
                f"{found['extra'] / found['rows']:12.1f}"
            )


if __name__ == "__main__":
    main()
