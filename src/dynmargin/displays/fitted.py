"""What the displays share: finding the classifier, the class and the axes to draw."""

from typing import Any

import numpy as np

from ..certificate.certificate import Certificate


def last_step(estimator: Any) -> Any:
    """Return the fitted classifier; of a pipeline, its last step."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def before_last_step(estimator: Any, X: Any) -> Any:
    """Return the rows as the classifier sees them, transformed by the steps before it."""
    return estimator[:-1].transform(X) if len(getattr(estimator, "steps", ())) > 1 else X


def problem_of(classifier: Any, label: Any) -> int:
    """Find the problem that is about a label; without one, the problem with the largest gap."""
    certificates: list[Certificate] = classifier.certificates_
    if label is None:
        return int(np.argmax([certificate.gap for certificate in certificates]))
    if label not in classifier.classes_:
        raise ValueError(f"label={label!r} is not one of the classes {list(classifier.classes_)}")
    positive = [certificate.problem.positive for certificate in certificates]
    return positive.index(label) if len(certificates) > 1 else 0


def title_of(classifier: Any, certificate: Certificate) -> str:
    """Return the name of the classifier and, with several classes, the class."""
    several = len(classifier.certificates_) > 1
    return type(classifier).__name__ + (f", class {certificate.problem.positive}" if several else "")


def require_matplotlib() -> None:
    """Say which extra to install, where matplotlib is missing."""
    try:
        import matplotlib as matplotlib
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install matplotlib") from None


def axes_for(ax: Any) -> Any:
    """Return the axes to draw on: those of a new figure if none are given."""
    if ax is not None:
        return ax
    require_matplotlib()
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(7, 4), layout="constrained")[1]
