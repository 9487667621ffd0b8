"""Rows that pass by: the state of a stream, what is proven about it, and counts that find their rows again."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .certificate import Certificate, SparseCounts, certify
from .dual_weights import as_counts
from .problem import BinaryProblem
from .task import Task

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OnlineCertificate:
    """What is proven while rows pass by and are not kept.

    The upper bound is true for all rows seen: it rests on the running sums of the updates, whose rounding errors are
    added to it. A margin needs a look at every row with the weights of the moment, and most rows are gone; ``margin``
    is about the rows of the last call by themselves. So there is no gap between the two, and nothing is achieved until
    `certify` has seen the data. Unlike a `Certificate` it has no witness that could be checked by others.

    Attributes
    ----------
    margin : float
        The weights have at least this margin on the rows of the last call, as if there were no others.
    upper_bound : float
        No classifier has a larger margin on all rows seen, each row as often as it was presented.
    rows_seen : int
        How many rows that is; rows of zero weight do not count.
    rows_of_margin : int
        How many rows the last call had.
    epsilon : float
        PDM's accuracy.
    weights, intercept : array of float64, float
        The model.
    problem : BinaryProblem
        What was asked: the positive label, the cost of slacks, the augmentation.
    """

    margin: float
    upper_bound: float
    rows_seen: int
    rows_of_margin: int
    epsilon: float
    weights: Vector
    intercept: float
    problem: BinaryProblem

    @property
    def gap(self) -> float:
        """Infinite: the two bounds are about different rows."""
        return math.inf

    @property
    def achieved(self) -> bool:
        """Never: see `gap`."""
        return False

    @property
    def dual(self) -> float:
        """A value that LinearSVC's objective over all rows seen cannot fall below, ``1 / (2 upper_bound²)``."""
        return 0.5 / self.upper_bound**2 if self.upper_bound > 0 else math.inf

    @property
    def loss(self) -> str:
        """The loss that it is about."""
        return self.problem.loss

    def __str__(self) -> str:
        return (
            f"upper bound proven: no classifier of the {self.rows_seen} rows seen has a margin above "
            f"{self.upper_bound:.6g}; margin {self.margin:.6g} only for the {self.rows_of_margin} rows of the last "
            "call; certify(X, y) completes it"
        )

    def __repr__(self) -> str:
        return f"<OnlineCertificate: {self}>"


