"""ROMMA, the relaxed online maximum margin algorithm."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ..algorithms.romma import train_romma
from ..outcome import Outcome
from ..task import Task
from ..training import Plan
from .family import FamilyClassifier


@dataclass(eq=False, repr=False, kw_only=True)
class ROMMAClassifier(FamilyClassifier):
    """Maximum-margin linear classifier by ROMMA (Li and Long), with a certificate.

    Each update goes to the shortest weight vector that gives the pattern a score of 1 and stays in a half-space known
    to hold the best one. Aggressive ROMMA with accuracy delta = ``epsilon`` updates on scores up to ``1 - delta`` and
    converges to a margin of ``1 - delta`` of the best one; plain ROMMA updates on mistakes only and promises no margin.

    Parameters
    ----------
    epsilon : float in (0, 1], default=0.01
        The algorithm's accuracy; stop when the margin is proven to be at least ``1 - epsilon`` of the best one.
    aggressive : bool, default=True
        False for plain ROMMA.
    schedule : {"fast", "paper"} or Schedule, default="fast"
        The order in which patterns are presented. "paper" is not PDM's: full passes in random order, and between them
        the patterns that the last one updated on, until they make no update.
    C, fit_intercept, intercept_scaling, class_weight, stop : see PDMClassifier
        As in `PDMClassifier`.
    max_time, max_updates, margin_floor, n_jobs, random_state, verbose : see PDMClassifier
        As in `PDMClassifier`.

    Attributes
    ----------
    certificate_, certificates_, coef_, intercept_, classes_, n_updates_, n_iter_, history_, support_, dual_coef_
        As in `PDMClassifier`; the counts of a certificate are the coefficients, scaled and rounded to integers.
    stop_reason_ : str
        As in `PDMClassifier`, and for plain ROMMA "own rule" when it ended by its own rule with a gap above
        ``epsilon``.

    Examples
    --------
    >>> from dynmargin import ROMMAClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> ROMMAClassifier().fit(X, y).certificate_.verify(X, y).verdict
    'proven'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FamilyClassifier._parameter_constraints,
        "aggressive": ["boolean"],
    }

    aggressive: bool = True

    def _train(self, task: Task, plan: Plan) -> Outcome:
        return train_romma(task, plan, aggressive=self.aggressive)
