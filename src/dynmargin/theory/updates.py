"""The largest number of updates that PFM, PDM and PDM-succ can make (Section 3 of the paper)."""

import math

from .. import _core  # its powers are the same on every machine
from .arguments import elementwise, ratio_of


def _exp(logarithm: float) -> float:
    return math.exp(logarithm) if logarithm < 709 else math.inf


@elementwise
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


@elementwise
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
    g = 1 / ratio_of(R, gamma_d, epsilon)
    rest = 1 - g * (1 - epsilon)
    return (1 + 1 / math.e) / (2 * epsilon * g**2) * (4 * g * rest + math.log((1 + math.e) / (epsilon * g) * rest))


@elementwise
def pdm_update_bound(R: float, gamma_d: float, epsilon: float) -> float:
    """Bound the updates of PDM, and of PFM too (the paper's Theorem 2 and the remark after it).

    Three cases, for epsilon below, at and above 1/2. The bound grows like ``(R / gamma_d)^(1 / epsilon)`` for small
    epsilon, far above what runs need, and it is not monotone around 1/2.

    Examples
    --------
    >>> from dynmargin.theory import pdm_update_bound
    >>> round(pdm_update_bound(R=10.0, gamma_d=1.0, epsilon=0.5))
    810
    >>> pdm_update_bound(R=10.0, gamma_d=1.0, epsilon=[0.5, 1.0]).round()
    array([810., 100.])
    """
    K = ratio_of(R, gamma_d, epsilon) ** 2
    if epsilon < 0.5:
        log_t0 = successive_log_bound(math.floor(1 / epsilon), 1.0, K, epsilon)
        return _exp(log_t0 + math.log1p(-K / (1 - 2 * epsilon) * math.exp(-log_t0)) / (2 * epsilon))
    if epsilon == 0.5:
        return (1 + 1 / math.e) * K * math.log((1 + math.e) * K)
    t0 = epsilon * (3 - 2 * epsilon) / (2 * epsilon - 1) * K
    return t0 * (1 - 2 * (1 - epsilon) * _core.pow(t0, 1 - 2 * epsilon))


@elementwise
def successive_log_bound(N: float, alpha_N: float, K: float, epsilon: float) -> float:
    """Return the logarithm of t_0 in the proof of Theorem 2, for epsilon < 1/2.

    ``t_0 = N (alpha_N² K)^(1 / 2 epsilon) (1 + 1 / (alpha_N² N (1 - 2 epsilon)))^(1 / 2 epsilon)`` bounds the updates
    when ‖a‖ = alpha_N R N after the first N of them; K = R² / gamma_d².

    Examples
    --------
    >>> from dynmargin.theory import successive_log_bound
    >>> round(successive_log_bound(N=10, alpha_N=1.0, K=100.0, epsilon=0.1), 1)
    25.9
    """
    inner = math.log(alpha_N**2 * K) + math.log1p(1 / (alpha_N**2 * N * (1 - 2 * epsilon)))
    return math.log(N) + inner / (2 * epsilon)


@elementwise
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
    K = ratio_of(R, gamma_d, epsilon) ** 2
    if not (eta > 1 and epsilon < 1 and epsilon / eta < 0.5 and updates > 0):
        raise ValueError(
            f"needs eta > 1, epsilon < 1, epsilon / eta < 1/2, updates > 0; got {eta=}, {epsilon=}, {updates=}"
        )
    # The threshold of a converged run is below gamma_d ‖a‖, so alpha_N < gamma_d / ((1 - epsilon) R).
    return _exp(successive_log_bound(updates, gamma_d / ((1 - epsilon) * R), K, epsilon / eta))
