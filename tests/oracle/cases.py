"""Cases for the oracle: a problem, its data and two witnesses, drawn to be as awkward as they can be."""

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from dynmargin import SparseCounts
from dynmargin.problem.problems import BinaryProblem, JointProblem

from .exact import dyadic

KINDS = ("squared hinge", "hinge", "hard margin", "free intercept", "joint", "joint hard")
LARGEST_TOTAL = 2**53


class Csr:
    """A sparse matrix with whatever it has stored; to make one of scipy's would take longer than to check a case."""

    def __init__(self, rows, n_columns, dtype, index):
        lengths = [len(row) for row in rows]
        self.data = np.array([value for row in rows for _, value in row], dtype)
        self.indices = np.array([column for row in rows for column, _ in row], index)
        self.indptr = np.cumsum([0, *lengths], dtype=index)
        self.shape = (len(rows), n_columns)

    def tocsr(self):
        return self


@dataclass
class Case:
    """Data, a problem and two witnesses; what `exact` reads of them is kept as Python's own numbers."""

    kind: str
    X: object
    y: np.ndarray
    sample_weight: np.ndarray | None
    problem: BinaryProblem | JointProblem
    weights: np.ndarray
    intercept: float | np.ndarray
    counts: SparseCounts
    legal: bool  # whether the counts are such that every verifier must take them
    rows: list = field(init=False)

    def __post_init__(self):
        self.rows = self.rows_of(self.X)
        self.n_columns = self.X.shape[1]
        self.joint = self.problem.joint
        self.sides = self.problem.sides(self.y, self.sample_weight).tolist()
        self.weight_rows = np.atleast_2d(self.weights).tolist()
        self.intercepts = np.ravel(self.intercept).tolist()
        self.penalties = [self._penalty(k) if side else None for k, side in enumerate(self.sides)]

    @staticmethod
    def rows_of(X):
        """Return what is stored of each row, as pairs of column and value."""
        if not hasattr(X, "indptr"):
            return [list(enumerate(row)) for row in X.tolist()]
        starts, columns, values = X.indptr.tolist(), X.indices.tolist(), X.data.tolist()
        return [list(zip(columns[a:b], values[a:b], strict=True)) for a, b in pairwise(starts)]

    def _penalty(self, k):
        """2 C weight_k, exactly."""
        side, problem = self.sides[k], self.problem
        if problem.hard_margin:
            return None
        C = problem.costs[side - 1] if self.joint else problem.C_positive if side > 0 else problem.C_negative
        (n, e), (m, f) = dyadic(C), (1, 0) if self.sample_weight is None else dyadic(self.sample_weight[k])
        return n * m, e + f + 1


