"""The estimators by short names."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import MarginClassifier

# name: estimator, what distinguishes it
ESTIMATORS: dict[str, tuple[str, dict[str, Any]]] = {
    "alma": ("ALMAClassifier", {}),
    "cramma": ("CRAMMAClassifier", {}),
    "dcd": ("DCDClassifier", {}),
    "dcd-hinge": ("DCDClassifier", {"loss": "hinge"}),
    "decomposition": ("DecompositionSVMClassifier", {}),
    "margin-perceptron": ("MarginPerceptronClassifier", {}),
    "margitron": ("MargitronClassifier", {}),
    "margitron-norm": ("MargitronClassifier", {"growth": "norm"}),
    "max-margin": ("MaxMarginClassifier", {}),
    "micra": ("MICRAClassifier", {}),
    "mpu": ("MPUClassifier", {}),
    "mpu-hinge": ("MPUClassifier", {"loss": "hinge"}),
    "newton": ("NewtonClassifier", {}),
    "pdm": ("PDMClassifier", {}),
    "pdm-succ": ("PDMClassifier", {"eta": 8.0}),  # as in the paper
    "perceptron": ("PerceptronClassifier", {}),
    "pfm": ("PFMClassifier", {}),
    "romma": ("ROMMAClassifier", {}),
    "romma-plain": ("ROMMAClassifier", {"aggressive": False}),
}


def make(name: str, **parameters: Any) -> "MarginClassifier":
    """Make an estimator by its short name."""
    estimator, options = ESTIMATORS[name]
    classifier: MarginClassifier = getattr(import_module("dynmargin"), estimator)(**options, **parameters)
    return classifier
