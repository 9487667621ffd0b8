"""What a race has proven and its algorithms would lose: Newton's upper bound goes up and down."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...problem.packed import PackedProblem
from ..newton import Vector
from .entrant import Entrant, require_intact


class Witnesses:
    """Weights, and the dual weights of all rows, with the interface of a trainer that has nothing to do."""

    visits = updates = full_passes = 0

    def __init__(self, problem: PackedProblem) -> None:
        self.w, self.scale = np.zeros(problem.rows.n_columns + 1), 1.0
        self.alpha = np.zeros(len(problem.sides))

    def model(self) -> tuple[Vector, float]:
        """Return the weights and their scale."""
        return self.w, self.scale

    def support(self) -> tuple[NDArray[np.int64], Vector]:
        """Return all rows and their dual weights."""
        return np.arange(len(self.alpha)), self.alpha

    def snapshot(self) -> NDArray[np.uint8]:
        """Return both as bytes."""
        return np.concatenate([[self.scale], self.w, self.alpha]).view(np.uint8)

    def restore(self, snapshot: NDArray[np.uint8]) -> None:
        """Take both from a snapshot."""
        require_intact(len(snapshot) == 8 * (1 + len(self.w) + len(self.alpha)))
        scale, self.w, self.alpha = np.split(snapshot.view(np.float64), [1, 1 + len(self.w)])
        self.scale = float(scale[0])
        require_intact(bool(np.isfinite(self.w).all() and (self.alpha >= 0).all() and 0 <= self.scale < math.inf))


class Kept(Entrant):
    """The best witnesses of algorithms that do not keep them; it never has a turn."""

    name = "kept"
    over = True
    trainer: Any

    def start(self, w: Vector | None) -> None:
        """Begin with nothing."""
        self.trainer = Witnesses(self.problem)

    def keep(self, entrant: Entrant) -> None:
        """Take over what an algorithm has just proven, as far as it is better."""
        if self.trainer is None:
            self.start(None)
        if entrant.margin > self.margin:
            self.trainer.w, self.trainer.scale = entrant.trainer.model()
            self.margin = entrant.margin
        if entrant.upper_bound < self.upper_bound:
            rows, weights = entrant.trainer.support()
            alpha = np.zeros_like(self.trainer.alpha)
            alpha[rows] = weights
            self.trainer.alpha, self.upper_bound = alpha, entrant.upper_bound

    def expected(self, spent: float) -> float:
        """Return infinity."""
        return math.inf

    @property
    def least(self) -> float:
        """Nothing."""
        return 0.0
