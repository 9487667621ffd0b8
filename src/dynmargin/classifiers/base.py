"""What all classifiers share: validation on the way in, fitted attributes on the way out, prediction."""

import inspect
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, TypeVar, cast

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..algorithms.registry import ALGORITHMS
from ..certificate.ball import Settled
from ..certificate.certificate import Certificate
from ..certificate.html import as_table
from ..data.dataset import Csr
from ..model.linear_model import LinearModel, Predictor
from ..problem.matrix import as_matrix, for_products, require_sound, stays_on_disk
from ..problem.packed import PackedProblem
from ..problem.problems import (
    Problem,
    Weights,
    distinct,
    require_two_classes,
    require_weight_in_every_class,
    state_problems,
)
from ..training.checkpoint import Checkpoint
from ..training.fit import Fit, Train, fit
from ..training.phases import pack
from ..training.request import LARGEST_COUNT, Request
from ..training.result import Check, Result, StopReason
from ..training.settling import fit_until_settled
from .callbacks import CallbackSupportMixin
from .documentation import PAGE
from .parameters import Parametrised, parameter, words
from .watch import Watch, visible_checks

# Parameters that do not decide the result of a run: a checkpoint does not depend on them. (The seed is compared.)
NOT_DECIDING = {
    "checkpoint",
    "checkpoint_every",
    "max_time",
    "n_jobs",
    "random_state",
    "verbose",
    "Cs",
    "cv",
    "scoring",
    "tolerance",
    "C_range",
    "max_fits",
}

ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "accept_large_sparse": True}

Method = TypeVar("Method", bound=Callable[..., Any])


def validated(method: Method) -> Method:
    """Check the parameters before a fit, as scikit-learn does; the type of the method is kept."""
    return cast(Method, _fit_context(prefer_skip_nested_validation=True)(method))


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


