"""The decomposition SVM over explicit patterns: ten weights of the steepest feasible direction at a time."""

import numpy as np


def can_rise(side, alpha):
    return side > 0 or alpha > 0


def can_fall(side, alpha):
    return side < 0 or alpha > 0


def working_set(alpha, gradient, sides, q=10):
    """The q/2 highest slopes l_k g_k that may rise and the q/2 lowest that may fall."""
    slopes = sides * gradient
    rising = [k for k in range(len(alpha)) if can_rise(sides[k], alpha[k])]
    falling = [k for k in range(len(alpha)) if can_fall(sides[k], alpha[k])]
    return sorted(rising, key=lambda k: -slopes[k])[: q // 2], sorted(falling, key=lambda k: slopes[k])[: q // 2]


def solve_pairs(alpha, gradient, sides, Q):
    """SMO: the two that violate optimality most exchange weight, until next to no violation is left."""
    first = None
    for _ in range(20_000):
        slopes = sides * gradient
        rising = [k for k in range(len(alpha)) if can_rise(sides[k], alpha[k])]
        falling = [k for k in range(len(alpha)) if can_fall(sides[k], alpha[k])]
        i, j = max(rising, key=lambda k: slopes[k]), min(falling, key=lambda k: slopes[k])
        violation = slopes[i] - slopes[j]
        first = violation if first is None else first
        if not violation > 1e-9 * first or i == j:
            break
        step = violation / (Q[i, i] + Q[j, j] - 2 * sides[i] * sides[j] * Q[i, j])
        if sides[i] < 0:
            step = min(step, alpha[i])
        if sides[j] > 0:
            step = min(step, alpha[j])
        change = np.zeros(len(alpha))
        change[i], change[j] = sides[i] * step, -sides[j] * step
        alpha, gradient = np.maximum(0, alpha + change), gradient - Q @ change
    return alpha
