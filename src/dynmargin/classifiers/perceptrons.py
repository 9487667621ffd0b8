"""Perceptrons that only add patterns: the classical one, the one with margin, and the margitron."""

from typing import Literal

from .base import MarginClassifier
from .fitted import Proven
from .parameters import Cost, Intercept, MarginFloor, Order, OwnRule, option


class PerceptronFamily(Order, OwnRule, MarginFloor, Intercept, Cost, MarginClassifier):
    """Base of the classifiers with all the parameters that a perceptron can have."""


class PerceptronClassifier(Proven, PerceptronFamily):
    """Linear classifier by the classical perceptron (Rosenblatt), with a certificate.

    It adds a pattern whenever its score is not positive and ends when a full pass finds none. For the soft margin that
    means the extended patterns. No margin is promised; the certificate says what was reached. The weights returned are
    the best seen at a check, with the slacks that are best for them, as in `PDMClassifier`.

    Examples
    --------
    >>> from dynmargin import PerceptronClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> PerceptronClassifier().fit(X, y).certificate_.verify(X, y).verdict
    'proven'
    """

    _algorithm = "perceptron"


class MarginPerceptronClassifier(Proven, PerceptronFamily):
    """Linear classifier by the perceptron with margin (Duda and Hart), with a certificate.

    It adds a pattern whenever its score is at most ``b`` times R², R being the length of the longest pattern, and ends
    when a full pass finds none. The directional margin of its own state is then above ``1 / (2 + 1/b)`` of the best
    one: no more than half is promised. Usually it reaches more, and the certificate shows it.

    Parameters
    ----------
    b : float in (0, inf), default=20.0
        The margin threshold, in units of R².

    Examples
    --------
    >>> from dynmargin import MarginPerceptronClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> MarginPerceptronClassifier().fit(X, y).certificate_.verify(X, y).verdict
    'proven'
    """

    _algorithm = "margin-perceptron"

    b: float = option("margin-perceptron", "b")


class MargitronClassifier(Proven, PerceptronFamily):
    """Maximum-margin linear classifier by the margitron, a perceptron with a growing threshold, with a certificate.

    It adds a pattern whenever its score is at most ``b t^(1-e)`` after t updates, or ``b ‖a‖^s``, and comes as close to
    the best margin as e and b ask for. b depends on a bound of the best margin: without one, the run starts as a
    perceptron, takes the bound from its own counts, and goes on with finer accuracies and better bounds.

    Parameters
    ----------
    growth : {"norm", "updates"}, default="updates"
        Whether the threshold is a power of the number of updates or of the length of the weight vector.
    gamma_bound : float in (0, inf) or None, default=None
        An upper bound on the best directional margin in the extended space, for every class. The closer the better:
        the updates grow like ``(gamma_bound / gamma_d)^(2 / epsilon)``. None lets the run find its own.

    Examples
    --------
    >>> from dynmargin import MargitronClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> MargitronClassifier().fit(X, y).certificate_.verify(X, y).verdict
    'proven'
    """

    _algorithm = "margitron"

    growth: Literal["updates", "norm"] = option("margitron", "growth")
    gamma_bound: float | None = option("margitron", "gamma_bound")
