"""Who takes part: ours, certified, and the peers, each with a ladder of settings."""

import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from dynmargin.comparison.compare import make
from dynmargin.comparison.peers import Cyanure, Liblinear, Peer, ScikitLearnSGD, ScikitLearnSVC, Solution, small_csr

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
    conversion = 0.0
    epsilon = 0.01
    seed = 0

    def prepare(self, X, y, C):
        self.X, self.y, self.C = (small_csr(X) if sp.issparse(X) else np.ascontiguousarray(X)).astype(self.dtype), y, C

    def fit(self, setting):
        """Return weights and intercept."""
        classifier = make(self.algorithm, epsilon=self.epsilon, C=self.C, random_state=self.seed)
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


class ScikitLearnPerceptron(Peer):
    """For orientation: no setting of it reaches a given accuracy."""

    def load(self):
        from sklearn.linear_model import Perceptron

        self.make = Perceptron

    def fit(self, sides, tolerance, random_state=0):
        classifier = self.make(tol=tolerance, max_iter=self.max_iter, random_state=random_state).fit(self.X, sides)
        return Solution(classifier.coef_[0], classifier.intercept_[0])


def adapters(names=None):
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
        Theirs("SGDClassifier", ScikitLearnSGD()),
        Theirs("Perceptron", ScikitLearnPerceptron(), [1e-3]),
    ]
    warnings.filterwarnings("ignore", category=UserWarning)
    chosen = [adapter for adapter in everything if names is None or any(name in adapter.name for name in names)]
    return [adapter for adapter in chosen if isinstance(adapter, Ours) or adapter.peer.available()]
