"""Problems that several tests draw: soft ones with their best margin, separable ones with a margin known to exist."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from reference.optimum import best_soft_margin
from reference.patterns import extended_patterns


@st.composite
def soft_problems(draw):
    """Rows, sides and C, with R and the best margin in the extended space."""
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    X = random.normal(size=(draw(st.integers(2, 25)), draw(st.integers(1, 4)))) * 10.0 ** draw(st.integers(-1, 1))
    sides = np.where(X[:, 0] + X.std() * random.normal(size=len(X)) > 0, 1, -1)
    assume(len(set(sides)) == 2)
    C = draw(st.sampled_from([0.05, 1.0, 20.0]))
    R = np.linalg.norm(extended_patterns(X, sides, 1.0, 1 / np.sqrt(2 * C)), axis=1).max()
    best = best_soft_margin(X, sides, 1.0, 2 * C)
    assume(R / best < 300)  # so that no run takes long
    return X, sides, C, R, best


@st.composite
def separable_problems(draw):
    """Rows, sides, and a margin that the best one is not below."""
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    u = random.normal(size=draw(st.integers(2, 6)))
    X = random.normal(size=(draw(st.integers(2, 30)), len(u) - 1))
    scores = (X @ u[:-1] + u[-1]) / np.linalg.norm(u)
    X, scores = X[abs(scores) > 0.1], scores[abs(scores) > 0.1]
    assume(len(set(np.sign(scores))) == 2)
    return X, np.sign(scores).astype(int), abs(scores).min()
