"""The front door: the algorithm is chosen for the data."""

from collections.abc import Mapping
from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from ..algorithms.choice import choose
from ..algorithms.table import find
from ..outcome import Outcome
from ..task import Task
from ..training import Plan
from .base import MarginClassifier

ALGORITHMS = {"newton", "dcd", "pdm"}


class MaxMarginClassifier(MarginClassifier):
    """Maximum-margin linear classifier by the algorithm that suits the data, with a certificate.

    Parameters
    ----------
    epsilon : float in (0, 1], default=0.01
        Stop when the margin is proven to be at least ``1 - epsilon`` of the best one.
    C : float, default=1.0
        The price of a squared slack; ``float("inf")`` for the hard margin.
    algorithm : {"auto", "newton", "dcd", "pdm"}, default="auto"
        "auto" takes Newton's method or dual coordinate descent, whichever is likely to have less work: the first where
        features are few, the second for wide data and small C. For the hard margin it takes the perceptron with dynamic
        margin where there are more than 30 rows a feature and ``epsilon`` is at least 0.001, else dual coordinate
        descent.
    fit_intercept, intercept_scaling, class_weight, max_time, margin_floor : see PDMClassifier
        As in `PDMClassifier`.
    n_jobs, random_state, verbose : see PDMClassifier
        As in `PDMClassifier`.

    Attributes
    ----------
    algorithm_ : str
        What was chosen, and why.
    certificate_, certificates_, coef_, intercept_, classes_, n_updates_, n_iter_, history_, stop_reason_, support_
        As in `PDMClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dynmargin import MaxMarginClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> MaxMarginClassifier().fit(X, y).algorithm_.partition(":")[0]
    'newton'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: constraint
            for name, constraint in MarginClassifier._parameter_constraints.items()
            if name not in ("stop", "schedule", "max_updates")
        },
        "algorithm": [StrOptions({"auto", *ALGORITHMS})],
    }
    stop = "certificate"
    schedule = "fast"
    max_updates = None

    def __init__(
        self,
        epsilon: float = 0.01,
        *,
        C: float = 1.0,
        algorithm: str = "auto",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None,
        max_time: float | None = None,
        margin_floor: float = 1e-4,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.C = C
        self.algorithm = algorithm
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.max_time = max_time
        self.margin_floor = margin_floor
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _train(self, task: Task, plan: Plan) -> Outcome:
        name, reason = choose(task, plan.epsilon) if self.algorithm == "auto" else (self.algorithm, "as asked")
        if task.index == 0:  # the first class speaks for all, whichever thread is the last to end
            self.algorithm_ = f"{name}: {reason}"
        return find(name)(task, plan)
