"""When counts are renewed, and how much of an update is made while they are being corrected."""

import math

import numpy as np


class Renewal:
    """The decision and the plan, in plain floats."""

    def __init__(self):
        self.last_margin = self.margin_used = 0.0
        self.size = self.left = self.goal = self.bound = 0.0
        self.share = 1.0
        self.renewed = 0

    def decide(self, noise, margin, bound):
        gap = bound - margin
        settled = self.last_margin == 0 or margin - self.last_margin < 0.3 * gap
        better = margin - self.margin_used > 0.05 * gap
        self.last_margin = margin
        if not noise > 0.75 * ((bound / margin) ** 2 - 1) or not settled or not better:
            return False
        self.margin_used = margin
        return True

    def begin(self, size, share, bound_before, bound):
        self.left = self.size = float(size)
        self.share = min(share, 1.0)
        self.goal, self.bound = 1.2 * bound_before, bound
        self.renewed += 1

    def control(self, bound, visits):
        if bound < self.goal:
            self.goal = 0.0
        if self.goal == 0:
            return
        self.left -= visits
        planned, made = bound * visits / max(self.left, 0.3 * self.size), self.bound - bound
        self.share = min(1.0, self.share * (min(max(planned / made, 0.5), 2.0) if made > 0 else 2.0))
        self.bound = bound

    def end(self):
        self.goal, self.share = 0.0, 1.0


def shares_for(weights, Y, delta2):
    """Return the counts that weights call for, as shares: slacks over Delta²."""
    n_dense = Y.shape[1] - len(Y)
    alpha = np.maximum(0.0, 1 - Y[:, :n_dense] @ weights) / delta2
    return alpha / alpha.sum()


def share_to_correct(run, members):
    """Return the share of all updates by which one visit of the members would make `a` vanish."""
    sample = members[:1024]
    made = 0.0
    for k in sample:
        p = float(run.a @ run.Y[k])
        if p < 0:
            made -= p * run.multiplicity(run.Y[k])
    return float(run.a @ run.a) / (made * len(members) / len(sample)) if made > 0 else math.inf
