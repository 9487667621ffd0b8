"""What the paper says of margins and of the bound ‖a‖/t on them, apart from how many updates there are."""

import math

from .arguments import elementwise, ratio_of


@elementwise
def after_run_accuracy(margin: float, norm: float, updates: float) -> float:
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


@elementwise
def geometric_margin(directional_margin: float, norm: float, bias: float) -> float:
    """Return the geometric margin of a weight vector, given its directional one (Section 2).

    In the space without the augmented coordinate the same hyperplane has the margin ``gamma' = gamma'_d ‖a‖ /
    sqrt(‖a‖² - bias²)``, where `bias` is the augmented coordinate of a. For a margin that is positive it is the larger
    of the two.

    Examples
    --------
    >>> from dynmargin.theory import geometric_margin
    >>> geometric_margin(directional_margin=0.8, norm=5.0, bias=3.0)
    1.0
    """
    if not 0 <= abs(bias) < norm < math.inf:
        raise ValueError(f"the bias must be smaller than the norm it is a part of, got {bias} and {norm}")
    # (norm - bias) (norm + bias) does not lose digits where the two are close.
    return directional_margin * norm / math.sqrt((norm - bias) * (norm + bias))


@elementwise
def margin_ratio_bound(R: float, rho: float) -> float:
    """Bound the ratio of the best geometric margin to the best directional one: ``1 <= gamma / gamma_d <= R / rho``.

    The lower bound of 1 always holds. As rho grows, so does R, and the ratio tends to 1 (Section 2).

    Examples
    --------
    >>> from dynmargin.theory import margin_ratio_bound
    >>> margin_ratio_bound(R=2.5, rho=2.0)
    1.25
    """
    if not 0 < rho <= R < math.inf:
        raise ValueError(f"0 < rho <= R is needed, got rho={rho} and R={R}")
    return R / rho


@elementwise
def extension_margin(delta: float, rows: int) -> float:
    """Bound gamma_d from below by what the extension alone provides: ``Delta / sqrt(m)`` (Section 5).

    The weight vector with the same coordinate in every extended dimension has exactly this margin.

    Examples
    --------
    >>> from dynmargin.theory import extension_margin
    >>> extension_margin(delta=3.0, rows=9)
    1.0
    """
    if not (0 <= delta < math.inf and rows >= 1):
        raise ValueError(f"delta must not be negative and there must be a row, got {delta} and {rows}")
    return delta / math.sqrt(rows)


@elementwise
def bound_decrease(norm2: float, updates: float, product: float, pattern_norm2: float) -> float:
    """Return by how much an update lowers the squared bound ‖a‖²/t² (equation 6 of the paper, its right side).

    ``{(‖a_t‖²/t - a_t·y) + (‖a_{t+1}‖²/(t+1) - a_{t+1}·y)} / (t (t+1))``, for ‖a_t‖² = `norm2`, t = `updates`,
    a_t·y = `product` and ‖y‖² = `pattern_norm2`. Negative when the bound rises. Fractions are exact.

    Examples
    --------
    >>> from dynmargin.theory import bound_decrease
    >>> bound_decrease(norm2=8.0, updates=2, product=-1.0, pattern_norm2=3.0)
    1.0
    """
    t, p, q = updates, product, pattern_norm2
    if not t > 0:
        raise ValueError(f"there is no bound before the first update, got {updates} updates")
    return ((norm2 / t - p) + ((norm2 + 2 * p + q) / (t + 1) - (p + q))) / (t * (t + 1))


@elementwise
def monotone_from(R: float, gamma_d: float, epsilon: float) -> float:
    """Return how many updates it takes at most until ‖a‖/t falls with every update: ``R² / (epsilon gamma_d²)``.

    That holds for PDM and for PFM (Section 2), whatever the state.

    Examples
    --------
    >>> from dynmargin.theory import monotone_from
    >>> monotone_from(R=10.0, gamma_d=1.0, epsilon=0.5)
    200.0
    """
    return ratio_of(R, gamma_d, epsilon) ** 2 / epsilon


@elementwise
def least_decrease(norm2: float, updates: float, epsilon: float) -> float:
    """Bound from below by how much an update of PDM lowers ‖a‖²/t² after `monotone_from` updates (Section 2).

    ``epsilon ‖a‖² / (t² (t+1))``, which is at least ``epsilon gamma_d² / (t+1)``.

    Examples
    --------
    >>> from dynmargin.theory import least_decrease
    >>> least_decrease(norm2=90.0, updates=9, epsilon=0.9)
    0.1
    """
    if not updates > 0:
        raise ValueError(f"there is no bound before the first update, got {updates} updates")
    return epsilon * norm2 / (updates * updates * (updates + 1))


@elementwise
def effective_rate(norm: float, R: float, updates: float) -> float:
    """Return the paper's ``alpha_t = ‖a‖ / (R t)``, which lies between gamma_d / R and 1 (Section 3).

    Examples
    --------
    >>> from dynmargin.theory import effective_rate
    >>> effective_rate(norm=20.0, R=10.0, updates=8)
    0.25
    """
    if not (R > 0 and updates > 0):
        raise ValueError(f"R and updates must be positive, got {R} and {updates}")
    return norm / (R * updates)


@elementwise
def converged_rate_bound(R: float, gamma_d: float, epsilon: float) -> float:
    """Bound alpha_t when PDM has converged: it is below ``gamma_d / ((1 - epsilon) R)`` (Section 3).

    Otherwise every pattern would have a margin above gamma_d.

    Examples
    --------
    >>> from dynmargin.theory import converged_rate_bound
    >>> converged_rate_bound(R=10.0, gamma_d=1.0, epsilon=0.5)
    0.2
    """
    ratio = ratio_of(R, gamma_d, epsilon)
    return math.inf if epsilon == 1 else 1 / ((1 - epsilon) * ratio)
