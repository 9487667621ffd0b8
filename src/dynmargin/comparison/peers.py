"""Other libraries for the same problem, one adapter each: how input is prepared (untimed) and fitted (timed).

All minimise LinearSVC's objective, ½‖w‖² + ½b² + C Σ max(0, 1 - l_k (w·x_k + b))², except that SGD does not
regularise b. They are loaded when they are used.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

_around_fit: Callable[[], AbstractContextManager[None]] = nullcontext


@contextmanager
def fitting_inside(context: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    """Enter such a context around every fit of a peer: none of them notices Ctrl-C, and a program may help itself."""
    global _around_fit
    before, _around_fit = _around_fit, context
    try:
        yield
    finally:
        _around_fit = before


def around_fit() -> AbstractContextManager[None]:
    """Return the context that a peer is to be fitted in."""
    return _around_fit()


class Solution(NamedTuple):
    """What a library returns."""

    weights: NDArray[np.float64]
    intercept: float
    passes: int | None = None  # over the data or its active part, as the library counts them, if it does
    stop_reason: str | None = None  # "tolerance" or "max_iter", if the library reports it


@dataclass
class Peer(ABC):
    """A library; `max_iter` is its own default unless another one is given."""

    max_iter: int = 1000
    hard_margin_C: float = 1e6  # stands for the hard margin, which none of them has

    conversion = 0.0  # seconds of the last fit spent on converting the input, if that is measured
    module: ClassVar[str] = "sklearn"
    package: ClassVar[str] = "scikit-learn"

    @classmethod
    def available(cls) -> bool:
        """Whether the library is installed."""
        return find_spec(cls.module) is not None

    def prepare(self, X: Any, C: float) -> None:
        """Bring the rows into the layout that the library reads, and load it."""
        self.X = small_csr(X) if hasattr(X, "tocsr") else np.ascontiguousarray(X, dtype=np.float64)
        self.C = min(C, self.hard_margin_C)
        self.load()

    @abstractmethod
    def load(self) -> None:
        """Import what `fit` calls."""

    @abstractmethod
    def fit(self, sides: NDArray[Any], tolerance: float, random_state: Any = 0) -> Solution:
        """Train on rows that are on the sides +1 and -1, to the library's own idea of a tolerance."""

    def _solution(self, w: NDArray[np.float64], intercept: float, n_iter: Any) -> Solution:
        iterations = int(np.max(n_iter))
        return Solution(w, float(intercept), iterations, "max_iter" if iterations >= self.max_iter else "tolerance")


@dataclass
class ScikitLearnSVC(Peer):
    """LinearSVC, which is LIBLINEAR inside: dual coordinate descent, or a trust-region Newton method."""

    dual: bool = True

    def load(self) -> None:
        """Import what `fit` calls."""
        self.make = import_module("sklearn.svm").LinearSVC

    def fit(self, sides: NDArray[Any], tolerance: float, random_state: Any = 0) -> Solution:
        """Stop when the projected gradient (dual) or the gradient's relative norm (primal) is within the tolerance."""
        svc = self.make(C=self.C, dual=self.dual, tol=tolerance, max_iter=self.max_iter, random_state=random_state)
        svc.fit(self.X, sides)
        return self._solution(svc.coef_[0], svc.intercept_[0], svc.n_iter_)


@dataclass
class ScikitLearnSGD(Peer):
    """SGDClassifier with the squared hinge: 1/m Σ max(0, ...)² + alpha/2 ‖w‖², so alpha = 1 / (C m)."""

    def load(self) -> None:
        """Import what `fit` calls."""
        self.make = import_module("sklearn.linear_model").SGDClassifier

    def fit(self, sides: NDArray[Any], tolerance: float, random_state: Any = 0) -> Solution:
        """Stop when the loss of an epoch is not below the best one by the tolerance, five times in a row."""
        options = {"tol": tolerance, "max_iter": self.max_iter, "random_state": random_state}
        sgd = self.make(loss="squared_hinge", alpha=1 / (self.C * self.X.shape[0]), **options).fit(self.X, sides)
        return self._solution(sgd.coef_[0], sgd.intercept_[0], sgd.n_iter_)


@dataclass
class Liblinear(Peer):
    """LIBLINEAR itself; it has no iterations to set, does not report how many it took, and has no seed."""

    solver: int = 1  # -s 1: dual coordinate descent, which after 300 passes goes over to Newton; -s 2: Newton

    limit_met = False  # whether the last training met the library's own limit of passes
    module: ClassVar[str] = "liblinear"
    package: ClassVar[str] = "liblinear-official"

    def load(self) -> None:
        """Import what `fit` calls."""
        self.library = import_module("liblinear.liblinearutil")
        self.as_printer = import_module("liblinear.liblinear").PRINT_STRING_FUN

    def prepare(self, X: Any, C: float) -> None:
        """Take CSR rows only: others are converted by a loop in Python."""
        super().prepare(small_csr(X), C)

    def convert(self, sides: NDArray[Any]) -> Any:
        """Return the rows and their sides as the library reads them."""
        return self.library.problem(np.asarray(sides, dtype=np.float64), self.X, bias=1)

    def train(self, converted: Any, tolerance: float) -> Solution:
        """Train on converted rows; only what the library prints tells whether it met its limit."""
        printed: list[str] = []
        options = self.library.parameter(f"-s {self.solver} -c {self.C} -B 1 -e {tolerance}")
        options.print_func = self.as_printer(lambda text: printed.append(text.decode()))
        model = self.library.train(converted, options)
        self.limit_met = "max number of iterations" in "".join(printed)
        w = np.array(model.w[: self.X.shape[1] + 1]) * (1 if model.label[0] > 0 else -1)
        return Solution(w[:-1], float(w[-1]))

    def fit(self, sides: NDArray[Any], tolerance: float, random_state: Any = 0) -> Solution:
        """Stop as LinearSVC does."""
        start = time.perf_counter()
        converted = self.convert(sides)
        self.conversion = time.perf_counter() - start  # a part of the fit, shown separately too
        return self.train(converted, tolerance)


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
        options = {"tol": tolerance, "max_iter": self.max_iter, "n_threads": 1}
        svc = self.make(lambda_1=1 / (2 * self.C * self.X.shape[0]), fit_intercept=False, **options)
        svc.fit(self.X, sides)
        w = np.ravel(svc.coef_).astype(np.float64)
        return self._solution(w[:-1], w[-1], svc.n_iter_)


PEERS: dict[str, Callable[[], Peer]] = {
    "liblinear-dcd": ScikitLearnSVC,
    "liblinear-newton": partial(ScikitLearnSVC, dual=False),
    "sgd": ScikitLearnSGD,
    "liblinear": Liblinear,
    "cyanure": Cyanure,
}


def small_csr(X: Any) -> Any:
    """Return float64 values with 32-bit indices, which is all that LIBLINEAR accepts."""
    X = import_module("scipy.sparse").csr_matrix(X, dtype=np.float64)
    if X.nnz > np.iinfo(np.int32).max:
        raise ValueError(f"{X.nnz} non-zeros are more than LIBLINEAR can index")
    if not X.has_canonical_format:  # whoever sorts in place must not sort the user's arrays
        X = X.copy()
        X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return X
