"""Sums over shards, in an order that depends on nothing but the order of the shards.

Floating-point sums depend on their order. So shards are numbered, neighbours are merged in groups of eight, then the
groups, and so on: the result is the same bit for bit whichever shard answers first, and wherever the merging is done.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

FAN_IN = 8


class Summable(Protocol):
    """What shards return to be summed."""

    def __add__(self, other: Self, /) -> Self:
        """Return the sum over the shards of both."""


S = TypeVar("S", bound=Summable)
T = TypeVar("T")


def add_in_order(parts: Sequence[S]) -> S:
    """Add neighbours, from left to right."""
    return reduce(lambda left, right: left + right, parts)


def merge(parts: Sequence[T], join: Callable[[Sequence[T]], T]) -> T:
    """Merge groups of neighbours until one is left; `join` merges a group."""
    parts = list(parts)
    while len(parts) > 1:
        groups = [parts[i : i + FAN_IN] for i in range(0, len(parts), FAN_IN)]
        parts = [group[0] if len(group) == 1 else join(group) for group in groups]
    return parts[0]


def levels(n_parts: int) -> int:
    """Return how many levels of groups there are above so many parts: each holds a sum while they come in turn."""
    found = 1
    while n_parts > FAN_IN:
        n_parts, found = -(-n_parts // FAN_IN), found + 1
    return found


def tree_sum(parts: Sequence[S]) -> S:
    """Return the sum over all shards."""
    return merge(parts, add_in_order)


@dataclass(frozen=True)
class Facts:
    """What is known of the rows of a problem before training.

    Attributes
    ----------
    rows : int
        How many take part.
    nonzeros : int
        Their non-zeros.
    longest : float
        The length of the longest pattern.
    stiffness : float
        The sum of ‖ybar_k‖² / Delta_k².
    prices : float
        The sum of 1 / Delta_k².
    """

    rows: int
    nonzeros: int
    longest: float
    stiffness: float
    prices: float

    def __add__(self, other: "Facts") -> "Facts":
        return Facts(
            self.rows + other.rows,
            self.nonzeros + other.nonzeros,
            max(self.longest, other.longest),
            self.stiffness + other.stiffness,
            self.prices + other.prices,
        )


@dataclass(frozen=True)
class PointSums:
    """What LinearSVC's objective needs of the rows at a point w; see ``solve/newton.hpp`` for the formulas.

    Attributes
    ----------
    pull : array of float64
        sum_k alpha_k ybar_k over all columns, the augmented coordinate last.
    loss, total, active : float
        sum_k alpha_k² Delta_k², sum_k alpha_k, and the number of rows with a slack.
    hessian : array of float64 or None
        The upper triangle of sum c_k ybar_k ybar_k^T over the rows with a slack, row by row, if it was asked for.
    """

    pull: Vector
    loss: float
    total: float
    active: float
    hessian: Vector | None = None

    def __add__(self, other: "PointSums") -> "PointSums":
        both = self.hessian is not None and other.hessian is not None
        return PointSums(
            self.pull + other.pull,
            self.loss + other.loss,
            self.total + other.total,
            self.active + other.active,
            self.hessian + other.hessian if both else None,  # type: ignore[operator]  # neither is None
        )


TWO_U = float(np.finfo(np.float64).eps)
OUTWARD = 1 + 16 * TWO_U  # for the roundings of error bounds themselves


class Sum(NamedTuple):
    """A number that is known to within an error: `value` and, much smaller, what rounding has left of it.

    Without `rest` every addition would add a rounding of the value to the error: of 64 shards and more, too much to
    confirm what one machine has proven.
    """

    value: float
    rest: float
    error: float

    def plus(self, other: "Sum") -> "Sum":
        """Add another one (Knuth's exact sum of two values, and the rests)."""
        value = self.value + other.value
        part, rests = value - self.value, self.rest + other.rest
        rest = rests + ((self.value - (value - part)) + (other.value - part))
        rounding = TWO_U * (abs(rests) + abs(rest))
        return Sum(value, rest, (self.error + other.error + rounding) * OUTWARD)

    def rounded(self) -> tuple[float, float]:
        """Return it as one number, and its error."""
        value = self.value + self.rest
        return value, (self.error + TWO_U * abs(value)) * OUTWARD


@dataclass(frozen=True)
class Evidence:
    """What rows contribute to the proof of weights and counts: sums, each with a bound on its rounding error.

    Attributes
    ----------
    finite : bool
        Whether all scores are.
    loss, counted, extended : Sum
        As ``proof/shards.hpp`` has them.
    smallest, low : float
        For the hard margin: the smallest score, and as small as it may be.
    largest_scale : float
        For the hinge: of counts, to be dual weights.
    t, bias : int
        Of the counts, with and without the sides; exact.
    a : array of float64
        The rows, times sides and counts.
    cancelled : float
        How much rounding may have added to the length of `a`.
    rest : array of float64 or None
        What rounding has left of `a`, where sums are careful: however many shards there are, hardly anything is lost.
    rows : tuple of tuple of int
        The digests of the rows of every shard, in their order: what the sums are about.
    """

    finite: bool
    loss: Sum
    counted: Sum
    extended: Sum
    smallest: float
    low: float
    largest_scale: float
    t: int
    bias: int
    a: Vector
    cancelled: float
    rest: Vector | None = None
    rows: tuple[tuple[int, int], ...] = ()

    def __add__(self, other: "Evidence") -> "Evidence":
        a = self.a + other.a
        rest, rounding = None, TWO_U * 1.01 * _length(a)
        if self.rest is not None and other.rest is not None:
            part, rests = a - self.a, self.rest + other.rest
            rest = rests + ((self.a - (a - part)) + (other.a - part))
            rounding = TWO_U * 1.01 * (_length(rests) + _length(rest))
        return Evidence(
            self.finite and other.finite,
            self.loss.plus(other.loss),
            self.counted.plus(other.counted),
            self.extended.plus(other.extended),
            min(self.smallest, other.smallest),
            min(self.low, other.low),
            min(self.largest_scale, other.largest_scale),
            self.t + other.t,
            self.bias + other.bias,
            a,
            (self.cancelled + other.cancelled + rounding) * OUTWARD,
            rest,
            self.rows + other.rows,
        )

    @classmethod
    def of(
        cls, reals: Vector, whole: NDArray[np.int64], a: Vector, rest: Vector | None, rows: tuple[int, int]
    ) -> "Evidence":
        """Read the answer of the core about rows with that digest."""
        finite, loss, loss_error, counted, counted_error, smallest, low, extended, extended_error, cancelled, scale = (
            reals.tolist()
        )
        return cls(
            finite == 1,
            Sum(loss, 0.0, loss_error),
            Sum(counted, 0.0, counted_error),
            Sum(extended, 0.0, extended_error),
            smallest,
            low,
            scale,
            int(whole[0]),
            int(whole[1]),
            a,
            cancelled,
            rest,
            (rows,),
        )

    def for_core(self) -> tuple[Vector, NDArray[np.int64], Vector]:
        """Return what the core concludes from."""
        loss, counted, extended = (one.rounded() for one in (self.loss, self.counted, self.extended))
        reals = [float(self.finite), *loss, *counted, self.smallest, self.low, *extended]
        if not 0 <= self.t <= 2**53:
            raise ValueError("counts must be non-negative and add up to at most 2**53")
        a, cancelled = self.a, self.cancelled
        if self.rest is not None:
            a = self.a + self.rest
            cancelled = (cancelled + TWO_U / 2 * 1.01 * _length(a)) * OUTWARD
        return np.array([*reals, cancelled, self.largest_scale]), np.array([self.t, self.bias]), a


def _length(v: Vector) -> float:
    """Return the length of a vector, the same on every machine."""
    return float(np.sqrt((v * v).sum()))


def triangle_of(square: Vector) -> Vector:
    """Return the upper triangle of a square matrix, row by row."""
    upper: Vector = square[np.triu_indices(len(square))]
    return upper


def square_of(triangle: Vector, n: int) -> Vector:
    """Return a square matrix that has this upper triangle, and zeros below."""
    square = np.zeros((n, n))
    square[np.triu_indices(n)] = triangle
    return square
