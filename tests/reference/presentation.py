"""How patterns are presented (Section 4 of the paper): permuted full passes and three nested active sets."""

import numpy as np

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

    def __init__(self, Y, sides, rule, schedule, seed, max_updates):
        self.Y, self.sides, self.rule, self.schedule, self.max_updates = Y, sides, rule, schedule, max_updates
        self.random = Generator(seed)
        self.a, self.t = np.zeros(Y.shape[1]), 0
        self.updates = []  # (pattern, multiplicity)
        self.full_passes = 0
        self.updates_at_full_pass = []  # how many entries `updates` had when full pass i was complete

    def run(self, max_passes):
        """Full passes until one makes no update; True if that happened."""
        everything = list(range(len(self.Y)))
        while self.full_passes < max_passes and self.t < self.max_updates:
            self.shuffle(everything)
            self.full_passes += 1
            first = self.full_passes == 1
            width = self.schedule.first_width if first else None
            single = first and self.schedule.single_updates_first
            inner, updated = self.present(everything, width or self.schedule.widths[0], single)
            self.updates_at_full_pass.append(len(self.updates))
            if not updated:
                return True
            if first:
                self.refine()
            self.inner_visits = 0
            self.rounds(inner, level=1)
        return False

    def refine(self):
        """After the first full pass: smaller steps from now on, by multiplying what there is."""
        mean, norm2 = (self.Y**2).sum() / len(self.Y), self.a @ self.a
        factor = int(min(self.schedule.refinement * mean * self.t / norm2, self.max_updates / self.t)) if norm2 else 1
        if factor > 1:
            self.a, self.t = self.a * factor, self.t * factor
            self.updates = [(k, count * factor) for k, count in self.updates]

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
            if self.t >= self.max_updates:
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
            if self.t >= self.max_updates:
                break
            self.a, self.t, count = self.a + y, self.t + 1, count + 1
        self.updates.append((k, count))
