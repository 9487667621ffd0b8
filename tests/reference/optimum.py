"""The best margin itself, by an independent route: the exact solution of LinearSVC's objective by Newton's method."""

import numpy as np


def best_soft_margin(X, sides, rho, penalty):
    """gamma_d = 1 / sqrt(2 min P), P = ‖w‖² / 2 + sum penalty_k / 2 max(0, 1 - l_k w.[x_k, rho])²."""
    Y = sides[:, None] * np.column_stack([X, np.full(len(X), rho)])
    penalty = np.broadcast_to(penalty, len(Y)).astype(float)

    def objective(w):
        return w @ w / 2 + penalty @ np.maximum(0, 1 - Y @ w) ** 2 / 2

    w = np.zeros(Y.shape[1])
    for _ in range(200):
        active = Y @ w < 1
        gradient = w - Y.T @ (penalty * np.maximum(0, 1 - Y @ w))
        if np.linalg.norm(gradient) < 1e-13 * (1 + np.linalg.norm(w)):
            break
        hessian = np.eye(len(w)) + (Y[active] * penalty[active, None]).T @ Y[active]
        step, size = np.linalg.solve(hessian, gradient), 1.0
        while objective(w - size * step) > objective(w) and size > 1e-12:
            size /= 2
        w = w - size * step
    return 1 / np.sqrt(2 * objective(w))
