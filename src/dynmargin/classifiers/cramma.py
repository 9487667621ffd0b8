"""CRAMMA, the constant rate approximate maximum margin algorithm."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval

from ..algorithms.micra import train_micra
from ..outcome import Outcome
from ..task import Task
from ..training import Plan
from .family import FamilyClassifier


@dataclass(eq=False, repr=False, kw_only=True)
class CRAMMAClassifier(FamilyClassifier):
    """Linear classifier by CRAMMA (Tsampouka and Shawe-Taylor), with a certificate.

    A perceptron on the unit sphere with a constant rate and a margin threshold that falls like a power of the number of
    updates. It has no accuracy to set before a run; the certificate shows what was reached.

    Parameters
    ----------
    epsilon : float in (0, 1], default=0.01
        Stop when the margin is proven to be at least ``1 - epsilon`` of the best one, unless the algorithm's own rule
        is content before.
    beta : float > 0, default=3.0
        The margin threshold is ``beta R / t^power`` after t updates. Convergence takes about
        ``(beta R / gamma_d)^(1 / power)`` of them, and the larger beta is the better the margin.
    power : float > 0, default=0.5
        How fast the threshold falls.
    eta : float > 0, default=0.003
        The rate: an update adds ``eta / R`` times the pattern to the unit vector. About half of gamma_d / R is good; a
        larger one is slow and a smaller one ends far from the best margin.
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
    >>> from dynmargin import CRAMMAClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> CRAMMAClassifier().fit(X, y).certificate_.verify(X, y).verdict
    'proven'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FamilyClassifier._parameter_constraints,
        "beta": [Interval(Real, 0, None, closed="neither")],
        "power": [Interval(Real, 0, None, closed="neither")],
        "eta": [Interval(Real, 0, None, closed="neither")],
    }

    beta: float = 3.0
    power: float = 0.5
    eta: float = 0.003

    def _train(self, task: Task, plan: Plan) -> Outcome:
        return train_micra(task, plan, beta=float(self.beta), power=float(self.power), eta=float(self.eta))
