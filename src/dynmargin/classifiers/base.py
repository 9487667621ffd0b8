"""What all classifiers share: validation, one task a class over the same packed rows, fitted attributes, prediction."""

import inspect
import os
import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..certificate import Certificate
from ..joint.certificate import JointCertificate
from ..matrix import as_matrix
from ..model import LinearModel
from ..one_vs_rest import binary_problems, require_weight_in_every_class, shortfall, train_each
from ..outcome import Outcome
from ..problem import BinaryProblem, distinct
from ..schedule import Schedule
from ..task import Task
from ..training import LARGEST_COUNT, Plan
from .callback_support import CallbackSupportMixin
from .reports import Reports
from .watching import Watch, visible_checks


def warn_caller(message: str) -> None:
    """Issue a ConvergenceWarning that points to the line that called `fit`, however deep it is called from."""
    level, frame = 2, inspect.currentframe()
    while (frame := frame and frame.f_back) and frame.f_globals.get("__name__", "").partition(".")[0] in (
        "dynmargin",
        "sklearn",
    ):
        level += 1
    warnings.warn(message, ConvergenceWarning, stacklevel=level)


def once(warn: Callable[[str], None]) -> Callable[[str], None]:
    """Let only the first of several warnings through."""
    pending = [warn]
    return lambda message: pending.pop()(message) if pending else None


