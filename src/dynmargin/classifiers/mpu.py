"""The margin perceptron with unlearning."""

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from ..algorithms.mpu import train_mpu
from ..outcome import Outcome
from ..task import Task
from ..training import Plan
from .losses import TwoLosses


class MPUClassifier(TwoLosses):
    """Maximum-margin linear classifier by the margin perceptron with unlearning, with a certificate.

    The perceptron with margin also takes back what it has learned of patterns that are right by far, which makes it
    converge to the maximum margin. Its paper was not at hand: the rule is our derivation, with the properties that
    could be read of it. It solves the problem of ``LinearSVC(loss="squared_hinge", penalty="l2")``, as `PDMClassifier`
    does, or with ``loss="hinge"`` that of ``LinearSVC(loss="hinge")``.

    Parameters
    ----------
    epsilon : float in (0, 1], default=0.01
        Stop when the margin is proven to be at least ``1 - epsilon`` of the best one; the threshold of learning is set
        so that the rule itself guarantees this.
    C : float, default=1.0
        The price of a squared slack (of a slack, for the hinge); ``float("inf")`` for the hard margin.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The 2-norm or the 1-norm soft margin. With the hinge the certificate is about the duality gap of that problem:
        ``dual >= (1 - epsilon)² primal``.
    gap : float > 1, default=3.0
        The distance between the thresholds of learning and unlearning, in units of R², the squared length of the
        longest pattern.
    stop : {"certificate", "convergence"}, default="certificate"
        Stop as soon as the gap is proven, or when a full pass finds nothing to learn or unlearn.
    schedule : {"fast", "paper"}, default="fast"
        The order of visits: where a visit gains most, or two active sets of five rounds each.
    fit_intercept, intercept_scaling, class_weight : see PDMClassifier
        As in `PDMClassifier`.
    max_time, max_updates, margin_floor, n_jobs, random_state, verbose : see PDMClassifier
        As in `PDMClassifier`; learning or unlearning a pattern once is an update.

    Attributes
    ----------
    certificate_, certificates_, coef_, intercept_, classes_, n_updates_, n_iter_, history_, support_
        As in `PDMClassifier`; a count is how often a pattern was learned and not unlearned again.
    stop_reason_ : str
        As in `PDMClassifier`, and "own rule" when that was met before ``epsilon`` was proven.
    dual_coef_ : array of shape (1, n_support) or (n_classes, n_support)
        Signed counts, scaled so that their product with the rows is about ``coef_``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dynmargin import MPUClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> classifier = MPUClassifier(random_state=0).fit(X, y)
    >>> bool(classifier.certificate_.verify(X, y))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TwoLosses._parameter_constraints,
        "gap": [Interval(Real, 1, None, closed="neither")],
        "schedule": [StrOptions({"fast", "paper"})],
    }

    def __init__(
        self,
        epsilon: float = 0.01,
        *,
        C: float = 1.0,
        loss: str = "squared_hinge",
        gap: float = 3.0,
        stop: str = "certificate",
        schedule: str = "fast",
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
        self.gap = gap
        self.stop = stop
        self.schedule = schedule
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
        return train_mpu(task, plan, gap=float(self.gap))
