"""Other libraries for the same problem, one adapter each: how input is prepared (untimed) and fitted (timed).

All minimise LinearSVC's objective, ½‖w‖² + ½b² + C Σ max(0, 1 - l_k (w·x_k + b))², except that SGD does not
regularise b. They are loaded when they are used.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

LARGEST_C = 1e6  # stands for the hard margin, which none of them has


class Solution(NamedTuple):
    """What a library hands back."""

    weights: NDArray[np.float64]
    intercept: float
    passes: int | None = None  # over the data or its active part, as the library counts them, where it does
    stop_reason: str | None = None  # "tolerance" or "max_iter", where that can be told


@dataclass
class Peer(ABC):
    """A library; `max_iter` is its own default unless another one is given."""

    max_iter: int = 1000
    conversion = 0.0  # seconds of the last fit spent on converting the input, where that can be told

    module: ClassVar[str] = "sklearn"
    package: ClassVar[str] = "scikit-learn"

    @classmethod
    def available(cls) -> bool:
        """Whether the library is installed."""
        return find_spec(cls.module) is not None

    def prepare(self, X: Any, C: float) -> None:
        """Bring the rows into the layout that the library reads, and load it."""
        self.X = small_csr(X) if hasattr(X, "tocsr") else np.ascontiguousarray(X, dtype=np.float64)
        self.C = min(C, LARGEST_C)
        self.load()

    @abstractmethod
    def load(self) -> None:
        """Import what `fit` calls."""

    @abstractmethod
    def fit(self, sides: NDArray[Any], tolerance: float, random_state: Any = 0) -> Solution:
        """Train on rows that stand on the sides +1 and -1, to the library's own idea of a tolerance."""

    def _solution(self, classifier: Any) -> Solution:
        iterations = int(np.max(classifier.n_iter_))
        reason = "max_iter" if iterations >= self.max_iter else "tolerance"
        return Solution(np.ravel(classifier.coef_), float(np.ravel(classifier.intercept_)[0]), iterations, reason)


@dataclass
class ScikitLearnSVC(Peer):
    """LinearSVC, which is LIBLINEAR inside: dual coordinate descent, or a trust-region Newton method."""

    dual: bool = True

    def load(self) -> None:
        """Import what `fit` calls."""
        self.make = import_module("sklearn.svm").LinearSVC

    def fit(self, sides: NDArray[Any], tolerance: float, random_state: Any = 0) -> Solution:
        """Stop when the projected gradient (dual) or the gradient's relative norm (primal) is within the tolerance."""
        classifier = self.make(
            C=self.C, dual=self.dual, tol=tolerance, max_iter=self.max_iter, random_state=random_state
        )
        return self._solution(classifier.fit(self.X, sides))


@dataclass
class ScikitLearnSGD(Peer):
    """SGDClassifier with the squared hinge: 1/m Σ max(0, ...)² + alpha/2 ‖w‖², so alpha = 1 / (C m)."""

    def load(self) -> None:
        """Import what `fit` calls."""
        self.make = import_module("sklearn.linear_model").SGDClassifier

    def fit(self, sides: NDArray[Any], tolerance: float, random_state: Any = 0) -> Solution:
        """Stop when the loss of an epoch is not below the best one by the tolerance, five times in a row."""
        alpha = 1 / (self.C * self.X.shape[0])
        classifier = self.make(
            loss="squared_hinge", alpha=alpha, tol=tolerance, max_iter=self.max_iter, random_state=random_state
        )
        return self._solution(classifier.fit(self.X, sides))


@dataclass
class Liblinear(Peer):
    """LIBLINEAR itself; it has no iterations to set, does not tell how many it took, and no seed."""

    solver: int = 1  # -s 1: dual coordinate descent, which after 300 passes hands over to Newton; -s 2: Newton

    module: ClassVar[str] = "liblinear"
    package: ClassVar[str] = "liblinear-official"

    def load(self) -> None:
        """Import what `fit` calls."""
        self.library = import_module("liblinear.liblinearutil")

    def prepare(self, X: Any, C: float) -> None:
        """Take CSR rows only: others are converted by a loop in Python."""
        super().prepare(small_csr(X), C)

    def fit(self, sides: NDArray[Any], tolerance: float, random_state: Any = 0) -> Solution:
        """Stop like LinearSVC."""
        start = time.perf_counter()
        converted = self.library.problem(np.asarray(sides, dtype=np.float64), self.X, bias=1)
        self.conversion = time.perf_counter() - start  # a part of the fit, shown apart too
        model = self.library.train(converted, f"-s {self.solver} -c {self.C} -B 1 -e {tolerance} -q")
        w = np.array(model.w[: self.X.shape[1] + 1]) * (1 if model.label[0] > 0 else -1)
        return Solution(w[:-1], float(w[-1]))


@dataclass
class Cyanure(Peer):
    """Cyanure on one thread: 1/m Σ ½ max(0, ...)² + lambda/2 ‖w‖²; a constant column makes b regularised."""

    max_iter: int = 500

    module: ClassVar[str] = "cyanure"
    package: ClassVar[str] = "cyanure"

    def load(self) -> None:
        """Import what `fit` calls."""
        self.make = import_module("cyanure.estimators").LinearSVC

    def prepare(self, X: Any, C: float) -> None:
        """Add the constant column."""
        one = np.ones((X.shape[0], 1))
        sparse = hasattr(X, "tocsr")
        super().prepare(import_module("scipy.sparse").hstack([X, one]) if sparse else np.hstack([X, one]), C)

    def fit(self, sides: NDArray[Any], tolerance: float, random_state: Any = 0) -> Solution:
        """Stop when the relative duality gap is within the tolerance."""
        strength = 1 / (2 * self.C * self.X.shape[0])
        classifier = self.make(
            lambda_1=strength, fit_intercept=False, tol=tolerance, max_iter=self.max_iter, n_threads=1
        )
        classifier.fit(self.X, sides)
        w, iterations = np.ravel(classifier.coef_).astype(np.float64), int(np.max(classifier.n_iter_))
        return Solution(w[:-1], float(w[-1]), iterations, "max_iter" if iterations >= self.max_iter else "tolerance")


PEERS: dict[str, Callable[[], Peer]] = {
    "liblinear-dcd": ScikitLearnSVC,
    "liblinear-newton": partial(ScikitLearnSVC, dual=False),
    "sgd": ScikitLearnSGD,
    "liblinear": Liblinear,
    "cyanure": Cyanure,
}


def small_csr(X: Any) -> Any:
    """float64 values with 32-bit indices, which is all that LIBLINEAR takes."""
    X = import_module("scipy.sparse").csr_matrix(X, dtype=np.float64)
    if X.nnz > np.iinfo(np.int32).max:
        raise ValueError(f"{X.nnz} non-zeros are more than LIBLINEAR can index")
    if not X.has_canonical_format:  # whoever sorts in place must not sort the user's arrays
        X = X.copy()
        X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return X
