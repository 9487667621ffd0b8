"""The price of slacks chosen by cross-validation, over one packed copy of the data."""

import time
from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.svm import LinearSVC
from sklearn.utils._param_validation import Interval, StrOptions

from .. import _core
from ..folds import Fold, train_folds
from ..matrix import as_matrix
from ..one_vs_rest import binary_problems, train_each
from ..outcome import Outcome
from .base import warn_caller
from .max_margin import MaxMarginClassifier
from .watching import visible_log


class PDMClassifierCV(MaxMarginClassifier):
    """Maximum-margin linear classifier, C chosen by cross-validation, with a certificate.

    The rows are packed once; a fold is the same packed rows without weight on those held out. All folds, Cs and classes
    are independent runs, in `n_jobs` threads, and the result is the same for any number of them.

    Parameters
    ----------
    Cs : int or array of float, default=10
        The values of C to try; a number stands for so many from 1e-4 to 100, evenly on a logarithmic scale.
    cv : int, splitter or iterable, default=5
        As everywhere in scikit-learn; a number stands for so many stratified folds.
    scoring : str, callable or None, default=None
        What is to be large on the rows held out; None for accuracy. Sample weights count in it.
    epsilon : float in (0, 1], default=0.01
        Every run stops when its margin is proven to be at least ``1 - epsilon`` of the best one.
    algorithm : {"auto", "newton", "dcd", "pdm"}, default="auto"
        As in `MaxMarginClassifier`.
    fit_intercept, intercept_scaling, class_weight, margin_floor, random_state, verbose : see PDMClassifier
        As in `PDMClassifier`.
    max_time : float or None, default=None
        Seconds for everything together, shared evenly by the runs.
    n_jobs : int or None, default=None
        Threads to run so many folds, Cs and classes at once, -1 for one a core.

    Attributes
    ----------
    C_ : float
        The C with the best mean score; the smallest of them when several have it.
    Cs_ : array of shape (n_Cs,)
        The values tried, in increasing order.
    scores_ : array of shape (n_folds, n_Cs)
        The score of every fold with every C.
    algorithm_, certificate_, certificates_, coef_, intercept_, classes_, n_updates_, n_iter_, history_, stop_reason_
        Of the final fit with ``C_`` on all rows, as in `MaxMarginClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dynmargin import PDMClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> classifier = PDMClassifierCV(Cs=[0.01, 1.0], random_state=0).fit(X, y)
    >>> classifier.scores_.shape, bool(classifier.certificate_.verify(X, y))
    ((5, 2), True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: constraint for name, constraint in MaxMarginClassifier._parameter_constraints.items() if name != "C"},
        "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
    }

    def __init__(
        self,
        Cs: int | ArrayLike = 10,
        *,
        cv: Any = 5,
        scoring: Any = None,
        epsilon: float = 0.01,
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
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.epsilon = epsilon
        self.algorithm = algorithm
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.max_time = max_time
        self.margin_floor = margin_floor
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def C(self) -> float:  # type: ignore[override]  # what was chosen stands in for what is a parameter elsewhere
        """The C of the model."""
        return self.C_

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Choose C by cross-validation, and train with it on all rows.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            float32 or float64, dense or CSR, is read as it is; anything else is converted first.
        y : array of shape (n_samples,)
            Labels; with more than two, each is trained against the rest.
        sample_weight : array of shape (n_samples,), optional
            A weight multiplies C for its row, and counts in the score when the row is held out.

        Returns
        -------
        self
            The fitted classifier.
        """
        started = time.perf_counter()
        X, y, classes, weight = self._validated(X, y, sample_weight)
        Cs = self._grid()
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y))
        folds = [self._fold(number, train, y, weight) for number, (train, _) in enumerate(splits)]
        rho = float(self.intercept_scaling) if self.fit_intercept else 0.0
        n_jobs = effective_n_jobs(self.n_jobs)
        plan = self._plan(started)
        matrix = as_matrix(X)
        with visible_log(self.verbose):
            rows = _core.pack(matrix)
            found = train_folds(matrix, rows, y, folds, Cs, rho, plan, self.max_time, self._train, n_jobs)
            scores = np.array(
                [
                    [self._score(fold.classes, outcomes, held_out, X, y, weight) for outcomes in by_C]
                    for fold, by_C, (_, held_out) in zip(folds, found, splits, strict=True)
                ]
            )
            best = float(Cs[np.argmax(scores.mean(axis=0))])
            problems = binary_problems(classes, best, self._class_weights(classes, y, weight), rho)
            final = train_each(matrix, y, weight, problems, plan, self.max_time, self._train, n_jobs, rows)
        self.C_, self.Cs_, self.scores_, self.classes_ = best, Cs, scores, classes
        runs = [outcome for by_C in found for outcomes in by_C for outcome in outcomes]
        if short := sum(outcome.shortfall() is not None for outcome in runs):
            warn_caller(f"{short} of {len(runs)} runs on folds ended above epsilon={self.epsilon:g}")
        self._publish(final, [problem.sides(y, weight) for problem in problems])
        return self

    def _grid(self) -> NDArray[np.float64]:
        """Give the Cs to try, in increasing order."""
        if isinstance(self.Cs, Integral):
            return np.logspace(-4, 2, int(self.Cs))
        Cs: NDArray[np.float64] = np.unique(np.asarray(self.Cs, dtype=np.float64))
        if Cs.ndim != 1 or len(Cs) == 0 or not (Cs > 0).all():
            raise ValueError(f"Cs must be positive, got {self.Cs!r}")
        return Cs

    def _fold(self, number: int, train: NDArray[np.int64], y: NDArray[Any], weight: NDArray[np.float64] | None) -> Fold:
        """State what a split trains on; a row that it names twice counts twice."""
        inside = np.bincount(np.arange(len(y))[train], minlength=len(y)).astype(np.float64)
        if weight is not None:
            inside *= weight
        classes = np.unique(y[inside > 0])
        if len(classes) < 2:
            raise ValueError(
                f"fold {number} leaves {len(classes)} class to train on; use fewer folds, or a splitter that stratifies"
            )
        kept = inside > 0
        weights = self._class_weights(classes, y[kept], inside[kept])
        return Fold(classes, weights, inside)

    def _score(
        self,
        classes: NDArray[Any],
        outcomes: list[Outcome],
        held_out: NDArray[np.int64],
        X: Any,
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
    ) -> float:
        model = LinearSVC()  # any linear classifier that scikit-learn's scorers know
        model.classes_, model.n_features_in_ = classes, X.shape[1]
        model.coef_ = np.array([outcome.certificate.weights for outcome in outcomes])
        model.intercept_ = np.array([outcome.certificate.intercept for outcome in outcomes])
        options = {} if weight is None else {"sample_weight": weight[held_out]}
        return float(check_scoring(model, self.scoring)(model, X[held_out], y[held_out], **options))
