"""Rows that pass by: the sums that are kept of them, and what can be proven from those."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..certificate.certificate import Certificate
from ..certificate.counts import find_counts
from ..certificate.online import OnlineCertificate
from ..certificate.weights import Counts, certify_weights
from ..problem.packed import PackedProblem
from ..problem.problems import BinaryProblem, Weights


class Stream:
    """One label against the rest, over rows of which nothing is kept but the sums of their updates."""

    def __init__(self, problem: BinaryProblem, n_columns: int, keep_counts: bool) -> None:
        self.problem = problem
        self.state = _core.OnlineState(n_columns, problem.rho, keep_counts)

    @classmethod
    def after(cls, packed: PackedProblem, certificate: Certificate) -> "Stream":
        """Continue where a finished fit ended: with its counts, and with its weights as the average so far."""
        core, problem = packed.binary, cast(BinaryProblem, packed.problem)
        stream = cls(problem, packed.matrix.n_columns, keep_counts=True)
        bias = certificate.intercept / problem.rho if problem.rho > 0 else 0.0
        counts, model = certificate.counts, np.append(certificate.weights, bias)
        keys = core.row_keys(packed.rows)
        stream.state.take_over(packed.matrix, core, counts.indices, counts.data, keys, model)
        return stream

    def present(
        self,
        matrix: _core.Matrix,
        y: NDArray[Any],
        sample_weight: Weights | None,
        repeats: Weights | None,
        epsilon: float,
    ) -> OnlineCertificate:
        """Present the rows once, in their order; `repeats` is how often each may be added."""
        problem = self.problem
        core_problem = problem.to_core(problem.sides(y, sample_weight), sample_weight)
        self.state.present(matrix, core_problem, repeats, epsilon)
        weights, intercept = problem.split(self.state.model())
        margin, margin_error = core_problem.margin_of_weights(matrix, weights, intercept)
        upper_bound, bound_error = self.state.upper_bound()
        return OnlineCertificate(
            margin=margin - 3 * margin_error,  # outward, like everything that is published
            upper_bound=upper_bound + 3 * bound_error,
            rows_seen=self.state.rows_seen,
            rows_of_margin=core_problem.n_members,
            epsilon=epsilon,
            weights=weights,
            intercept=intercept,
            problem=problem,
        )

    def counts_of(self, keys: NDArray[np.uint64]) -> Counts:
        """Return the counts of the rows that are still there, wherever they now stand."""
        return find_counts(keys, *self.state.counted())

    def certify(
        self,
        matrix: _core.Matrix,
        y: NDArray[Any],
        sample_weight: Weights | None,
        scores: NDArray[np.float64],
        weights: NDArray[np.float64],
        intercept: float,
        epsilon: float,
    ) -> Certificate:
        """Prove what the weights are worth on these rows, at the scale that is best for them; `scores` are theirs.

        The upper bound is proven by the counts of the rows that are recognised or by those that the slacks suggest,
        which need no memory, whichever is better.
        """
        core_problem = self.problem.to_core(self.problem.sides(y, sample_weight), sample_weight)
        return certify_weights(
            matrix,
            y,
            self.problem,
            weights,
            intercept,
            scores,
            epsilon=epsilon,
            sample_weight=sample_weight,
            known_counts=self.counts_of(core_problem.row_keys(matrix)),
            keep_direction=True,
        )
