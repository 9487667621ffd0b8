"""What a result is worth, whoever made it: the margin of its weights."""

import numpy as np

from dynmargin import _core


def margin_of(X, y, C, w, b):
    """Return the margin of weights at their best scale v: 1 / sqrt(v² ‖w‖² + 2C Σ max(0, 1 - v s_k)²)."""
    s, norm2 = y * (X @ w + b), w @ w + b * b
    if np.isinf(C):
        return s.min() / np.sqrt(norm2)
    v = _core.best_scale(s, np.full(len(s), 2.0 * C), norm2)
    return 1 / np.sqrt(v * v * norm2 + 2 * C * (np.maximum(0, 1 - v * s) ** 2).sum())
