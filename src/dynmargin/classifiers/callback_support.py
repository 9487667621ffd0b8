"""scikit-learn's callbacks, and for versions before 1.9 as much of them as `CheckCallback` needs."""

from typing import Any, Self

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:

    class PlainContext:
        """A task; it knows the callbacks and nothing of the tree that it is in."""

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
            """Tell the callbacks that the task has ended; say whether one of them wants to stop."""
            return any([callback.on_fit_task_end(estimator, self) for callback in self.callbacks])

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """A classifier that callbacks can be set on; clones of it do not have them."""

        _skl_callbacks: list[Any]

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set callbacks for the estimator.

            Parameters
            ----------
            *callbacks : callback instances
                The callbacks to set; none for none.

            Returns
            -------
            self
                The classifier.
            """
            self._skl_callbacks = list(callbacks)
            return self

        def _init_callback_context(self, **_: Any) -> PlainContext:
            return PlainContext(getattr(self, "_skl_callbacks", []))


__all__ = ["CallbackSupportMixin"]
