"""The algorithms by name; each is loaded when it is asked for."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..outcome import Outcome
    from ..task import Task
    from ..training import Plan

# name: module, function, options
ALGORITHMS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "pdm": (".pdm", "train_pdm", {}),
    "pdm-succ": (".pdm", "train_pdm", {"eta": 8.0}),  # as in the paper
    "pfm": (".pfm", "train_pfm", {}),
    "newton": (".newton", "train_newton", {}),
}


def find(name: str) -> "Callable[[Task, Plan], Outcome]":
    """Load an algorithm."""
    module, function, options = ALGORITHMS[name]
    return partial(getattr(import_module(module, __package__), function), **options)
