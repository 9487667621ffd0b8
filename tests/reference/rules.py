"""The misclassification conditions of the paper."""

from dataclasses import dataclass

import numpy as np


@dataclass
class DynamicMargin:
    """PDM: a.y <= (1 - eps) ‖a‖² / t, both sides times t."""

    eps: float

    def score(self, a, t, y):
        return t * (a @ y)

    def threshold(self, a, t):
        return (1 - self.eps) * (a @ a)

    def misclassified(self, a, t, y):
        return self.score(a, t, y) <= self.threshold(a, t)


@dataclass
class FixedMargin:
    """PFM: a.y <= beta ‖a‖."""

    beta: float

    def score(self, a, t, y):
        return a @ y

    def threshold(self, a, t):
        return self.beta * np.sqrt(a @ a)

    def misclassified(self, a, t, y):
        return self.score(a, t, y) <= self.threshold(a, t)
