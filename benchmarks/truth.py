"""What a result is worth, whoever made it: the margin of weights, and the best margin there is."""

import numpy as np

from dynmargin import NewtonClassifier, PDMClassifier


def margin_of(X, y, C, w, b):
    """The margin of weights at their best scale: minimise F(v) = v² ‖w‖² + 2C Σ max(0, 1 - v s_k)²."""
    s, norm2 = y * (X @ w + b), w @ w + b * b
    if np.isinf(C):
        return s.min() / np.sqrt(norm2)
    if norm2 == 0:
        return 1 / np.sqrt(2 * C * len(y))
    v = 1.0
    for _ in range(100):
        active = s[v * s < 1]
        following = 2 * C * active.sum() / (norm2 + 2 * C * active @ active)
        if following <= 0:
            following = v / 2
        if abs(following - v) < 1e-12 * v:
            break
        v = following
    return 1 / np.sqrt(v * v * norm2 + 2 * C * (np.maximum(0, 1 - v * s) ** 2).sum())


def best_margin(X, y, C):
    """A margin that is certified to be within 1e-5 of the best (1e-3 for the hard margin)."""
    classifier = (
        PDMClassifier(1e-3, C=C, random_state=0) if np.isinf(C) else NewtonClassifier(1e-5, C=C, random_state=0)
    )
    certificate = classifier.fit(X, y).certificate_
    if not (certificate.achieved and certificate.verify(X, y)):
        raise SystemExit(f"the best margin could not be certified: {certificate}")
    return certificate.margin
