"""Warnings that point to the line of the user's code that called us."""

import inspect
import warnings
from collections.abc import Callable

from sklearn.exceptions import ConvergenceWarning


def warn_caller(message: str) -> None:
    """Issue a ConvergenceWarning that points to the line that called `fit`, however deep it is called from."""
    level, frame = 2, inspect.currentframe()
    while (frame := frame and frame.f_back) and frame.f_globals.get("__name__", "").partition(".")[0] in (
        "dynmargin",
        "sklearn",
    ):
        level += 1
    warnings.warn(message, ConvergenceWarning, stacklevel=level)


def once(warn: Callable[[str], None]) -> Callable[[str], None]:
    """Let only the first of several warnings through."""
    pending = [warn]
    return lambda message: pending.pop()(message) if pending else None
