"""One of each estimator."""

import dynmargin

CLASSIFIERS = [
    getattr(dynmargin, name)(epsilon=0.05, random_state=0)
    for name in sorted(dynmargin.__all__)
    if name.endswith("Classifier")
]
