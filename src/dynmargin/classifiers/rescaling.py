"""Algorithms that also rescale the weight vector: ROMMA, ALMA, CRAMMA and MICRA."""

from typing import Literal

from ..training.schedule import Schedule
from .fitted import Proven
from .parameters import option, parameter, words
from .perceptrons import PerceptronFamily


class RescalingFamily(Proven, PerceptronFamily):
    """Base of the classifiers whose coefficients are real numbers.

    Attributes
    ----------
    certificates_ : list of Certificate
        One per class, or a single one for two classes; the counts are the coefficients, scaled and rounded to
        integers.
    """


class ROMMAClassifier(RescalingFamily):
    """Maximum-margin linear classifier by ROMMA (Li and Long), with a certificate.

    Each update goes to the shortest weight vector that gives the pattern a score of 1 and stays in a half-space known
    to hold the best one. Aggressive ROMMA with accuracy delta = ``epsilon`` updates on scores up to ``1 - delta`` and
    converges to a margin of ``1 - delta`` of the best one; plain ROMMA updates on mistakes only and promises no margin.

    Parameters
    ----------
    aggressive : bool, default=True
        False for plain ROMMA, which updates on mistakes only.
    schedule : {"fast", "paper"} or Schedule, default="fast"
        The order in which patterns are presented. "paper" is not PDM's: full passes in random order, and between
        them the patterns that the last one updated on, until they make no update.

    Examples
    --------
    >>> from dynmargin import ROMMAClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> ROMMAClassifier().fit(X, y).certificate_.verify(X, y).verdict
    'proven'
    """

    _algorithm = "romma"

    aggressive: bool = option("romma", "aggressive")
    schedule: Literal["fast", "paper"] | Schedule = parameter(default="fast", within=[words("fast", "paper"), Schedule])


class ALMAClassifier(RescalingFamily):
    """Linear classifier by ALMA_2(alpha) (Gentile), with a certificate.

    A perceptron in the unit ball whose rate and margin threshold fall like one over the square root of the updates. It
    converges to a directional margin of at least ``1 - alpha`` of the best one. The updates grow like
    ``8 (R / gamma_d)² / alpha²``: a small alpha is very slow.

    Parameters
    ----------
    alpha : float in (0, 1], default=0.5
        ALMA's own accuracy, apart from ``epsilon``.

    Examples
    --------
    >>> from dynmargin import ALMAClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> ALMAClassifier().fit(X, y).certificate_.verify(X, y).verdict
    'proven'
    """

    _algorithm = "alma"

    alpha: float = option("alma", "alpha")


class CRAMMAClassifier(RescalingFamily):
    """Linear classifier by CRAMMA (Tsampouka and Shawe-Taylor), with a certificate.

    A perceptron on the unit sphere with a constant rate and a margin threshold that falls like a power of the number of
    updates. It has no accuracy to set before a run; the certificate shows what was reached.

    Parameters
    ----------
    threshold : float in (0, inf), default=3.0
        The margin threshold is ``threshold R / t^power`` after t updates. Convergence takes about ``(threshold R /
        gamma_d)^(1 / power)`` of them; the larger it is, the better the margin.
    power : float in (0, inf), default=0.5
        How fast the margin threshold falls.
    rate : float in (0, inf), default=0.003
        An update adds ``rate / R`` times the pattern to the unit vector. About half of gamma_d / R is good; a
        larger rate is slow, and a smaller one ends far from the best margin.

    Examples
    --------
    >>> from dynmargin import CRAMMAClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> CRAMMAClassifier().fit(X, y).certificate_.verify(X, y).verdict
    'proven'
    """

    _algorithm = "cramma"

    threshold: float = option("cramma", "threshold")
    power: float = option("cramma", "power")
    rate: float = option("cramma", "rate")


class MICRAClassifier(RescalingFamily):
    """Linear classifier by MICRA (Tsampouka and Shawe-Taylor), with a certificate.

    A perceptron on the unit sphere whose rate and margin threshold fall like powers of the number of updates. It has no
    accuracy to set before a run; the certificate shows what was reached.

    Parameters
    ----------
    threshold : float in (0, inf), default=3.0
        The margin threshold is ``threshold R / t^power`` after t updates. Convergence takes about ``(threshold R /
        gamma_d)^(1 / power)`` of them; the larger it is, the better the margin.
    power : float in (0, inf), default=0.5
        How fast the margin threshold falls.
    rate : float in (0, inf), default=1.0
        An update adds ``rate / (R t^zeta)`` times the pattern to the unit vector.
    zeta : float in [0, 1), default=0.5
        How fast the rate falls; with 0 it is CRAMMA. When it equals ``power``, the rate stays in proportion to
        gamma_d.

    Examples
    --------
    >>> from dynmargin import MICRAClassifier
    >>> X, y = [[0.0, 2.0], [2.0, 0.0]], [0, 1]
    >>> MICRAClassifier().fit(X, y).certificate_.verify(X, y).verdict
    'proven'
    """

    _algorithm = "micra"

    threshold: float = option("micra", "threshold")
    power: float = option("micra", "power")
    rate: float = option("micra", "rate")
    zeta: float = option("micra", "zeta")
