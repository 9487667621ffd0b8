"""The base of all classifiers: parameters, the problems that they state, fits, and what a fit leaves behind."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import Interval

from ..algorithms.registry import ALGORITHMS
from ..problem.matrix import as_matrix
from ..problem.packed import PackedProblem
from ..problem.problems import Problem, Weights, state_problems
from ..training.fit import Fit, Train, fit
from ..training.phases import pack
from ..training.request import Request
from ..training.result import Result
from ..training.settling import fit_until_settled
from .callbacks import CallbackSupportMixin
from .documentation import PAGE
from .fitted import FittedClassifier
from .parameters import Parametrised, parameter, validated, words
from .request import request_of
from .support import support_of
from .warn_caller import warn_caller
from .watch import Watch, visible_checks


class MarginClassifier(FittedClassifier, CallbackSupportMixin, Parametrised, BaseEstimator):
    """Base of the classifiers that come with a certificate; a subclass names its algorithm.

    Parameters
    ----------
    epsilon : float in (0, 1], default=0.01
        Stop when the margin is proven to be at least ``1 - epsilon`` of the best one.
    class_weight : dict, "balanced" or None, default=None
        Multiplies ``C`` by class, as in LinearSVC.
    max_time : float or None, default=None
        Seconds from the start after which to stop with what has been reached; an error if that is nothing yet.
    n_jobs : int or None, default=None
        How many threads to use; -1 for all cores. They train several classes at once, or share the passes over the
        rows of one problem. The result is the same for any number.
    random_state : int, RandomState or None, default=None
        Seeds the order of presentation; the same seed gives the same result bit for bit.
    verbose : int, default=0
        1 shows a progress bar in a terminal or a notebook (with rich), and log lines elsewhere; 2 logs every check
        of the bounds to the logger "dynmargin".
    checkpoint : path or None, default=None
        A file for snapshots of a `fit`. If it is there, the fit continues from it, and ends with the model of a fit
        that was never disturbed, bit for bit. A fit that was interrupted or met ``max_time`` continues too; one that
        is complete is not repeated. A file that belongs to other data or other parameters is an error; without a
        ``random_state`` the seed is that of the file.
    checkpoint_every : float in (0, inf), default=60.0
        Seconds between two snapshots; they take at most 2 % of the time.

    Attributes
    ----------
    certificate_ : Certificate
        What is proven about the model; with more than two classes the one with the largest gap.
    certificates_ : list of Certificate
        One per class, or a single one for two classes.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        The weights.
    intercept_ : array of shape (1,) or (n_classes,)
        The intercepts.
    classes_ : array
        The labels.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features, where all of them are text.
    n_updates_ : int
        Updates made, over all classes.
    n_iter_ : int
        Passes over the full data, the most for any class.
    history_ : list of Check
        Time, passes, updates, margin and upper bound at each check.
    stop_reason_ : str
        Why the training ended: "certificate", "predictions" (enough of them are settled), "converged", "own_rule"
        (the algorithm's own rule was satisfied before ``epsilon`` was proven), "inseparable", "infeasible", "stalled",
        "max_updates", "max_time", "interrupted" or "callback".
    support_ : array of int
        The rows with a count.
    dual_coef_ : array of shape (1, n_support) or (n_classes, n_support)
        Signed counts, scaled so that their product with the rows approaches ``coef_`` as the gap closes.
    """

    _doc_link_module: ClassVar[str] = "dynmargin"
    _doc_link_template: ClassVar[str] = PAGE

    _algorithm: ClassVar[str]  # its name in the registry
    _train_algorithm: ClassVar[Callable[..., Result]]

    epsilon: float = parameter(default=0.01, within=[Interval(Real, 0, 1, closed="right")], kw_only=False)
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = parameter(
        default=None, within=[dict, words("balanced"), None]
    )
    max_time: float | None = parameter(default=None, within=[Interval(Real, 0, None, closed="neither"), None])
    n_jobs: int | None = parameter(
        default=None,
        within=[Interval(Integral, None, -1, closed="right"), Interval(Integral, 1, None, closed="left"), None],
    )
    random_state: int | np.random.RandomState | None = parameter(default=None, within=["random_state"])
    verbose: int = parameter(default=0, within=["verbose"])
    checkpoint: str | os.PathLike[str] | None = parameter(default=None, within=[str, os.PathLike, None])
    checkpoint_every: float = parameter(default=60.0, within=[Interval(Real, 0, None, closed="neither")])

    def __init_subclass__(cls, **options: Any) -> None:
        if name := cls.__dict__.get("_algorithm"):
            cls._train_algorithm = staticmethod(ALGORITHMS[name].load())
        super().__init_subclass__(**options)

    @validated
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
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
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None, settle_on: Any = None) -> Self:
        started = time.perf_counter()
        given = {"X": X, "y": y, "metadata": None if sample_weight is None else {"sample_weight": sample_weight}}
        X, y, classes, weight = self._validated(X, y, sample_weight)
        problems = self._problems(classes, y, weight)
        request, watch = request_of(self, started), None
        fit_problems = self._fitting(X, y, weight, problems, request, settle_on)
        train = self._train if request.checkpoint is None else request.checkpoint.around(self._train)
        if not self.verbose and not getattr(self, "_skl_callbacks", ()):
            fitted = fit_problems(request, train)
        else:
            watch = Watch(self, len(problems), classes, given)
            request = replace(request, watch=watch.see)
            labels = [str(label) for label in classes] if len(problems) > 1 else []
            shown = {"steady": ALGORITHMS[self._algorithm].steady}
            with visible_checks(self.verbose, request.epsilon, labels, request.max_time, **shown) as watch.bar:
                fitted = fit_problems(request, watch.around(train))
        self.classes_ = classes
        self._publish(fitted, problems, y, weight)
        if watch is not None:
            watch.finish()
        return self

    def _fitting(
        self,
        X: Any,
        y: NDArray[Any],
        weight: Weights | None,
        problems: Sequence[Problem],
        request: Request,
        settle_on: Any,
    ) -> Callable[[Request, Train], Fit]:
        """Return how to train on the problems: to a proven gap, or until rows are settled."""
        matrix = as_matrix(X)
        if request.stop != "predictions":
            if settle_on is not None:
                raise ValueError("settle_on names the rows that are to be settled; it needs stop='predictions'")
            return lambda asked, train: fit(matrix, y, weight, problems, asked, train)
        trained_on = X if weight is None else X[weight != 0]
        rows = trained_on if settle_on is None else self._rows(settle_on, reset=False)
        packed = pack(matrix, request)

        def to_gap(asked: Request, train: Train) -> Fit:
            return fit(matrix, y, weight, problems, asked, train, packed)

        share = float(getattr(self, "settle", 1.0))
        others = settle_on is not None
        return lambda asked, train: fit_until_settled(to_gap, asked, train, lambda of: of(rows), share, others=others)

    def _train(self, problem: PackedProblem, request: Request) -> Result:
        """Train on one problem, with the options that the registry knows of the algorithm."""
        options = {name: getattr(self, name) for name in ALGORITHMS[self._algorithm].options}
        return type(self)._train_algorithm(problem, request, **options)

    def _problems(self, classes: NDArray[Any], y: NDArray[Any], sample_weight: Weights | None) -> list[Problem]:
        """State the problems; a subclass may check its own parameters against them."""
        return self._problems_at(self._price(), classes, y, sample_weight)

    def _problems_at(
        self, C: float, classes: NDArray[Any], y: NDArray[Any], sample_weight: Weights | None
    ) -> list[Problem]:
        return state_problems(
            classes,
            C,
            self._class_weights(classes, y, sample_weight),
            rho=float(getattr(self, "intercept_scaling", 1.0)) if getattr(self, "fit_intercept", True) else 0.0,
            loss=getattr(self, "loss", "squared_hinge"),
            free_bias=ALGORITHMS[self._algorithm].free_bias,
            joint=getattr(self, "multi_class", "ovr") == "joint",
        )

    def _class_weights(self, classes: NDArray[Any], y: NDArray[Any], sample_weight: Weights | None) -> Weights:
        if self.class_weight == "balanced":  # inversely to the weight of a class; a repeated row counts as often
            shares = np.bincount(np.searchsorted(classes, y), weights=sample_weight, minlength=len(classes))
            with np.errstate(divide="ignore"):
                weights: Weights = shares.sum() / (len(classes) * shares)
            return np.where(shares > 0, weights, 1.0)
        if self.class_weight is None:
            return np.ones(len(classes))
        weights = compute_class_weight(self.class_weight, classes=classes, y=y)
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            raise ValueError(f"class_weight must be positive and finite, got {self.class_weight!r}")
        return weights

    def _publish(
        self, fitted: Fit, problems: Sequence[Problem], y: NDArray[Any], sample_weight: Weights | None
    ) -> None:
        worst = fitted.worst
        self.certificates_: Any = fitted.certificates
        self.certificate_: Any = worst.certificate
        self.stop_reason_ = worst.stop_reason
        self.coef_, self.intercept_ = fitted.coef, fitted.intercept
        self.n_updates_, self.n_iter_ = fitted.updates, fitted.passes
        self.history_ = fitted.history
        scales = [result.dual_scale for result in fitted.results]
        self.support_, self.dual_coef_ = support_of(fitted.certificates, scales, problems, y, sample_weight)
        if message := fitted.shortfall:
            warn_caller(message)
