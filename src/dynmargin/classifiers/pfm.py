"""PFM, the perceptron with fixed margin."""

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval

from ..algorithms.pfm import train_pfm
from ..outcome import Outcome
from ..problem import BinaryProblem
from ..schedule import Schedule
from ..task import Task
from ..training import Plan
from .base import MarginClassifier


class PFMClassifier(MarginClassifier):
    """Linear classifier by the perceptron with fixed margin: it looks for a margin above a given value.

    Parameters
    ----------
    beta : float, array of one a class, or None, default=None
        The directional margin to exceed, in the extended space; it must be below the best one. None takes the
        directional margin of a run of PDM at `epsilon` to convergence, as in the paper.
    epsilon : float in (0, 1], default=0.01
        The accuracy of that run of PDM, and the gap at which ``stop="certificate"`` ends.
    C, fit_intercept, intercept_scaling, class_weight, stop, schedule : see PDMClassifier
        As in `PDMClassifier`.
    max_time, max_updates, margin_floor, n_jobs, random_state, verbose : see PDMClassifier
        As in `PDMClassifier`.

    Attributes
    ----------
    beta_ : array of shape (1,) or (n_classes,)
        The margins that were looked for; NaN where PDM ended before it had one to offer.
    stop_reason_ : str
        As in `PDMClassifier`, "infeasible" when no classifier has a margin of ``beta``, and "own rule" when every
        margin exceeds ``beta`` while the gap is above ``epsilon``.
    certificate_, certificates_, coef_, intercept_, classes_, n_updates_, n_iter_, history_, support_, dual_coef_
        As in `PDMClassifier`.

    Examples
    --------
    >>> from dynmargin import PFMClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> classifier = PFMClassifier(beta=1.4, C=float("inf"), stop="convergence").fit(X, y)
    >>> bool(classifier.certificate_.directional_margin > 1.4)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MarginClassifier._parameter_constraints,
        "beta": [Interval(Real, 0, None, closed="neither"), "array-like", None],
    }

    def __init__(
        self,
        beta: float | ArrayLike | None = None,
        *,
        epsilon: float = 0.01,
        C: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None,
        stop: str = "certificate",
        schedule: str | Schedule = "fast",
        max_time: float | None = None,
        max_updates: int | None = None,
        margin_floor: float = 1e-4,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.beta = beta
        self.epsilon = epsilon
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.stop = stop
        self.schedule = schedule
        self.max_time = max_time
        self.max_updates = max_updates
        self.margin_floor = margin_floor
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _problems(
        self, classes: NDArray[Any], y: NDArray[Any], sample_weight: NDArray[np.float64] | None
    ) -> list[BinaryProblem]:
        problems = super()._problems(classes, y, sample_weight)
        if self.beta is not None:
            betas = np.asarray(self.beta, dtype=np.float64)
            if betas.ndim > 0 and betas.shape != (len(problems),):
                raise ValueError(
                    f"beta must be a number or one a class ({len(problems)}), got an array of shape {betas.shape}"
                )
            if not (np.isfinite(betas).all() and (betas > 0).all()):
                raise ValueError(f"beta must be positive and finite, got {self.beta!r}")
        return problems

    def _train(self, task: Task, plan: Plan) -> Outcome:
        beta = None if self.beta is None else float(np.ravel(self.beta)[task.index if np.ndim(self.beta) else 0])
        return train_pfm(task, plan, beta=beta)

    def _publish(self, outcomes: list[Outcome], sides: list[NDArray[np.int8]]) -> None:
        super()._publish(outcomes, sides)
        self.beta_ = np.array([outcome.beta for outcome in outcomes])
