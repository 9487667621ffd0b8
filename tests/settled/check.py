"""Random small problems of all kinds, and what must hold for each.

(i)   The exact optimum's score of every row lies between its decision bounds.
(ii)  Every row that is settled is predicted as by the exact optimum, which has no tie there.
(iii) `verify` proves the ball that was published.
(iv)  The same for the ball around the weights, which certificates without one fall back on.
"""

import logging
import math
import warnings
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from dynmargin import DCDClassifier, MaxMarginClassifier, NewtonClassifier, PDMClassifier, SparseCounts
from dynmargin.certificate.certify import certify
from dynmargin.model.linear_model import LinearModel
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.problems import state_problems

from .optimum import exact_optimum

KINDS = ("soft", "hinge", "hard", "joint", "joint hard", "one against the rest", "rest, hard", "rest, hinge")


class Drawn:
    """A problem: rows, labels, weights, and how it is to be solved."""

    def __init__(self, seed):
        self.random = random = np.random.Generator(np.random.PCG64([seed, 7]))
        self.kind = KINDS[seed % len(KINDS)]
        several = self.kind.startswith(("joint", "one", "rest"))
        K = 3 if several else 2
        m, d = int(random.integers(K + 1, 7 if several else 9)), int(random.integers(1, 4))
        self.y = random.permutation(np.arange(m) % K)
        X = random.integers(-8, 9, size=(m, d)) / 4.0
        if "hard" in self.kind:
            X[:, 0] += 4.0 * self.y  # separable, as a rule
            if several and d > 1:
                X[:, 1] += 6.0 * (self.y == 1)
        X *= 2.0 ** random.integers(-6, 7)
        if random.random() < 0.3:
            X = X + random.normal(size=(m, d)) * 0.1
        self.X = X.astype(np.float32) if random.random() < 0.3 else X
        self.weight = None
        if random.random() < 0.3:
            self.weight = random.choice([0.25, 0.5, 1.0, 3.0, 0.1], size=m)
        self.C = math.inf if "hard" in self.kind else float(random.choice([0.01, 0.125, 1.0, 10.0, 1e4]))
        self.class_weight = {0: 0.5, 1: 3.0} if random.random() < 0.2 else None
        self.rho = float(random.choice([1.0, 1.0, 0.25, 8.0, 0.0]))
        self.loss = "hinge" if "hinge" in self.kind else "squared_hinge"
        self.joint = self.kind.startswith("joint")
        near = self.X[random.integers(0, m, size=4)] + random.normal(size=(4, d)) * 2.0 ** random.integers(-9, 3)
        self.Z = np.vstack([self.X, near, np.zeros((1, d)), random.normal(size=(4, d)) * 2.0 ** random.integers(-6, 7)])

    def rows_as_given(self, X):
        return sp.csr_matrix(X) if self.random.random() < 0.3 else X

    def classifier(self):
        epsilon = float(self.random.choice([0.5, 0.1, 0.01, 1e-4, 1e-8, 1e-12]))
        options = {
            "C": self.C,
            "class_weight": self.class_weight,
            "fit_intercept": self.rho > 0,
            "intercept_scaling": self.rho or 1.0,
            "random_state": 0,
        }
        if self.joint:
            return PDMClassifier(max(epsilon, 1e-3), multi_class="joint", max_updates=3000, **options)
        if self.loss == "hinge":
            return DCDClassifier(epsilon, loss="hinge", max_updates=3000, **options)
        if math.isinf(self.C):
            return DCDClassifier(epsilon, max_updates=3000, **options)
        make = [NewtonClassifier, MaxMarginClassifier, DCDClassifier, PDMClassifier][int(self.random.integers(0, 4))]
        limit = {"max_updates": 3000} if make in (DCDClassifier, PDMClassifier) else {}
        return make(epsilon, **options, **limit)

    def problems(self):
        classes = np.unique(self.y)
        weights = np.array([(self.class_weight or {}).get(int(c), 1.0) for c in classes])
        return state_problems(classes, self.C, weights, rho=self.rho, loss=self.loss, joint=self.joint)


def fitted_model(drawn):
    """Train on the problem."""
    classifier = drawn.classifier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier.fit(drawn.rows_as_given(drawn.X), drawn.y, sample_weight=drawn.weight)
    return LinearModel(
        classifier.classes_, classifier.coef_, classifier.intercept_, drawn.rho, tuple(classifier.certificates_)
    )


