"""Bounds for the algorithms that the paper compares with or builds on, most of them our own derivations."""

import math
from collections.abc import Callable

from .. import _core  # its powers are the same on every machine
from .arguments import elementwise, ratio_of


@elementwise
def perceptron_update_bound(R: float, gamma_d: float, b: float = 0.0) -> float:
    """Bound the updates of the perceptron with margin threshold b: ``(R² + 2 b) / gamma_d²`` (Novikoff for b = 0).

    Examples
    --------
    >>> from dynmargin.theory import perceptron_update_bound
    >>> perceptron_update_bound(R=10.0, gamma_d=1.0)
    100.0
    """
    return ratio_of(R, gamma_d) ** 2 + 2 * b / gamma_d**2


@elementwise
def romma_update_bound(R: float, gamma_d: float, delta: float) -> float:
    """Bound the updates of aggressive ROMMA with accuracy delta: ``R² / (delta gamma_d)²``.

    ‖a‖² never exceeds ``1 / gamma_d²`` and grows by at least ``delta² / R²`` with every update.

    Examples
    --------
    >>> from dynmargin.theory import romma_update_bound
    >>> romma_update_bound(R=10.0, gamma_d=1.0, delta=0.5)
    400.0
    """
    return (ratio_of(R, gamma_d, delta) / delta) ** 2


@elementwise
def alma_update_bound(R: float, gamma_d: float, alpha: float) -> float:
    """Bound the updates of ALMA_2(alpha): ``2 (R / gamma_d)² (2 / alpha - 1)² + 8 / alpha - 4``.

    Examples
    --------
    >>> from dynmargin.theory import alma_update_bound
    >>> alma_update_bound(R=10.0, gamma_d=1.0, alpha=0.5)
    1812.0
    """
    return 2 * ratio_of(R, gamma_d, alpha) ** 2 * (2 / alpha - 1) ** 2 + 8 / alpha - 4


@elementwise
def margitron_threshold(R: float, gamma_bound: float, epsilon: float, growth: str = "updates") -> float:
    """Return the margitron's threshold parameter b for accuracy epsilon and an upper bound on gamma_d.

    Half of epsilon is spent on the exponent, e = epsilon; the other half on what R² contributes to ‖a‖².

    - ``growth="updates"``: ``b = (R² / d)^e ((1 - e/2) gamma_bound²)^(1-e)`` with ``d = 1/(1-e) - 1/(1-e/2)``.
    - ``growth="norm"``: ``b = (1 - e) gamma_bound N^(1-s)`` with s = 2 (1-e) / (2-e), N the length of a at which the
      terms of lower order in its bound (see `margitron_update_bound`) are the fraction e / (2-e) of it.

    Examples
    --------
    >>> from dynmargin.theory import margitron_threshold
    >>> round(margitron_threshold(R=10.0, gamma_bound=1.0, epsilon=0.5), 2)
    10.61
    """
    ratio_of(R, gamma_bound, epsilon)  # checks them
    e = epsilon
    if e == 1:
        return 0.0  # the classical perceptron
    if growth == "updates":
        rest = 1 / (1 - e) - 1 / (1 - e / 2)
        return _core.pow(R * R / rest, e) * _core.pow((1 - e / 2) * gamma_bound * gamma_bound, 1 - e)
    s = 2 * (1 - e) / (2 - e)
    wanted = e / (2 - e)
    N = _first(lambda N: _lower_order(N / gamma_bound, R, gamma_bound, s) <= wanted * _core.pow(N, 2 - s), R)
    return (1 - e) * gamma_bound * _core.pow(N, 1 - s)


@elementwise
def margitron_update_bound(R: float, gamma_d: float, b: float, epsilon: float, growth: str = "updates") -> float:
    """Bound the updates of the margitron with threshold parameter b and exponent e = epsilon.

    The largest t with ``gamma_d t <= L(t)``, where L(t) bounds ‖a‖ after t updates:

    - ``growth="updates"``: ``L² = R² t + 2 b t^(2-e) / (2-e)``;
    - ``growth="norm"``: ``L^(2-s) = (2-s) b t + (2-s)/2 R² gamma_d^-s (1 + (t^(1-s) - 1) / (1-s)) + R^(2-s)``.

    Examples
    --------
    >>> from dynmargin.theory import margitron_threshold, margitron_update_bound
    >>> b = margitron_threshold(R=10.0, gamma_bound=1.0, epsilon=0.5)
    >>> round(margitron_update_bound(R=10.0, gamma_d=1.0, b=b, epsilon=0.5))
    373
    """
    ratio_of(R, gamma_d, epsilon)  # checks them
    e = epsilon
    if growth == "updates":
        return _first(lambda t: gamma_d**2 * t > R**2 + b * t ** (1 - e) / (1 - e / 2), 1.0)
    s = 2 * (1 - e) / (2 - e)
    return _first(lambda t: _core.pow(gamma_d * t, 2 - s) > (2 - s) * b * t + _lower_order(t, R, gamma_d, s), 1.0)


def _lower_order(t: float, R: float, gamma_d: float, s: float) -> float:
    """Bound what R² adds to ‖a‖^(2-s) in t updates, for the margitron whose threshold is a power of ‖a‖."""
    powers = 1 + (_core.pow(t, 1 - s) - 1) / (1 - s)  # at least the sum of k^-s up to t
    return (2 - s) / 2 * R * R * _core.pow(gamma_d, -s) * powers + _core.pow(R, 2 - s)


def _first(holds: Callable[[float], bool], start: float) -> float:
    """Find the point from which a condition holds, by doubling and bisection."""
    low, high = start, start
    while not holds(high):
        low, high = high, 2 * high
        if high == math.inf:
            return high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
