"""Functions of rows, applied to Dask collections without computing anything yet."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dask
import distributed
import numpy as np
from numpy.typing import NDArray

from ..model.linear_model import labels_of, scores_of
from ..problem.matrix import for_products, require_finite, row_of_array
from ..problem.statement import counted
from .cluster import gathered
from .parts import as_rows, is_distributed, rows_of

Rows = Callable[[Any], NDArray[Any]]  # a function of a block of rows


@dataclass(frozen=True)
class Scores:
    """The scores of rows; all that a worker needs to know of a model."""

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]

    def __call__(self, X: Any) -> NDArray[Any]:
        """Score the rows of a block."""
        rows = as_rows(X)
        if rows.shape[1] != self.coef.shape[1]:
            found, fitted = counted(rows.shape[1], "feature"), self.coef.shape[1]
            raise ValueError(f"X has {found}, but the classifier was fitted with {fitted}")
        rows = for_products(rows.tocsr()) if hasattr(rows, "tocsr") else rows
        scores = scores_of(rows, self.coef, self.intercept)
        if not np.isfinite(scores).all():
            require_finite(rows, row_of_array)
        return scores


@dataclass(frozen=True)
class Labels:
    """The predictions for rows."""

    scores: Scores
    classes: NDArray[Any]

    def __call__(self, X: Any) -> NDArray[Any]:
        """Predict the rows of a block."""
        return labels_of(self.scores(X), self.classes)


@dataclass(frozen=True)
class RightOnes:
    """What the rows weigh whose predictions are right, and what all rows weigh."""

    predict: Labels

    def __call__(self, X: Any, y: Any, sample_weight: Any) -> NDArray[np.float64]:
        """Add up the rows of a block."""
        found, labels = self.predict(X), np.asarray(y).ravel()
        if len(found) != len(labels):
            raise ValueError(f"there are {counted(len(found), 'row')} and {counted(len(labels), 'label')}")
        weights = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, np.float64).ravel()
        return np.array([weights[found == labels].sum(), weights.sum()])


@dataclass(frozen=True)
class OfRows:
    """A function of rows, whatever holds them."""

    function: Rows

    def __call__(self, X: Any) -> NDArray[Any]:
        """Apply it to the rows of a block."""
        return self.function(as_rows(X))


def lazily(X: Any, function: Rows, dtype: Any, width: int | None = None) -> Any:
    """Apply a function to every block of rows; it returns one number per row, or `width` of them."""
    if isinstance(X, list | tuple):
        return [dask.delayed(function)(part) for part in X]
    if hasattr(X, "chunks"):
        X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
        shape: dict[str, Any] = {"drop_axis": 1} if width is None else {"chunks": (X.chunks[0], (width,))}
        empty = np.empty((0,) if width is None else (0, width), dtype=dtype)
        return X.map_blocks(function, dtype=dtype, meta=empty, **shape)
    if hasattr(X, "to_delayed"):
        import dask.array as da

        shape_of_part = (np.nan,) if width is None else (np.nan, width)
        parts = [dask.delayed(function)(part) for part in X.to_delayed()]
        return da.concatenate([da.from_delayed(part, shape_of_part, dtype=dtype) for part in parts])
    return function(X)


def each_of(client: distributed.Client, X: Any) -> Callable[[Rows], NDArray[Any]]:
    """Return how a function is applied to all rows at once: where they are, if they are a Dask collection."""

    def each(function: Rows) -> NDArray[Any]:
        if not is_distributed(X):
            return function(as_rows(X))
        parts = [dask.delayed(OfRows(function))(part) for part in rows_of(X)]
        return np.concatenate(gathered(client, client.compute(parts)))

    return each


def feature_names(X: Any) -> NDArray[Any] | None:
    """Return the names of the features, where all of them are text."""
    columns = list(getattr(X, "columns", ()))
    return np.array(columns, dtype=object) if columns and all(isinstance(name, str) for name in columns) else None
