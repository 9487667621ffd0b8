"""The best combination of a state with former ones, step by step in plain floats.

Sums run in the same order as in the core, so even what is rounded comes out the same.
"""

import math

import numpy as np

LARGEST_COUNT = 2.0**53


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
    """A state divided by its t, and its products with others."""

    def __init__(self, run, counts, others):
        self.t = run.total(counts)
        self.coordinates = run.dense_part(counts) * (1 / self.t)
        self.shares = counts * (1 / self.t)
        self.of_rows = run.shares_of_rows(self.shares)
        self.weighted = run.delta2 * self.of_rows
        *self.products, self.squared = (
            dot(self.coordinates, other.coordinates) + dot(self.weighted, other.of_rows) for other in [*others, self]
        )


class Mixture:
    """What the run was after the last full passes, and the best combination of that with what it is."""

    def __init__(self, run, squared_norms, own, wide):
        self.run, self.parts_only = run, own == 0
        self.squared_norms, self.own = squared_norms, own
        self.most_points = 1 if own == 0 else 2 if wide else 4
        self.points = []
        self.fineness = 1.0
        self.outgrowing, self.failures, self.passes, self.next_mix = False, 0, 0, 8

    def mix(self, counts, accuracy):
        """Return the counts to go on with."""
        run, t, bound = self.run, self.run.total(counts), self.run.bound(counts)
        if not bound > 0 or t > LARGEST_COUNT / 16:
            return counts
        if self.outgrowing:
            self.passes += 1
            if self.passes < self.next_mix:
                return counts
            self.next_mix *= 2
        now = Point(run, counts, self.points)
        noise = self.fineness * accuracy
        stiff = self.squared_norms > max(300, 1e-3 / accuracy) * self.own
        if stiff and self.points and self.points[0].squared / now.squared - 1 < noise and noise > 1e-11:
            self.fineness /= 10
        finer, norm2 = 1.0, run.norm2(counts)
        if not self.outgrowing:
            finer = math.sqrt(self.squared_norms / norm2 / (self.fineness * accuracy))
            finer = max(1.0, min(finer, LARGEST_COUNT / 16 / t))
        step = self.best_step(now)
        if self.worthwhile(now, step):
            counts = self.attempt(now, step, bound, finer * t)
            if self.failures == 4 and not self.outgrowing and not stiff:
                noise = max(accuracy, min(100 * accuracy, 1e-3))
                counts = self.outgrow(now, counts, math.sqrt(self.squared_norms / norm2 / noise) * t)
        elif finer > 2:
            counts = math.floor(finer) * counts
        self.points = [Point(run, counts, self.points), *self.points][: self.most_points]
        return counts

    def attempt(self, now, step, bound, T):
        """Return the combination, or what there is if no length of the step lowers the bound."""
        for length in (1.0, 0.5, 0.25):
            counts = self.combined(now, [length * x for x in step], T)
            if 0 < self.run.total(counts) <= LARGEST_COUNT and self.run.bound(counts) < bound:
                self.failures = 0
                return counts
        self.failures += 1
        return self.combined(now, [0.0] * len(step), T)

    def outgrow(self, now, counts, T):
        """Go on in larger steps, and mix two parts of the run whenever it has doubled."""
        self.outgrowing = self.parts_only = True
        self.points, self.most_points = [], 1
        return self.combined(now, [], T) if 4 * len(counts) < T < now.t else counts

    def worthwhile(self, now, step):
        gain = 0.0
        for x, product in zip(step, now.products, strict=True):
            gain += x * (now.squared - product)
        by_itself = self.points[0].squared - now.squared if self.points else math.inf
        return gain > max(0.1 * by_itself, 1e-12 * now.squared)

    def best_step(self, now):
        n = len(self.points)
        H = [[0.0] * n for _ in range(n)]
        for i, p in enumerate(self.points):
            H[i][i] = p.squared - 2 * now.products[i] + now.squared
            for j in range(i):
                across = self.points[j].products[i - j - 1]
                H[i][j] = across - now.products[i] - now.products[j] + now.squared
        step = solve_small(H, [now.squared - product for product in now.products])
        if self.parts_only and self.points:
            before = self.points[0].t / now.t
            step[0] = min(max(step[0], -before / (1 - before)), 1.0) if before < 1 else 0.0
        return step

    def combined(self, now, step, T):
        own, weights = T, [T * x for x in step]
        for weight in weights:
            own -= weight
        found = own * now.shares
        for weight, p in zip(weights, self.points, strict=True):
            found = found + weight * p.shares
        return np.floor(np.clip(found, 0.0, LARGEST_COUNT / 16) + 0.5)
