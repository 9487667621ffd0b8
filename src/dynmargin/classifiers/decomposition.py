"""A decomposition SVM."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..algorithms.decomposition import train_decomposition
from ..outcome import Outcome
from ..problem import BinaryProblem
from ..task import Task
from ..training import Plan
from .base import MarginClassifier


class DecompositionSVMClassifier(MarginClassifier):
    """Maximum-margin linear classifier by decomposition, SVM-light's scheme, with a certificate.

    Ten dual weights at a time are optimised, those of the steepest feasible direction. The intercept is not
    regularised, as in SVM-light and LIBSVM, so that the margin is the geometric one. It is here for comparison: an
    iteration costs a pass over the active rows, and `DCDClassifier` is faster by orders of magnitude.

    Parameters
    ----------
    epsilon : float in (0, 1], default=0.01
        Stop when the geometric margin is proven to be at least ``1 - epsilon`` of the best one.
    C : float, default=1.0
        The price of a squared slack; ``float("inf")`` for the hard margin.
    stop : {"certificate", "convergence"}, default="certificate"
        Stop as soon as the gap is proven, or when SVM-light's own rule with tolerance ``epsilon`` is met.
    class_weight, max_time, max_updates, margin_floor, n_jobs, random_state, verbose : see PDMClassifier
        As in `PDMClassifier`; an update is one working set solved.

    Attributes
    ----------
    n_iter_ : int
        How often a row has been in a working set, on the average.
    certificate_, certificates_, coef_, intercept_, classes_, n_updates_, history_, support_
        As in `PDMClassifier`; the margins of a certificate are geometric, its counts the dual weights, scaled and
        rounded to integers with the same sum on both sides.
    stop_reason_ : str
        As in `PDMClassifier`, and "own rule" when that was met before ``epsilon`` was proven.
    dual_coef_ : array of shape (1, n_support) or (n_classes, n_support)
        Signed dual weights, scaled so that their product with the rows is about ``coef_``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dynmargin import DecompositionSVMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> classifier = DecompositionSVMClassifier(random_state=0).fit(X, y)
    >>> bool(classifier.certificate_.verify(X, y))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: constraint
        for name, constraint in MarginClassifier._parameter_constraints.items()
        if name not in ("schedule", "fit_intercept", "intercept_scaling")
    }
    schedule = "fast"
    fit_intercept = False
    intercept_scaling = 1.0

    def __init__(
        self,
        epsilon: float = 0.01,
        *,
        C: float = 1.0,
        stop: str = "certificate",
        class_weight: Mapping[Any, float] | str | None = None,
        max_time: float | None = None,
        max_updates: int | None = None,
        margin_floor: float = 1e-4,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.C = C
        self.stop = stop
        self.class_weight = class_weight
        self.max_time = max_time
        self.max_updates = max_updates
        self.margin_floor = margin_floor
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _problems(
        self, classes: NDArray[Any], y: NDArray[Any], sample_weight: NDArray[np.float64] | None
    ) -> list[BinaryProblem]:
        return [replace(problem, free_bias=True) for problem in super()._problems(classes, y, sample_weight)]

    def _train(self, task: Task, plan: Plan) -> Outcome:
        return train_decomposition(task, plan)
