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
    "dcd": (".dcd", "train_dcd", {}),
    "decomposition": (".decomposition", "train_decomposition", {}),
    "mpu": (".mpu", "train_mpu", {}),
    "romma": (".romma", "train_romma", {}),
    "alma": (".alma", "train_alma", {}),
    "margitron": (".margitron", "train_margitron", {}),
    "cramma": (".micra", "train_micra", {"beta": 3.0, "power": 0.5, "eta": 0.003}),
    "micra": (".micra", "train_micra", {"beta": 3.0, "power": 0.5, "eta": 1.0, "zeta": 0.5}),
    "perceptron": (".perceptron", "train_perceptron", {}),
    "margin-perceptron": (".perceptron", "train_perceptron", {"b": 20.0}),
}


def find(name: str) -> "Callable[[Task, Plan], Outcome]":
    """Load an algorithm."""
    module, function, options = ALGORITHMS[name]
    return partial(getattr(import_module(module, __package__), function), **options)
