"""Runs whose results are kept in ``data/golden.json``, on rows that are the same on every machine.

Rows are stored data or whole numbers and eighths from NumPy's frozen generator, and labels come from whole numbers: no
sum depends on the order that a library of linear algebra happens to add in. For the same reason the bounds of `certify`
are left out: it scores the rows by such a library.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris

import dynmargin
from dynmargin import DCDClassifier, MPUClassifier, NewtonClassifier, PDMClassifier, PFMClassifier, ROMMAClassifier
from dynmargin.certificate.witness_digest import digest_witnesses

FILE = Path(__file__).parent / "data" / "golden.json"


def whole_numbers(seed, shape, filled=1.0):
    random = np.random.RandomState(seed)  # its numbers never change, unlike those of default_rng
    X = random.randint(-16, 17, shape)
    X[random.randint(0, 1000, shape) >= 1000 * filled] = 0
    return X


def noisy_labels(seed, X):
    random = np.random.RandomState(seed)
    scores = X @ random.randint(-8, 9, X.shape[1]) + random.randint(-300, 301, len(X))
    return (scores > 0).astype(int)


@cache
def problem(name):
    """Return rows and labels."""
    if name in ("iris", "separable"):
        X, y = load_iris(return_X_y=True)
        return (X, y) if name == "iris" else (X[:100], y[:100])
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X / 16, y % 2
    shape, filled = {"overlap": ((5000, 5), 1.0), "wide": ((60, 300), 1.0), "text": ((500, 1500), 0.02)}[name]
    X = whole_numbers(1, shape, filled)
    y = noisy_labels(2, X)
    if name == "text":
        return sp.csr_matrix(X / 8), y
    return (X / 8).astype(np.float32 if name == "wide" else np.float64), y


def estimators(name):
    """Yield what is fitted on a problem, by name."""
    few = {"max_updates": 100_000, "random_state": 0}  # for what ends by its own rule, or takes long
    yield "pdm", PDMClassifier(random_state=0)
    yield "pdm fine", PDMClassifier(1e-4, C=10.0, random_state=1)
    yield "pdm paper", PDMClassifier(schedule="paper", **few)
    yield "pdm to convergence", PDMClassifier(0.05, schedule="paper", stop="convergence", **few)
    yield "pdm successive", PDMClassifier(eta=8.0, random_state=0)
    yield "pdm balanced, no intercept", PDMClassifier(class_weight="balanced", fit_intercept=False, random_state=0)
    yield "pfm", PFMClassifier(epsilon=0.05, **few)
    yield "newton", NewtonClassifier(1e-6, random_state=0)
    yield "dcd", DCDClassifier(1e-3, random_state=0)
    yield "dcd hinge", DCDClassifier(loss="hinge", random_state=0)
    yield "dcd to convergence", DCDClassifier(stop="convergence", random_state=0)
    yield "mpu", MPUClassifier(random_state=0)
    yield "mpu hinge, paper", MPUClassifier(0.05, loss="hinge", schedule="paper", **few)
    yield "decomposition", dynmargin.DecompositionSVMClassifier(0.1, max_updates=500, random_state=0)
    yield "romma", ROMMAClassifier(0.05, **few)
    yield "romma plain", ROMMAClassifier(aggressive=False, schedule="paper", **few)
    yield "alma", dynmargin.ALMAClassifier(**few)
    yield "perceptron", dynmargin.PerceptronClassifier(**few)
    yield "margin perceptron", dynmargin.MarginPerceptronClassifier(**few)
    yield "margitron", dynmargin.MargitronClassifier(0.1, **few)
    yield "margitron norm", dynmargin.MargitronClassifier(0.1, growth="norm", **few)
    yield "cramma", dynmargin.CRAMMAClassifier(**few)
    yield "micra", dynmargin.MICRAClassifier(**few)
    yield "auto", dynmargin.MaxMarginClassifier(random_state=0)
    if name == "separable":
        hard = {"C": float("inf"), "random_state": 0}
        yield "hard pdm", PDMClassifier(1e-3, **hard)
        yield "hard dcd", DCDClassifier(**hard)
        yield "hard mpu", MPUClassifier(**hard)
        yield "hard romma", ROMMAClassifier(**hard)
        yield "hard decomposition", dynmargin.DecompositionSVMClassifier(**hard)
    if name == "iris":
        yield "joint", PDMClassifier(0.05, multi_class="joint", random_state=0)
        yield "joint paper", PDMClassifier(0.05, multi_class="joint", schedule="paper", **few)
        yield "joint successive", PDMClassifier(0.05, multi_class="joint", eta=8.0, random_state=0)
        yield "in threads", PDMClassifier(n_jobs=2, random_state=3)
    if name == "overlap":
        yield "inseparable", PDMClassifier(C=float("inf"), random_state=0)


def weighted(X, y):
    weight = np.random.RandomState(3).randint(0, 3, len(y)).astype(float)
    return PDMClassifier(random_state=0).fit(X, y, sample_weight=weight)


def warm_start(X, y):
    classifier = PDMClassifier(0.1, warm_start=True, random_state=0).fit(X, y)
    return classifier.set_params(epsilon=0.01).fit(X, y)


def stream(X, y):
    classifier = PDMClassifier()
    for begin in range(0, len(y), 100):
        classifier.partial_fit(X[begin : begin + 100], y[begin : begin + 100], classes=[0, 1])
    return classifier


def cross_validated(X, y):
    return dynmargin.MaxMarginClassifierCV(Cs=[0.1, 1.0, 10.0], cv=3, random_state=0).fit(X, y)


def runs():
    """Yield the name of every run, and a function that makes it and returns the fitted classifier."""
    for name in ("iris", "separable", "digits", "overlap", "wide", "text"):
        for label, estimator in estimators(name):
            yield f"{name}: {label}", lambda name=name, estimator=estimator: estimator.fit(*problem(name))
    for run in (weighted, warm_start, stream, cross_validated):
        yield f"text: {run.__name__}", lambda run=run: run(*problem("text"))


def digest(*arrays):
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:12]


def without_classes(certificate):
    """Return the digest of the witnesses alone: how labels are written is no result of a run."""
    witnesses = certificate.weights, certificate.intercept, certificate.counts
    return digest_witnesses(certificate.problem, *witnesses, with_classes=False)


def record(classifier):
    """Put in few words all that a run has left: figures to read, and digests of arrays, bit for bit."""
    certificates, worst = classifier.certificates_, classifier.certificate_
    figures = {
        "stop": classifier.stop_reason_,
        "passes": classifier.n_iter_,
        "updates": classifier.n_updates_,
        "checks": len(classifier.history_),
        "margin": worst.margin,
        "upper_bound": worst.upper_bound,
        "bounds": digest([[one.margin, one.upper_bound] for one in certificates]),
        "weights": digest(classifier.coef_, classifier.intercept_),
    }
    if classifier.stop_reason_ == "online":  # there are no counts that others could check
        return figures
    counts = [array for one in certificates for array in (one.counts.indices, one.counts.data)]
    witnesses = [[one.data_digest, one.rows_digest, without_classes(one)] for one in certificates]
    return figures | {
        "directional": digest([one.directional_margin for one in certificates]),
        "counts": digest(*counts),
        "dual": digest(classifier.support_, classifier.dual_coef_),
        "history": digest(np.array([check[1:] for check in classifier.history_], dtype=np.float64)),
        "witnesses": digest(np.array(witnesses, dtype=np.uint64)),
    }


def read():
    return json.loads(FILE.read_text(encoding="utf-8"))


def write(results):
    """Write one line per run, so that a diff shows which runs have changed."""
    lines = [f"{json.dumps(name)}: {json.dumps(result)}" for name, result in sorted(results.items())]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
