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


def best_mixture(a1, t1, a2, t2, most_t):
    """Whole numbers p and r for the lowest bound |p a1 + r a2| / (p t1 + r t2); larger ones only if they gain."""
    best, found = np.linalg.norm(a1 + a2) / (t1 + t2), (1, 1)
    for p in range(5):
        for r in range(1, 5):
            a = p * a1 + r * a2
            bound = np.sqrt(a @ a) / (p * t1 + r * t2)
            if bound < (1 - 1e-5) * best and p * t1 + r * t2 <= most_t:
                best, found = bound, (p, r)
    return found


class Run:
    """A perceptron over explicit patterns Y; the rule says what is misclassified."""

    def __init__(self, Y, sides, rule, schedule, seed, max_updates, proves_by_parts=False):
        self.Y, self.sides, self.rule, self.schedule, self.max_updates = Y, sides, rule, schedule, max_updates
        self.random = Generator(seed)
        self.a, self.t = np.zeros(Y.shape[1]), 0
        self.stopped = False  # by max_updates
        self.made = 0  # updates; t is larger where counts were multiplied
        self.updates = []  # (pattern, multiplicity)
        self.full_passes = 0
        self.proves_by_parts, self.next_cut, self.before = proves_by_parts, 1, None
        self.updates_at_full_pass = []  # how many entries `updates` had when full pass i was complete

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
            self.updates_at_full_pass.append(len(self.updates))
            if self.stopped:
                return False
            if not updated:
                return True
            if first:
                self.refine()
            if self.proves_by_parts and self.full_passes >= self.next_cut:
                self.cut()
            self.inner_visits = 0
            self.rounds(inner, level=1)
        return False

    def refine(self):
        """After the first full pass: smaller steps from now on, by multiplying what there is."""
        mean, norm2 = (self.Y**2).sum() / len(self.Y), self.a @ self.a
        factor = int(self.schedule.refinement * mean * self.t / norm2) if norm2 else 1
        if factor > 1:
            self.a, self.t = self.a * factor, self.t * factor
            self.updates = [(k, count * factor) for k, count in self.updates]

    def cut(self):
        """Whenever the run has doubled: go on from the whole-number mixture of its two parts that proves most."""
        if self.before is not None and self.schedule.mixing:
            updates, a, t = self.before
            p, r = best_mixture(a, t, self.a - a, self.t - t, np.inf if self.full_passes < 8 else 2 * self.made)
            self.a, self.t = p * a + r * (self.a - a), p * t + r * (self.t - t)
            self.updates = [(k, n * (p if i < updates else r)) for i, (k, n) in enumerate(self.updates)]
        self.before = len(self.updates), self.a, self.t
        self.next_cut = 2 * self.full_passes

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
