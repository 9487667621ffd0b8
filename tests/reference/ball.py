"""The ball around the exact optimum, written out in the extended space (docs/predictions.md)."""

import numpy as np


def extended(X, sides, rho, costs):
    """Y_k = l_k [x_k, rho, Delta_k e_k] with Delta_k² = 1 / (2 C_k); no last part for the hard margin."""
    dense = sides[:, None] * np.column_stack([X, np.full(len(X), rho)])
    return np.hstack([dense, sides[:, None] * np.diag(np.sqrt(1 / (2 * costs)))]) if np.isfinite(costs).all() else dense


def ball(X, sides, rho, costs, w, counts):
    """Centre and radius of the ball that weights w (b/rho last) and counts prove, for squared slacks or none."""
    Y, d = extended(X, sides, rho, costs), X.shape[1] + 1
    scores = Y[:, :d] @ w
    if np.isfinite(costs).all():  # the slacks that are best for w
        slacks = sides * np.maximum(0, 1 - scores) * np.sqrt(2 * costs)
        W = np.append(w, slacks)
    else:
        W = w / scores.min()
    a, t = counts @ Y, counts.sum()
    u = t / (a @ a) * a
    gap = W @ W / 2 - t**2 / (2 * a @ a)
    return ((W + u) / 2)[:d], np.sqrt(gap - (W - u) @ (W - u) / 4)


def hinge_ball(X, sides, rho, costs, w, counts):
    """The same for the hinge, whose dual weights s n_k are at most C_k."""
    Y = sides[:, None] * np.column_stack([X, np.full(len(X), rho)])
    a, t = counts @ Y, counts.sum()
    s = min(t / (a @ a), (costs[counts > 0] / counts[counts > 0]).min())
    u, xi = s * a, np.maximum(0, 1 - Y @ w)
    gap = w @ w / 2 + costs @ xi - (s * t - u @ u / 2)
    return (w + u) / 2, np.sqrt(gap - (w - u) @ (w - u) / 4)
