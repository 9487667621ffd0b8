"""One of each estimator, as the registry lists them."""

from dynmargin.algorithms.registry import ALGORITHMS
from dynmargin.comparison.compare import make

CLASSIFIERS = [make(name, epsilon=0.05, random_state=0) for name in ALGORITHMS]