class MarginClassifier(Reports, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Base of the classifiers that come with a certificate. Subclasses say how a two-class problem is trained."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "epsilon": [Interval(Real, 0, 1, closed="right")],
        "C": [Interval(Real, 0, np.inf, closed="right")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "stop": [StrOptions({"certificate", "convergence"})],
        "schedule": [StrOptions({"fast", "paper"}), Schedule],
        "max_time": [Interval(Real, 0, None, closed="neither"), None],
        "max_updates": [Interval(Integral, 1, None, closed="left"), None],
        "margin_floor": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    epsilon: float
    C: float
    fit_intercept: bool
    intercept_scaling: float
    class_weight: Mapping[Any, float] | str | None
    stop: Any
    schedule: str | Schedule
    max_time: float | None
    max_updates: int | None
    margin_floor: float
    n_jobs: int | None
    random_state: Any
    verbose: int

    @abstractmethod
    def _train(self, task: Task, plan: Plan) -> Outcome:
        """Train on one two-class problem."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Train until the certificate asked for is proven, or a limit is met.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            float32 or float64, dense or CSR, is read as it is; anything else is converted first.
        y : array of shape (n_samples,)
            Labels; with more than two, each is trained against the rest.
        sample_weight : array of shape (n_samples,), optional
            A weight multiplies C for its row: an integer weight is a repeated row, a row of weight zero is left out.

        Returns
        -------
        self
            The fitted classifier.
        """
        started = time.perf_counter()
        given = {"X": X, "y": y, "metadata": None if sample_weight is None else {"sample_weight": sample_weight}}
        X, y, classes, weight = self._validated(X, y, sample_weight)
        problems = self._problems(classes, y, weight)
        n_jobs = effective_n_jobs(self.n_jobs)  # 1 inside another parallel loop
        watch = Watch(self, len(problems), classes, given)
        plan = replace(self._plan(started), watch=watch.see)
        labels = [str(label) for label in classes] if len(problems) > 1 else []
        with visible_checks(self.verbose, plan.epsilon, labels) as watch.line:
            outcomes = train_each(
                as_matrix(X), y, weight, problems, plan, self.max_time, watch.around(self._train), n_jobs
            )
        self.classes_ = classes
        self._publish(outcomes, [problem.sides(y, weight) for problem in problems])
        watch.finish()
        return self

    def _validated(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[np.float64] | None]:
        """Give rows, labels, the classes and the weights; what cannot be trained on is refused here."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], accept_large_sparse=True)
        if y.dtype.kind == "O":  # what cannot be sorted is refused in words
            check_classification_targets(y)
        classes = distinct(y)
        if classes.dtype.kind == "f":  # may be no classes; three of each are as good as all of y, and quicker
            check_classification_targets(np.repeat(classes, 3))
        if len(classes) < 2:
            raise ValueError(f"the labels hold 1 class only ({classes[0]}); a classifier needs two or more")
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            require_weight_in_every_class(classes, y, weight)
        return X, y, classes, weight

    def _plan(self, started: float) -> Plan:
        """Say what is asked of every run of a fit."""
        return Plan(
            epsilon=float(self.epsilon),
            stop=self.stop,
            schedule=self.schedule,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            margin_floor=float(self.margin_floor),
            max_updates=LARGEST_COUNT if self.max_updates is None else min(int(self.max_updates), LARGEST_COUNT),
            started=started,
            warn=once(warn_caller),
            whole_run=bool(getattr(self, "warm_start", False)),
        )

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Signed scores: ``X @ coef_.T + intercept_``.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The rows to score.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            With two classes a positive score means ``classes_[1]``.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], accept_large_sparse=True, reset=False
        )
        scores: NDArray[np.float64] = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        array of shape (n_samples,)
            A label a row.
        """
        scores = self.decision_function(X)
        labels: NDArray[Any] = self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]
        return labels

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, as a whole or not at all; `dynmargin.load` reads it.

        Parameters
        ----------
        path : path
            Where to; by custom it ends with ``.npz``.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        parameters = {"estimator": type(self).__name__, **self.get_params(), "stop_reason": self.stop_reason_}
        LinearModel(
            self.classes_,
            self.coef_,
            self.intercept_,
            bias=self.certificate_.problem.rho,
            certificates=tuple(found for found in self.certificates_ if isinstance(found, Certificate)),
            feature_names=None if names is None else np.asarray(names, dtype=np.str_),
            parameters=parameters,
        ).save(path)

    def to_sklearn(self) -> Any:
        """Give the same model as a fitted ``sklearn.svm.LinearSVC``, for tools that know that class only (skl2onnx).

        Returns
        -------
        sklearn.svm.LinearSVC
            Its predictions are ours; what is proven about them does not come along.
        """
        from sklearn.svm import LinearSVC

        check_is_fitted(self)
        twin = LinearSVC(
            C=self.C,
            fit_intercept=self.fit_intercept,
            intercept_scaling=self.intercept_scaling,
            class_weight=self.class_weight,
            multi_class="crammer_singer" if isinstance(self.certificate_, JointCertificate) else "ovr",
        )
        for name in ("classes_", "coef_", "intercept_", "n_iter_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(twin, name, getattr(self, name))
        return twin

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _problems(
        self, classes: NDArray[Any], y: NDArray[Any], sample_weight: NDArray[np.float64] | None
    ) -> list[BinaryProblem]:
        """State the problems; a subclass may check its own parameters against them."""
        rho = float(self.intercept_scaling) if self.fit_intercept else 0.0
        return binary_problems(classes, float(self.C), self._class_weights(classes, y, sample_weight), rho)

    def _class_weights(
        self, classes: NDArray[Any], y: NDArray[Any], sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        if self.class_weight == "balanced":  # inversely to the weight of a class, a repeated row counting as often
            shares = np.bincount(np.searchsorted(classes, y), weights=sample_weight, minlength=len(classes))
            with np.errstate(divide="ignore"):
                weights: NDArray[np.float64] = shares.sum() / (len(classes) * shares)
            return np.where(shares > 0, weights, 1.0)
        if self.class_weight is None:
            return np.ones(len(classes))
        weights = compute_class_weight(self.class_weight, classes=classes, y=y)
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            raise ValueError(f"class_weight must be positive and finite, got {self.class_weight!r}")
        return weights

    def _publish(self, outcomes: list[Outcome], sides: list[NDArray[np.int8]]) -> None:
        self.certificates_ = [outcome.certificate for outcome in outcomes]
        worst = max(outcomes, key=lambda outcome: outcome.certificate.gap)
        self.certificate_ = worst.certificate
        self.stop_reason_ = worst.stop_reason
        self.coef_: NDArray[Any] = np.vstack([certificate.weights for certificate in self.certificates_])
        self.intercept_ = np.hstack([certificate.intercept for certificate in self.certificates_])
        self.n_updates_ = sum(outcome.updates for outcome in outcomes)
        self.n_iter_ = max(outcome.passes for outcome in outcomes)
        self.history_ = [check for outcome in outcomes for check in outcome.history]
        counted = np.zeros(len(sides[0]), dtype=bool)
        for certificate in self.certificates_:
            counted[certificate.counts.rows] = True
        self.support_ = np.flatnonzero(counted)
        dual_coef = []
        for outcome, side in zip(outcomes, sides, strict=True):
            certificate, scale = outcome.certificate, outcome.dual_scale
            if scale is None:  # t / ‖a‖² scales a to the length of the optimum: a t / ‖a‖² = u / gamma_d there
                upper_bound = certificate.upper_bound
                scale = 1 / (upper_bound**2 * certificate.counts.sum()) if upper_bound > 0 else 0.0
            dual_coef.append(scale * certificate.signed_counts(side, self.support_))
        self.dual_coef_ = np.vstack(dual_coef)
        if message := shortfall(outcomes, self.classes_):
            warn_caller(message)
