"""The exact optimum of a small problem: an active-set method in fractions.

Every problem is the dual of patterns z_k with a Gram matrix G: minimise a.G a / 2 - sum a over 0 <= a_k <= limit_k. For
squared slacks the patterns have a coordinate of their own, 1 / sqrt(2 C_k), and no limit; for the hinge the limit is
C_k; without slacks there is neither.
"""

import math
from fractions import Fraction


def patterns(problem, X, y, sample_weight):
    """Return (row, signs by block, cost) for each pattern; rows of zero weight have none."""
    found = []
    for k, label in enumerate(y):
        weight = Fraction(1) if sample_weight is None else Fraction(float(sample_weight[k]))
        if weight == 0:
            continue
        if problem.joint:
            own = problem.classes.index(label)
            cost = problem.costs[own]
            blocks = [{own: 1, r: -1} for r in range(len(problem.classes)) if r != own]
        else:
            cost = problem.C_positive if label == problem.positive else problem.C_negative
            blocks = [{0: 1 if label == problem.positive else -1}]
        cost = None if math.isinf(cost) else Fraction(cost) * weight
        found += [(k, signs, cost) for signs in blocks]
    return found


def augmented(X, rho):
    """Return rows as fractions, with rho as the last coordinate."""
    return [[Fraction(float(x)) for x in row] + [Fraction(float(rho))] for row in X]


def gram(found, rows, hinge):
    def product(one, other):
        (k, signs, cost), (j, others, _) = one, other
        shared = sum(sign * others.get(block, 0) for block, sign in signs.items())
        dense = shared * sum(a * b for a, b in zip(rows[k], rows[j], strict=True)) if shared else Fraction(0)
        return dense + (1 / (2 * cost) if k == j and cost is not None and not hinge else 0)

    return [[product(one, other) for other in found] for one in found]


def solve(A, b):
    """Solve A x = b; None if A is singular. A is symmetric and not negative."""
    n = len(A)
    rows = [[*row, right] for row, right in zip(A, b, strict=True)]
    for i in range(n):
        pivot = next((j for j in range(i, n) if rows[j][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(i + 1, n):
            if factor := rows[j][i] / rows[i][i]:
                rows[j] = [a - factor * c for a, c in zip(rows[j], rows[i], strict=True)]
    x = [Fraction(0)] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - sum(rows[i][j] * x[j] for j in range(i + 1, n))) / rows[i][i]
    return x


def null_vector(A):
    """Return some x with A x = 0 and x[-1] = 1, where all but the last row and column are regular."""
    head = solve([row[:-1] for row in A[:-1]], [-row[-1] for row in A[:-1]])
    return None if head is None else [*head, Fraction(1)]


def dual_optimum(G, limits):
    """Return the optimal dual weights; None if the dual is unbounded, which means that no weights separate."""
    n = len(G)
    a, free = [Fraction(0)] * n, []
    while True:
        gradient = [1 - sum(G[k][j] * a[j] for j in range(n) if a[j]) for k in range(n)]
        wrong = [
            k
            for k in range(n)
            if k not in free
            and ((a[k] == 0 and gradient[k] > 0) or (limits[k] is not None and a[k] == limits[k] and gradient[k] < 0))
        ]
        if not wrong:
            return a
        entering = wrong[0]  # the first, so that nothing can go in circles
        free.append(entering)
        while True:
            inner = [[G[k][j] for j in free] for k in free]
            right = [1 - sum(G[k][j] * a[j] for j in range(n) if j not in free and a[j]) for k in free]
            target = solve(inner, right)
            if target is None:  # the entering pattern depends on the others: go where nothing but the gain changes
                direction = null_vector(inner)
                if gradient[entering] < 0:
                    direction = [-x for x in direction]
                whole = None
            else:
                direction, whole = [t - a[k] for t, k in zip(target, free, strict=True)], Fraction(1)
            steps = []
            for x, k in zip(direction, free, strict=True):
                if x < 0:
                    steps.append((a[k] / -x, k, Fraction(0)))
                elif x > 0 and limits[k] is not None:
                    steps.append(((limits[k] - a[k]) / x, k, limits[k]))
            first = min(steps, default=None, key=lambda step: (step[0], step[1]))
            if whole is None and first is None:
                return None
            length = first[0] if whole is None or (first is not None and first[0] < whole) else whole
            for x, k in zip(direction, free, strict=True):
                a[k] += length * x
            if whole is not None and (first is None or first[0] >= whole):
                break
            a[first[1]] = first[2]
            free.remove(first[1])
            if not free:
                break


def exact_optimum(problem, X, y, sample_weight):
    """Return weights and dual weights of the optimum as fractions; None if there is none.

    The weights are one list per row of weights, b/rho last; the dual weights are those of the `patterns`.
    """
    found, rows = patterns(problem, X, y, sample_weight), augmented(X, problem.rho)
    hinge = problem.loss == "hinge"
    dual = dual_optimum(gram(found, rows, hinge), [cost if hinge else None for _, _, cost in found])
    if dual is None:
        return None
    weights = [[Fraction(0)] * len(rows[0]) for _ in range(len(problem.labels) if problem.joint else 1)]
    for a, (k, signs, _) in zip(dual, found, strict=True):
        for block, sign in signs.items():
            weights[block] = [w + sign * a * x for w, x in zip(weights[block], rows[k], strict=True)]
    return weights, dual
