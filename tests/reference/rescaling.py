"""The algorithms that rescale the weight vector: a <- keep a + add y, with the coefficients written out."""

import math
from dataclasses import dataclass

import numpy as np

from reference.presentation import Run
from reference.rules import Rule, portable_power


class RescalingRun(Run):
    """A run over explicit patterns; t counts the updates."""

    def __init__(self, Y, *arguments):
        super().__init__(Y, *arguments)
        self.coefficients = np.zeros(len(Y))

    def update(self, k, y, single):
        keep, add = self.rule.step(self.a, self.t, y)
        self.a = keep * self.a + add * y
        self.coefficients *= keep
        self.coefficients[k] += add
        self.t += 1
        self.made += 1
        self.updates.append((k, add))


@dataclass
class Romma(Rule):
    """The shortest w with w.y >= 1 and w.a >= ‖a‖²."""

    bound: float  # 0, or 1 - delta if aggressive

    def threshold(self, a, t):
        return self.bound

    def step(self, a, t, y):
        p, q, A = a @ y, y @ y, a @ a
        if p >= q * A:
            return 0, 1 / q
        return np.linalg.solve([[A, p], [p, q]], [A, 1])  # w = keep a + add y with w.a = A, w.y = 1


@dataclass
class Alma(Rule):
    """ALMA_2(alpha): k counts the updates, from 1."""

    alpha: float
    R: float

    def threshold(self, a, t):
        return (1 - self.alpha) * math.sqrt(8) / self.alpha * self.R / math.sqrt(t + 1)

    def step(self, a, t, y):
        eta = math.sqrt(2) / (self.R * math.sqrt(t + 1))
        length = max(1, np.linalg.norm(a + eta * y))
        return 1 / length, eta / length


@dataclass
class MistakeControlled(Rule):
    """CRAMMA (zeta = 0) and MICRA: u is a unit vector from the first update on, which is t = 1."""

    beta: float
    power: float
    eta: float
    zeta: float
    R: float

    def threshold(self, u, t):
        return self.beta / portable_power(max(1, t), self.power)

    def step(self, u, t, y):
        rate = self.eta / portable_power(max(1, t), self.zeta) / self.R
        length = np.linalg.norm(u + rate * y)
        return 1 / length, rate / length
