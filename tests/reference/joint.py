"""Kesler's construction, written out: every wrong class of a row is a pattern of the joint space."""

import numpy as np

from .presentation import Run


def joint_patterns(X, y, n_classes, rho, delta):
    """z_kr: [x_k, rho] in the block of its class, minus that in the block of r, Delta_k e_k; keyed by (k, r)."""
    augmented = np.column_stack([X, np.full(len(X), rho)])
    extension = np.diag(np.broadcast_to(np.asarray(delta, float), len(X)))
    patterns = {}
    for k, right in enumerate(y):
        for wrong in range(n_classes):
            if wrong != right:
                blocks = np.zeros((n_classes, augmented.shape[1]))
                blocks[right], blocks[wrong] = augmented[k], -augmented[k]
                patterns[k, wrong] = np.append(blocks.ravel(), extension[k])
    return patterns


class JointRun(Run):
    """Rows are what is presented: a visit presents the wrong class of a row that scores most, the first of several."""

    def __init__(self, Z, n_rows, rule, schedule, seed, max_updates):
        self.of_row = [[(key, z) for key, z in Z.items() if key[0] == k] for k in range(n_rows)]
        one_per_row = np.array([patterns[0][1] for patterns in self.of_row])  # all of a row have the same length
        self.Z, self.n_classes = Z, 1 + len(self.of_row[0])
        n_columns = (one_per_row.shape[1] - n_rows) // self.n_classes - 1
        super().__init__(one_per_row, [1] * n_rows, rule, schedule, seed, max_updates, n_columns)
        self.counts = np.zeros(n_rows * self.n_classes)

    def count(self, key, times):
        self.counts[self.place(key)] += times

    def place(self, key):
        return key[0] * self.n_classes + key[1]

    def sum_of_patterns(self, counts):
        return sum((counts[self.place(key)] * z for key, z in self.Z.items()), start=0 * self.a)

    def dense_part(self, counts):
        """In the order of the core: all classes of a feature side by side."""
        return super().dense_part(counts).reshape(self.n_classes, -1).T.ravel()

    def shares_of_rows(self, shares):
        """One class after the other is added, as the core does."""
        total = np.zeros(len(self.Y))
        for of_class in shares.reshape(-1, self.n_classes).T:
            total += of_class.astype(float)
        return total

    def present(self, members, width, single=False, full=False):
        """As for two classes, but nothing is taken back."""
        gathered, updated = [], False
        for k in members:
            if self.made >= self.max_updates:
                self.stopped = True
                break
            key, z = min(self.of_row[k], key=lambda pattern: self.a @ pattern[1])
            if self.rule.score(self.a, self.t, z) <= width * self.rule.threshold(self.a, self.t):
                gathered.append(k)
            if self.rule.misclassified(self.a, self.t, z):
                self.update(key, z, single)
                updated = True
        return gathered, updated
