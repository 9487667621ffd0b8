"""What a result is worth, whoever made it: the margin of weights, and the best margin there is."""

import numpy as np

from dynmargin import NewtonClassifier, PDMClassifier, _core


def margin_of(X, y, C, w, b):
    """Return the margin of weights at their best scale v: 1 / sqrt(v² ‖w‖² + 2C Σ max(0, 1 - v s_k)²)."""
    s, norm2 = y * (X @ w + b), w @ w + b * b
    if np.isinf(C):
        return s.min() / np.sqrt(norm2)
    v = _core.best_scale(s, np.full(len(s), 2.0 * C), norm2)
    return 1 / np.sqrt(v * v * norm2 + 2 * C * (np.maximum(0, 1 - v * s) ** 2).sum())


def best_margin(X, y, C):
    """Return a margin that is certified to be within 1e-5 of the best (1e-3 for the hard margin)."""
    hard = np.isinf(C)
    classifier = (PDMClassifier if hard else NewtonClassifier)(1e-3 if hard else 1e-5, C=C, random_state=0)
    certificate = classifier.fit(X, y).certificate_
    if not (certificate.achieved and certificate.verify(X, y)):
        raise SystemExit(f"the best margin could not be certified: {certificate}")
    return certificate.margin
