"""What holds at every C, in NumPy: the exact optimum, the gap of witnesses, the ball between two points, the curve.

Rows are given as patterns Y, one per row: l_k [x_k, rho]. Their weights are c_k = 2 weight_k.
"""

import numpy as np


def objective(Y, c, C, w):
    """P = ½‖w‖² + ½ C sum c_k max(0, 1 - w.y_k)²."""
    return w @ w / 2 + C * (c @ np.maximum(0, 1 - Y @ w) ** 2) / 2


def gradient(Y, c, C, w):
    return w - C * (Y.T @ (c * np.maximum(0, 1 - Y @ w)))


def optimum(Y, c, C):
    """The lowest point of P, by Newton's method with a line search."""
    w = np.zeros(Y.shape[1])
    for _ in range(500):
        g, active = gradient(Y, c, C, w), Y @ w < 1
        if np.linalg.norm(g) < 1e-13 * (1 + C * np.linalg.norm(Y.T @ (c * np.abs(1 - Y @ w)))):
            break
        step, size = np.linalg.solve(np.eye(len(w)) + C * (Y[active] * c[active, None]).T @ Y[active], g), 1.0
        while objective(Y, c, C, w - size * step) > objective(Y, c, C, w) and size > 1e-12:
            size /= 2
        w = w - size * step
    return w


def gap(Y, c, C, w, counts):
    """1 - sqrt(D/P), with D = t² / (2 ‖a‖²) and ‖a‖² = ‖sum n_k y_k‖² + sum n_k² / (C c_k)."""
    a2 = np.sum((Y.T @ counts) ** 2) + np.sum(counts**2 / (C * c))
    return 1 - np.sqrt(counts.sum() ** 2 / (2 * a2) / objective(Y, c, C, w))


def combination(Y, c, C, a, b):
    """The point between a and b with the shortest gradient, if slacks were linear between them."""
    pulls = [Y.T @ (c * np.maximum(0, 1 - Y @ w)) for w in (a, b)]
    g_a, g_b = a - C * pulls[0], b - C * pulls[1]
    share = -g_a @ (g_b - g_a) / max(np.sum((g_b - g_a) ** 2), 1e-300)
    return a + np.clip(share, 0, 1) * (b - a)


def ball(Y, c, C, w):
    """Centre and radius of a ball that contains the optimum at C: (w - w*).g >= ‖w - w*‖²."""
    g = gradient(Y, c, C, w)
    return w - g / 2, np.linalg.norm(g) / 2


def ball_between(Y, c, C_a, a, C_b, b, C):
    """Centre and radius of a ball that contains the optimum at a C between two points, from these two alone."""
    t = (1 / C_a - 1 / C) / (1 / C_a - 1 / C_b)
    (centre_a, radius_a), (centre_b, radius_b) = ball(Y, c, C_a, a), ball(Y, c, C_b, b)
    m_a, m_b = 1 - Y @ a, 1 - Y @ b
    crossing = m_a * m_b < 0
    missing = np.abs(m_a * m_b)[crossing] / (np.abs(m_a) + np.abs(m_b))[crossing]
    radius = max(radius_a, radius_b)
    radius += C_b * (1 / C_a - 1 / C_b) * np.linalg.norm(b - a) / 4
    radius += C_b * np.sum(c[crossing] * missing * np.linalg.norm(Y[crossing], axis=1))
    radius += (C_b / C_a - 1) * np.linalg.norm(gradient(Y, c, C_b, b) - gradient(Y, c, C_a, a)) / 8
    return (1 - t) * centre_a + t * centre_b, radius


def piece(Y, c, C_a, a, C_b, b, Z):
    """Which held-out patterns are right at every C from C_a to C_b, and which are wrong at every one."""
    centre_a, _ = ball(Y, c, C_a, a)
    centre_b, radius = ball_between(Y, c, C_a, a, C_b, b, C_b)
    ends, reach = np.array([Z @ centre_a, Z @ centre_b]), radius * np.linalg.norm(Z, axis=1)
    return ends.min(axis=0) > reach, ends.max(axis=0) < -reach
