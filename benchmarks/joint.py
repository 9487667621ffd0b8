"""All classes at once beside each against the rest, and beside LinearSVC's two modes, on digits and news20.

Ours is certified to 1 %. LinearSVC has its default tolerance; its "crammer_singer" does not square the slacks. The
margin of its weights as joint weights, at the best scale for them, is printed as a fraction of our upper bound.
Accuracies are on a third of the rows, held out from a separate fit.
"""

import statistics
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from dynmargin import PDMClassifier, _core
from dynmargin.problem.matrix import as_matrix

from .adapters import small_csr
from .classes import timed
from .sets import add_data_dir, news20_classes

EPSILON = 0.01


def add_arguments(parser):
    parser.add_argument("--runs", type=int, default=3)
    add_data_dir(parser)


def problems(folder):
    X, y = load_digits(return_X_y=True)
    for C in (0.1, 1.0, 10.0):
        yield "digits", C, X / 16, y
    X, y = news20_classes(folder)
    for C in (0.01, 0.1):
        yield "news20", C, small_csr(X), y


def joint_margin(X, y, problem, classifier):
    """Return the margin that weights have as joint weights, at the scale that is best for them."""
    sides, coef, intercept = problem.sides(y, None), classifier.coef_, classifier.intercept_
    margins = problem.margins(np.asarray(X @ coef.T) + intercept, y)
    norm2 = (coef**2).sum() + (intercept**2).sum() / problem.rho**2
    scale = _core.best_scale(margins, 2 * np.array(problem.costs)[sides - 1], norm2)
    return problem.to_core(sides).margin_of_weights(as_matrix(X), coef * scale, intercept * scale)[0]


def run(arguments):
    warnings.filterwarnings("ignore")
    for name, C, X, y in problems(arguments.data_dir):
        contestants = {
            "PDM joint": PDMClassifier(EPSILON, C=C, multi_class="joint", random_state=0),
            "PDM ovr": PDMClassifier(EPSILON, C=C, random_state=0),
            "LinearSVC crammer_singer": LinearSVC(C=C, multi_class="crammer_singer", random_state=0),
            "LinearSVC ovr": LinearSVC(C=C, random_state=0),
        }
        seconds = {contestant: [] for contestant in contestants}
        for _ in range(arguments.runs):
            for contestant, classifier in contestants.items():
                seconds[contestant].append(timed(classifier, X, y))
        certificate = contestants["PDM joint"].certificate_
        print(f"{name}: {X.shape[0]} x {X.shape[1]}, {len(certificate.problem.classes)} classes, C={C:g}")
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0, stratify=y)
        for contestant, classifier in contestants.items():
            worth = joint_margin(X, y, certificate.problem, classifier) / certificate.upper_bound
            accuracy = clone(classifier).fit(X_train, y_train).score(X_test, y_test)
            every = " ".join(f"{s:.3f}" for s in seconds[contestant])
            median = statistics.median(seconds[contestant])
            print(f"  {contestant:26} median {median:7.3f} s   joint {worth:.4f}   test {accuracy:.4f}   all {every}")
