"""The patterns, written out: reflected, augmented and extended by one coordinate per row."""

import numpy as np


def extended_patterns(X, sides, rho, delta):
    """y_k = l_k [x_k, rho, Delta_k e_k]; `delta` is one number or one per row."""
    augmented = np.column_stack([X, np.full(len(X), rho)])
    return sides[:, None] * np.column_stack([augmented, np.diag(np.broadcast_to(delta, len(X)))])
