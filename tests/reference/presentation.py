"""How patterns are presented (Section 4 of the paper): permuted full passes and three nested active sets."""

import math

import numpy as np

from .mixture import LARGEST_COUNT, Mixture
from .renewal import Renewal, share_to_correct, shares_for
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
        self.renewal = Renewal()
        self.best = []  # the best weights after every full pass and their margin, if counts may be renewed
        self.polished = {}  # the counts to continue from after a full pass, where polished weights call for better ones
        self.mixture = Mixture(self, (Y**2).sum(), self.delta2.sum(), wide=n_columns > len(Y))

    def run(self, max_passes):
        """Full passes until one makes no update; True if that happened."""
        everything = list(range(len(self.Y)))
        while self.full_passes < max_passes and self.made < self.max_updates:
            if self.full_passes > 0 or self.schedule.shuffle_first:
                self.shuffle(everything)
            self.full_passes += 1
            first = self.full_passes == 1
            width = self.schedule.first_width if first else None
            single = first and self.schedule.single_updates_first
            inner, updated = self.present(everything, width or self.schedule.widths[0], single, full=True)
            self.renewal.end()
            if updated and not self.stopped and self.schedule.mixing and isinstance(self.rule, DynamicMargin):
                self.mix()
            self.at_full_pass.append((len(self.updates), self.counts.copy()))
            if self.stopped:
                return False
            if not updated:
                return True
            self.inner_visits = 0
            if self.schedule.rounds[0] > 0:
                self.shuffle_active(inner)
            if self.full_passes in self.polished:
                self.continue_from(self.polished[self.full_passes])
                continue
            if self.full_passes <= len(self.best):
                inner = self.renew(inner, *self.best[self.full_passes - 1])
            self.rounds(inner, level=1, shuffled=True)
        return False

    def renew(self, inner, weights, margin):
        """Go on from the counts that the weights call for, if that promises more; give the first active set."""
        shares = shares_for(weights, self.Y, self.delta2)
        noise = float(self.delta2 @ (self.counts / self.t - shares) ** 2) / margin**2
        bound = self.bound(self.counts)
        if not self.renewal.decide(noise, margin, bound):
            return inner
        T = math.sqrt(self.mixture.squared_norms / (self.mixture.fineness * self.rule.eps)) / margin
        T = max(min(T, LARGEST_COUNT / 16), 4 / shares.max())
        self.continue_from(np.floor(T * shares + 0.5))
        support = np.flatnonzero(self.counts).tolist()
        self.shuffle_active(support)
        self.renewal.begin(len(support), share_to_correct(self, support), bound, self.bound(self.counts))
        return support

    def continue_from(self, counts):
        self.counts = counts
        self.mixture.points = []
        self.a, self.t = self.sum_of_patterns(counts), self.total(counts)

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

    def shuffle_active(self, members):
        if self.schedule.shuffle_active_sets:
            self.shuffle(members)

    def rounds(self, members, level, shuffled=False):
        for i in range(self.schedule.rounds[level - 1]):
            if i > 0 or not shuffled:
                self.shuffle_active(members)
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

    def present(self, members, width, single=False, full=False):
        gathered, updated = [], False
        taking_back = full and self.schedule.taking_back and isinstance(self.rule, DynamicMargin)
        taking_back &= not self.mixture.outgrowing
        stretch = min(max(len(self.Y) // 32, 64), 1024)
        for i, k in enumerate(members):
            if i > 0 and i % stretch == 0:
                self.renewal.control(self.present_bound(), stretch)
            if self.made >= self.max_updates:
                self.stopped = True
                break
            y = self.Y[k]
            if taking_back and (excess := self.excess(k, y)) > 0:
                self.count(k, -excess)
                self.a, self.t = self.a - excess * y, self.t - excess
                self.made += excess
                self.updates.append((k, -excess))
                gathered.append(k)
                updated = True
                continue
            if self.rule.score(self.a, self.t, y) <= width * self.rule.threshold(self.a, self.t):
                gathered.append(k)
            if self.rule.misclassified(self.a, self.t, y):
                self.update(k, y, single)
                updated = True
        if members:
            self.renewal.control(self.present_bound(), (len(members) - 1) % stretch + 1)
        return gathered, updated

    def present_bound(self):
        return math.sqrt(float(self.a @ self.a)) / self.t if self.t else math.inf

    def multiplicity(self, y, most=math.inf):
        """Count single updates until the pattern is right, as the paper defines a multiple update."""
        a, count = self.a, 0
        while count == 0 or (count < most and self.rule.misclassified(a, self.t + count, y)):
            a, count = a + y, count + 1
        return count

    def excess(self, k, y):
        """How often the pattern was added too often: taking that back minimises ‖a - n y‖ / (t - n) over whole n."""
        p, t, norm2 = self.a @ y, self.t, self.a @ self.a
        if self.counts[k] == 0 or t * p <= norm2 or t * (y @ y) <= p:
            return 0
        excess = min(math.floor((t * p - norm2) / (t * (y @ y) - p)), int(self.counts[k]), self.max_updates - self.made)
        return excess if excess < t else 0

    def update(self, k, y, single):
        single |= not self.schedule.multiple_updates
        count = 1 if single else self.multiplicity(y, self.max_updates - self.made)
        if self.renewal.share < 1:
            count = max(1, math.floor(self.renewal.share * count))
        self.a, self.t = self.a + count * y, self.t + count
        self.made += count
        self.updates.append((k, count))
        self.count(k, count)

    def count(self, k, times):
        self.counts[k] += times
