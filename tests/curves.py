"""Curves and paths of random problems against the exact optimum at other values of C: ``python -m tests.curves 1000``.

A curve is false if the optimum, as the reference finds it, has fewer errors than the lower bound or more than the upper
one; rows whose score is zero up to rounding count for either. A path is false if a certificate does not verify.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from reference import every_c

from dynmargin import MaxMarginClassifierCV, c_path

ZERO = 1e-7  # of the largest score


def draw(random):
    """Two classes that overlap more or less, some rows on the boundary or repeated, weights or none."""
    n, d = random.integers(12, 60), random.integers(1, 6)
    X = random.normal(size=(n, d)) * 10.0 ** random.integers(-2, 2)
    if random.random() < 0.3:
        X = np.round(X / X.std())
    y = (X[:, 0] + random.choice([0.1, 1.0, 3.0]) * X.std() * random.normal(size=n) > 0).astype(int)
    y[:4] = [0, 0, 1, 1]
    weight = random.integers(1, 4, n).astype(float) if random.random() < 0.3 else None
    options = {"fit_intercept": bool(random.random() < 0.7), "intercept_scaling": float(random.choice([0.5, 1.0, 3.0]))}
    if random.random() < 0.3:
        options["class_weight"] = {0: 3.0}
    return X, y, weight, options


def patterns(X, y, weight, options):
    """Return the patterns and their c_k."""
    rho = options["intercept_scaling"] if options["fit_intercept"] else 0.0
    Y = np.where(y == 1, 1, -1)[:, None] * np.column_stack([X, np.full(len(y), rho)])
    prices = np.where(y == 0, options.get("class_weight", {}).get(0, 1.0), 1.0)
    return Y, 2 * prices * (1 if weight is None else weight)


def check_curve(random, X, y, weight, options):
    """Return how many of some random values of C contradict the curve."""
    places = random.permutation(np.arange(len(y)) % 2)
    folds = [(np.flatnonzero(places != k), np.flatnonzero(places == k)) for k in (0, 1)]
    if any(len(set(y[train])) < 2 for train, _ in folds):
        return 0
    search = MaxMarginClassifierCV(
        tolerance=0.05, C_range=(0.01, 100.0), cv=folds, max_fits=20, random_state=0, **options
    )
    curve = search.fit(X, y, weight).curve_
    Y, c = patterns(X, y, weight, options)
    of_rows = np.ones(len(y)) if weight is None else weight
    false = 0
    for C in 10 ** random.uniform(-2, 2, 10):
        least = most = 0.0
        for train, test in folds:
            scores = Y[test] @ every_c.optimum(Y[train], c[train], C)
            zero = ZERO * max(1.0, np.abs(scores).max())
            least += of_rows[test][scores < -zero].sum()
            most += of_rows[test][scores <= zero].sum()
        lower, upper = curve.at(C)
        false += not (lower <= most / of_rows.sum() + 1e-12 and upper >= least / of_rows.sum() - 1e-12)
    return false


def check_path(random, X, y, weight, options):
    """Return how many of some random values of C have no certificate."""
    epsilon = 10.0 ** random.uniform(-4, -1)
    path = c_path(X, y, 0.01, 100.0, epsilon, sample_weight=weight, **options)
    models = [path.at(C) for C in 10 ** random.uniform(-2, 2, 10)]
    return sum(not (model.certificate.gap <= epsilon and model.verify(X, y, weight)) for model in models)


def main(count):
    warnings.filterwarnings("ignore")
    false_curves = false_paths = 0
    for seed in range(count):
        random = np.random.default_rng(seed)
        problem = draw(random)
        found = check_curve(random, *problem), check_path(random, *problem)
        if any(found):
            print(f"seed {seed}: {found[0]} values of C contradict the curve, {found[1]} the path", flush=True)
        false_curves, false_paths = false_curves + found[0], false_paths + found[1]
    print(f"{count} problems, 10 values of C each: {false_curves} contradict a curve, {false_paths} a path")
    return 1 if false_curves or false_paths else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
