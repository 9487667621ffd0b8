"""A path of models over C, from data as scikit-learn knows them."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from ..path.c_path import CPath
from ..path.objective import Objective
from ..problem.matrix import as_matrix
from ..problem.problems import BinaryProblem
from .newton import NewtonClassifier


def c_path(
    X: Any,
    y: Any,
    C_low: float = 1e-3,
    C_high: float = 1e3,
    epsilon: float = 0.01,
    *,
    sample_weight: ArrayLike | None = None,
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
    fit_intercept: bool = True,
    intercept_scaling: float = 1.0,
) -> CPath:
    """Train models such that at every C of a range a gap of at most epsilon is proven.

    Weights and counts stay witnesses when C changes, so every fit proves something about a range around its own C, and
    so does a combination of two neighbouring fits. Where these ranges leave a hole, it trains another model, from a
    combination of its neighbours. How that works is in ``docs/choosing-c.md``.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Labels; with more than two, each is trained against the rest.
    C_low, C_high : float, default=0.001 and 1000
        The range of C.
    epsilon : float in (0, 1], default=0.01
        The gap that is to hold at every C of the range.
    sample_weight : array of shape (n_samples,), optional
        A weight multiplies C for its row.
    class_weight : dict, "balanced" or None, default=None
        Multiplies C by class.
    fit_intercept : bool, default=True
        Whether to add a constant feature.
    intercept_scaling : float, default=1.0
        The value of that feature.

    Returns
    -------
    CPath
        Its method ``at(C)`` gives the model for any C of the range, with a certificate.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dynmargin import c_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> path = c_path(X, y, 0.01, 10.0, epsilon=0.01)
    >>> model = path.at(0.123)
    >>> model.certificate.gap <= 0.01, model.verify(X, y, C=0.123).verdict
    (True, 'proven')
    """
    if not 0 < C_low <= C_high < np.inf:
        raise ValueError(f"C_low and C_high must be positive, finite and in order, got {C_low!r} and {C_high!r}")
    classifier = _Named(
        epsilon=epsilon, class_weight=class_weight, fit_intercept=fit_intercept, intercept_scaling=intercept_scaling
    )
    classifier._validate_params()
    rows, labels, classes, weight = classifier._validated(X, y, sample_weight)
    rows = without_repetitions(rows)
    matrix = as_matrix(rows)
    packed = _core.pack(matrix)
    problems = classifier._problems_at(1.0, classes, labels, weight)
    objectives = [
        Objective(matrix, packed, problem, labels, weight) for problem in problems if isinstance(problem, BinaryProblem)
    ]
    names = getattr(classifier, "feature_names_in_", None)
    names = None if names is None else np.asarray(names, dtype=np.str_)
    return CPath(objectives, classes, float(C_low), float(C_high), float(epsilon), names)


# What is wrong with a parameter is said about the function that has it, not about the classifier that checks it.
_Named = type("c_path", (NewtonClassifier,), {})


def without_repetitions(X: Any) -> Any:
    """Return the same matrix with every column of a row stored once: proofs for all C are made from packed rows."""
    if hasattr(X, "has_canonical_format") and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