def draw_seed(random_state: Any) -> int:
    """Draw a seed for the core from whatever scikit-learn takes as a source of randomness."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


seed_of = lru_cache(draw_seed)  # a fresh generator takes longer to make than a small fit does to train


class Fitted:
    """The attributes of a fitted classifier, for type checkers."""

    classes_: NDArray[Any]
    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    n_features_in_: int
    n_updates_: int
    n_iter_: int
    history_: list[Check]
    stop_reason_: StopReason
    support_: NDArray[np.int64]
    dual_coef_: NDArray[np.float64]


class Proven:
    """What a fit proves, for type checkers; a classifier that also learns online has something else there."""

    certificate_: Certificate
    certificates_: list[Certificate]


class MarginClassifier(Fitted, Predictor, CallbackSupportMixin, ClassifierMixin, Parametrised, BaseEstimator):
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
        request, watch = self._request(started), None
        fit_problems = self._fitting(X, y, weight, problems, request, settle_on)
        train = self._train if request.checkpoint is None else request.checkpoint.around(self._train)
        if not self.verbose and not getattr(self, "_skl_callbacks", ()):
            fitted = fit_problems(request, train)
        else:
            watch = Watch(self, len(problems), classes, given)
            request = replace(request, watch=watch.see)
            labels = [str(label) for label in classes] if len(problems) > 1 else []
            with visible_checks(self.verbose, request.epsilon, labels, request.max_time) as watch.bar:
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, as a whole or not at all; `dynmargin.load` reads it.

        Parameters
        ----------
        path : path
            Where to write; by custom it ends with ``.npz``.
        """
        self._as_model().save(path)

    def _as_model(self) -> LinearModel:
        """Return the fitted model without scikit-learn."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return LinearModel(
            self.classes_,
            self.coef_,
            self.intercept_,
            bias=self.certificate_.problem.rho,
            certificates=tuple(found for found in self.certificates_ if isinstance(found, Certificate)),
            feature_names=None if names is None else np.asarray(names, dtype=np.str_),
            parameters={"estimator": type(self).__name__, **self.get_params(), "stop_reason": self.stop_reason_},
            history=tuple(getattr(self, "history_", ())),
        )

    def report(
        self,
        X: Any,
        y: Any,
        path: str | os.PathLike[str],
        *,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        """Write a page about the fitted model, for people who did not train it; it needs matplotlib.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or None
            The rows to show: those that it was trained on, or others. None for a page about the model alone.
        y : array of shape (n_samples,), or None
            Their labels; without them nothing is said about errors.
        path : path
            The HTML file to write. It needs no network.
        sample_weight : array of shape (n_samples,), optional
            The weights of the rows in training, if there were any: without them these are not the same data.
        feature_names : sequence of str, optional
            The names of the features, where the rows do not have them: those of a vectorizer, for example.

        Examples
        --------
        >>> import tempfile
        >>> from sklearn.datasets import load_breast_cancer
        >>> from dynmargin import MaxMarginClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> classifier = MaxMarginClassifier(random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     classifier.report(X, y, f"{folder}/report.html")
        """
        from ..report.page import write_report
        from ..report.subject import Origin

        model = self._as_model()
        rows = None if X is None else self._rows(X, reset=False)
        save = 'classifier.save("model.npz")  # by whoever has trained it'
        load = (
            'import dynmargin\nprint(dynmargin.load("model.npz").verify(X, y))  # with the data that it was trained on'
        )
        origin = Origin(type(self).__name__, "the data that were passed", (save, load))
        write_report(path, model, origin, rows, y, sample_weight, feature_names)

    def to_sklearn(self) -> Any:
        """Return the same model as a fitted ``sklearn.svm.LinearSVC``, for tools that know only that class (skl2onnx).

        Returns
        -------
        sklearn.svm.LinearSVC
            Its predictions are ours; what is proven about them does not come along.
        """
        from sklearn.svm import LinearSVC

        check_is_fitted(self)
        problem = self.certificate_.problem
        twin = LinearSVC(
            C=self._price(),
            loss=problem.loss,
            fit_intercept=problem.free_bias or problem.rho > 0,
            intercept_scaling=problem.rho if problem.rho > 0 else 1.0,
            class_weight=self.class_weight,
            multi_class="crammer_singer" if problem.joint else "ovr",
        )
        for name in ("classes_", "coef_", "intercept_", "n_iter_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(twin, name, getattr(self, name))
        return twin

    def history_frame(self) -> Any:
        """Return ``history_`` as a table.

        Returns
        -------
        pandas.DataFrame
            One row per check: time in seconds, passes, updates, margin, upper bound, gap, and the class that was
            trained against the rest ("all" for a joint margin).
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("history_frame needs pandas: pip install dynmargin[history]") from None
        check_is_fitted(self)
        frame = pandas.DataFrame(self.history_, columns=list(Check._fields))
        positive = np.array([certificate.problem.positive for certificate in self.certificates_])
        frame["gap"] = [check.gap for check in self.history_]
        frame["class"] = positive[frame.pop("problem")]
        return frame

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _get_params_html(self, *arguments: Any, **options: Any) -> Any:
        """Show the parameters as scikit-learn does and, after a fit, what is proven; in a pipeline, too."""
        shown = super()._get_params_html(*arguments, **options)
        if certificates := getattr(self, "certificates_", ()):
            parameters = shown._repr_html_inner
            shown._repr_html_inner = lambda: parameters() + as_table([found.row() for found in certificates])
        return shown

    def _linear(self, X: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.float64], NDArray[Any]]:
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        return for_products(X) if hasattr(X, "indptr") else X, self.coef_, self.intercept_, self.classes_

    def _settled(self) -> Settled:
        check_is_fitted(self)
        if not all(isinstance(certificate, Certificate) for certificate in self.certificates_):
            raise ValueError(
                "after partial_fit nothing is proven about the exact optimum yet; call certify(X, y) first"
            )
        return Settled(self.certificates_, self.coef_, self.intercept_)

    def _rows(self, X: Any, *y: Any, **options: Any) -> Any:
        """Let scikit-learn check rows, and labels if there are any."""
        if stays_on_disk(X):
            raise TypeError(
                f"{type(self).__name__} needs rows in memory, and these stay on the disk. MaxMarginClassifier trains "
                "on them, with algorithm='newton' or 'dcd' if you like; iterating over them gives a few at a time"
            )
        X = X.to_scipy() if isinstance(X, Csr) else X  # a block of rows on a disk
        require_sound(X)
        return validate_data(self, X, *y, **ROWS, **options)

    def _validated(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Any, NDArray[Any], NDArray[Any], Weights | None]:
        """Return rows, labels, the classes and the weights; what cannot be trained on is refused here."""
        X, y = self._rows(X, y)
        if y.dtype.kind == "O":  # what cannot be sorted is refused in words
            check_classification_targets(y)
        classes = distinct(y)
        if classes.dtype.kind == "f":  # may be no classes; three of each are as good as all of y, and quicker
            check_classification_targets(np.repeat(classes, 3))
        require_two_classes(classes)
        weight = self._row_weights(X, sample_weight)
        require_weight_in_every_class(classes, y, weight)
        return X, y, classes, weight

    def _row_weights(self, X: Any, sample_weight: ArrayLike | None) -> Weights | None:
        if sample_weight is None:
            return None
        weight: Weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        return weight

    def _request(self, started: float) -> Request:
        """State what is asked of every run; a parameter that the classifier does not have is at its default."""
        max_updates = getattr(self, "max_updates", None)
        checkpoint = self._open_checkpoint()
        seed = seed_of(self.random_state) if isinstance(self.random_state, Integral) else draw_seed(self.random_state)
        if checkpoint is not None and checkpoint.seed is not None and self.random_state is None:
            seed = checkpoint.seed
        return Request(
            epsilon=float(self.epsilon),
            stop=getattr(self, "stop", "certificate"),
            schedule=getattr(self, "schedule", "fast"),
            seed=seed,
            margin_floor=float(getattr(self, "margin_floor", 0.0)),
            max_updates=LARGEST_COUNT if max_updates is None else min(int(max_updates), LARGEST_COUNT),
            max_time=self.max_time,
            n_jobs=effective_n_jobs(self.n_jobs),  # 1 inside another parallel loop
            only_own_updates=bool(getattr(self, "warm_start", False)),
            started=started,
            warn=once(warn_caller),
            checkpoint=checkpoint,
        )

    def _open_checkpoint(self) -> Checkpoint | None:
        """Open the file to continue from, if one is named."""
        if self.checkpoint is None:
            return None
        if getattr(self, "warm_start", False):
            raise ValueError("a checkpoint does not hold what warm_start=True begins with; use one of the two")
        if getattr(self, "stop", "certificate") == "predictions":
            raise ValueError("a checkpoint belongs to one epsilon, and stop='predictions' has many; use one of the two")
        deciding = {name: value for name, value in self.get_params(deep=False).items() if name not in NOT_DECIDING}
        return Checkpoint(self.checkpoint, float(self.checkpoint_every), {"estimator": type(self).__name__, **deciding})

    def _train(self, problem: PackedProblem, request: Request) -> Result:
        """Train on one problem, with the options that the registry knows of the algorithm."""
        options = {name: getattr(self, name) for name in ALGORITHMS[self._algorithm].options}
        return type(self)._train_algorithm(problem, request, **options)

    def _price(self) -> float:
        """Return C."""
        return float(getattr(self, "C", 1.0))

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
        self._publish_support([result.dual_scale for result in fitted.results], problems, y, sample_weight)
        if message := fitted.shortfall:
            warn_caller(message)

    def _publish_support(
        self,
        scales: Sequence[float | None],
        problems: Sequence[Problem],
        y: NDArray[Any],
        sample_weight: Weights | None,
    ) -> None:
        """Set the rows with a count and their signed counts; `scales` are what a count is worth as a dual weight."""
        parts = [
            certificate.signed_counts(problem.sides(y, sample_weight))
            for certificate, problem in zip(self.certificates_, problems, strict=True)
        ]
        if len(parts) == 1:
            self.support_ = parts[0][0].copy()
        else:
            counted = np.zeros(len(y), dtype=bool)
            for rows, _ in parts:
                counted[rows] = True
            self.support_ = np.flatnonzero(counted)
        dual_coef = []
        for certificate, scale, (rows, signed) in zip(self.certificates_, scales, parts, strict=True):
            if scale is None:  # t / ‖a‖² scales a to the length of the optimum: a t / ‖a‖² = u / gamma_d there
                upper_bound = certificate.upper_bound
                scale = (
                    1 / (upper_bound * upper_bound * certificate.counts.data.sum()) if 0 < upper_bound < np.inf else 0.0
                )
            if len(parts) == 1:
                dual_coef.append(scale * signed)
            else:
                dual_coef.append(np.zeros((len(signed), len(self.support_))))
                dual_coef[-1][:, np.searchsorted(self.support_, rows)] = scale * signed
        self.dual_coef_ = np.vstack(dual_coef)
