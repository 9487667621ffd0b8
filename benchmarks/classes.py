"""Many classes, each against the rest: ours in 1 and 2 threads beside LinearSVC, and fits at once in threads.

Ours is certified to 1 % for every class. LinearSVC gets an oracle: the loosest tolerance of a ladder with which every
class truly has the margin that ours is proven to have, 99 % of its upper bound.
"""

import multiprocessing
import statistics
import threading
import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.svm import LinearSVC

from dynmargin import DCDClassifier, MaxMarginClassifier
from dynmargin.problem.matrix import as_matrix

from .adapters import LADDER, small_csr
from .sets import add_data_dir, news20_classes

EPSILON = 0.01


def add_arguments(parser):
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which a peer's ladder is abandoned")
    add_data_dir(parser)


def margins(X, y, classifier, problems):
    """Yield the margin of each class, with the slacks that are best for the weights."""
    matrix = as_matrix(X)
    for problem, w, b in zip(problems, classifier.coef_, classifier.intercept_, strict=True):
        core = problem.to_core(problem.sides(y, None))
        yield core.margin_of_weights(matrix, np.ascontiguousarray(w), float(b))[0]


def timed(classifier, X, y):
    start = time.perf_counter()
    classifier.fit(X, y)
    return time.perf_counter() - start


def peers(X, y, certificates, C, limit):
    """Yield LinearSVC, dual and primal, at the loosest tolerance that reaches the margins."""
    for dual in (True, False):
        for tolerance in LADDER:
            peer = LinearSVC(C=C, dual=dual, tol=tolerance, max_iter=10**5, random_state=0)
            seconds = timed(peer, X, y)
            found = margins(X, y, peer, [certificate.problem for certificate in certificates])
            short = max(1 - margin / c.upper_bound for margin, c in zip(found, certificates, strict=True))
            print(f"  LinearSVC dual={dual} tol {tolerance:<8g} {seconds:6.2f} s, largest gap of a class {short:.4f}")
            if short <= EPSILON:
                yield f"LinearSVC dual={dual} tol {tolerance:g}", peer
                break
            if seconds > limit:
                break


def run(arguments):
    warnings.filterwarnings("ignore")
    X, y = news20_classes(arguments.data_dir)
    X, C = small_csr(X), arguments.C
    ours = {
        f"MaxMarginClassifier n_jobs={n}": MaxMarginClassifier(EPSILON, C=C, n_jobs=n, random_state=0) for n in (1, 2)
    }
    ours["DCDClassifier n_jobs=2"] = DCDClassifier(EPSILON, C=C, n_jobs=2, random_state=0)
    fine = DCDClassifier(1e-4, C=C, n_jobs=2, random_state=0).fit(X, y)  # for upper bounds close to the truth
    print(f"news20: {X.shape[0]} x {X.shape[1]}, {len(fine.classes_)} classes, C={C:g}")
    contestants = ours | dict(peers(X, y, fine.certificates_, C, arguments.limit))
    seconds = {name: [] for name in contestants}
    for _ in range(arguments.runs):
        for name, classifier in contestants.items():
            seconds[name].append(timed(classifier, X, y))
    for name, runs in seconds.items():
        every = " ".join(f"{s:.2f}" for s in runs)
        proof = ""
        if certificates := getattr(contestants[name], "certificates_", None):
            proven = sum(c.achieved and bool(c.verify(X, y)) for c in certificates)
            proof = (
                f"; {proven} of {len(certificates)} classes proven, largest gap {max(c.gap for c in certificates):.4f}"
            )
        print(f"{name:36} median {statistics.median(runs):6.2f} s   all {every}{proof}")
    at_once(X, np.asarray(y) % 2, arguments.runs)


def at_once(X, y, runs):
    """Compare two fits at once with one, in threads and in processes.

    On two idle cores the ratio is 1 where the GIL is released; on busy ones, processes show the best possible ratio.
    """
    classifier = DCDClassifier(1e-5, random_state=0)
    workers = {"threads": threading.Thread, "processes": multiprocessing.get_context("fork").Process}
    for _ in range(runs):
        alone = timed(clone(classifier), X, y)
        ratios = {}
        for name, worker in workers.items():
            pair = [worker(target=clone(classifier).fit, args=(X, y)) for _ in range(2)]
            start = time.perf_counter()
            for one in pair:
                one.start()
            for one in pair:
                one.join()
            ratios[name] = (time.perf_counter() - start) / alone
        both = ", ".join(f"in {name} {ratio:.2f} times that" for name, ratio in ratios.items())
        print(f"  DCD, even or odd: one fit {alone:.2f} s; two at once {both}")
