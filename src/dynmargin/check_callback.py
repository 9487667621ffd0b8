"""A callback that sees every check of the bounds and may end the training."""

from collections.abc import Callable
from typing import Any

from .outcome import Check


class CheckCallback:
    """Calls a function at every check of the bounds; what it returns may end the training.

    It follows scikit-learn's callback protocol (``sklearn.callback.FitCallback``) and is set as any other, by
    ``classifier.set_callbacks(CheckCallback(function))``; versions of scikit-learn before 1.9 will do.

    Parameters
    ----------
    function : callable
        Takes a `Check`: the time in seconds, passes, updates, margin, upper bound and gap, and the number of the
        problem that is trained. Training of that problem ends when it returns True, with ``stop_reason_`` "callback";
        with more than two classes the others go on, and have checks of their own.

    Examples
    --------
    >>> from dynmargin import CheckCallback, PDMClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]], [0, 1]
    >>> seen = []
    >>> classifier = PDMClassifier(0.001).set_callbacks(CheckCallback(seen.append)).fit(X, y)
    >>> seen == classifier.history_
    True
    """

    def __init__(self, function: Callable[[Check], Any]) -> None:
        self.function = function

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing before a fit."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing after a fit."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing before a task."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Call the function when the task was a check."""
        check = getattr(context, "check", None)
        return check is not None and bool(self.function(check))
