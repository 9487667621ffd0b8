"""Newton's method."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ..algorithms.newton import train_newton
from ..outcome import Outcome
from ..task import Task
from ..training import Plan
from .base import MarginClassifier


class NewtonClassifier(MarginClassifier):
    """Maximum-margin linear classifier by Newton's method on LinearSVC's objective, with the same certificate.

    Not a perceptron and not in the paper. It takes about ten passes to a gap of 1 % and few more to 1e-9, whatever the
    scale of the features; a step costs about d² a row and d³ / 3 in all for d features (beyond 2,000 of them conjugate
    gradients take over). For soft margins only.

    Parameters
    ----------
    epsilon : float in (0, 1], default=0.01
        Stop when the margin is proven to be at least ``1 - epsilon`` of the best one.
    C : float, default=1.0
        The price of a squared slack; finite.
    fit_intercept, intercept_scaling, class_weight, max_time, n_jobs, random_state, verbose : see PDMClassifier
        As in `PDMClassifier`; ``random_state`` chooses the rows that the first steps are taken on.

    Attributes
    ----------
    n_updates_ : int
        Newton steps, over all classes.
    certificate_, certificates_, coef_, intercept_, classes_, n_iter_, history_, stop_reason_, support_, dual_coef_
        As in `PDMClassifier`; the counts of a certificate are the dual weights, scaled and rounded to integers.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dynmargin import NewtonClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> NewtonClassifier(epsilon=1e-6).fit(X, y).certificate_.achieved
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: MarginClassifier._parameter_constraints[name]
        for name in (
            "epsilon",
            "C",
            "fit_intercept",
            "intercept_scaling",
            "class_weight",
            "max_time",
            "random_state",
            "verbose",
        )
    }
    stop = "certificate"
    schedule = "fast"
    max_updates = None
    margin_floor = 0.0

    def __init__(
        self,
        epsilon: float = 0.01,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None,
        max_time: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _train(self, task: Task, plan: Plan) -> Outcome:
        return train_newton(task, plan)
