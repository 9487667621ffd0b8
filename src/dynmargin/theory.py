"""The theory as functions: the largest number of updates a run can make, and the accuracy of a finished run.

The paper's own results come first, then those for the algorithms it is compared with.

Notation: R is the length of the longest pattern, gamma_d the maximum directional margin, both in the extended space
when the margin is soft; epsilon is the accuracy. Bounds that a float cannot hold are returned as infinity.
"""

import math
from collections.abc import Callable

from . import _core  # its powers are the same on every machine


def _exp(logarithm: float) -> float:
    return math.exp(logarithm) if logarithm < 709 else math.inf


def _ratio(R: float, gamma_d: float, epsilon: float = 1.0) -> float:
    """Return R / gamma_d, for arguments that make sense."""
    if not 0 < gamma_d <= R < math.inf:
        raise ValueError(f"0 < gamma_d <= R is needed, got gamma_d={gamma_d} and R={R}")
    if not 0 < epsilon <= 1:
        raise ValueError(f"epsilon must be in (0, 1], got {epsilon}")
    return R / gamma_d


def lemma_bound(delta: float, C: float) -> float:
    """Bound every t >= e^-C that satisfies t < delta (1 + C + ln t), for delta > e^-C (the paper's Lemma).

    The bound is ``t_0 = (1 + 1/e) delta (C + ln((1 + e) delta))``.

    Examples
    --------
    >>> from dynmargin.theory import lemma_bound
    >>> round(lemma_bound(10.0, 1.0), 1)
    63.1
    """
    if not delta > math.exp(-C):
        raise ValueError(f"delta > exp(-C) is needed, got delta={delta} and C={C}")
    return (1 + 1 / math.e) * delta * (C + math.log((1 + math.e) * delta))


def pfm_update_bound(R: float, gamma_d: float, epsilon: float) -> float:
    """Bound the updates of PFM with beta = (1 - epsilon) gamma_d (the paper's Theorem 1).

    With g = gamma_d / R: ``(1 + 1/e) / (2 epsilon g²) {4 g (1 - g (1 - epsilon)) + ln((1 + e) / (epsilon g)
    (1 - g (1 - epsilon)))}``.

    Examples
    --------
    >>> from dynmargin.theory import pfm_update_bound
    >>> round(pfm_update_bound(R=10.0, gamma_d=1.0, epsilon=0.1))
    4232
    """
    g = 1 / _ratio(R, gamma_d, epsilon)
    rest = 1 - g * (1 - epsilon)
    return (1 + 1 / math.e) / (2 * epsilon * g**2) * (4 * g * rest + math.log((1 + math.e) / (epsilon * g) * rest))


def pdm_update_bound(R: float, gamma_d: float, epsilon: float) -> float:
    """Bound the updates of PDM, and of PFM too (the paper's Theorem 2 and the remark after it).

    Three cases, for epsilon below, at and above 1/2. The bound grows like ``(R / gamma_d)^(1 / epsilon)`` for small
    epsilon, far above what runs need, and it is not monotone around 1/2.

    Examples
    --------
    >>> from dynmargin.theory import pdm_update_bound
    >>> round(pdm_update_bound(R=10.0, gamma_d=1.0, epsilon=0.5))
    810
    """
    K = _ratio(R, gamma_d, epsilon) ** 2
    if epsilon < 0.5:
        log_t0 = successive_log_bound(math.floor(1 / epsilon), 1.0, K, epsilon)
        return _exp(log_t0 + math.log1p(-K / (1 - 2 * epsilon) * math.exp(-log_t0)) / (2 * epsilon))
    if epsilon == 0.5:
        return (1 + 1 / math.e) * K * math.log((1 + math.e) * K)
    t0 = epsilon * (3 - 2 * epsilon) / (2 * epsilon - 1) * K
    return t0 * (1 - 2 * (1 - epsilon) * _core.pow(t0, 1 - 2 * epsilon))


