"""Who takes part: ours, certified, and the peers, each with a ladder of settings."""

import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from dynmargin.comparison.compare import make
from dynmargin.comparison.peers import Cyanure, Liblinear, Peer, ScikitLearnSGD, ScikitLearnSVC, Solution, small_csr

from .multicore import Multicore

LADDER = [float(f"{10.0**-e:.3g}") for e in np.arange(-1, 8.01, 0.25)]  # from the loosest tolerance to the tightest

# The number of iterations that a library allows by default must not end a run before its tolerance does.
LINEAR_SVC = {
    "LinearSVC dual": partial(ScikitLearnSVC, 10**7),
    "LinearSVC primal": partial(ScikitLearnSVC, 10**4, dual=False),
}


@dataclass
class Ours:
    """One of our estimators; it has a single setting, None."""

    name: str
    algorithm: str
    dtype: str = "float32"
    n_jobs: int | None = None
    conversion = 0.0
    seconds = None  # as measured from outside
    epsilon = 0.01
    limit = None
    seed = 0

    def prepare(self, X, y, C):
        self.X, self.y, self.C = (small_csr(X) if sp.issparse(X) else np.ascontiguousarray(X)).astype(self.dtype), y, C

    def fit(self, setting):
        """Return weights and intercept."""
        options = {"epsilon": self.epsilon, "C": self.C, "random_state": self.seed, "n_jobs": self.n_jobs}
        classifier = make(self.algorithm, **options, max_time=self.limit)
        self.classifier = classifier.fit(self.X, self.y)
        return self.classifier.coef_[0], self.classifier.intercept_[0]


@dataclass
class Theirs:
    """A peer; `settings` are tolerances, from the loosest to the tightest."""

    name: str
    peer: Peer
    settings: list[Any] = field(default_factory=lambda: LADDER)

    def prepare(self, X, y, C):
        self.y = y
        self.peer.prepare(X, C)

    def fit(self, setting):
        """Return weights and intercept."""
        return self.peer.fit(self.y, setting)[:2]

    @property
    def conversion(self):
        return self.peer.conversion

    @property
    def seconds(self):
        """What a peer in another process has measured itself, its conversion included."""
        return self.peer.conversion + self.peer.seconds if hasattr(self.peer, "seconds") else None


@dataclass
class SnapML(Peer):
    """Snap ML, on some threads; lambda/2 ‖w‖² + Σ max(0, ...)², so lambda = 1 / C."""

    max_iter: int = 10_000
    threads: int = 1
    module = "snapml"
    package = "snapml"

    def load(self):
        from snapml import SupportVectorMachine

        self.make = SupportVectorMachine

    def fit(self, sides, tolerance, random_state=0):
        options = {"tol": tolerance, "max_iter": self.max_iter, "n_jobs": self.threads, "random_state": random_state}
        svm = self.make(loss="squared_hinge", regularizer=1 / self.C, fit_intercept=True, **options)
        svm.fit(self.X, np.asarray(sides, dtype=np.float64))
        return Solution(np.ravel(svm.coef_).astype(np.float64), float(np.ravel(svm.intercept_)[0]))


class ScikitLearnPerceptron(Peer):
    """For orientation: no setting of it reaches a given accuracy."""

    def load(self):
        from sklearn.linear_model import Perceptron

        self.make = Perceptron

    def fit(self, sides, tolerance, random_state=0):
        classifier = self.make(tol=tolerance, max_iter=self.max_iter, random_state=random_state).fit(self.X, sides)
        return Solution(classifier.coef_[0], classifier.intercept_[0])


def adapters(names=None, multicore=None):
    """Return those that take part; `multicore` is the interpreter that has LIBLINEAR's multicore build."""
    everything = [
        Ours("PDM float32", "pdm"),
        Ours("PDM float64", "pdm", "float64"),
        Ours("DCD float32", "dcd"),
        Ours("MPU float32", "mpu"),
        Ours("Newton float32", "newton"),
        Ours("MaxMargin float32", "auto"),
        Ours("MaxMargin float64", "auto", "float64"),
        *(Theirs(name, make_peer()) for name, make_peer in LINEAR_SVC.items()),
        Theirs("liblinear -s 1", Liblinear(solver=1)),
        Theirs("liblinear -s 2", Liblinear(solver=2)),
        Theirs("cyanure", Cyanure(5000)),
        Theirs("snapml, 1 thread", SnapML(threads=1)),
        Theirs("snapml, 2 threads", SnapML(threads=2)),
        Theirs("SGDClassifier", ScikitLearnSGD()),
        Theirs("Perceptron", ScikitLearnPerceptron(), [1e-3]),
    ]
    if multicore is not None:
        everything += [
            Theirs(
                f"multicore -s {solver}, {threads} thread{'s' * (threads > 1)}", Multicore(multicore, solver, threads)
            )
            for solver in (1, 2)
            for threads in (1, 2)
        ]
    warnings.filterwarnings("ignore", category=UserWarning)
    chosen = [adapter for adapter in everything if names is None or any(name in adapter.name for name in names)]
    return [adapter for adapter in chosen if isinstance(adapter, Ours) or adapter.peer.available()]
