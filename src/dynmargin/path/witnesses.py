"""Weights and counts as witnesses at another C: the range of C in which they prove a gap.

With ``N = ‖w‖²`` and ``S = sum_k c_k max(0, m_k)²`` the weights have twice the objective ``F(C) = N + C S``; the counts
prove that no weights have less than ``1 / B(C)``, ``B(C) = A + q/C`` with ``A = ‖a_dense‖²/t²`` and
``q = sum_k n_k²/c_k / t²``. The gap is at most epsilon where ``F(C) B(C) <= 1/(1 - epsilon)²``. Multiplied by C, that
is a quadratic inequality:

    A S C² + (A N + q S) C + q N  <=  C / (1 - epsilon)²

The product is convex in C, so what holds at two ends holds in between.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..certificate.certificate import Certificate
from ..certificate.certify import certify
from ..certificate.counts import SparseCounts, as_counts
from ..problem.packed_weights import PackedWeights
from .objective import TWO_U, Objective, Vector

# What is published later at another C is rounded outward too, by about as much as here; leave room for it.
ROOM = 8
SHRINK = 1e-9  # of an end that rounding puts outside
FARTHEST = 1e6  # how many times another C nothing is said beyond


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Weights and counts, and what they prove at every C.

    Attributes
    ----------
    C : float
        Where they were measured.
    w : array
        The weights of the packed columns, the augmented coordinate last.
    counts : SparseCounts
        The counts.
    F, S : float
        Twice the objective at C, and the part of it that is C times the slacks, both as large as they may be.
    B, q : float
        What the counts prove at C, and the part of it that is in proportion to 1/C, both as large as they may be.
    rounding : float
        By which fraction F B may be too small where C is the one they were measured at.
    """

    C: float
    w: Vector
    counts: SparseCounts
    F: float
    S: float
    B: float
    q: float
    rounding: float

    def bounds(self, C: float) -> tuple[float, float]:
        """Return the margin and the upper bound that are proven at a C, rounded outward."""
        times = C / self.C
        rounded = 1 + self.rounding * max(times, 1 / times)
        F = (max(0.0, self.F - self.S) + self.S * times) * rounded
        B = (max(0.0, self.B - self.q) + self.q / times) * rounded
        sound = 0 < F < math.inf and 0 < B < math.inf  # neither holds for NaN
        return (1 / math.sqrt(F), math.sqrt(B)) if sound else (0.0, math.inf)

    def gap(self, C: float) -> float:
        """Return the gap that is proven at a C, rounded up."""
        margin, upper_bound = self.bounds(C)
        return 1 - margin / upper_bound * (1 - 4 * TWO_U)

    def range(self, epsilon: float) -> tuple[float, float] | None:
        """Return the two ends of the range where the gap is at most epsilon, or None where it is so nowhere."""
        N, A = max(0.0, self.F - self.S), max(0.0, self.B - self.q)
        limit = math.inf if epsilon >= 1 else (1 - epsilon) ** -2
        # In units of the C they were measured at, a x² - 2 h x + c <= 0.
        a, c = A * self.S, self.q * N
        h = (limit - A * N - self.q * self.S) / 2
        if not h > 0 or h * h < a * c:
            return None
        if h == math.inf:
            low, high = 0.0, math.inf
        else:
            root = h + math.sqrt(h * h - a * c)
            low, high = c / root, root / a if a > 0 else math.inf
        low, high, inward = self.C * max(low, 1 / FARTHEST), self.C * min(high, FARTHEST), SHRINK
        while inward < 1 and low * (1 + inward) <= high * (1 - inward):
            ends = low * (1 + inward), high * (1 - inward)
            if self.gap(ends[0]) <= epsilon and self.gap(ends[1]) <= epsilon:
                return ends
            inward *= 4
        return (self.C, self.C) if self.gap(self.C) <= epsilon else None


def counts_at(objective: Objective, shortfalls: Vector) -> SparseCounts:
    """Return the counts that slacks are in proportion to: at the optimum they are the dual weights, up to a factor."""
    members = objective.members.astype(np.int64)
    slacks = objective.penalties[members] * np.maximum(0.0, shortfalls[members])
    rows, times = as_counts(members, slacks if slacks.any() else np.ones(len(slacks)))
    return SparseCounts(rows, times, (len(shortfalls),))


def certificate_at(
    objective: Objective, C: float, w: Vector, counts: SparseCounts, digests: tuple[int, int], epsilon: float
) -> Certificate:
    """Make the certificate of weights and counts for a C."""
    problem = objective.at_price(C)
    weights, columns = np.ascontiguousarray(w[:-1]), objective.columns
    return certify(
        objective.rows,
        problem,
        problem.to_core(objective.sides, objective.sample_weight),
        digests,
        weights if columns is None else PackedWeights(weights, columns, (objective.matrix.n_columns,)),
        float(w[-1] * problem.rho),
        counts,
        epsilon=epsilon,
    )


def witnesses(objective: Objective, C: float, w: Vector) -> Witnesses:
    """Measure weights, and the counts that follow from their slacks, at a C."""
    counts = counts_at(objective, objective.point(w).shortfalls)
    problem = objective.at_price(C).to_core(objective.sides, objective.sample_weight)
    intercept = float(w[-1]) * objective.problem.rho
    margin, margin_error = problem.margin_of_weights(objective.rows, np.ascontiguousarray(w[:-1]), intercept)
    bound, bound_error = problem.bound_of_counts(objective.rows, counts.indices, counts.data)
    low, high = margin - 3 * margin_error, bound + 3 * bound_error
    terms = len(objective.members) + len(w) + 64
    F = 1 / low**2 if low > 0 else math.inf
    N = float(np.square(w).sum()) * (1 - terms * TWO_U)
    share = counts.data / float(counts.data.sum())
    q = float((share * share / (C * objective.penalties[counts.indices])).sum()) * (1 + terms * TWO_U)
    errors = 3 * (margin_error / margin + bound_error / bound) if margin > 0 and bound > 0 else math.inf
    return Witnesses(C, w, counts, F, max(0.0, F - N), high**2, min(q, high**2), ROOM * (terms * TWO_U + errors))