class Stream:
    """One label against the rest, over rows of which nothing is kept but the sums of their updates."""

    def __init__(self, problem: BinaryProblem, n_columns: int, keep_counts: bool) -> None:
        self.problem = problem
        self.state = _core.OnlineState(n_columns, problem.rho, keep_counts)

    @classmethod
    def after(cls, task: Task, certificate: Certificate) -> "Stream":
        """Go on where a finished fit has ended: with its counts, and with its weights as the average so far."""
        stream = cls(task.problem, task.matrix.n_columns, keep_counts=True)
        bias = certificate.intercept / task.problem.rho if task.problem.rho > 0 else 0.0
        counts, model = certificate.counts, np.append(certificate.weights, bias)
        keys = _core.row_keys(task.rows, task.core_problem)
        stream.state.take_over(task.matrix, task.core_problem, counts.indices, counts.data, keys, model)
        return stream

    def present(
        self, matrix: _core.Matrix, core_problem: _core.Problem, repeats: Vector | None, epsilon: float
    ) -> OnlineCertificate:
        """Present the rows once, in their order."""
        problem = self.problem
        self.state.present(matrix, core_problem, repeats, epsilon)
        w = self.state.model()
        weights, intercept = w[:-1], float(w[-1]) * problem.rho
        margin, margin_error = _core.margin_of_weights(matrix, core_problem, weights, intercept)
        upper_bound, bound_error = self.state.upper_bound()
        return OnlineCertificate(
            margin=margin - 3 * margin_error,  # outward, like all that is published
            upper_bound=upper_bound + 3 * bound_error,
            rows_seen=self.state.rows_seen,
            rows_of_margin=matrix.n_rows,
            epsilon=epsilon,
            weights=weights,
            intercept=intercept,
            problem=problem,
        )

    def counts_of(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the counts of the rows that are still there, wherever they now stand."""
        return find_counts(keys, *self.state.counted())

    def certify(
        self,
        matrix: _core.Matrix,
        y: Any,
        sample_weight: Vector | None,
        scores: Vector,
        weights: Vector,
        intercept: float,
        epsilon: float,
    ) -> Certificate:
        """Prove what the weights are worth on these rows, at the scale that is best for them; `scores` are theirs.

        Two sets of counts are tried as the witness of the upper bound, and the better one is taken: those of the rows
        that are recognised, and for the soft margin those that the slacks suggest, which need no memory.
        """
        problem = self.problem
        sides = problem.sides(y, sample_weight)
        core_problem = problem.to_core(sides, sample_weight)
        members = np.flatnonzero(sides)
        signed = sides[members] * scores[members]
        candidates = [self.counts_of(_core.row_keys(matrix, core_problem))]
        scale = 1.0
        if core_problem.hard_margin:
            scale = 1 / signed.min() if signed.min(initial=np.inf) > 0 else 1.0
        else:
            penalty = 2 * np.where(sides[members] > 0, problem.C_positive, problem.C_negative)
            penalty = penalty if sample_weight is None else penalty * sample_weight[members]
            bias = intercept / problem.rho if problem.rho > 0 else 0.0
            scale = best_scale(signed, penalty, float(weights @ weights) + bias**2)
            # At the optimum a dual weight is its penalty times its slack.
            candidates.append(as_counts(members, penalty * np.maximum(0, 1 - scale * signed)))
            scale = scale or 1.0  # where no weights are better than these, the direction is all there is
        indices, data = min(candidates, key=lambda counts: _core.bound_of_counts(matrix, core_problem, *counts)[0])
        return certify(
            matrix,
            problem,
            core_problem,
            core_problem.digest(matrix),
            weights * scale,
            intercept * scale,
            SparseCounts(indices, data, (matrix.n_rows,)),
            epsilon=epsilon,
            directional_margin=np.nan,  # there is no run whose state it could be about
        )


def find_counts(
    keys: NDArray[np.uint64], known: NDArray[np.uint64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bring known counts to the rows with the same key; give the rows that have a count, and their counts.

    Equal rows share theirs in turn. What belongs to no row is dropped: any counts prove a bound, these a weaker one.
    """
    order = np.argsort(keys, kind="stable")
    first, last = (np.searchsorted(keys, known, side, sorter=order) for side in ("left", "right"))
    copies = last - first
    turn = np.empty(len(known), dtype=np.int64)  # which of the equal known ones this is
    known_order = np.argsort(known, kind="stable")
    turn[known_order] = np.arange(len(known)) - np.searchsorted(known, known, sorter=known_order)[known_order]
    there = copies > 0
    total = np.zeros(len(keys), dtype=np.int64)
    np.add.at(total, order[first[there] + turn[there] % copies[there]], counts[there])
    rows = np.flatnonzero(total).astype(np.int64)
    return rows, total[rows]


def best_scale(scores: Vector, penalty: Vector, norm2: float) -> float:
    """Give the v >= 0 for which v times the weights have the smallest objective.

    The derivative of v² ‖w‖² + sum penalty max(0, 1 - v s)² is concave where v >= 0, because rows only ever cease to
    have a slack there. So Newton's steps from v = 0 never pass the solution, and end after finitely many.
    """
    v = 0.0
    while True:
        slack = v * scores < 1
        pull = penalty[slack] * scores[slack]
        step = float(pull.sum() / (norm2 + pull @ scores[slack])) if pull.sum() > 0 else 0.0
        if not step > v * (1 + 1e-12):
            return v
        v = step