def successive_log_bound(N: float, alpha_N: float, K: float, epsilon: float) -> float:
    """Return the logarithm of t_0 in the proof of Theorem 2, for epsilon < 1/2.

    ``t_0 = N (alpha_N² K)^(1 / 2 epsilon) (1 + 1 / (alpha_N² N (1 - 2 epsilon)))^(1 / 2 epsilon)`` bounds the updates
    when ‖a‖ = alpha_N R N after the first N of them; K = R² / gamma_d².
    """
    inner = math.log(alpha_N**2 * K) + math.log1p(1 / (alpha_N**2 * N * (1 - 2 * epsilon)))
    return math.log(N) + inner / (2 * epsilon)


def successive_update_bound(R: float, gamma_d: float, epsilon: float, eta: float, updates: int) -> float:
    """Bound the updates at the end of the next of PDM-succ's runs (the paper's Section 3).

    The run with accuracy `epsilon` has converged after `updates` updates, including those of earlier runs; the next one
    has accuracy ``epsilon / eta``. The bound is ``t (1 - epsilon)^(-eta / epsilon) (1 + (1 - epsilon)² /
    (1 - 2 epsilon / eta) K / t)^(eta / 2 epsilon)`` with t the updates so far.

    Examples
    --------
    >>> from dynmargin.theory import successive_update_bound
    >>> successive_update_bound(R=10.0, gamma_d=1.0, epsilon=0.1, eta=2.0, updates=1000) > 1000
    True
    """
    K = _ratio(R, gamma_d, epsilon) ** 2
    if not (eta > 1 and epsilon < 1 and epsilon / eta < 0.5 and updates > 0):
        raise ValueError(
            f"needs eta > 1, epsilon < 1, epsilon / eta < 1/2, updates > 0; got {eta=}, {epsilon=}, {updates=}"
        )
    # The threshold of a converged run is below gamma_d ‖a‖, so alpha_N < gamma_d / ((1 - epsilon) R).
    return _exp(successive_log_bound(updates, gamma_d / ((1 - epsilon) * R), K, epsilon / eta))


def after_run_accuracy(margin: float, norm: float, updates: int) -> float:
    """Bound the relative deviation of a margin from the best one after a run (equation 5 of the paper).

    ``(gamma_d - margin) / gamma_d <= 1 - margin t / ‖a‖`` for the weight vector a after t updates. A certificate calls
    this its gap.

    Examples
    --------
    >>> from dynmargin.theory import after_run_accuracy
    >>> after_run_accuracy(margin=0.75, norm=10.0, updates=10)
    0.25
    """
    if not (norm > 0 and updates > 0):
        raise ValueError(f"norm and updates must be positive, got {norm} and {updates}")
    return 1 - margin * updates / norm


def perceptron_update_bound(R: float, gamma_d: float, b: float = 0.0) -> float:
    """Bound the updates of the perceptron with margin threshold b: ``(R² + 2 b) / gamma_d²`` (Novikoff for b = 0).

    Examples
    --------
    >>> from dynmargin.theory import perceptron_update_bound
    >>> perceptron_update_bound(R=10.0, gamma_d=1.0)
    100.0
    """
    return _ratio(R, gamma_d) ** 2 + 2 * b / gamma_d**2


def romma_update_bound(R: float, gamma_d: float, delta: float) -> float:
    """Bound the updates of aggressive ROMMA with accuracy delta: ``R² / (delta gamma_d)²``.

    ‖a‖² never exceeds ``1 / gamma_d²`` and grows by at least ``delta² / R²`` with every update.

    Examples
    --------
    >>> from dynmargin.theory import romma_update_bound
    >>> romma_update_bound(R=10.0, gamma_d=1.0, delta=0.5)
    400.0
    """
    return (_ratio(R, gamma_d, delta) / delta) ** 2


def alma_update_bound(R: float, gamma_d: float, alpha: float) -> float:
    """Bound the updates of ALMA_2(alpha): ``2 (R / gamma_d)² (2 / alpha - 1)² + 8 / alpha - 4``.

    Examples
    --------
    >>> from dynmargin.theory import alma_update_bound
    >>> alma_update_bound(R=10.0, gamma_d=1.0, alpha=0.5)
    1812.0
    """
    return 2 * _ratio(R, gamma_d, alpha) ** 2 * (2 / alpha - 1) ** 2 + 8 / alpha - 4


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
    _ratio(R, gamma_bound, epsilon)  # checks them
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
    _ratio(R, gamma_d, epsilon)  # checks them
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
