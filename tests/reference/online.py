"""PDM strictly online: every pattern is presented once, in its order."""

import numpy as np


class OnlineRun:
    """Over explicit patterns, of which each has a coordinate of its own; `repeats` is how often one may be added."""

    def __init__(self, n_coordinates):
        self.a, self.t = np.zeros(n_coordinates), 0
        self.states = []  # after each pattern
        self.updates = []  # (pattern, how often)

    def present(self, Y, repeats, eps):
        for y, most in zip(Y, repeats, strict=True):
            count = 0
            while count < max(1, np.ceil(most)) and self.t * (self.a @ y) <= (1 - eps) * (self.a @ self.a):
                self.a, self.t, count = self.a + y, self.t + 1, count + 1
            if count:
                self.updates.append((len(self.states), count))
            self.states.append(self.a)
