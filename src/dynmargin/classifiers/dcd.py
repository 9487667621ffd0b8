"""Dual coordinate descent."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ..algorithms.dcd import train_dcd
from ..outcome import Outcome
from ..task import Task
from ..training import Plan
from .losses import TwoLosses


class DCDClassifier(TwoLosses):
    """Maximum-margin linear classifier by dual coordinate descent, LIBLINEAR's algorithm, with a certificate.

    It solves the problem of ``LinearSVC(loss="squared_hinge", penalty="l2")``, as `PDMClassifier` does, or with
    ``loss="hinge"`` that of ``LinearSVC(loss="hinge")``. The order in
    which rows are visited is not LIBLINEAR's: the rows whose visits gain most are visited most, which takes a
    fraction of the visits on wide text.

    Parameters
    ----------
    epsilon : float in (0, 1], default=0.01
        Stop when the margin is proven to be at least ``1 - epsilon`` of the best one.
    C : float, default=1.0
        The price of a squared slack (of a slack, for the hinge); ``float("inf")`` for the hard margin.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The 2-norm or the 1-norm soft margin. With the hinge the certificate is about the duality gap of that problem:
        ``dual >= (1 - epsilon)² primal``.
    stop : {"certificate", "convergence"}, default="certificate"
        Stop as soon as the gap is proven, or when LIBLINEAR's own rule with tolerance ``epsilon`` is met.
    fit_intercept, intercept_scaling, class_weight : see PDMClassifier
        As in `PDMClassifier`.
    max_time, max_updates, margin_floor, n_jobs, random_state, verbose : see PDMClassifier
        As in `PDMClassifier`; an update is a change of one dual weight.

    Attributes
    ----------
    certificate_, certificates_, coef_, intercept_, classes_, n_updates_, n_iter_, history_, support_
        As in `PDMClassifier`; the counts of a certificate are the dual weights, scaled and rounded to integers.
    stop_reason_ : str
        As in `PDMClassifier`, and "own rule" when that was met before ``epsilon`` was proven.
    dual_coef_ : array of shape (1, n_support) or (n_classes, n_support)
        Signed dual weights, scaled so that their product with the rows is about ``coef_``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dynmargin import DCDClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> classifier = DCDClassifier(random_state=0).fit(X, y)
    >>> bool(classifier.certificate_.verify(X, y))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: constraint for name, constraint in TwoLosses._parameter_constraints.items() if name != "schedule"
    }
    schedule = "fast"

    def __init__(
        self,
        epsilon: float = 0.01,
        *,
        C: float = 1.0,
        loss: str = "squared_hinge",
        stop: str = "certificate",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
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
        self.loss = loss
        self.stop = stop
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.max_time = max_time
        self.max_updates = max_updates
        self.margin_floor = margin_floor
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _train(self, task: Task, plan: Plan) -> Outcome:
        return train_dcd(task, plan)
