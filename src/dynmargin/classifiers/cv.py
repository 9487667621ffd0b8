"""The front door with the price of slacks chosen by cross-validation, over one packed copy of the data."""

import time
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.svm import LinearSVC
from sklearn.utils._param_validation import Interval

from ..path.error_curve import ErrorCurve
from ..path.held_out import hold_out
from ..path.search import SHARE_OF_SEARCH, Search
from ..problem.matrix import as_matrix, for_products
from ..problem.problems import Problem, Weights
from ..training.fit import Fit, fit
from ..training.folds import Fold, fit_folds
from ..training.phases import pack
from ..training.request import Request
from .c_path import without_repetitions
from .front_door import FrontDoor
from .parameters import parameter, validated, words
from .request import request_of
from .warn_caller import warn_caller
from .watch import visible_runs


class CrossValidated:
    """What a cross-validated fit leaves beside `Fitted`, for type checkers."""

    C_: float
    Cs_: NDArray[np.float64]
    scores_: NDArray[np.float64]
    curve_: ErrorCurve | None


MANY_CS = 10  # values of C, if nothing is said
TOLERANCE = 0.005
C_RANGE = (1e-3, 1e3)


class MaxMarginClassifierCV(CrossValidated, FrontDoor):
    """Maximum-margin linear classifier, C chosen by cross-validation, with a certificate.

    The rows are packed once; a fold is the same packed rows without weight on those held out. All folds, Cs and classes
    are independent runs, in `n_jobs` threads, and the result is the same for any number of them. ``max_time`` is shared
    evenly by all runs. The attributes are those of the final fit with ``C_`` on all rows.

    With a ``tolerance`` it does not try a list of values. It bounds the error of the exact optimum at every C of
    ``C_range``, trains where the bounds are not good enough, and ends when no C can have a cross-validation error lower
    than the chosen one's by more than the tolerance. See ``docs/choosing-c.md``.

    Parameters
    ----------
    verbose : int, default=0
        1 shows how many runs are done, in one moving line in a terminal or a notebook; 2 logs every check of the bounds
        to the logger "dynmargin".
    Cs : int in [1, inf) or array, default=10
        The values of C to try; an integer stands for that many from 1e-4 to 100, evenly on a logarithmic scale.
    cv : int, splitter or iterable, default=5
        As everywhere in scikit-learn; an integer stands for that many stratified folds.
    scoring : str, callable or None, default=None
        What should be large on the rows held out; None for accuracy. Sample weights count in it.
    tolerance : float in (0, 1) or None, default=None
        Search a range: no C in it may have a cross-validation error, that of all folds together, lower than the chosen
        one's by more than this, and that is proven. For the squared hinge and accuracy only. None tries ``Cs``, unless
        there is a ``C_range``; then it is 0.005.
    C_range : pair of float or None, default=None
        The range to search, instead of ``Cs``; with a ``tolerance``, None stands for (0.001, 1000).
    max_fits : int in [2, inf) or None, default=None
        The most values of C to train at in the search. When they are used up, or ``max_time`` is, ``curve_`` says what
        is proven.

    Attributes
    ----------
    C_ : float
        The C with the best mean score; the smallest of them when several have it. With a ``tolerance``, the one whose
        error has the smallest upper bound.
    Cs_ : array of shape (n_Cs,)
        The values tried, in increasing order.
    scores_ : array of shape (n_folds, n_Cs)
        The score of every fold with every C.
    curve_ : ErrorCurve or None
        With a ``tolerance``: the proven lower and upper bounds of the cross-validation error at every C.

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
    >>> search = MaxMarginClassifierCV(tolerance=0.03, C_range=(0.01, 10.0)).fit(X, y)
    >>> search.curve_.proven <= 0.03
    True
    """

    Cs: int | ArrayLike = parameter(default=MANY_CS, within=[Interval(Integral, 1, None, closed="left"), "array-like"])
    cv: Any = parameter(default=5, within=["cv_object"])
    scoring: Any = parameter(default=None, within=[words(*get_scorer_names()), callable, None])
    tolerance: float | None = parameter(default=None, within=[Interval(Real, 0, 1, closed="neither"), None])
    C_range: tuple[float, float] | None = parameter(default=None, within=["array-like", None])
    max_fits: int | None = parameter(default=None, within=[Interval(Integral, 2, None, closed="left"), None])

    @validated
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
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
        request = request_of(self, time.perf_counter())
        C_range = self._range()
        X, y, classes, weight = self._validated(X, y, sample_weight)
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y))
        if not splits:
            raise ValueError(f"cv={self.cv!r} makes no splits")
        folds = [Fold.of(number, train, y, weight) for number, (train, _) in enumerate(splits)]
        if C_range is not None:
            return self._search(C_range, X, y, classes, weight, folds, [held_out for _, held_out in splits], request)
        Cs = self._grid()
        matrix = as_matrix(X)

        def state_problems(fold: Fold, C: float) -> list[Problem]:
            kept = fold.weight > 0
            return self._problems_at(C, fold.classes, y[kept], fold.weight[kept])

        train = self._train if request.checkpoint is None else request.checkpoint.around(self._train)
        later = 1 if len(classes) == 2 else len(classes)
        total = later + len(Cs) * sum(1 if len(fold.classes) == 2 else len(fold.classes) for fold in folds)
        with visible_runs(self.verbose, total, self.max_time) as counted:
            rows, train = pack(matrix, request), counted(train)
            if request.checkpoint is not None:
                request.checkpoint.begin(rows, y, weight, request.seed)
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
        self.C_, self.Cs_, self.scores_, self.curve_, self.classes_ = best, Cs, scores, None, classes
        runs = [result for by_C in found for one in by_C for result in one.results]
        if short := sum(result.shortfall() is not None for result in runs):
            warn_caller(f"{short} of {len(runs)} runs on folds ended above epsilon={self.epsilon:g}")
        self._publish(final, problems, y, weight)
        return self

    def _search(
        self,
        C_range: tuple[float, float],
        X: Any,
        y: NDArray[Any],
        classes: NDArray[Any],
        weight: Weights | None,
        folds: Sequence[Fold],
        held_out: Sequence[NDArray[np.int64]],
        request: Request,
    ) -> Self:
        """Choose C with a proof for the whole range, and train with it on all rows."""
        X = without_repetitions(for_products(X) if hasattr(X, "indptr") else X)
        matrix = as_matrix(X)
        train = self._train if request.checkpoint is None else request.checkpoint.around(self._train)

        def state_problems(fold: Fold) -> list[Problem]:
            kept = fold.weight > 0
            return self._problems_at(1.0, fold.classes, y[kept], fold.weight[kept])

        with visible_runs(self.verbose, None, self.max_time) as counted:
            rows, train = pack(matrix, request), counted(train)
            judged = hold_out(matrix, rows, (X, y, weight), list(zip(folds, held_out, strict=True)), state_problems)
            deadline = np.inf if request.max_time is None else request.started + SHARE_OF_SEARCH * request.max_time
            tolerance = TOLERANCE if self.tolerance is None else float(self.tolerance)
            search = Search(judged, *C_range, tolerance, self.max_fits, deadline, request.n_jobs)
            curve = search.run()
            problems = self._problems_at(curve.C, classes, y, weight)
            final = fit(matrix, y, weight, problems, request, train, rows)
        self.C_, self.Cs_, self.curve_, self.classes_ = curve.C, curve.Cs, curve, classes
        self.scores_ = np.array(
            [[fold.score(found[f]) for found in search.in_order()] for f, fold in enumerate(judged)]
        )
        if curve.ended != "tolerance":
            warn_caller(str(curve))
        self._publish(final, problems, y, weight)
        return self

    def _range(self) -> tuple[float, float] | None:
        """Return the range to search, None where a list of Cs is to be tried; refuse what cannot be searched."""
        if self.tolerance is None and self.C_range is None:
            if self.max_fits is not None:
                raise ValueError("max_fits limits a search; give a tolerance or a C_range too")
            return None
        if not (isinstance(self.Cs, Integral) and self.Cs == MANY_CS):
            raise ValueError("Cs and C_range or tolerance cannot be combined: a list is tried, a range is searched")
        if self.scoring not in (None, "accuracy"):
            raise ValueError(f"a tolerance is proven for accuracy only, not for scoring={self.scoring!r}")
        if self.loss != "squared_hinge":
            raise ValueError(f"a tolerance is proven for loss='squared_hinge' only, not for {self.loss!r}")
        found = np.asarray(C_RANGE if self.C_range is None else self.C_range)
        if found.shape != (2,) or found.dtype.kind not in "fiu" or not 0 < found[0] < found[1] < np.inf:
            raise ValueError(f"C_range must be two positive numbers, the smaller one first, got {self.C_range!r}")
        return float(found[0]), float(found[1])

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
