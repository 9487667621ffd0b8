"""The parameters that the members of the family share, written once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..schedule import Schedule
from .base import MarginClassifier


# A dataclass only for its constructor: fields are parameters, and scikit-learn finds them in the signature.
@dataclass(eq=False, repr=False, kw_only=True)
class FamilyClassifier(MarginClassifier):
    """Base of the classifiers whose parameters are those of PDMClassifier and a few of their own.

    A subclass is decorated like this one, and adds fields for its own parameters.
    """

    epsilon: float = field(default=0.01, kw_only=False)
    C: float = 1.0
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    class_weight: Mapping[Any, float] | str | None = None
    stop: str = "certificate"
    schedule: str | Schedule = "fast"
    max_time: float | None = None
    max_updates: int | None = None
    margin_floor: float = 1e-4
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
