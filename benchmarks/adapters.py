"""One adapter a library: how its input is prepared (untimed), how it is fitted (timed), and its ladder of settings."""

import time
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp

LADDER = [float(f"{10.0**-e:.3g}") for e in np.arange(-1, 8.01, 0.25)]  # from the loosest tolerance to the tightest


def small_csr(X):
    """float64 values with 32-bit indices, which is all that LinearSVC takes."""
    X = sp.csr_matrix(X, dtype=np.float64)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


@dataclass
class Adapter(ABC):
    """A library. `settings` runs from the loosest to the tightest; a certified one has a single setting, None."""

    name: str
    settings: list[Any]
    module = None  # what must be installed for it
    conversion = 0.0  # seconds of the last fit spent on converting the input, where that can be told

    def prepare(self, X, y, C):
        self.X, self.y, self.C = np.ascontiguousarray(X) if not sp.issparse(X) else small_csr(X), y, C

    @abstractmethod
    def fit(self, setting):
        """Return weights and intercept."""

    def available(self):
        return self.module is None or find_spec(self.module) is not None


@dataclass
class Ours(Adapter):
    dtype: str = "float32"

    def prepare(self, X, y, C):
        super().prepare(X, y, C)
        self.X = self.X.astype(self.dtype)

    def make(self):
        import dynmargin

        return {
            "PDM": dynmargin.PDMClassifier,
            "DCD": dynmargin.DCDClassifier,
            "MPU": dynmargin.MPUClassifier,
            "Newton": dynmargin.NewtonClassifier,
            "MaxMargin": dynmargin.MaxMarginClassifier,
        }[self.name.partition(" ")[0]]

    def fit(self, setting):
        self.classifier = self.make()(self.epsilon, C=self.C, random_state=self.seed).fit(self.X, self.y)
        return self.classifier.coef_[0], self.classifier.intercept_[0]

    epsilon = 0.01
    seed = 0


@dataclass
class LinearSVC(Adapter):
    dual: bool = True

    def fit(self, setting):
        from sklearn.svm import LinearSVC

        C = min(self.C, 1e6)
        classifier = LinearSVC(C=C, dual=self.dual, tol=setting, max_iter=10**7 if self.dual else 10**4, random_state=0)
        classifier.fit(self.X, self.y)
        return classifier.coef_[0], classifier.intercept_[0]


@dataclass
class LibLinear(Adapter):
    solver: int = 1

    module = "liblinear"

    def prepare(self, X, y, C):
        super().prepare(X, y, C)
        self.X = sp.csr_matrix(self.X)

    def fit(self, setting):
        from liblinear.liblinearutil import problem, train

        start = time.perf_counter()
        converted = problem(self.y, self.X, bias=1)
        self.conversion = time.perf_counter() - start  # a part of the fit, shown apart too
        model = train(converted, f"-s {self.solver} -c {min(self.C, 1e6)} -B 1 -e {setting} -q")
        w = np.array(model.w[: self.X.shape[1] + 1]) * (1 if model.label[0] > 0 else -1)
        return w[:-1], w[-1]


@dataclass
class Cyanure(Adapter):
    module = "cyanure"

    def prepare(self, X, y, C):
        super().prepare(X, y, C)
        one = np.ones((self.X.shape[0], 1))
        self.X = sp.csr_matrix(sp.hstack([self.X, one])) if sp.issparse(self.X) else np.hstack([self.X, one])

    def fit(self, setting):
        from cyanure.estimators import LinearSVC

        strength = 1 / (2 * min(self.C, 1e6) * self.X.shape[0])
        classifier = LinearSVC(lambda_1=strength, fit_intercept=False, tol=setting, max_iter=5000, n_threads=1)
        classifier.fit(self.X, self.y)
        w = np.ravel(classifier.coef_)
        return w[:-1], w[-1]


@dataclass
class Stochastic(Adapter):
    """For orientation: neither has a setting that reaches a given accuracy."""

    def fit(self, setting):
        from sklearn.linear_model import Perceptron, SGDClassifier

        if self.name == "Perceptron":
            classifier = Perceptron(tol=setting, max_iter=1000, random_state=0)
        else:
            alpha = 1 / (2 * min(self.C, 1e6) * self.X.shape[0])
            classifier = SGDClassifier(loss="squared_hinge", alpha=alpha, tol=setting, max_iter=1000, random_state=0)
        classifier.fit(self.X, self.y)
        return classifier.coef_[0], classifier.intercept_[0]


def adapters(names=None):
    everything = [
        Ours("PDM float32", [None]),
        Ours("PDM float64", [None], dtype="float64"),
        Ours("DCD float32", [None]),
        Ours("MPU float32", [None]),
        Ours("Newton float32", [None]),
        Ours("MaxMargin float32", [None]),
        Ours("MaxMargin float64", [None], dtype="float64"),
        LinearSVC("LinearSVC dual", LADDER),
        LinearSVC("LinearSVC primal", LADDER, dual=False),
        LibLinear("liblinear -s 1", LADDER, solver=1),
        LibLinear("liblinear -s 2", LADDER, solver=2),
        Cyanure("cyanure", LADDER),
        Stochastic("SGDClassifier", LADDER),
        Stochastic("Perceptron", [1e-3]),
    ]
    warnings.filterwarnings("ignore", category=UserWarning)
    chosen = [adapter for adapter in everything if names is None or any(name in adapter.name for name in names)]
    return [adapter for adapter in chosen if adapter.available()]
