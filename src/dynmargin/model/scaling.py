"""Features on a common scale, as part of a model: the certificate is about the rows (x - shift) / divisor.

Scaled values are doubles, each the result of one subtraction and one division: anyone who has the data and the model
computes the same rows to the last bit.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..data.dataset import Csr
from ..data.limits import taking_memory
from ..problem.matrix import as_floats

Kind = Literal["standard", "maxabs"]
KINDS: tuple[Kind, ...] = get_args(Kind)

CELLS_PER_BLOCK = 1 << 20
SAME = 1e-6  # how far statistics may be from those that are computed again, relative to the divisor: sums are rounded

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scaling:
    """What is done to every feature before training, prediction and verification.

    Attributes
    ----------
    kind : {"standard", "maxabs"}
        Divided by the standard deviation, or by the largest absolute value.
    shift, divisor : arrays of shape (n_features,)
        A value x becomes (x - shift) / divisor. All shifts are 0 where zeros stay zeros, as for sparse data.
    """

    kind: Kind
    shift: Vector
    divisor: Vector

    def __str__(self) -> str:
        if self.kind == "maxabs":
            return "maxabs, each feature divided by its largest absolute value"
        centred = "minus its mean, divided" if self.shift.any() else "divided"
        return f"standard, each feature {centred} by its standard deviation"

    def of(self, X: Any) -> Any:
        """Return the scaled rows of an array or a CSR matrix."""
        X = without_repetitions(X)
        if isinstance(X, Csr):
            if not self.shift.any():
                with np.errstate(over="ignore"):
                    data = X.data.astype(np.float64) / self.divisor[X.indices]
                return Csr(data, X.indices, X.indptr, X.shape)
            X = dense(X)
        with taking_memory("the scaled rows", 8 * X.shape[0] * X.shape[1]):
            scaled = np.array(as_floats(X), dtype=np.float64, order="C")
        scaled -= self.shift
        with np.errstate(over="ignore"):  # what is not finite is refused by whoever asked
            scaled /= self.divisor
        return scaled

    def is_that_of(self, X: Any) -> bool:
        """Whether the rows themselves give these shifts and divisors, but for rounding."""
        try:
            found = fit_scaling(self.kind, X, centre=bool(self.shift.any()))
        except ValueError:
            return False
        near = SAME * found.divisor
        with np.errstate(invalid="ignore"):
            differences = np.abs(self.shift - found.shift), np.abs(self.divisor - found.divisor)
        return all(bool((difference <= near).all()) for difference in differences)


def fit_scaling(kind: Kind, X: Any, centre: bool | None = None) -> Scaling:
    """Compute the scaling of rows that are finite; sparse rows are not centred unless that is asked for."""
    X = without_repetitions(X)
    if kind == "maxabs":
        low, high = _extremes(X)
        divisor = np.maximum(np.abs(low), np.abs(high))
        return Scaling(kind, np.zeros(len(divisor)), np.where(divisor > 0, divisor, 1.0))
    centre = not isinstance(X, Csr) if centre is None else centre
    low, high = _extremes(X)
    with np.errstate(over="ignore"):
        width = high - low
    if len(wide := np.flatnonzero(~np.isfinite(width))):
        raise ValueError(
            f"column {wide[0] + 1} has values too far apart to be scaled, {low[wide[0]]} and {high[wide[0]]}"
        )
    n_rows, varies = max(1, X.shape[0]), width > 0
    mean = np.where(varies, _sum(X, lambda values, _: values / n_rows), low)
    unit = np.where(varies, width, 1.0)
    # Relative to the width no square overflows, and none that matters vanishes.
    squares = _sum(X, lambda values, j: ((values - mean[j]) / unit[j]) ** 2)
    deviation = unit * np.sqrt(squares / n_rows)
    divisor = np.where(varies & (deviation > 0), deviation, 1.0)
    return Scaling(kind, mean if centre else np.zeros(len(mean)), divisor)


def without_repetitions(X: Any) -> Any:
    """Return arrays as they are, and sparse rows with every column of a row stored once."""
    if not hasattr(X, "indptr"):
        return X
    return Csr(X.data, X.indices, X.indptr, (int(X.shape[0]), int(X.shape[1]))).canonical()


def dense(rows: Csr) -> Vector:
    """Return sparse rows with their zeros."""
    n_rows, n_columns = rows.shape
    with taking_memory("centred rows, which are dense,", 8 * n_rows * n_columns):
        full = np.zeros(rows.shape)
    full[np.repeat(np.arange(n_rows), np.diff(rows.indptr)), rows.indices] = rows.data
    return full


def _extremes(X: Any) -> tuple[Vector, Vector]:
    """Return the smallest and the largest value of each column, zeros that are not stored included."""
    n_rows, n_columns = X.shape
    if not isinstance(X, Csr):
        array = as_floats(X)
        if n_rows == 0:
            return np.zeros(n_columns), np.zeros(n_columns)
        return array.min(axis=0).astype(np.float64), array.max(axis=0).astype(np.float64)
    full = np.bincount(X.indices, minlength=n_columns) >= n_rows
    low, high = np.where(full, np.inf, 0.0), np.where(full, -np.inf, 0.0)
    np.minimum.at(low, X.indices, X.data)
    np.maximum.at(high, X.indices, X.data)
    return low, high


def _sum(X: Any, term: Any) -> Vector:
    """Return the sum over rows of a term of each value and its column."""
    n_rows, n_columns = X.shape
    if isinstance(X, Csr):
        columns = np.arange(n_columns)
        stored = np.bincount(X.indices, weights=term(X.data.astype(np.float64), X.indices), minlength=n_columns)
        zeros = n_rows - np.bincount(X.indices, minlength=n_columns)
        return np.asarray(stored + zeros * term(np.zeros(n_columns), columns))
    array, total, step = as_floats(X), np.zeros(n_columns), max(1, CELLS_PER_BLOCK // max(1, n_columns))
    for begin in range(0, n_rows, step):
        total += term(array[begin : begin + step].astype(np.float64), slice(None)).sum(axis=0)
    return total
