"""Margins as values of LinearSVC's objective."""

import sys

import numpy as np


def objective_of(margin: float) -> float:
    """Return LinearSVC's objective for a margin; two divisions, because the square of a small one is zero."""
    return 0.5 / margin / margin if margin > 0 else np.inf


def lower_objective(upper_bound: float) -> float:
    """Return the same for an upper bound: a lower bound that no double can hold becomes the largest one."""
    return min(objective_of(upper_bound), sys.float_info.max) if upper_bound > 0 else np.inf
