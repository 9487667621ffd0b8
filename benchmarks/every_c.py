"""C chosen with a proof, and the path with no holes: times, pictures, and checks of what is claimed in between.

--check N trains all folds at N more values of C, and settles held-out rows by its own evaluation of those fits (NumPy
and scipy, no bound of ours): no error may be below the proven lower curve, none above the upper one. --path N takes N
random values of C from a path and verifies a fresh certificate at each.
"""

import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

from dynmargin import CPathDisplay, ErrorCurveDisplay, MaxMarginClassifierCV, _core, c_path
from dynmargin.path.objective import Objective
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.problems import BinaryProblem

from .sets import add_data_dir, breast_cancer, digits, paper_set

LOW, HIGH = 1e-3, 1e3


def add_arguments(parser):
    parser.add_argument("--tolerance", type=float, default=0.01)
    parser.add_argument("--epsilon", type=float, default=0.01, help="of the path")
    parser.add_argument("--only", help="problems whose name contains this")
    parser.add_argument("--check", type=int, default=0, metavar="N", help="train at N more values of C")
    parser.add_argument("--path", type=int, default=0, metavar="N", help="verify a path at N random values of C")
    parser.add_argument("--grid", action="store_true", help="GridSearchCV(LinearSVC) over 20 values beside it")
    parser.add_argument("--pictures", metavar="FOLDER", help="draw both curves there")
    add_data_dir(parser)


def problems(folder, only):
    sets = {
        "breast-cancer": lambda: breast_cancer(scaled=True),
        "digits": digits,
        "adult": lambda: paper_set("adult", folder),
    }
    for name, load in sets.items():
        if not only or only in name:
            yield name, *load()[:2]


def run(arguments):
    warnings.filterwarnings("ignore")
    for name, X, y in problems(arguments.data_dir, arguments.only):
        folds = list(StratifiedKFold(5).split(X, y))
        search = MaxMarginClassifierCV(tolerance=arguments.tolerance, C_range=(LOW, HIGH), cv=folds, random_state=0)
        seconds, processor = time.perf_counter(), time.process_time()
        search.fit(X, y)
        seconds, processor = time.perf_counter() - seconds, time.process_time() - processor
        print(f"{name}: {seconds:.1f} s ({processor:.1f} s of processor time); {search.curve_}", flush=True)
        if arguments.grid:
            grid_search(X, y, folds)
        if arguments.check:
            check_curve(search.curve_, X, y, folds, arguments.check)
        if arguments.path:
            check_path(X, y, arguments.epsilon, arguments.path)
        if arguments.pictures:
            draw(Path(arguments.pictures), name, search, X, y, arguments.epsilon)


def grid_search(X, y, folds):
    began = time.perf_counter()
    grid = GridSearchCV(LinearSVC(random_state=0), {"C": np.geomspace(LOW, HIGH, 20)}, cv=folds).fit(X, y)
    seconds = time.perf_counter() - began
    print(f"  GridSearchCV(LinearSVC), 20 values: {seconds:.1f} s, C={grid.best_params_['C']:.4g}", end="")
    print(f", error {1 - grid.best_score_:.2%}", flush=True)


def check_curve(curve, X, y, folds, count):
    """Compare the curve with exact fits at other values of C, in the order of C so that each is close to the last."""
    Cs = np.sort(np.exp(np.random.default_rng(1).uniform(np.log(LOW), np.log(HIGH), count)))
    matrix = as_matrix(X)
    rows, classes = _core.pack(matrix), np.unique(y)
    sides = np.where(y == classes[1], 1, -1)
    Y = sp.diags(sides.astype(float)) @ sp.hstack([sp.csr_matrix(X), np.ones((len(y), 1))]).tocsr()
    wrong, open_ = np.zeros(count), np.zeros(count)
    for train, test in folds:
        weight = np.zeros(len(y))
        weight[train] = 1
        problem = BinaryProblem(classes[1], 1.0, 1.0, 1.0, classes=tuple(classes.tolist()))
        objective, w = Objective(matrix, rows, problem, y, weight), None
        Y_train, Y_test = Y[train], Y[test]
        lengths, lengths_train = (np.sqrt(np.asarray(Z.multiply(Z).sum(axis=1)).ravel()) for Z in (Y_test, Y_train))
        for i, C in enumerate(Cs):
            w = objective.first(C) if w is None else objective.lowest(C, w)
            weights, intercept = objective.unpacked(w)
            point = np.append(weights, intercept)
            slacks = np.maximum(0, 1 - Y_train @ point)
            gradient = point - 2 * C * (Y_train.T @ slacks)
            # Errors of n roundings add up like sqrt(n) of them; twenty times that is left for them.
            rounding = 20 * np.sqrt(len(train)) * 2.3e-16 * 2 * C * (slacks @ lengths_train)
            radius = np.linalg.norm(gradient) / 2 + rounding
            lead, reach = Y_test @ (point - gradient / 2), radius * lengths
            wrong[i] += (lead < -reach).sum()
            open_[i] += (np.abs(lead) <= reach).sum()
    bounds = np.array([curve.at(C) for C in Cs])
    below = (wrong + open_) / len(y) < bounds[:, 0] - 1e-12
    above = wrong / len(y) > bounds[:, 1] + 1e-12
    distance = (wrong / len(y) - bounds[:, 0]).min()
    print(f"  {count} values of C: {below.sum()} errors below the lower curve, {above.sum()} above the upper one;")
    print(f"  at most {open_.max():.0f} of {len(y)} rows not settled by a fit, {distance:.3%} above the lower curve;")
    lowest = (wrong + open_).min() / len(y)
    print(f"  the lowest error is {lowest:.2%}, that of the chosen C at most {curve.error:.2%}", flush=True)
    if below.any() or above.any():
        raise SystemExit("the curve is false")


def check_path(X, y, epsilon, count):
    began = time.perf_counter()
    path = c_path(X, y, LOW, HIGH, epsilon)
    seconds, worst, failed = time.perf_counter() - began, 0.0, 0
    for C in np.exp(np.random.default_rng(2).uniform(np.log(LOW), np.log(HIGH), count)):
        model = path.at(C)
        worst = max(worst, model.certificate.gap)
        failed += not (model.certificate.gap <= epsilon and model.verify(X, y, C=C))
    print(
        f"  {path!r} in {seconds:.2f} s; at {count} random Cs {failed} fail, the largest gap is {worst:.3g}", flush=True
    )
    if failed:
        raise SystemExit("the path has a hole")


def draw(folder, name, search, X, y, epsilon):
    import matplotlib

    matplotlib.use("agg")
    ErrorCurveDisplay.from_estimator(search).figure_.savefig(folder / f"error-curve-{name}.png", dpi=110)
    path = c_path(X, y, LOW, HIGH, epsilon)
    CPathDisplay.from_path(path, X, y).figure_.savefig(folder / f"c-path-{name}.png", dpi=110)
