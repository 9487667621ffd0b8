"""One of each estimator, as the registry lists them, and whose conventions they follow."""

import sklearn

from dynmargin.algorithms.registry import ALGORITHMS
from dynmargin.comparison.compare import make

CLASSIFIERS = [make(name, epsilon=0.05, random_state=0) for name in ALGORITHMS]

sklearn_version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