def model_of_any_witnesses(drawn):
    """Certify weights and counts that nobody has trained, some of them near the optimum."""
    random, classes = drawn.random, np.unique(drawn.y)
    certificates = []
    for problem in drawn.problems():
        optimum = exact_optimum(problem, drawn.X, drawn.y, drawn.weight)
        shape = (len(problem.labels) if problem.joint else 1, drawn.X.shape[1] + 1)
        base = np.zeros(shape) if optimum is None else np.array(optimum[0], dtype=np.float64)
        W = base * (1 + random.normal() * 10.0 ** -random.integers(0, 17)) + random.normal(
            size=shape
        ) * 10.0 ** -random.integers(0, 17) * max(1e-6, np.abs(base).max())
        weights, intercept = problem.split(np.ascontiguousarray(W if problem.joint else W[0]))
        if problem.rho == 0:
            intercept = intercept * 0.0
        sides = problem.sides(drawn.y, drawn.weight)
        core, matrix = problem.to_core(sides, drawn.weight), as_matrix(drawn.X)
        places = np.arange(len(drawn.y))
        if problem.joint:
            K = len(classes)
            places = np.array([k * K + r for k in places for r in range(K) if r != sides[k] - 1])
        counts = np.floor(2.0 ** random.uniform(0, 40, size=len(places))) * (random.random(len(places)) < 0.7)
        if optimum is not None and sum(optimum[1]) > 0 and random.random() < 0.8:
            dual = np.array(optimum[1], dtype=np.float64)
            noise = random.normal(size=len(places)) * 10.0 ** -random.integers(0, 17)
            counts = np.rint(np.abs(dual * (1 + noise)) * (2.0**50 / dual.sum()) / len(dual))
        counts = counts.astype(np.int64)
        counts[0] += 1
        certificates.append(
            certify(
                matrix,
                problem,
                core,
                core.digest(matrix),
                weights,
                intercept,
                SparseCounts(places, counts, problem.counts_shape(len(drawn.y))),
                epsilon=0.01,
            )
        )
    coef = np.vstack([one.weights for one in certificates])
    return LinearModel(
        classes, coef, np.hstack([one.intercept for one in certificates]), drawn.rho, tuple(certificates)
    )


def exact_scores(weights, Z, rho):
    rows = [[*map(Fraction, row), Fraction(rho)] for row in np.asarray(Z, dtype=np.float64).tolist()]
    return [[sum(w * x for w, x in zip(block, row, strict=True)) for block in weights] for row in rows]


def check_model(model, drawn, optimum):
    """Return how many rows were settled, and sentences on what does not hold."""
    Z, failures = drawn.rows_as_given(drawn.Z), []
    settled, (low, high), labels = model.settled(Z), model.decision_bounds(Z), model.predict(Z)
    if optimum is None:
        return 0, ["a row is settled without an optimum"] if settled.any() else []
    scores = exact_scores(optimum, drawn.Z, drawn.rho)
    n = len(model.coef)
    for k, exact in enumerate(scores):
        lows, highs = low.reshape(-1, n)[k], high.reshape(-1, n)[k]
        for i, score in enumerate(exact):
            if (lows[i] > -math.inf and Fraction(lows[i]) > score) or (
                highs[i] < math.inf and Fraction(highs[i]) < score
            ):
                failures.append(f"row {k}: {float(score)!r} is not between {lows[i]!r} and {highs[i]!r}")
        if settled[k]:
            best = int(exact[0] > 0) if n == 1 else max(range(n), key=lambda i: exact[i])
            tie = exact[0] == 0 if n == 1 else sorted(exact)[-1] == sorted(exact)[-2]
            if tie or labels[k] != model.classes[best]:
                failures.append(f"row {k} is settled as {labels[k]}, with the exact scores {[float(s) for s in exact]}")
    return int(settled.sum()), failures


def check(seed):
    """Return the kind of a seed's case, its rows, those that are settled, and what does not hold."""
    logging.getLogger("dynmargin").setLevel(logging.ERROR)
    drawn = Drawn(seed)
    parts = [exact_optimum(problem, drawn.X, drawn.y, drawn.weight) for problem in drawn.problems()]
    optimum = None if None in parts else [block for weights, _ in parts for block in weights]
    trained = seed // len(KINDS) % 2 == 0
    model = fitted_model(drawn) if trained else model_of_any_witnesses(drawn)
    settled, failures = check_model(model, drawn, optimum)
    for certificate in model.certificates:
        claims = math.isfinite(certificate.margin) and math.isfinite(certificate.upper_bound)
        if claims and not (found := certificate.verify(drawn.X, drawn.y, drawn.weight)):
            failures.append(f"what was published is not proven: {found}")
    without = replace(model, certificates=tuple(replace(one, ball=None) for one in model.certificates))
    failures += [f"around the weights: {failure}" for failure in check_model(without, drawn, optimum)[1]]
    return f"{drawn.kind}, {'trained' if trained else 'any witnesses'}", len(drawn.Z), settled, failures


def run(first_seed, count):
    """Return cases, rows and settled rows by kind, and (seed, kind, sentence) for all that does not hold."""
    cases, rows, settled, failures = Counter(), Counter(), Counter(), []
    for seed in range(first_seed, first_seed + count):
        try:
            kind, n, sure, sentences = check(seed)
        except Exception as error:  # a failure like any other, with the seed that reproduces it
            kind, n, sure, sentences = "raised", 0, 0, [f"{type(error).__name__}: {error}"]
        cases[kind] += 1
        rows[kind] += n
        settled[kind] += sure
        failures += [(seed, kind, sentence) for sentence in sentences]
    return cases, rows, settled, failures
