"""The margitron."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from ..algorithms.margitron import Growth, train_margitron
from ..outcome import Outcome
from ..task import Task
from ..training import Plan
from .family import FamilyClassifier


@dataclass(eq=False, repr=False, kw_only=True)
class MargitronClassifier(FamilyClassifier):
    """Maximum-margin linear classifier by the margitron, a perceptron with a growing threshold, with a certificate.

    It adds a pattern whenever its score is at most ``b t^(1-e)`` after t updates, or ``b ‖a‖^s``, and comes as close to
    the best margin as e and b ask for. b depends on a bound of the best margin: without one, the run starts as a
    perceptron, takes the bound from its own counts, and goes on with finer accuracies and better bounds.

    Parameters
    ----------
    epsilon : float in (0, 1], default=0.01
        The algorithm's accuracy; stop when the margin is proven to be at least ``1 - epsilon`` of the best one.
    growth : {"updates", "norm"}, default="updates"
        Whether the threshold is a power of the number of updates or of the length of the weight vector.
    gamma_bound : float > 0 or None, default=None
        An upper bound on the best directional margin in the extended space, for every class. The closer the better: the
        updates grow like ``(gamma_bound / gamma_d)^(2 / epsilon)``. None lets the run find its own.
    C, fit_intercept, intercept_scaling, class_weight, stop, schedule : see PDMClassifier
        As in `PDMClassifier`.
    max_time, max_updates, margin_floor, n_jobs, random_state, verbose : see PDMClassifier
        As in `PDMClassifier`.

    Attributes
    ----------
    certificate_, certificates_, coef_, intercept_, classes_, n_updates_, n_iter_, history_, support_, dual_coef_
        As in `PDMClassifier`.
    stop_reason_ : str
        As in `PDMClassifier`, and with ``gamma_bound`` "own rule" when the algorithm ended by its own rule with a
        gap above ``epsilon``.

    Examples
    --------
    >>> from dynmargin import MargitronClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> MargitronClassifier().fit(X, y).certificate_.verify(X, y).verdict
    'proven'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FamilyClassifier._parameter_constraints,
        "growth": [StrOptions({"updates", "norm"})],
        "gamma_bound": [Interval(Real, 0, None, closed="neither"), None],
    }

    growth: Growth = "updates"
    gamma_bound: float | None = None

    def _train(self, task: Task, plan: Plan) -> Outcome:
        return train_margitron(task, plan, growth=self.growth, gamma_bound=self.gamma_bound)