class Draw:
    """Draws with a generator; every choice is made here, so that a seed determines the case."""

    def __init__(self, seed):
        self.random = np.random.Generator(np.random.PCG64(seed))

    def chance(self, p):
        return self.random.random() < p

    def one_of(self, *choices):
        return choices[int(self.random.integers(len(choices)))]

    def power(self, low, high):
        """A random power of ten, as good as any in between."""
        return float(10.0 ** self.random.uniform(low, high))

    def scale(self, widest):
        """How large numbers are: mostly ordinary, sometimes anywhere between two powers of ten."""
        return self.one_of(
            1.0, 1.0, self.power(-3, 3), self.power(-30, 30), self.power(*widest), self.power(max(widest[0], -180), 170)
        )

    # -- data

    def table(self, m, d, float32):
        """Values of all kinds: random, whole, one rounding apart, denormal, rows that cancel."""
        random, widest = self.random, (-45, 37) if float32 else (-323, 300)
        flavour = self.one_of(
            "normal", "normal", "each", "whole", "apart", "denormal", "twins", "opposed", "signs", "zeros"
        )
        scale = self.scale(widest)
        if float32:
            scale = min(max(scale, 1e-45), 1e37)
        X = random.normal(size=(m, d))
        if flavour == "each":
            span = self.one_of(2, 10, 100)
            X = X * 10.0 ** np.clip(random.uniform(-span, span, size=(m, d)) + math.log10(scale), *widest)
            scale = 1.0
        elif flavour == "whole":
            X = random.integers(-3, 4, size=(m, d)).astype(float)
            scale = 2.0 ** math.floor(math.log2(scale))
        elif flavour == "apart":
            X = 1 + random.integers(-4, 5, size=(m, d)) * 2.0 ** (-23 if float32 else -52)
            X = X * random.choice([-1.0, 1.0], size=(m, d))
        elif flavour == "denormal":
            X, scale = random.integers(-5, 6, size=(m, d)).astype(float), 2.0 ** (-149 if float32 else -1074)
        elif flavour == "twins":
            X = X[random.integers(0, max(1, m // 2), size=m)]
            X = X * random.choice([-1.0, 1.0], size=(m, 1)) + X * random.integers(-2, 3, size=(m, 1)) * self.power(
                -17, 0
            )
        elif flavour == "opposed":  # the same rows but for what is less than a rounding of them, or little more
            X = X[:1] + X * self.power(-40, -10) * (random.random(d) < 0.5)
        elif flavour == "signs":
            X = np.abs(X)
        elif flavour == "zeros":
            X = X * (random.random((m, d)) < 0.5)
        with np.errstate(all="ignore"):
            X = X * scale
            X = X.astype(np.float32) if float32 else X
        return np.nan_to_num(X, posinf=1.0, neginf=-1.0)

    def matrix(self, X):
        """The table as it is, in Fortran's order, or sparse with repeated columns, stored zeros and any order."""
        form, dtype = self.one_of("dense", "dense", "fortran", "csr", "csr"), X.dtype
        if form == "dense":
            return X
        if form == "fortran":
            return np.asfortranarray(X)
        rows = []
        for line in X.tolist():
            entries = [(j, x) for j, x in enumerate(line) if x or self.chance(0.3)]
            for _ in range(int(self.random.integers(0, 4)) if self.chance(0.5) else 0):
                j = int(self.random.integers(X.shape[1]))
                entries.append((j, float(dtype.type(self.one_of(0.0, line[j], -line[j], line[j] * 1e-9, line[j] / 3)))))
            if self.chance(0.5):
                entries = [entries[i] for i in self.random.permutation(len(entries))]
            rows.append(entries)
        return Csr(rows, X.shape[1], dtype, self.one_of(np.int32, np.int64))

    # -- the problem

    def cost(self):
        return self.one_of(
            1.0, 1.0, self.power(-3, 3), self.power(-30, 30), self.power(-289, 289), self.power(230, 289)
        )

    def sample_weights(self, m, costs):
        """None, or weights, some of them zero, that keep C times a weight within what is allowed."""
        if self.chance(0.5):
            return None
        weight = self.one_of(
            np.ones(m), self.random.exponential(size=m), 10.0 ** self.random.uniform(-250, 250, size=m)
        )
        finite = [c for c in costs if math.isfinite(c)]
        low, high = (1e-289 / min(finite), 1e289 / max(finite)) if finite else (1e-280, 1e280)
        weight = np.clip(weight, low, high)
        if self.chance(0.5):
            weight[self.random.random(m) < 0.3] = 0.0
        return weight

    def rho(self):
        return self.one_of(0.0, 1.0, 1.0, 0.3, self.power(-5, 5), self.power(-300, 300))

    def problem(self, kind, K):
        hard = kind in ("hard margin", "joint hard")
        if kind.startswith("joint"):
            costs = (math.inf,) * K if hard else tuple(self.cost() for _ in range(K))
            if not hard and self.chance(0.7):
                costs = (costs[0],) * K
            return JointProblem(tuple(range(K)), costs, self.rho())
        C = math.inf if hard or (kind == "free intercept" and self.chance(0.3)) else self.cost()
        other = C if math.isinf(C) or self.chance(0.6) else self.cost()
        free = kind == "free intercept"
        hinge = kind == "hinge" or (free and math.isfinite(C) and self.chance(0.5))
        loss = "hinge" if hinge else "squared_hinge"
        return BinaryProblem(1, C, other, 0.0 if free else self.rho(), loss, free, classes=(0, 1))

    # -- witnesses

    def weights(self, X, K):
        """Random ones, the sum of the rows, ones orthogonal to a row, at scales where scores are near 1; bad ones."""
        random, d = self.random, X.shape[1]
        X = np.asarray(X, np.float64)
        with np.errstate(all="ignore"):
            size = float(np.abs(X).max()) or 1.0
            W = random.normal(size=(K, d))
            flavour = self.one_of("random", "sum", "orthogonal", "whole", "ones", "bad")
            if flavour == "sum":
                W = (random.integers(-2, 3, size=(K, len(X))) @ (X / size)) * self.power(-3, 3)
            elif flavour == "orthogonal":
                row = X[0] / size
                W = W - np.outer(W @ row, row) / max(float(row @ row), 1e-300)
            elif flavour == "whole":
                W = random.integers(-2, 3, size=(K, d)).astype(float)
            elif flavour == "ones":
                W = np.ones((K, d)) + random.integers(-3, 4, size=(K, d)) * 2.0**-52
            scale = self.one_of(1.0, 1 / size, 1 / size, self.power(-3, 3) / size, self.scale((-323, 300)))
            W = W * scale
            if flavour == "bad" and self.chance(0.3):
                W[int(random.integers(K)), int(random.integers(d))] = self.one_of(
                    math.nan, math.inf, -math.inf, 5e-324, 1e308, 0.0
                )
        return W

    def intercepts(self, K, problem):
        if problem.rho == 0 and not problem.free_bias and self.chance(0.95):
            return np.zeros(K)
        b = self.random.normal(size=K) * self.one_of(0.0, 1.0, self.scale((-323, 300)), problem.rho)
        if self.chance(0.01):
            b[0] = self.one_of(math.nan, math.inf)
        return b

    def at_the_kink(self, X, W, b, sides):
        """Scale the weights so that a score is 1 but for rounding, where slacks begin."""
        with np.errstate(all="ignore"):
            scores = np.asarray(X, np.float64) @ W[0] + b[0]
            score = float(abs(self.one_of(*scores)))
            factor = (1 + self.one_of(-2, -1, 0, 0, 1, 2) * 2.0**-52) / score if score else 1.0
            if math.isfinite(factor) and np.isfinite(W * factor).all() and np.isfinite(b * factor).all():
                return W * factor, b * factor
        return W, b

    def split(self, total, n):
        """n whole numbers that add up to a total."""
        cuts = sorted(int(c) for c in self.random.integers(0, total + 1, size=n - 1))
        return [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]

    def numbers(self, n):
        """n counts: small, equal, spread over all sizes, adding up to 2^53 or nearly."""
        flavour = self.one_of("small", "small", "ones", "spread", "full", "nearly", "large")
        if flavour == "small":
            return self.random.integers(0, 4, size=n).tolist()
        if flavour == "ones":
            return [1] * n
        if flavour == "spread":
            return [int(2 ** self.random.uniform(0, 49)) * 16 // (n + 16) for _ in range(n)]
        if flavour == "large":
            return self.random.integers(2**40, 2**53 // n, size=n).tolist()
        return self.split(LARGEST_TOTAL - (0 if flavour == "full" else int(self.random.integers(1, 4))), n)

    def counts(self, sides, problem, K):
        """Counts for some of the places, and whether they are legal."""
        joint = problem.joint
        places = [
            k * K + r if joint else k
            for k, side in enumerate(sides)
            if side
            for r in (range(K) if joint else (0,))
            if not joint or r != side - 1
        ]
        if self.chance(0.5):
            places = [place for place in places if self.chance(0.6)]
        shape = (len(sides), K) if joint else (len(sides),)
        if not places:
            return SparseCounts(np.empty(0, np.int64), np.empty(0, np.int64), shape), True
        numbers, legal = self.numbers(len(places)), True
        if problem.free_bias or (not joint and self.chance(0.3)):
            numbers = self.balanced([sides[k] for k in places], numbers)
            legal = not problem.free_bias or sum(n * sides[k] for k, n in zip(places, numbers, strict=True)) == 0
        if self.chance(0.03):
            legal = False
            i = int(self.random.integers(len(places)))
            match self.one_of("negative", "too many", "elsewhere", "twice", "own"):
                case "negative":
                    numbers[i] = -max(1, numbers[i])
                case "too many":
                    numbers[i] += LARGEST_TOTAL
                case "elsewhere":
                    places[-1], numbers[-1] = math.prod(shape) + 2, max(1, numbers[-1])
                case "twice":
                    places.append(places[-1])
                    numbers.append(1)
                case "own":  # a row's own class, or a row that is left out
                    left_out = [k for k, side in enumerate(sides) if not side]
                    place = places[0] // K * K + sides[places[0] // K] - 1 if joint else left_out[0] if left_out else -1
                    places, numbers = [place], [1]
        return SparseCounts(np.array(places, np.int64), np.array(numbers, np.int64), shape), legal

    def balanced(self, sides, numbers):
        """Lower counts of the heavier side until both sides have the same sum."""
        excess = sum(n * side for n, side in zip(numbers, sides, strict=True))
        for i, side in enumerate(sides):
            if excess * side > 0:
                less = min(numbers[i], abs(excess))
                numbers[i] -= less
                excess -= less * side
        return numbers


def draw_case(seed):
    """Return the case of a seed."""
    draw = Draw(seed)
    kind = KINDS[seed % len(KINDS)]
    m, d = int(draw.random.integers(2, 7)), int(draw.random.integers(1, 5))
    if draw.chance(0.01):
        m, d = draw.one_of((2, 60), (40, 2), (12, 12))
    joint = kind.startswith("joint")
    K = int(draw.random.integers(2, 5)) if joint else 1
    float32 = draw.chance(0.4)
    problem = draw.problem(kind, K)
    y = draw.random.integers(0, K if joint else 2, size=m)
    costs = problem.costs if joint else (problem.C_positive, problem.C_negative)
    sample_weight = draw.sample_weights(m, costs)
    table = draw.table(m, d, float32)
    sides = problem.sides(y, sample_weight).tolist()
    W = draw.weights(table, K)
    b = draw.intercepts(K, problem)
    if draw.chance(0.3):
        W, b = draw.at_the_kink(table, W, b, sides)
    X = draw.matrix(table)
    if draw.chance(0.005):
        (X.data if hasattr(X, "indptr") else X)[..., :1] = draw.one_of(math.nan, math.inf)
    counts, legal = draw.counts(sides, problem, K)
    weights, intercept = (W, b) if joint else (W[0], float(b[0]))
    return Case(kind, X, y, sample_weight, problem, weights, intercept, counts, legal)
