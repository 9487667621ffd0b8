"""How patterns are presented (Section 4 of the paper): permuted full passes and three nested active sets."""

import math

import numpy as np

from .mixture import Mixture
from .rules import DynamicMargin

MASK = 2**64 - 1


def mix64(x):
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


class Generator:
    """The counter-based generator: number i is a function of the key and i."""

    def __init__(self, key):
        self.key, self.drawn = mix64(key), 0

    def shuffle(self, items):
        for i in range(len(items), 1, -1):
            self.drawn += 1
            number = mix64((self.key + self.drawn * 0x9E3779B97F4A7C15) & MASK)
            j = (number >> 32) * i >> 32
            items[i - 1], items[j] = items[j], items[i - 1]


class Run:
    """A perceptron over explicit patterns Y; the rule says what is misclassified."""

    def __init__(self, Y, sides, rule, schedule, seed, max_updates, n_columns=None):
        self.Y, self.sides, self.rule, self.schedule, self.max_updates = Y, sides, rule, schedule, max_updates
        self.random = Generator(seed)
        self.a, self.t = np.zeros(Y.shape[1]), 0
        self.counts = np.zeros(len(Y))
        self.stopped = False  # by max_updates
        self.made = 0  # updates; t is another number where states were mixed
        self.updates = []  # (pattern, multiplicity)
        self.full_passes = 0
        self.at_full_pass = []  # when full pass i was complete: how many entries `updates` had, and the counts
        self.delta2 = (Y[:, -len(Y) :] ** 2).sum(axis=1)
        n_columns = Y.shape[1] - len(Y) - 1 if n_columns is None else n_columns
        self.mixture = Mixture(self, (Y**2).sum(), self.delta2.sum(), wide=n_columns > len(Y))

    def run(self, max_passes):
        """Full passes until one makes no update; True if that happened."""
        everything = list(range(len(self.Y)))
        while self.full_passes < max_passes and self.made < self.max_updates:
            self.shuffle(everything)
            self.full_passes += 1
            first = self.full_passes == 1
            width = self.schedule.first_width if first else None
            single = first and self.schedule.single_updates_first
            inner, updated = self.present(everything, width or self.schedule.widths[0], single)
            if updated and not self.stopped and self.schedule.mixing and isinstance(self.rule, DynamicMargin):
                self.mix()
            self.at_full_pass.append((len(self.updates), self.counts.copy()))
            if self.stopped:
                return False
            if not updated:
                return True
            self.inner_visits = 0
            self.rounds(inner, level=1)
        return False

    def mix(self):
        self.counts = self.mixture.mix(self.counts, self.rule.eps)
        self.a, self.t = self.sum_of_patterns(self.counts), self.total(self.counts)

    def sum_of_patterns(self, counts):
        return counts @ self.Y

    def total(self, counts):
        return float(counts.sum())

    def norm2(self, counts):
        a = self.sum_of_patterns(counts)
        return float(a @ a)

    def bound(self, counts):
        return math.sqrt(self.norm2(counts)) / self.total(counts)

    def dense_part(self, counts):
        return self.sum_of_patterns(counts)[: -len(self.Y)]

    def shares_of_rows(self, shares):
        return shares.astype(float)

    def shuffle(self, members):
        if not self.schedule.balanced:
            return self.random.shuffle(members)
        positive = [k for k in members if self.sides[k] > 0]
        negative = [k for k in members if self.sides[k] < 0]
        self.random.shuffle(positive)
        self.random.shuffle(negative)
        p = n = 0
        while p + n < len(members):  # the side that lags behind its share comes next
            if p < len(positive) and (p + 1) * len(negative) <= (n + 1) * len(positive):
                members[p + n], p = positive[p], p + 1
            else:
                members[p + n], n = negative[n], n + 1

    def rounds(self, members, level):
        for _ in range(self.schedule.rounds[level - 1]):
            if self.schedule.shuffle_active_sets:
                self.shuffle(members)
            inner, updated = self.present(members, self.schedule.widths[1] if level == 1 else 1)
            self.inner_visits += len(members)
            if self.enough_of_active_sets() or not updated:
                return
            if level < 3:
                self.rounds(inner, level + 1)
            if self.enough_of_active_sets():
                return

    def enough_of_active_sets(self):
        return self.inner_visits >= self.schedule.inner_passes * len(self.Y)

    def present(self, members, width, single=False):
        gathered, updated = [], False
        for k in members:
            if self.made >= self.max_updates:
                self.stopped = True
                break
            y = self.Y[k]
            if self.rule.score(self.a, self.t, y) <= width * self.rule.threshold(self.a, self.t):
                gathered.append(k)
            if self.rule.misclassified(self.a, self.t, y):
                self.update(k, y, single)
                updated = True
        return gathered, updated

    def update(self, k, y, single):
        """One update after the other, as the paper defines a multiple update: until the pattern is right."""
        count = 0
        while count == 0 or (not single and self.rule.misclassified(self.a, self.t, y)):
            if self.made >= self.max_updates:
                break
            self.a, self.t, count = self.a + y, self.t + 1, count + 1
            self.made += 1
        self.updates.append((k, count))
        self.count(k, count)

    def count(self, k, times):
        self.counts[k] += times
