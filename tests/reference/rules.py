"""The misclassification conditions of the paper."""

from dataclasses import dataclass

import numpy as np

from dynmargin import _core

portable_power = _core.pow  # the C library's differ from one machine to another


class Rule:
    """Update while the score is at most the threshold."""

    def score(self, a, t, y):
        return a @ y

    def misclassified(self, a, t, y):
        return self.score(a, t, y) <= self.threshold(a, t)


@dataclass
class DynamicMargin(Rule):
    """PDM: a.y <= (1 - eps) ‖a‖² / t, both sides times t."""

    eps: float

    def score(self, a, t, y):
        return t * (a @ y)

    def threshold(self, a, t):
        return (1 - self.eps) * (a @ a)


@dataclass
class FixedMargin(Rule):
    """PFM: a.y <= beta ‖a‖."""

    beta: float

    def threshold(self, a, t):
        return self.beta * np.sqrt(a @ a)


@dataclass
class ConstantThreshold(Rule):
    """The perceptron, with margin if b > 0: a.y <= b."""

    b: float

    def threshold(self, a, t):
        return self.b


@dataclass
class MargitronUpdates(ConstantThreshold):
    """The margitron: a.y <= b t^power."""

    power: float

    def threshold(self, a, t):
        return self.b * portable_power(t, self.power)


@dataclass
class MargitronNorm(ConstantThreshold):
    """The margitron: a.y <= b ‖a‖^power."""

    power: float

    def threshold(self, a, t):
        return self.b * portable_power(a @ a, self.power / 2)
