"""A path with no holes: fits such that at every C of a range a proven gap holds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.linear_model import LinearModel, labels_of, scores_of
from ..problem.statement import counted
from .objective import Objective, Point, combined, require_range
from .witnesses import Witnesses, certificate_at, witnesses

FIRST_STEP = 10.0  # between the first fits, each of which begins where the last one ended
ACCURACY = 0.05  # of epsilon: what a fit itself leaves, so that most of it is left for other Cs
# A certificate may be made a quicker way, whose error is up to 3e-5 of the gap; this is left for it.
ROOM = 1e-4
MOST_PIECES = 20_000


@dataclass(frozen=True, eq=False)
class Piece:
    """A range of C, and the witnesses that prove the gap there."""

    low: float
    high: float
    witnesses: Witnesses


class Cover:
    """The pieces that cover a range for one two-class problem.

    Attributes
    ----------
    objective : Objective
        The problem.
    pieces : list of Piece
        In the order in which they begin.
    fits : dict
        The points that were trained, by C.
    """

    def __init__(self, objective: Objective, low: float, high: float, epsilon: float) -> None:
        self.objective = objective
        self.epsilon = epsilon
        self.pieces: list[Piece] = []
        self.fits: dict[float, Point] = {}
        # From the low end up to `_reached` there is no hole; the ends of pieces that may begin above it, lowest first.
        self._reached = low
        self._ahead: list[tuple[float, float]] = []
        n_steps = max(1, math.ceil(math.log(high / low) / math.log(FIRST_STEP)))
        between = [low * (high / low) ** (k / n_steps) for k in range(1, n_steps)]
        for C in [low, *between, *([high] if high > low else [])]:
            self._train(C)
        while (hole := self._hole(high)) is not None:
            self._fill(*hole)
        self.pieces.sort(key=lambda piece: piece.low)

    @cached_property
    def digests(self) -> tuple[int, int]:
        """Of the data, with and without the order of the rows."""
        return self.objective.core.digest(self.objective.rows)

    def at(self, C: float) -> Witnesses:
        """Return the witnesses that prove most at a C of the range."""
        return min(
            (piece.witnesses for piece in self.pieces if piece.low <= C <= piece.high), key=lambda one: one.gap(C)
        )

    def _hole(self, high: float) -> tuple[float, float] | None:
        """Return where nothing is proven yet, from the end of a piece to the beginning of the next."""
        while self._ahead and self._ahead[0][0] <= self._reached:
            self._reached = max(self._reached, heappop(self._ahead)[1])
        if self._reached >= high:
            return None
        return self._reached, self._ahead[0][0] if self._ahead else high

    def _fill(self, begin: float, end: float) -> None:
        """Prove the gap in the middle of a hole: by a combination of the fits around it if possible, else by a fit."""
        C = math.sqrt(begin) * math.sqrt(end)
        below, above = max(fit for fit in self.fits if fit < C), min(fit for fit in self.fits if fit > C)
        both = combined(C, self.fits[below], self.fits[above])
        if not self._add(witnesses(self.objective, C, both)):
            self._train(C)

    def _train(self, C: float) -> None:
        """Train at C, from a combination of the neighbouring fits."""
        below = max((fit for fit in self.fits if fit < C), default=None)
        above = min((fit for fit in self.fits if fit > C), default=None)
        accuracy = ACCURACY * self.epsilon
        if below is None:
            w = self.objective.first(C, accuracy)
        else:
            near = self.fits[below]
            start = near.w if above is None else combined(C, near, self.fits[above])
            w = self.objective.lowest(C, start, accuracy)
        found = witnesses(self.objective, C, w)
        if not self._add(found):
            raise ValueError(
                f"at C={C:g} no gap below {found.gap(C):.2g} can be proven; ask for a larger epsilon, or scale the "
                "features"
            )
        self.fits[C] = self.objective.point(w)

    def _add(self, found: Witnesses) -> bool:
        """Keep witnesses with the range that they hold in; return whether they hold where they were measured."""
        held = found.range((1 - ROOM) * self.epsilon)
        if held is None or not held[0] <= found.C <= held[1]:
            return False
        if len(self.pieces) == MOST_PIECES:
            raise ValueError(
                f"the path takes more than {MOST_PIECES} pieces, each of which proves epsilon={self.epsilon:g} for a "
                "small range of C only; ask for a larger epsilon, or a smaller range"
            )
        self.pieces.append(Piece(*held, found))
        heappush(self._ahead, held)
        return True


class CPath:
    """Models for every C of a range, each with a proven gap; `c_path` makes one.

    Attributes
    ----------
    C_low, C_high : float
        The range.
    epsilon : float
        At every C in it a gap of at most this is proven.
    classes : array
        The labels.
    Cs : array
        Where models were trained, for any of the classes; in between, combinations of them prove the gap.

    Examples
    --------
    >>> from dynmargin import c_path
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], ["left", "right", "right"]
    >>> path = c_path(X, y, C_low=0.1, C_high=10.0)
    >>> path.gap(1.2345) <= path.epsilon
    True
    >>> path.at(1.2345).verify(X, y, C=1.2345).verdict
    'proven'
    """

    def __init__(
        self,
        objectives: Sequence[Objective],
        classes: NDArray[Any],
        C_low: float,
        C_high: float,
        epsilon: float,
        feature_names: NDArray[np.str_] | None = None,
    ) -> None:
        require_range(C_low, C_high)
        self.C_low, self.C_high, self.epsilon = C_low, C_high, epsilon
        self.classes = classes
        self.feature_names = feature_names
        self._covers = [Cover(objective, C_low, C_high, epsilon) for objective in objectives]
        self.Cs = np.unique([C for cover in self._covers for C in cover.fits])

    def __repr__(self) -> str:
        pieces = sum(len(cover.pieces) for cover in self._covers)
        return (
            f"<CPath: a gap of at most {self.epsilon:g} is proven at every C from {self.C_low:g} to {self.C_high:g}; "
            f"{counted(len(self.Cs), 'fit')}, {counted(pieces, 'piece')}>"
        )

    def _require(self, C: float) -> float:
        if not self.C_low <= C <= self.C_high:
            raise ValueError(f"C={C:g} is outside the path, which goes from {self.C_low:g} to {self.C_high:g}")
        return float(C)

    def bounds(self, C: float) -> NDArray[np.float64]:
        """Return what is proven at a C, without a pass over the data.

        Parameters
        ----------
        C : float
            The price of a squared slack.

        Returns
        -------
        array of shape (1, 2) or (n_classes, 2)
            A margin that the model has and an upper bound that none exceeds; with several classes, for each of them.
        """
        C = self._require(C)
        return np.array([cover.at(C).bounds(C) for cover in self._covers])

    def gap(self, C: float) -> float:
        """Return the gap that is proven at a C, without a pass over the data.

        Parameters
        ----------
        C : float
            The price of a squared slack.

        Returns
        -------
        float
            At most ``epsilon``; with several classes the largest of all.
        """
        C = self._require(C)
        return max(cover.at(C).gap(C) for cover in self._covers)

    def weights(self, C: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weights and intercepts for a C, without a pass over the data.

        Parameters
        ----------
        C : float
            The price of a squared slack.

        Returns
        -------
        tuple of arrays
            Of shape (1, n_features) and (1,), or one row per class: those of the model that `at` returns.
        """
        C = self._require(C)
        found = [cover.objective.unpacked(cover.at(C).w) for cover in self._covers]
        return np.vstack([weights for weights, _ in found]), np.hstack([intercept for _, intercept in found])

    def predict(self, X: Any, C: float) -> NDArray[Any]:
        """Predict labels for a C, without a pass over the data that the path was made from.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            The rows to classify.
        C : float
            The price of a squared slack.

        Returns
        -------
        array of shape (n_samples,)
            One label per row: those of the model that `at` returns.
        """
        return labels_of(scores_of(X, *self.weights(C)), self.classes)

    def at(self, C: float) -> LinearModel:
        """Return the model for a C, with its certificate.

        Parameters
        ----------
        C : float
            The price of a squared slack, from ``C_low`` to ``C_high``.

        Returns
        -------
        LinearModel
            It predicts, can be saved and verified, and its gap is at most ``epsilon``.
        """
        C, certificates = self._require(C), []
        for cover in self._covers:
            found = cover.at(C)
            certificates.append(certificate_at(cover.objective, C, found.w, found.counts, cover.digests, self.epsilon))
        return LinearModel(
            self.classes,
            np.vstack([certificate.weights for certificate in certificates]),
            np.hstack([certificate.intercept for certificate in certificates]),
            bias=certificates[0].problem.rho,
            certificates=tuple(certificates),
            feature_names=self.feature_names,
            parameters={"C": C, "epsilon": self.epsilon, "path": [self.C_low, self.C_high]},
        )
