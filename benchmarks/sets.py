"""Problems to run on: the real sets prepared as in the paper, generated ones, scikit-learn's own, any LIBSVM file.

Files are read from a folder, never downloaded. A problem is (X, y, C) with X in CSR or dense float64.
"""

import bz2
import gzip
import lzma
import os
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from dynmargin.paper.problems import LIBSVM_PAGE, PROBLEMS
from dynmargin.paper.readers import make_rcv1_like

from .random_problems import random_problem

OPENERS = {".xz": lzma.open, ".bz2": bz2.open, ".gz": gzip.open}


def add_data_dir(parser):
    parser.add_argument("--data-dir", default=os.environ.get("DYNMARGIN_DATA"), help="default: DYNMARGIN_DATA")


def require_folder(folder):
    if folder is None:
        raise SystemExit("name the folder with the data by --data-dir or DYNMARGIN_DATA")
    return Path(folder)


def require(folder, file):
    path = require_folder(folder) / file
    if not path.exists():
        raise SystemExit(f"{path} does not exist; it is available from {LIBSVM_PAGE}")
    return path


def read_libsvm(path, n_features=None):
    with OPENERS.get(path.suffix, open)(path, "rb") as file:
        return datasets.load_svmlight_file(file, n_features=n_features)


def paper_set(name, folder):
    """Load one of the paper's problems or its stand-ins, prepared as `dynmargin paper` does."""
    return PROBLEMS[name].load(require_folder(folder))


def rcv1_like(rows, features=47236, per_row=75, seed=0):
    return make_rcv1_like([], features, rows=rows, per_row=per_row, seed=seed)


def separable(rows, features, seed=0):
    """Generate dense rows that a plane through the augmented origin separates with some margin."""
    random = np.random.default_rng(seed)
    u = random.normal(size=features)
    u /= np.linalg.norm(u)
    X = random.normal(size=(rows, features))
    scores = X @ u
    keep = abs(scores) > 0.1
    return X[keep], np.sign(scores[keep])


def classification(rows, features, **options):
    X, y = datasets.make_classification(rows, features, random_state=0, **options)
    return X, 2 * y - 1


def digits(pair=None):
    X, y = datasets.load_digits(return_X_y=True)
    if pair:
        X, y = X[np.isin(y, pair)], y[np.isin(y, pair)]
        return X / 16, np.where(y == pair[0], 1, -1)
    return X / 16, np.where(y % 2 == 0, 1, -1)


def breast_cancer(scaled):
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return (StandardScaler().fit_transform(X) if scaled else X), 2 * y - 1


def covertype(folder, scale):
    X, y = paper_set("covertype", folder)
    return scale.fit_transform(X), y


def reuters(folder):
    return read_libsvm(require(folder, "reuters/reuters.trn.bz2"), 8315)


def news20_classes(folder):
    return read_libsvm(require(folder, "news20/news20.xz"), 62061)


def news20(folder):
    X, y = news20_classes(folder)
    return MaxAbsScaler().fit_transform(X), np.where(y % 2 == 0, 1, -1)


# Varied problems to judge generality on: name -> (C, how to get X and y from a data folder).
VARIED = {
    "adult-C10": (10.0, lambda folder: paper_set("adult", folder)),
    "adult-C0.01": (0.01, lambda folder: paper_set("adult", folder)),
    "web-C10": (10.0, lambda folder: paper_set("web", folder)),
    "covertype-maxabs": (1.0, lambda folder: covertype(folder, MaxAbsScaler())),
    "covertype-standard": (0.1, lambda folder: covertype(folder, StandardScaler(with_mean=False))),
    "reuters": (1.0, reuters),
    "reuters-C100": (100.0, reuters),
    "news20-even": (1.0, news20),
    "digits-even": (1.0, lambda folder: digits()),
    "digits-even-C0.01": (0.01, lambda folder: digits()),
    "breast-cancer": (1.0, lambda folder: breast_cancer(scaled=True)),
    "breast-cancer-raw": (1.0, lambda folder: breast_cancer(scaled=False)),
    "overlap-20": (1.0, lambda folder: classification(50_000, 20, n_informative=10, class_sep=0.5)),
    "overlap-5-tall": (1.0, lambda folder: classification(300_000, 5, n_redundant=0, class_sep=0.3)),
    "clean-100": (1.0, lambda folder: classification(30_000, 100, n_informative=40, class_sep=2.0)),
    "wide-genes": (0.1, lambda folder: classification(300, 8000, n_informative=50)),
    "rare-positives": (1.0, lambda folder: classification(60_000, 30, weights=[0.98], n_informative=10)),
    "dense-500": (0.1, lambda folder: classification(8000, 500, n_informative=100)),
    "rcv1-like-20k": (1.0, lambda folder: rcv1_like(20_000, seed=1)),
    "rcv1-like-20k-C30": (30.0, lambda folder: rcv1_like(20_000, seed=2)),
}

HARD = {
    "separable-5000x20": lambda folder: separable(5000, 20),
    "separable-20000x100": lambda folder: separable(20_000, 100),
    "digits-0-1": lambda folder: digits((0, 1)),
    "digits-3-8": lambda folder: digits((3, 8)),
}


GROUPS = {"varied": list(VARIED), "hard": list(HARD)}


def load(name, folder):
    """Load a problem by name: X, y in {-1, 1}, C."""
    if name in PROBLEMS:
        return *paper_set(name, folder), PROBLEMS[name].C
    if name in VARIED:
        C, make = VARIED[name]
        X, y = make(folder)
    elif name in HARD:
        C, (X, y) = np.inf, HARD[name](folder)
    elif name.startswith(("random:", "separable:")):
        kind, _, seed = name.partition(":")
        X, y, C, _ = random_problem(int(seed), separable=kind == "separable")
    elif name.startswith("rcv1-like:"):
        C, (X, y) = 1 / (2 * 0.3**2), rcv1_like(int(name.partition(":")[2]))
    elif Path(name).exists():
        C, (X, y) = 1.0, read_libsvm(Path(name))
        y = np.where(y == y.max(), 1, -1)
    else:
        known = ", ".join([*PROBLEMS, "rcv1-like:ROWS", "random:SEED", "separable:SEED", *VARIED, *HARD])
        raise SystemExit(f"no problem is called {name!r}, and no file; there are {known}")
    return X, y, C


def names_of(given):
    """Return the names that a comma-separated list stands for; random:100-199 is a hundred problems."""
    names = []
    for name in given.split(","):
        kind, _, seeds = name.partition(":")
        if kind in ("random", "separable") and "-" in seeds:
            first, last = map(int, seeds.split("-"))
            names += [f"{kind}:{seed}" for seed in range(first, last + 1)]
        else:
            names += GROUPS.get(name, [name])
    return names
