"""Where the exact optimum is, and what that says about predictions.

Both witnesses of a certificate together fix a ball that contains the weights of the exact optimum (the core derives it:
``proof/ball.hpp``). A row whose score is larger than the ball allows it to change is settled: no more training, by any
algorithm, changes its prediction.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.matrix import as_matrix
from ..problem.packed_weights import SpreadOutLater
from ..problem.problems import Problem, require_one_kind

Vector = NDArray[np.float64]

TWO_U = float(np.finfo(np.float64).eps)
UNDERFLOW = 5e-324
OUTWARD = 1 + 16 * TWO_U  # for a handful of roundings

FREE_INTERCEPT = (
    "an intercept that is not regularised has no bound, so no prediction is settled; every other classifier here "
    "regularises it, as LinearSVC does"
)
NO_CERTIFICATE = "the model has no certificate, so nothing is known about the exact optimum"


@dataclass(frozen=True, eq=False)
class Ball(SpreadOutLater):
    """A ball that contains the weights of the exact optimum, with b/rho as their last coordinate.

    Attributes
    ----------
    centre : array of float64
        Its centre, in the shape of the weights.
    intercept : float or array of float64
        The intercept that belongs to the centre.
    radius : float
        No weights outside of it are optimal. Infinite where nothing is known.

    Examples
    --------
    >>> import numpy as np
    >>> from dynmargin import MaxMarginClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], ["left", "right", "right"]
    >>> ball = MaxMarginClassifier(epsilon=0.1).fit(X, y).certificate_.ball
    >>> exact = MaxMarginClassifier(epsilon=1e-9).fit(X, y)
    >>> bool(np.linalg.norm(exact.coef_[0] - ball.centre) <= ball.radius + 1e-6)
    True
    """

    centre: Vector
    intercept: float | Vector
    radius: float

    packed_field: ClassVar[str] = "centre"

    def covers(self, other: "Ball", rho: float) -> bool:
        """Whether it contains another ball, rounding errors accounted for."""
        if self.centre.shape != other.centre.shape or np.shape(self.intercept) != np.shape(other.intercept):
            return False
        if rho == 0 and np.any(self.intercept):  # there is no such coordinate, so no radius makes up for it
            return False
        apart = np.append(self.centre - other.centre, np.subtract(self.intercept, other.intercept) / (rho or 1.0))
        distance = math.sqrt(float(apart @ apart)) * (1 + (apart.size + 16) * TWO_U) + 1e-150
        return (distance + other.radius) * OUTWARD <= self.radius < math.inf  # false for what is not a number


class Bounded(Protocol):
    """A certificate, as far as the ball goes."""

    @property
    def problem(self) -> Problem:
        """What was asked."""

    @property
    def margin(self) -> float:
        """What the weights have."""

    @property
    def upper_bound(self) -> float:
        """What no classifier exceeds."""

    @property
    def weights(self) -> Vector:
        """The witness of the margin."""

    @property
    def intercept(self) -> float | Vector:
        """Its intercept."""

    @property
    def ball(self) -> Ball | None:
        """Where the optimum is, if that is known."""


def ball_from(
    problem: Problem, centre: Vector, intercept: Vector, radius: float, shape: tuple[int, ...]
) -> Ball | None:
    """Return the ball that the core has found; None where nothing is known."""
    if not radius < math.inf:
        return None
    return Ball(centre.reshape(shape), intercept if problem.joint else float(intercept[0]), radius)


def ball_around_weights(certificate: Bounded) -> Ball:
    """Return a larger ball, for a certificate without one: its two bounds are enough.

    The optimum is within sqrt(2 G) of the weights, where G = P - D is the duality gap. Weights for the hard margin are
    scaled to the length 1 / margin first, at which no score is below 1.
    """
    problem, margin, bound = certificate.problem, certificate.margin, certificate.upper_bound
    weights, intercept = certificate.weights, certificate.intercept
    if not 0 < margin < math.inf or not 0 < bound < math.inf:
        return Ball(weights, intercept, math.inf)
    P2, D2 = 1 / margin / margin, 1 / bound / bound
    radius = math.sqrt(max(0.0, P2 - D2) + 8 * TWO_U * (P2 + D2))
    if problem.hard_margin:
        flat = np.append(weights, np.ravel(intercept) / problem.rho if problem.rho > 0 else 0.0)
        length = math.sqrt(float(flat @ flat))
        if not 0 < length < math.inf:
            return Ball(weights, intercept, math.inf)
        weights, intercept = weights / (margin * length), intercept / (margin * length)
        radius += 2 * (flat.size + 16) * TWO_U / margin
    return Ball(weights, intercept, radius * OUTWARD)


class Settled:
    """Which predictions of a linear model are those of the exact optimum.

    `coef` and `intercept` are the model's own, which `predict` uses: a prediction is settled only if `predict` returns
    it however it rounds.
    """

    def __init__(self, certificates: Sequence[Bounded], coef: Vector, intercept: Vector) -> None:
        if not certificates:
            raise ValueError(NO_CERTIFICATE)
        first = certificates[0].problem
        if any(one.problem.free_bias for one in certificates):
            raise ValueError(FREE_INTERCEPT)
        require_one_kind([one.problem for one in certificates])
        balls = [one.ball or ball_around_weights(one) for one in certificates]
        self.rho = first.rho
        self.vectors = np.vstack([*(np.atleast_2d(ball.centre) for ball in balls), coef])
        self.constants = np.hstack([*(np.ravel(ball.intercept) for ball in balls), intercept])
        self.n = len(coef)
        self.radii = np.array([ball.radius for ball in balls])
        # Two classes of a joint problem share one ball: their difference moves by sqrt(2) r at most, not 2 r.
        self.share_of_radius = math.sqrt(0.5) * OUTWARD if first.joint else 1.0
        squares = np.einsum("ij,ij->i", self.vectors, self.vectors)
        self.lengths = np.sqrt(squares) * (1 + (self.vectors.shape[1] + 8) * TWO_U)

    def of(self, X: Any) -> NDArray[np.bool_]:
        """Return for each row whether its prediction is settled."""
        if self.n == 1:  # the core does without intermediate arrays, a third of the time
            radius = float(self.radii[0])
            found = _core.settled_rows(as_matrix(X), self.vectors, self.constants, self.lengths, radius, self.rho)
            return found.view(np.bool_)
        scores, errors, reach = self._scores(X)
        n = self.n
        spread = (errors[:, :n] + (self.share_of_radius * self.radii) * reach) * OUTWARD
        of_optimum, own, rounding = scores[:, :n], scores[:, n:], errors[:, n:] * OUTWARD
        rows, best = np.arange(len(scores)), (of_optimum - spread).argmax(axis=1)
        return self._beats_all(of_optimum, spread, rows, best) & self._beats_all(own, rounding, rows, best)

    @staticmethod
    def _beats_all(scores: Vector, spread: Vector, rows: NDArray[np.intp], best: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the least that class `best` may score is above the most that any other may."""
        most, least = scores + spread, scores[rows, best] - spread[rows, best]
        most[rows, best] = -np.inf
        above: NDArray[np.bool_] = least > most.max(axis=1)
        return above

    def bounds(self, X: Any) -> tuple[Vector, Vector]:
        """Return the least and the most that the exact optimum may score each row, or each row and class."""
        scores, errors, reach = self._scores(X)
        scores, spread = scores[:, : self.n], (errors[:, : self.n] + self.radii * reach) * OUTWARD
        with np.errstate(invalid="ignore"):  # of infinities
            low, high = np.nextafter(scores - spread, -np.inf), np.nextafter(scores + spread, np.inf)
        low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
        return (low.ravel(), high.ravel()) if self.n == 1 else (low, high)

    def ratios(self, X: Any) -> Vector:
        """Return for each row by how much the radius would have to shrink for it to be settled; above 1 it is.

        A forecast and no proof: the centre moves too when the radius shrinks.
        """
        scores, errors, reach = self._scores(X)
        centres, radii = scores[:, : self.n], self.share_of_radius * self.radii
        spread = errors[:, : self.n] + radii * reach
        if self.n == 1:
            return (np.abs(centres) / spread)[:, 0]
        rows, best = np.arange(len(scores)), centres.argmax(axis=1)
        apart = centres[rows, best][:, None] - centres
        both = spread + spread[rows, best][:, None]
        apart[rows, best] = np.inf
        least: Vector = (apart / both).min(axis=1)
        return least

    def _scores(self, X: Any) -> tuple[Vector, Vector, Vector]:
        """Return the scores by centres and by own weights, how far they may be off, and the lengths ‖[x, rho]‖."""
        products, lengths, terms = _core.score_rows(as_matrix(X), self.vectors)
        lengths, terms = lengths[:, None], terms[:, None]
        # Whatever the order in which `predict` sums: one rounding per product, and one for the intercept.
        sizes = self.lengths * lengths + np.abs(self.constants)
        errors = (terms + 4) * (TWO_U * sizes + UNDERFLOW) * 1.01
        return products + self.constants, errors, np.hypot(lengths, self.rho) * OUTWARD
