"""The best combination of a state with former ones, step by step in plain floats.

Sums run in the same order as in the core, so even what is rounded comes out the same.
"""

import math

import numpy as np

MOST_POINTS, LEAST_GAIN, LARGEST_COUNT = 4, 1e-4, 2.0**53


def dot(u, v):
    total = 0.0
    for x, y in zip(u.tolist(), v.tolist(), strict=True):
        total += x * y
    return total


def solve_small(H, b):
    """Cholesky on the lower triangle; what the unknowns before nearly contain is left out."""
    n = len(b)
    H = [row[:] for row in H]
    used = [False] * n
    for i in range(n):
        diagonal = H[i][i]
        for j in range(i):
            if used[j]:
                for k in range(j):
                    if used[k]:
                        H[i][j] -= H[i][k] * H[j][k]
                H[i][j] /= H[j][j]
                H[i][i] -= H[i][j] * H[i][j]
        used[i] = H[i][i] > 1e-10 * diagonal
        if used[i]:
            H[i][i] = math.sqrt(H[i][i])
    x = [0.0] * n
    for i in range(n):
        if used[i]:
            x[i] = b[i]
            for j in range(i):
                x[i] -= H[i][j] * x[j] if used[j] else 0
            x[i] /= H[i][i]
    for i in reversed(range(n)):
        if used[i]:
            for j in range(i + 1, n):
                x[i] -= H[j][i] * x[j] if used[j] else 0
            x[i] /= H[i][i]
    return x


class Point:
    """A state divided by its t, in single precision, and its products with others."""

    def __init__(self, run, counts, unit, others):
        dense, delta2 = run.dense_part(counts), run.delta2
        scale = 1 / run.total(counts)
        self.t = run.total(counts)
        self.coordinates = (dense * (1 / (self.t * unit))).astype(np.float32)
        self.shares = (counts * scale).astype(np.float32)
        self.weighted = delta2 * run.shares_of_rows(self.shares)
        self.of_rows = run.shares_of_rows(self.shares)
        *self.products, self.squared = (self.product(other, unit) for other in [*others, self])

    def product(self, other, unit):
        x, y = self.coordinates.astype(float), other.coordinates.astype(float)
        return dot(x, y) + dot(self.weighted, other.of_rows) / (unit * unit)


class Mixture:
    """What the run was after the last full passes, and the best combination of that with what it is."""

    def __init__(self, run, hard_margin):
        self.run, self.hard_margin = run, hard_margin
        self.points, self.unit = [], 0.0

    def mix(self, counts, least_norm2):
        """Give the counts to go on with."""
        run, t, bound = self.run, self.run.total(counts), self.run.bound(counts)
        if not bound > 0 or t > LARGEST_COUNT / 16:
            return counts
        self.unit = self.unit or bound
        finer = max(1.0, min(math.sqrt(least_norm2 / run.norm2(counts)), LARGEST_COUNT / 16 / t))
        now = Point(run, counts, self.unit, self.points)
        step = self.best_step(now)
        gain = 0.0
        for x, product in zip(step, now.products, strict=True):
            gain += x * (now.squared - product)
        worthwhile, mixed = gain > LEAST_GAIN * now.squared, False
        for length in (1.0, 0.5, 0.25):
            if worthwhile and not mixed:
                counts = self.combined(now, [length * x for x in step], finer * t)
                mixed = run.bound(counts) < bound and run.total(counts) <= LARGEST_COUNT
        if not mixed and (worthwhile or finer > 2):
            counts = self.combined(now, [0.0] * len(step), finer * t)
        point = Point(run, counts, self.unit, self.points) if mixed else now
        self.points = [point, *self.points][: 1 if self.hard_margin else MOST_POINTS]
        return counts

    def best_step(self, now):
        n = len(self.points)
        H = [[0.0] * n for _ in range(n)]
        for i, p in enumerate(self.points):
            H[i][i] = p.squared - 2 * now.products[i] + now.squared
            for j in range(i):
                across = self.points[j].products[i - j - 1]
                H[i][j] = across - now.products[i] - now.products[j] + now.squared
        step = solve_small(H, [now.squared - product for product in now.products])
        if self.hard_margin and self.points:
            before = self.points[0].t / now.t
            step[0] = min(max(step[0], -before / (1 - before)), 1.0) if before < 1 else 0.0
        return step

    def combined(self, now, step, T):
        own, found = T, np.zeros(len(now.shares))
        for x, p in zip(step, self.points, strict=True):
            own -= T * x
            found += T * x * p.shares.astype(float)
        found += own * now.shares.astype(float)
        return np.floor(np.clip(found, 0.0, LARGEST_COUNT) + 0.5)
