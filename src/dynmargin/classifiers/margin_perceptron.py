"""The perceptron with margin."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from ..algorithms.perceptron import train_perceptron
from ..outcome import Outcome
from ..task import Task
from ..training import Plan
from .family import FamilyClassifier


@dataclass(eq=False, repr=False, kw_only=True)
class MarginPerceptronClassifier(FamilyClassifier):
    """Linear classifier by the perceptron with margin (Duda and Hart), with a certificate.

    It adds a pattern whenever its score is at most ``b`` times R², R being the longest pattern, and ends when a full
    pass finds none. The directional margin of its own state is then above ``1 / (2 + 1/b)`` of the best one: half is
    all that is promised. More is usually reached, and the certificate shows it.

    Parameters
    ----------
    epsilon : float in (0, 1], default=0.01
        Stop when the margin is proven to be at least ``1 - epsilon`` of the best one, unless the algorithm's own rule
        is content before.
    b : float > 0, default=20.0
        The margin threshold, in units of R².
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
    >>> from dynmargin import MarginPerceptronClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> MarginPerceptronClassifier().fit(X, y).certificate_.verify(X, y).verdict
    'proven'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FamilyClassifier._parameter_constraints,
        "b": [Interval(Real, 0, None, closed="neither")],
    }

    b: float = 20.0

    def _train(self, task: Task, plan: Plan) -> Outcome:
        return train_perceptron(task, plan, b=float(self.b))
