"""The algorithms that also take back, over explicit patterns Y: a step for one dual weight, and the order of visits."""

from dataclasses import dataclass

import numpy as np

from .mixture import solve_small
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


class DualMixture:
    """The best combination of the dual weights with former ones, for the objective ‖a‖²/2 - target sum alpha."""

    def __init__(self, Y, target, most):
        self.Y, self.target, self.most = Y, target, most
        self.points = []  # the last one first

    def objective(self, alpha):
        a = alpha @ self.Y
        return a @ a / 2 - self.target * alpha.sum()

    def mix(self, alpha):
        """Return the dual weights to go on with."""
        mixed = self.improved(alpha) if self.points else alpha
        self.points = [mixed.copy(), *self.points][:4]
        return mixed

    def improved(self, alpha):
        ways = np.array([point - alpha for point in self.points])
        downhill = ways @ (self.target - self.Y @ (alpha @ self.Y))
        step = np.array(solve_small(((ways @ self.Y) @ (ways @ self.Y).T).tolist(), downhill.tolist()))
        for length in (1.0, 0.25):
            mixed = np.clip(alpha + length * step @ ways, 0.0, self.most)
            if self.objective(mixed) < self.objective(alpha):
                return mixed
        return alpha


class DualRun:
    """Visits where they gain most: all patterns, those that may matter, those that gained more than the mean.

    `columns` is the number of coordinates that patterns share, and `checks` holds the numbers of visits at which bounds
    are checked: states are not mixed then.
    """

    def __init__(self, Y, sides, step, schedule, seed, most=np.inf, columns=0, checks=()):
        self.Y, self.sides, self.step, self.schedule, self.most = Y, sides, step, schedule, most
        self.random = Generator(seed)
        self.alpha = np.zeros(len(Y))
        self.updates = []  # (pattern, its new dual weight)
        self.mixture = DualMixture(Y, step.target, most)
        self.visits, self.mixed_at, self.checks, self.times_mixed = 0, 0, checks, 0
        self.n_weights = 0  # when states were last mixed
        self.pause = 10 * (columns + len(Y)) / (columns + 4)

    def run(self, full_passes):
        everything = list(range(len(self.Y)))
        for i in range(full_passes):
            inner, mean, changed = self.visit(everything, 0.0, full=True)
            if not changed:
                return True
            self.mix()
            if i + 1 < full_passes and inner:
                self.rounds(inner, 1, mean)
        return False

    def rounds(self, members, level, mean_outside):
        mean = mean_outside
        for _ in range(self.schedule.most_rounds):
            inner, mean, _ = self.visit(members, self.schedule.above_mean * mean)
            if level == 1:
                self.mix()
            smaller = len(inner) < len(members) or self.schedule.above_mean == 0
            if level < self.schedule.depth and inner and smaller:
                self.rounds(inner, level + 1, mean)
            if not (mean > 0 and mean >= self.schedule.worthwhile * mean_outside):
                return

    def mix(self):
        late = self.visits >= self.schedule.mix_after * len(self.Y)
        if not late or self.visits - self.mixed_at < self.pause + self.n_weights or self.visits in self.checks:
            return
        self.mixed_at = self.visits
        self.alpha = self.mixture.mix(self.alpha)
        self.n_weights = np.count_nonzero(self.alpha)
        self.times_mixed += len(self.mixture.points) > 1

    def visit(self, members, threshold, full=False):
        self.shuffle(members)
        self.visits += len(members)
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
