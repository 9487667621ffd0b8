"""PDM and PDM-succ, the perceptron with dynamic margin."""

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Hidden, Interval, StrOptions

from ..algorithms.pdm import train_pdm
from ..joint.problem import JointProblem
from ..online import Stream
from ..outcome import Outcome
from ..problem import BinaryProblem
from ..schedule import Schedule
from ..task import Task
from ..training import Plan
from .online import OnlineClassifier


class PDMClassifier(OnlineClassifier):
    """Maximum-margin linear classifier by the perceptron with dynamic margin, with a proof of how good it is.

    It solves the problem of ``LinearSVC(loss="squared_hinge", penalty="l2")`` with the same ``C`` and the same
    regularised intercept. One number is asked for, how close to the best possible margin the result must be proven to
    be; there are no iterations, learning rates or tolerances to set. The weights handed out are the best seen at a
    check: a combination of PDM's weights, their recent average and the bias, at the scale that is best for LinearSVC's
    objective.

    Parameters
    ----------
    epsilon : float in (0, 1], default=0.01
        Stop when the margin is proven to be at least ``1 - epsilon`` of the best one.
    C : float, default=1.0
        The price of a squared slack; ``float("inf")`` for the hard margin.
    eta : float > 1 or None, default=None
        Divide the accuracy by ``eta`` in successive runs, from 1/2 down to the one needed (PDM-succ; the paper takes
        8); None for one run.
    fit_intercept : bool, default=True
        Whether to add a constant feature.
    intercept_scaling : float, default=1.0
        The value of that feature: the paper's rho. A larger one regularises the intercept less.
    class_weight : dict, "balanced" or None, default=None
        Multiplies ``C`` by class, as in LinearSVC.
    multi_class : {"ovr", "joint"}, default="ovr"
        With more than two classes: train each against the rest, with a certificate for each, or all at once for the
        joint margin, the smallest difference between the score of a row's own class and that of any other (Crammer and
        Singer's problem, with squared slacks), with one certificate for the whole. A joint fit is one problem:
        ``n_jobs`` has no meaning for it, and neither `partial_fit` nor ``warm_start`` is to be had. With two classes
        both are the same.
    stop : {"certificate", "convergence"}, default="certificate"
        Stop as soon as the gap is proven, or, as in the paper, when a full pass finds no pattern misclassified.
    schedule : {"fast", "paper"} or Schedule, default="fast"
        The order in which patterns are presented.
    max_time : float or None, default=None
        Seconds after which to stop with what has been reached.
    max_updates : int or None, default=None
        Updates, for each class, after which to stop with what has been reached.
    margin_floor : float, default=1e-4
        With ``C=inf``: give up when no margin above this fraction of the longest pattern can exist.
    n_jobs : int or None, default=None
        Threads to train so many classes at once, -1 for one a core; the result is the same for any number. Ignored
        with ``multi_class="joint"``.
    warm_start : bool, default=False
        Begin a fit with the counts of the previous `fit` or `partial_fit`, as far as their rows are still there. Rows
        are recognised by a digest of their values and their side, wherever they stand; counts of rows that have
        changed, changed sides or are gone are dropped. With more rows this is what PDM would do that had been presented
        the old ones first. With a smaller ``epsilon`` it is what PDM-succ does: whatever was misclassified under the
        larger one is under the smaller one too, so every update made so far satisfies the condition of the new run
        (Section 3 of the paper). Whatever it begins with, the certificate is proven from the data of the present fit
        alone. ``n_updates_`` counts the updates taken over too, ``max_updates`` does not. A `fit` keeps what a later
        `fit` or `partial_fit` needs to go on from it only if this is True.
    keep_counts : bool, default=True
        Whether `partial_fit` remembers which rows have a count: 16 bytes for each of them, its only memory that grows.
        Without it the upper bound of `partial_fit` is as true as with it, but `warm_start` has nothing to go on from,
        and `certify` takes counts from the slacks of the rows that it is given instead; for the hard margin, which has
        no slacks, it then proves no upper bound.
    random_state : int, RandomState or None, default=None
        Seeds the order of presentation; the same seed gives the same result bit for bit.
    verbose : int, default=0
        1 shows a progress line in a terminal or a notebook (with rich), and log lines elsewhere; 2 logs every check of
        the bounds to the logger "dynmargin".

    Attributes
    ----------
    certificate_ : Certificate, JointCertificate or OnlineCertificate
        What is proven about the model; with more than two classes the one with the largest gap. After `partial_fit`
        an `OnlineCertificate`: an upper bound for all rows seen, a margin only for those of the last call.
    certificates_ : list of Certificate, JointCertificate or OnlineCertificate
        One a class, or a single one for two classes or all at once.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        The weights.
    intercept_ : array of shape (1,) or (n_classes,)
        The intercepts.
    classes_ : array
        The labels.
    n_updates_ : int
        Updates made, over all classes.
    n_iter_ : int
        Passes over the full data, the most for any class.
    history_ : list of Check
        Time, passes, updates, margin and upper bound at each check.
    stop_reason_ : str
        "certificate", "converged", "inseparable", "stalled", "max_updates", "max_time", "interrupted" or
        "callback"; "online" after `partial_fit`.
    support_ : array of int
        The rows with a count. Not after `partial_fit`, like the next one.
    dual_coef_ : array of shape (1, n_support) or (n_classes, n_support)
        Signed counts, scaled so that their product with the rows is about ``coef_``.
    n_samples_seen_ : int
        Rows presented by `partial_fit`, those of a `fit` before it included.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dynmargin import PDMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> classifier = PDMClassifier(epsilon=0.01, random_state=0).fit(X, y)
    >>> classifier.certificate_.achieved
    True
    >>> bool(classifier.certificate_.verify(X, y))
    True

    All classes at once, and what is proven about them together:

    >>> from sklearn.datasets import load_iris
    >>> X3, y3 = load_iris(return_X_y=True)
    >>> joint = PDMClassifier(multi_class="joint", random_state=0).fit(X3, y3)
    >>> joint.coef_.shape, bool(joint.certificate_.verify(X3, y3))
    ((3, 4), True)

    Rows that pass by, and what is proven when they have:

    >>> stream = PDMClassifier()
    >>> for begin in range(0, len(X), 100):
    ...     rows = slice(begin, begin + 100)
    ...     stream = stream.partial_fit(X[rows], y[rows], classes=[0, 1])
    >>> stream.n_samples_seen_
    569
    >>> bool(stream.certify(X, y).verify(X, y))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **OnlineClassifier._parameter_constraints,
        "eta": [Interval(Real, 1, None, closed="neither"), None],
        "multi_class": [StrOptions({"ovr", "joint"}), Hidden(StrOptions({"crammer_singer"}))],
    }

    def __init__(
        self,
        epsilon: float = 0.01,
        *,
        C: float = 1.0,
        eta: float | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None,
        multi_class: str = "ovr",
        stop: str = "certificate",
        schedule: str | Schedule = "fast",
        max_time: float | None = None,
        max_updates: int | None = None,
        margin_floor: float = 1e-4,
        n_jobs: int | None = None,
        warm_start: bool = False,
        keep_counts: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.C = C
        self.eta = eta
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.stop = stop
        self.schedule = schedule
        self.max_time = max_time
        self.max_updates = max_updates
        self.margin_floor = margin_floor
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.keep_counts = keep_counts
        self.random_state = random_state
        self.verbose = verbose

    def _problems(
        self, classes: NDArray[Any], y: NDArray[Any], sample_weight: NDArray[np.float64] | None
    ) -> list[BinaryProblem]:
        if self.multi_class == "crammer_singer":
            raise ValueError(
                "multi_class='crammer_singer' is LinearSVC's name; use multi_class='joint': the same margin, with "
                "squared slacks"
            )
        if self.multi_class == "ovr" or len(classes) == 2:
            return super()._problems(classes, y, sample_weight)
        if self.warm_start:
            raise ValueError("warm_start=True needs multi_class='ovr'")
        rho = float(self.intercept_scaling) if self.fit_intercept else 0.0
        weights = self._class_weights(classes, y, sample_weight)
        return [JointProblem.of(classes, float(self.C), weights, rho)]  # type: ignore[list-item]  # stands in for one

    def _train(self, task: Task, plan: Plan) -> Outcome:
        outcome = train_pdm(task, plan, eta=self.eta, start=self._start(task))
        if not self.warm_start:
            return outcome
        return replace(outcome, stream=Stream.after(task, outcome.certificate))
