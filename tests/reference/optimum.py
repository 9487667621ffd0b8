"""The best margin itself, by an independent route: the exact solution of LinearSVC's objective by Newton's method."""

import numpy as np
from scipy.optimize import nnls


def best_soft_margin(X, sides, rho, penalty, free_bias=False):
    """gamma_d = 1 / sqrt(2 min P), P = ‖w‖² / 2 + sum penalty_k / 2 max(0, 1 - l_k w.[x_k, rho])².

    With a free bias its coordinate does not count in ‖w‖: the best geometric margin.
    """
    Y = sides[:, None] * np.column_stack([X, np.full(len(X), rho)])
    penalty = np.broadcast_to(penalty, len(Y)).astype(float)
    counts = np.ones(Y.shape[1])
    if free_bias:
        counts[-1] = 0

    def objective(w):
        return counts @ w**2 / 2 + penalty @ np.maximum(0, 1 - Y @ w) ** 2 / 2

    w = np.zeros(Y.shape[1])
    for _ in range(200):
        active = Y @ w < 1
        gradient = counts * w - Y.T @ (penalty * np.maximum(0, 1 - Y @ w))
        if np.linalg.norm(gradient) < 1e-13 * (1 + np.linalg.norm(w)):
            break
        hessian = np.diag(counts) + (Y[active] * penalty[active, None]).T @ Y[active]
        step, size = np.linalg.solve(hessian, gradient), 1.0
        while objective(w - size * step) > objective(w) and size > 1e-12:
            size /= 2
        w = w - size * step
    return 1 / np.sqrt(2 * objective(w))


def best_joint_margin(Z):
    """The distance of the convex hull of patterns from the origin, which is their best margin, by least squares.

    min ‖(Z^T c, 1 - sum c)‖² over c >= 0 is g² / (1 + g²) for the distance g (Lawson and Hanson, chapter 23).
    """
    patterns = np.array(list(Z.values()))
    _, residual = nnls(np.vstack([patterns.T, np.ones(len(patterns))]), np.append(np.zeros(patterns.shape[1]), 1.0))
    return np.sqrt(residual**2 / (1 - residual**2))
