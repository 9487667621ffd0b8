"""A fold and the rows held out from it: which of them are proven to be right, wrong, or neither."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..model.linear_model import labels_of, scores_of
from ..problem.problems import BinaryProblem, Problem, Weights
from ..training.folds import Fold
from .moving_ball import Place
from .objective import TWO_U, UNDERFLOW, Objective, length

Floats = NDArray[np.float64]


def squared_lengths(X: Any) -> Floats:
    """Return the squared length of every row, of whatever holds them."""
    if not hasattr(X, "indptr"):
        return np.asarray(np.square(X, dtype=np.float64).sum(axis=1), dtype=np.float64)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    squares = np.square(X.data, dtype=np.float64)
    return np.asarray(np.bincount(rows, weights=squares, minlength=X.shape[0]), dtype=np.float64)


class HeldOut:
    """What a fold trains on, and the rows that it is judged by.

    Parameters
    ----------
    objectives : sequence of Objective
        One for two classes, else one per class.
    classes : array
        The labels that the fold knows, in the order of the objectives.
    X, y : array or CSR matrix, array
        The rows held out and their labels.
    weight : array or None
        What each of them counts.
    """

    def __init__(
        self, objectives: Sequence[Objective], classes: NDArray[Any], X: Any, y: NDArray[Any], weight: Weights | None
    ) -> None:
        self.objectives = objectives
        known = np.isin(y, classes)  # any other label is never predicted
        self.weight = np.ones(len(y)) if weight is None else weight
        self.total = float(self.weight.sum())
        self.n_rows, self.whole = len(y), bool((self.weight % 1 == 0).all())
        self.never_right = float(self.weight[~known].sum())
        self.X, self.weight = X[np.flatnonzero(known)], self.weight[known]
        self.own = np.searchsorted(classes, y[known])
        rho = objectives[0].problem.rho
        terms = self.X.shape[1] + 16
        self.lengths = np.sqrt(squared_lengths(self.X) + rho * rho)
        self.lengths = self.lengths * (1 + terms * TWO_U) + UNDERFLOW
        if hasattr(self.X, "indptr"):
            terms = int(np.diff(self.X.indptr).max(initial=0)) + 16
        self.rounding = terms * TWO_U  # of a product with a row, as a fraction of both lengths

    def settle(self, lines: Sequence[Sequence[Place]], radii: Sequence[Floats]) -> tuple[Floats, Floats]:
        """Return the weight of the rows that are wrong, and of those that are open, for every piece of a line.

        A line is a list of places per objective, and a piece goes from one to the next, or is the only place there is.
        The optimum is within the radius of a point between the two centres. Scores are linear there, so that they are
        largest and smallest at the ends.
        """
        scores, widened = self._scores(lines), self._widened(lines, radii)
        n_pieces = widened.shape[1]
        right, wrong = np.ones((len(self.own), n_pieces), bool), np.zeros((len(self.own), n_pieces), bool)
        if len(self.objectives) == 1:
            side = 2.0 * self.own[:, None] - 1
            leads = [(side * scores[0], widened[0] * self.lengths[:, None])]
        else:
            leads = [self._lead(scores, widened, rival) for rival in range(len(self.objectives))]
        for lead, reach in leads:
            ends = (lead, lead) if n_pieces == lead.shape[1] else (lead[:, :-1], lead[:, 1:])
            right &= np.minimum(*ends) > reach
            wrong |= np.maximum(*ends) < -reach
        wrong &= ~right  # NaN is neither
        of_wrong = self.weight @ wrong
        return of_wrong + self.never_right, self.weight @ ~(right | wrong)

    def score(self, fits: Sequence[Floats]) -> float:
        """Return the accuracy of weights, as they predict."""
        found = [objective.unpacked(w) for objective, w in zip(self.objectives, fits, strict=True)]
        scores = scores_of(self.X, np.array([w for w, _ in found]), np.array([b for _, b in found]))
        places = labels_of(scores, np.arange(max(2, len(self.objectives))))
        return float(self.weight[places == self.own].sum()) / self.total if self.total > 0 else np.nan

    def _lead(self, scores: Floats, radii: Floats, rival: int) -> tuple[Floats, Floats]:
        """Return by how much the own class of each row leads another, infinitely over itself, and its radius."""
        rows = np.arange(len(self.own))
        lead = scores[self.own, rows] - scores[rival]
        lead[self.own == rival] = np.inf
        return lead, (radii[self.own] + radii[rival]) * self.lengths[:, None]

    def _scores(self, lines: Sequence[Sequence[Place]]) -> Floats:
        """Return the scores of all centres, by objective, row and place."""
        found = []
        for objective, line in zip(self.objectives, lines, strict=True):
            weights, intercepts = objective.unpacked(np.array([at.centre for at in line]))
            found.append(np.asarray(self.X @ weights.T) + intercepts)
        return np.array(found)

    def _widened(self, lines: Sequence[Sequence[Place]], radii: Sequence[Floats]) -> Floats:
        """Return the radii with what rounding of the scores may add to them."""
        longest = [max(length(at.centre) for at in line) for line in lines]
        widened: Floats = np.array(radii) + 2 * self.rounding * np.array(longest)[:, None]
        return widened


def hold_out(
    matrix: _core.Matrix,
    rows: _core.PackedRows,
    data: tuple[Any, NDArray[Any], Weights | None],
    folds: Sequence[tuple[Fold, NDArray[Any]]],
    state_problems: Callable[[Fold], Sequence[Problem]],
) -> list[HeldOut]:
    """State the problems of all folds, for C = 1, over the same packed rows; `data` are X, y and the sample weights."""
    X, y, weight = data
    found = []
    for fold, outside in folds:
        objectives = [
            Objective(matrix, rows, problem, y, fold.weight)
            for problem in state_problems(fold)
            if isinstance(problem, BinaryProblem)  # a joint margin has no such objective
        ]
        places = np.arange(len(y))[outside]
        of_rows = None if weight is None else weight[places]
        found.append(HeldOut(objectives, fold.classes, X[places], y[places], of_rows))
    return found
