"""PDM and PDM-succ, the perceptron with dynamic margin, and PFM, the perceptron with fixed margin."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..problem.problems import Problem, Weights
from ..training.fit import Fit
from .fitted import Proven
from .online import OnlineClassifier
from .parameters import OwnRuleOrSettledRows, option
from .perceptrons import PerceptronFamily
from .settling import SettlingClassifier


class PDMClassifier(OwnRuleOrSettledRows, OnlineClassifier, SettlingClassifier):
    """Maximum-margin linear classifier by the perceptron with dynamic margin, with a proof of how good it is.

    It solves the problem of ``LinearSVC(loss="squared_hinge", penalty="l2")`` with the same ``C`` and the same
    regularised intercept. You state one number, how close to the best possible margin the result must be proven to be;
    there are no iterations, learning rates or tolerances to set. The weights returned are the best seen at a check: a
    combination of PDM's weights, their recent average and the bias, at the scale that is best for LinearSVC's
    objective.

    Attributes
    ----------
    certificate_ : Certificate, JointCertificate or OnlineCertificate
        What is proven about the model; with more than two classes the one with the largest gap. After `partial_fit`
        an `OnlineCertificate`: an upper bound for all rows seen, a margin only for those of the last call.
    certificates_ : list of Certificate, JointCertificate or OnlineCertificate
        One per class, or a single one for two classes or all at once.
    stop_reason_ : str
        Why the training ended: "certificate", "predictions", "converged", "inseparable", "stalled", "max_updates",
        "max_time", "interrupted" or "callback"; "online" after `partial_fit`.
    support_ : array of int
        The rows with a count. Not after `partial_fit`, like the next one.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dynmargin import PDMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> classifier = PDMClassifier(epsilon=0.01, random_state=0).fit(X, y)
    >>> classifier.certificate_.achieved
    True
    >>> bool(classifier.certificate_.verify(X, y))
    True

    All classes at once, and what is proven about them together:

    >>> from sklearn.datasets import load_iris
    >>> X3, y3 = load_iris(return_X_y=True)
    >>> joint = PDMClassifier(multi_class="joint", random_state=0).fit(X3, y3)
    >>> joint.coef_.shape, bool(joint.certificate_.verify(X3, y3))
    ((3, 4), True)

    Rows that pass by, and what is proven when they have:

    >>> stream = PDMClassifier()
    >>> for begin in range(0, len(X), 100):
    ...     rows = slice(begin, begin + 100)
    ...     stream = stream.partial_fit(X[rows], y[rows], classes=[0, 1])
    >>> stream.n_samples_seen_
    569
    >>> bool(stream.certify(X, y).verify(X, y))
    True
    """

    _algorithm = "pdm"


class FixedMargins:
    """What a fit of PFM leaves beside `Fitted`, for type checkers."""

    beta_: NDArray[np.float64]


class PFMClassifier(Proven, FixedMargins, PerceptronFamily):
    """Linear classifier by the perceptron with fixed margin: it looks for a margin above a given value.

    ``epsilon`` is the accuracy of the run of PDM that finds ``beta``, where none is given, and the gap at which
    ``stop="certificate"`` ends.

    Parameters
    ----------
    beta : float in (0, inf), array or None, default=None
        The directional margin to exceed, in the extended space; it must be below the best one. None takes the
        directional margin of a run of PDM at ``epsilon`` to convergence, as in the paper.

    Attributes
    ----------
    beta_ : array of shape (1,) or (n_classes,)
        The margins that were looked for; NaN where PDM ended before it had one to offer.

    Examples
    --------
    >>> from dynmargin import PFMClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> classifier = PFMClassifier(beta=1.4, C=float("inf"), stop="convergence").fit(X, y)
    >>> bool(classifier.certificate_.directional_margin > 1.4)
    True
    """

    _algorithm = "pfm"

    beta: float | ArrayLike | None = option("pfm", "beta")

    def _problems(self, classes: NDArray[Any], y: NDArray[Any], sample_weight: Weights | None) -> list[Problem]:
        problems = super()._problems(classes, y, sample_weight)
        if self.beta is not None:
            betas = np.asarray(self.beta, dtype=np.float64)
            if betas.ndim > 0 and betas.shape != (len(problems),):
                raise ValueError(
                    f"beta must be a number or one per class ({len(problems)}), got an array of shape {betas.shape}"
                )
            if not (np.isfinite(betas).all() and (betas > 0).all()):
                raise ValueError(f"beta must be positive and finite, got {self.beta!r}")
        return problems

    def _publish(
        self, fitted: Fit, problems: Sequence[Problem], y: NDArray[Any], sample_weight: Weights | None
    ) -> None:
        super()._publish(fitted, problems, y, sample_weight)
        self.beta_ = np.array([result.beta for result in fitted.results])
