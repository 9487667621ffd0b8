"""The front door with the price of slacks chosen by cross-validation, over one packed copy of the data."""

import time
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.svm import LinearSVC
from sklearn.utils._param_validation import Interval

from .. import _core
from ..problem.matrix import as_matrix
from ..problem.problems import Problem, Weights
from ..training.fit import Fit, fit
from ..training.folds import Fold, fit_folds
from .base import validated, warn_caller
from .front_door import FrontDoor
from .parameters import parameter, words
from .watch import visible_log


class CrossValidated:
    """What a cross-validated fit leaves beside `Fitted`, for type checkers."""

    C_: float
    Cs_: NDArray[np.float64]
    scores_: NDArray[np.float64]


class MaxMarginClassifierCV(CrossValidated, FrontDoor):
    """Maximum-margin linear classifier, C chosen by cross-validation, with a certificate.

    The rows are packed once; a fold is the same packed rows without weight on those held out. All folds, Cs and classes
    are independent runs, in `n_jobs` threads, and the result is the same for any number of them. ``max_time`` is shared
    evenly by all runs. The attributes are those of the final fit with ``C_`` on all rows.

    Parameters
    ----------
    verbose : int, default=0
        1 or more logs every check of the bounds to the logger "dynmargin".
    Cs : int in [1, inf) or array, default=10
        The values of C to try; an integer stands for that many from 1e-4 to 100, evenly on a logarithmic scale.
    cv : int, splitter or iterable, default=5
        As everywhere in scikit-learn; an integer stands for that many stratified folds.
    scoring : str, callable or None, default=None
        What should be large on the rows held out; None for accuracy. Sample weights count in it.

    Attributes
    ----------
    C_ : float
        The C with the best mean score; the smallest of them when several have it.
    Cs_ : array of shape (n_Cs,)
        The values tried, in increasing order.
    scores_ : array of shape (n_folds, n_Cs)
        The score of every fold with every C.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dynmargin import MaxMarginClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> classifier = MaxMarginClassifierCV(Cs=[0.01, 1.0], random_state=0).fit(X, y)
    >>> classifier.scores_.shape, bool(classifier.certificate_.verify(X, y))
    ((5, 2), True)
    """

    Cs: int | ArrayLike = parameter(default=10, within=[Interval(Integral, 1, None, closed="left"), "array-like"])
    cv: Any = parameter(default=5, within=["cv_object"])
    scoring: Any = parameter(default=None, within=[words(*get_scorer_names()), callable, None])

    @validated
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
        request = self._request(time.perf_counter())
        X, y, classes, weight = self._validated(X, y, sample_weight)
        Cs = self._grid()
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y))
        if not splits:
            raise ValueError(f"cv={self.cv!r} makes no splits")
        folds = [Fold.of(number, train, y, weight) for number, (train, _) in enumerate(splits)]
        matrix = as_matrix(X)

        def state_problems(fold: Fold, C: float) -> list[Problem]:
            kept = fold.weight > 0
            return self._problems_at(C, fold.classes, y[kept], fold.weight[kept])

        train = self._train if request.checkpoint is None else request.checkpoint.around(self._train)
        with visible_log(self.verbose):
            rows = _core.pack(matrix)
            if request.checkpoint is not None:
                request.checkpoint.begin(rows, y, weight, request.seed)
            later = 1 if len(classes) == 2 else len(classes)
            found = fit_folds(matrix, rows, y, folds, Cs.tolist(), state_problems, request, train, later)
            scores = np.array(
                [
                    [self._score(fold, one, held_out, X, y, weight) for one in by_C]
                    for fold, by_C, (_, held_out) in zip(folds, found, splits, strict=True)
                ]
            )
            best = float(Cs[np.argmax(scores.mean(axis=0))])
            problems = self._problems_at(best, classes, y, weight)
            final = fit(matrix, y, weight, problems, request, train, rows)
        self.C_, self.Cs_, self.scores_, self.classes_ = best, Cs, scores, classes
        runs = [result for by_C in found for one in by_C for result in one.results]
        if short := sum(result.shortfall() is not None for result in runs):
            warn_caller(f"{short} of {len(runs)} runs on folds ended above epsilon={self.epsilon:g}")
        self._publish(final, problems, y, weight)
        return self

    def _price(self) -> float:
        return self.C_

    def _grid(self) -> NDArray[np.float64]:
        """Return the Cs to try, in increasing order."""
        if isinstance(self.Cs, Integral):
            return np.logspace(-4, 2, int(self.Cs))
        Cs: NDArray[np.float64] = np.unique(np.asarray(self.Cs, dtype=np.float64))
        if np.ndim(self.Cs) != 1 or len(Cs) == 0 or not (Cs > 0).all():
            raise ValueError(f"Cs must be positive numbers in one list, got {self.Cs!r}")
        return Cs

    def _score(
        self, fold: Fold, found: Fit, held_out: NDArray[np.int64], X: Any, y: NDArray[Any], weight: Weights | None
    ) -> float:
        model = LinearSVC()  # any linear classifier that scikit-learn's scorers know
        model.classes_, model.n_features_in_ = fold.classes, X.shape[1]
        model.coef_, model.intercept_ = found.coef, found.intercept
        options = {} if weight is None else {"sample_weight": weight[held_out]}
        return float(check_scoring(model, self.scoring)(model, X[held_out], y[held_out], **options))
