"""A problem over packed rows, ready to be trained on and certified."""

from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .packed_weights import PackedWeights
from .problems import Problem, Weights
from .wording import wording

SMALLEST_LENGTH, LARGEST_LENGTH = 1e-100, 1e100  # squares of lengths outside this range may underflow or overflow


class PackedProblem:
    """A problem over rows that several problems may share.

    Attributes
    ----------
    matrix, rows : Matrix, PackedRows
        The data as they were given, and packed for training.
    problem : BinaryProblem or JointProblem
        What is asked.
    core : Problem or JointProblem of the core
        The same over these very rows.
    index : int
        The number of the problem in its fit.
    sides : array of int
        Where each row stands; 0 for rows that are left out.
    n_rows : int
        How many rows take part.
    digests : tuple of int
        Of the data, with and without the order of the rows.
    R : float
        The length of the longest pattern.
    """

    def __init__(
        self,
        matrix: _core.Matrix,
        rows: _core.PackedRows,
        problem: Problem,
        y: Any,
        sample_weight: Weights | None = None,
        index: int = 0,
        n_threads: int = 1,
    ) -> None:
        self.matrix = matrix
        self.rows = rows
        self.problem = problem
        self.index = index
        self.sides = problem.sides(y, sample_weight)
        self.core = problem.to_core(self.sides, sample_weight, n_threads)
        self.n_rows = int(np.count_nonzero(self.sides))
        self.digests = self.core.digest(rows)
        self.R = self.core.largest_norm(rows)
        self.hard_margin = self.core.hard_margin
        if not SMALLEST_LENGTH <= self.R <= LARGEST_LENGTH:
            raise ValueError(
                f"the longest pattern has length {self.R:g}, from its row, {wording().name('intercept_scaling')} and "
                f"1 / sqrt(2 C weight) together; it must be between {SMALLEST_LENGTH:g} and {LARGEST_LENGTH:g}"
            )

    @property
    def binary(self) -> _core.Problem:
        """The core's problem, for the algorithms that know two classes only."""
        if self.problem.joint:
            raise ValueError(
                "only PDM and PDM-succ train for a joint margin; the others train each class against the rest"
            )
        return cast("_core.Problem", self.core)

    @cached_property
    def stiffness(self) -> float:
        """How much the rows share with each other: the mean of ‖ybar_k‖² / Delta_k²."""
        return self.binary.stiffness(self.rows)

    @cached_property
    def nonzeros(self) -> int:
        """The non-zeros of the rows that take part."""
        return self.core.n_nonzeros(self.rows)

    @property
    def wide(self) -> bool:
        """Whether there are more columns that occur than rows."""
        return self.rows.n_columns > self.n_rows

    @property
    def provable(self) -> _core.Matrix | _core.PackedRows:
        """What to prove a certificate from: the packed rows, where they are what is stored and the core can do it."""
        return self.matrix if self.rows.summed or self.problem.joint else self.rows

    @cached_property
    def columns(self) -> NDArray[np.int64] | None:
        """The columns of the matrix that are packed, in the order in which they are; None if all are, as they stand."""
        return None if self.rows.columns is None else self.rows.columns.astype(np.int64)

    def unpack(self, weights: NDArray[np.float64]) -> NDArray[np.float64] | PackedWeights:
        """Return weights of all columns, given those of the packed ones; packed as what they are proven from."""
        if self.columns is None:
            return weights
        packed = PackedWeights(weights, self.columns, (*weights.shape[:-1], self.matrix.n_columns))
        return packed if self.provable is self.rows else packed.spread_out()

    def pack(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return weights of the packed columns; all others have to be zero."""
        if self.columns is None:
            return weights
        packed: NDArray[np.float64] = weights[..., self.columns]
        if np.count_nonzero(packed) != np.count_nonzero(weights):
            raise ValueError("a weight belongs to a column that does not occur")
        return packed

    def taking_part(self, of_rows: NDArray[Any]) -> NDArray[Any]:
        """Drop what belongs to rows that are left out, so that no sum depends on where they stand."""
        return of_rows if len(of_rows) == self.n_rows else of_rows[self.sides != 0]

    def key(self, seed: int) -> int:
        """Return the key of the order of presentation, which depends on the seed and the index of the problem."""
        return (seed << 20) + self.index
