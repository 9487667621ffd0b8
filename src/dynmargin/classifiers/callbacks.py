"""Callbacks: ours, which sees every check of the bounds, and scikit-learn's, or what is needed of them before 1.9."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

from ..training.result import Check

# Type checkers see ours: a base without types would make them accept any parameter of a constructor.
if TYPE_CHECKING or find_spec("sklearn.callback") is None:

    class PlainContext:
        """A task; it knows the callbacks, but not the tree that it is part of."""

        def __init__(self, callbacks: list[Any]) -> None:
            self.callbacks = callbacks

        def subcontext(self, **_: Any) -> "PlainContext":
            """Begin a task within this one."""
            return PlainContext(self.callbacks)

        def call_on_fit_task_begin(self, *, estimator: Any, **_: Any) -> "PlainContext":
            """Tell the callbacks that the task begins."""
            for callback in self.callbacks:
                callback.on_fit_task_begin(estimator, self)
            return self

        def call_on_fit_task_end(self, *, estimator: Any, **_: Any) -> bool:
            """Tell the callbacks that the task has ended; return whether one of them wants to stop."""
            return any([callback.on_fit_task_end(estimator, self) for callback in self.callbacks])

    class CallbackSupportMixin:
        """A classifier that callbacks can be set on; clones of it do not have them."""

        _skl_callbacks: list[Any]

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set callbacks for the estimator.

            Parameters
            ----------
            *callbacks : callback instances
                The callbacks to set; none to remove them.

            Returns
            -------
            self
                The classifier.
            """
            self._skl_callbacks = list(callbacks)
            return self

        def _init_callback_context(self, **_: Any) -> PlainContext:
            return PlainContext(getattr(self, "_skl_callbacks", []))

else:
    from sklearn.callback import CallbackSupportMixin


class CheckCallback:
    """Calls a function at every check of the bounds; what it returns may end the training.

    It follows scikit-learn's callback protocol (``sklearn.callback.FitCallback``) and is set like any other, by
    ``classifier.set_callbacks(CheckCallback(function))``. It also works with versions of scikit-learn before 1.9.

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


__all__ = ["CallbackSupportMixin", "CheckCallback"]
