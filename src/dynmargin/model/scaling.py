"""Features on a common scale, as part of a model: the certificate is about the rows (x - shift) / divisor.

Scaled values are doubles, each the result of one subtraction and one division: anyone who has the data and the model
computes the same rows to the last bit.

Shifts and divisors come from extremes and from sums of whole numbers, which are exact. So they are the same bit for bit
in any order of the rows, and however these are spread over blocks on a disk or the workers of a cluster.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..data.dataset import Csr
from ..data.limits import taking_memory
from ..problem.matrix import as_floats

Kind = Literal["standard", "maxabs"]
KINDS: tuple[Kind, ...] = get_args(Kind)

CELLS_PER_BLOCK = 1 << 18
SAME = 1e-6  # how far statistics may be from those that are computed again, relative to the divisor: sums are rounded

STEPS = 2.0**52  # of a share of a column's width, as a whole number
LOW_BITS = 26  # such numbers are summed in two halves: 2**36 rows do not overflow

Vector = NDArray[np.float64]
Sum = Callable[..., Any]  # what a function of rows, and arguments, adds up to over all rows


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
        X = without_repetitions(X)
        return self.is_that_of_all(over(X), X.shape[0])

    def is_that_of_all(self, total: Sum, n_rows: int) -> bool:
        """Whether rows that are summed elsewhere give these shifts and divisors, but for rounding."""
        try:
            found = scaling_of(self.kind, total, n_rows, centre=bool(self.shift.any()))
        except ValueError:
            return False
        near = SAME * found.divisor
        with np.errstate(invalid="ignore"):
            differences = np.abs(self.shift - found.shift), np.abs(self.divisor - found.divisor)
        return all(bool((difference <= near).all()) for difference in differences)


def fit_scaling(kind: Kind, X: Any, centre: bool | None = None) -> Scaling:
    """Compute the scaling of rows that are finite; sparse rows are not centred unless that is asked for."""
    X = without_repetitions(X)
    return scaling_of(kind, over(X), X.shape[0], centre=not isinstance(X, Csr) if centre is None else centre)


def over(X: Any) -> Sum:
    """Return the sum over rows in memory."""
    return lambda function, *arguments: function(X, *arguments)


def scaling_of(kind: Kind, total: Sum, n_rows: int, *, centre: bool) -> Scaling:
    """Compute the scaling of rows that are summed by `total`, wherever they are."""
    low, high = total(Extremes.of).found
    if kind == "maxabs":
        divisor = np.maximum(np.abs(low), np.abs(high))
        return Scaling(kind, np.zeros(len(divisor)), np.where(divisor > 0, divisor, 1.0))
    with np.errstate(over="ignore"):
        width = high - low
    if len(wide := np.flatnonzero(~np.isfinite(width))):
        raise ValueError(
            f"feature {wide[0] + 1} (counting from 1) has values too far apart to be scaled, {low[wide[0]]} and "
            f"{high[wide[0]]}; maxabs can scale them"
        )
    n_rows, varies = max(1, n_rows), width > 0
    unit = np.where(varies, width, 1.0)
    mean = low + width * (total(sum_of_shares, low, unit).as_floats() / n_rows)
    # Relative to the width no square overflows, and none that matters vanishes: the two extremes alone make a variance
    # of at least width² / (2 n).
    deviation = unit * np.sqrt(total(sum_of_squares, mean, unit).as_floats() / n_rows)
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


@dataclass(frozen=True, eq=False)
class Extremes:
    """The smallest and the largest value of each column; of no rows infinities, which say nothing."""

    low: Vector
    high: Vector

    @classmethod
    def of(cls, X: Any) -> "Extremes":
        """Return those of some rows, zeros that are not stored included."""
        n_rows, n_columns = X.shape
        if not isinstance(X, Csr):
            array = as_floats(X)
            low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
            return cls(array.min(axis=0, initial=np.inf, out=low), array.max(axis=0, initial=-np.inf, out=high))
        full = np.bincount(X.indices, minlength=n_columns) >= n_rows
        low, high = np.where(full, np.inf, 0.0), np.where(full, -np.inf, 0.0)
        np.minimum.at(low, X.indices, X.data)
        np.maximum.at(high, X.indices, X.data)
        return cls(low, high)

    def __add__(self, other: "Extremes") -> "Extremes":
        return Extremes(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    @property
    def found(self) -> tuple[Vector, Vector]:
        """Both, of at least one row, or zeros; no zero is negative."""
        seen = self.low <= self.high
        return np.where(seen, self.low, 0.0) + 0.0, np.where(seen, self.high, 0.0) + 0.0


@dataclass(frozen=True, eq=False)
class WholeSums:
    """Sums of numbers between 0 and 1, one per column, in steps of 2**-52: whole numbers, so no sum is rounded."""

    upper: NDArray[np.int64]
    lower: NDArray[np.int64]

    def __add__(self, other: "WholeSums") -> "WholeSums":
        return WholeSums(self.upper + other.upper, self.lower + other.lower)

    def as_floats(self) -> Vector:
        """Return the sums themselves."""
        return np.asarray((np.ldexp(self.upper.astype(np.float64), LOW_BITS) + self.lower) / STEPS)


def sum_of_shares(X: Any, low: Vector, unit: Vector) -> WholeSums:
    """Return the sum over rows of (x - low) / unit."""
    return _sum(X, lambda values, j: (values - low[j]) / unit[j])


def sum_of_squares(X: Any, mean: Vector, unit: Vector) -> WholeSums:
    """Return the sum over rows of ((x - mean) / unit)²."""
    return _sum(X, lambda values, j: ((values - mean[j]) / unit[j]) ** 2)


def _sum(X: Any, share: Any) -> WholeSums:
    """Return the sum over rows of a share, of each value and its column."""
    n_rows, n_columns = X.shape
    total = np.zeros((2, n_columns), dtype=np.int64)
    if isinstance(X, Csr):
        for begin in range(0, len(X.data), CELLS_PER_BLOCK):
            entries = slice(begin, begin + CELLS_PER_BLOCK)
            columns = X.indices[entries]
            for half, steps in zip(total, _halves(share(X.data[entries].astype(np.float64), columns)), strict=True):
                np.add.at(half, columns, steps)
        zeros = n_rows - np.bincount(X.indices, minlength=n_columns)
        some = np.flatnonzero(zeros)  # elsewhere 0 may be far from any value
        for half, steps in zip(total, _halves(share(np.zeros(len(some)), some)), strict=True):
            half[some] += zeros[some] * steps
        return WholeSums(*total)
    array, step = as_floats(X), max(1, CELLS_PER_BLOCK // max(1, n_columns))
    for begin in range(0, n_rows, step):
        shares = share(array[begin : begin + step].astype(np.float64), slice(None))
        for half, steps in zip(total, _halves(shares), strict=True):
            half += steps.sum(axis=0)
    return WholeSums(*total)


def _halves(shares: Vector) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    steps = np.rint(shares * STEPS).astype(np.int64)
    return steps >> LOW_BITS, steps & ((1 << LOW_BITS) - 1)
