"""ALMA, the approximate large margin algorithm."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from ..algorithms.alma import train_alma
from ..outcome import Outcome
from ..task import Task
from ..training import Plan
from .family import FamilyClassifier


@dataclass(eq=False, repr=False, kw_only=True)
class ALMAClassifier(FamilyClassifier):
    """Linear classifier by ALMA_2(alpha) (Gentile), with a certificate.

    A perceptron in the unit ball whose rate and margin threshold fall like one over the square root of the updates. It
    converges to a directional margin of at least ``1 - alpha`` of the best one. The updates grow like
    ``8 (R / gamma_d)² / alpha²``: a small alpha is very slow.

    Parameters
    ----------
    epsilon : float in (0, 1], default=0.01
        Stop when the margin is proven to be at least ``1 - epsilon`` of the best one, unless the algorithm's own rule
        is content before.
    alpha : float in (0, 1], default=0.5
        ALMA's own accuracy, apart from ``epsilon``.
    C, fit_intercept, intercept_scaling, class_weight, stop, schedule : see PDMClassifier
        As in `PDMClassifier`.
    max_time, max_updates, margin_floor, n_jobs, random_state, verbose : see PDMClassifier
        As in `PDMClassifier`.

    Attributes
    ----------
    certificate_, certificates_, coef_, intercept_, classes_, n_updates_, n_iter_, history_, support_, dual_coef_
        As in `PDMClassifier`; the counts of a certificate are the coefficients, scaled and rounded to integers.
    stop_reason_ : str
        As in `PDMClassifier`, and "own rule" when the algorithm ended by its own rule with a gap above ``epsilon``.

    Examples
    --------
    >>> from dynmargin import ALMAClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> ALMAClassifier().fit(X, y).certificate_.verify(X, y).verdict
    'proven'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FamilyClassifier._parameter_constraints,
        "alpha": [Interval(Real, 0, 1, closed="right")],
    }

    alpha: float = 0.5

    def _train(self, task: Task, plan: Plan) -> Outcome:
        return train_alma(task, plan, alpha=float(self.alpha))
