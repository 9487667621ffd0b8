"""The algorithms that also take back, over explicit patterns Y: a step for one dual weight, and the order of visits."""

from dataclasses import dataclass

import numpy as np

from .presentation import Generator


@dataclass
class CoordinateDescent:
    """DCD: the best value of alpha_k with the others fixed, for sum alpha - ‖a‖²/2."""

    target = 1.0

    def next(self, p, q, alpha, most):
        return min(max(alpha + (1 - p) / q, 0.0), most)


@dataclass
class MarginUnlearning:
    """MPU: learn while a.y <= b, unlearn while a.y >= b + db, one unit after the other."""

    b: float
    db: float

    @property
    def target(self):
        return self.b + self.db / 2

    def next(self, p, q, alpha, most):
        if p <= self.b:
            while p <= self.b and alpha < most:
                unit = min(1.0, most - alpha)
                alpha, p = alpha + unit, p + unit * q
        elif p >= self.b + self.db:
            while p >= self.b + self.db and alpha > 0:
                unit = min(1.0, alpha)
                alpha, p = alpha - unit, p - unit * q
        return alpha


class DualRun:
    """Visits where they gain most: all patterns, those that may matter, those that gained more than the mean."""

    def __init__(self, Y, sides, step, schedule, seed, most=np.inf):
        self.Y, self.sides, self.step, self.schedule, self.most = Y, sides, step, schedule, most
        self.random = Generator(seed)
        self.alpha = np.zeros(len(Y))
        self.updates = []  # (pattern, its new dual weight)

    def run(self, full_passes):
        everything = list(range(len(self.Y)))
        for i in range(full_passes):
            inner, mean, changed = self.visit(everything, 0.0, full=True)
            if not changed:
                return True
            if i + 1 < full_passes and inner:
                self.rounds(inner, 1, mean)
        return False

    def rounds(self, members, level, mean_outside):
        mean = mean_outside
        for _ in range(self.schedule.most_rounds):
            inner, mean, _ = self.visit(members, self.schedule.above_mean * mean)
            smaller = len(inner) < len(members) or self.schedule.above_mean == 0
            if level < self.schedule.depth and inner and smaller:
                self.rounds(inner, level + 1, mean)
            if not (mean > 0 and mean >= self.schedule.worthwhile * mean_outside):
                return

    def visit(self, members, threshold, full=False):
        self.shuffle(members)
        gathered, total, changed, target = [], 0.0, False, self.step.target
        near = self.schedule.near * target
        for k in members:
            y, alpha = self.Y[k], self.alpha[k]
            p, q = y @ (self.alpha @ self.Y), y @ y
            following = self.step.next(p, q, alpha, self.most)
            change = following - alpha
            gain = change * (target - p - change * q / 2)
            total += gain
            if full:
                keep = (following > 0 or p < near) and (following < self.most or p > 2 * target - near)
            else:
                keep = gain > threshold
            if keep:
                gathered.append(k)
            if change != 0:
                self.alpha[k], changed = following, True
                self.updates.append((k, following))
        return gathered, total / len(members), changed

    def shuffle(self, members):
        """Each side by itself, then the two merged in proportion."""
        sides = [[k for k in members if self.sides[k] > 0], [k for k in members if self.sides[k] < 0]]
        for side in sides:
            self.random.shuffle(side)
        p = n = 0
        while p + n < len(members):
            if p < len(sides[0]) and (p + 1) * len(sides[1]) <= (n + 1) * len(sides[0]):
                members[p + n], p = sides[0][p], p + 1
            else:
                members[p + n], n = sides[1][n], n + 1
