"""C by cross-validation: MaxMarginClassifierCV beside a grid search over LinearSVC, with the same Cs and folds."""

import statistics
import time
import warnings

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from dynmargin import MaxMarginClassifierCV

from .adapters import small_csr
from .sets import add_data_dir, digits, news20_classes, paper_set, reuters


def add_arguments(parser):
    parser.add_argument("--Cs", type=int, default=10, help="how many values of C")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", help="problems whose name contains this")
    add_data_dir(parser)


def problems(folder):
    yield "digits, even or odd", digits()
    yield "Reuters", reuters(folder)
    yield "Adult", paper_set("adult", folder)
    yield "news20, 20 classes", news20_classes(folder)


def run(arguments):
    warnings.filterwarnings("ignore")
    Cs = np.logspace(-4, 2, arguments.Cs)
    for name, (X, y) in problems(arguments.data_dir):
        if arguments.only and arguments.only not in name:
            continue
        X = X if isinstance(X, np.ndarray) else small_csr(X)
        seconds, best = {}, {}
        for _ in range(arguments.runs):
            for n_jobs in (1, 2):
                ours = MaxMarginClassifierCV(Cs=Cs, cv=5, random_state=0, n_jobs=n_jobs)
                grid = GridSearchCV(LinearSVC(random_state=0), {"C": Cs}, cv=5, n_jobs=n_jobs)
                contestants = {
                    f"MaxMarginClassifierCV n_jobs={n_jobs}": ours,
                    f"GridSearchCV(LinearSVC) n_jobs={n_jobs}": grid,
                }
                for label, contestant in contestants.items():
                    start = time.perf_counter()
                    contestant.fit(X, y)
                    seconds.setdefault(label, []).append(time.perf_counter() - start)
                    mean = ours.scores_.mean(axis=0) if contestant is ours else grid.cv_results_["mean_test_score"]
                    best[label] = f"C={Cs[np.argmax(mean)]:.3g}, score {mean.max():.4f}"
        print(f"{name}: {X.shape[0]} x {X.shape[1]}, {len(Cs)} Cs, 5 folds")
        for label, runs in seconds.items():
            every = " ".join(f"{s:.2f}" for s in runs)
            print(f"  {label:38} median {statistics.median(runs):7.2f} s   all {every}   {best[label]}", flush=True)
