"""The perceptron."""

from dataclasses import dataclass

from ..algorithms.perceptron import train_perceptron
from ..outcome import Outcome
from ..task import Task
from ..training import Plan
from .family import FamilyClassifier


@dataclass(eq=False, repr=False, kw_only=True)
class PerceptronClassifier(FamilyClassifier):
    """Linear classifier by the classical perceptron (Rosenblatt), with a certificate.

    It adds a pattern whenever its score is not positive and ends when a full pass finds none. For the soft margin that
    means the extended patterns. No margin is promised; the certificate says what was reached, and the weights handed
    out are the best seen at a check, slacks repaired, as in `PDMClassifier`.

    Parameters
    ----------
    epsilon : float in (0, 1], default=0.01
        Stop when the margin is proven to be at least ``1 - epsilon`` of the best one, unless the algorithm's own rule
        is content before.
    C, fit_intercept, intercept_scaling, class_weight, stop, schedule : see PDMClassifier
        As in `PDMClassifier`.
    max_time, max_updates, margin_floor, n_jobs, random_state, verbose : see PDMClassifier
        As in `PDMClassifier`.

    Attributes
    ----------
    certificate_, certificates_, coef_, intercept_, classes_, n_updates_, n_iter_, history_, support_, dual_coef_
        As in `PDMClassifier`.
    stop_reason_ : str
        As in `PDMClassifier`, and "own rule" when the algorithm ended by its own rule with a gap above ``epsilon``.

    Examples
    --------
    >>> from dynmargin import PerceptronClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> PerceptronClassifier().fit(X, y).certificate_.verify(X, y).verdict
    'proven'
    """

    def _train(self, task: Task, plan: Plan) -> Outcome:
        return train_perceptron(task, plan)
