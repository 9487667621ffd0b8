"""A stream of generated rows through partial_fit: rows per second, memory, and accuracy on rows that come later.

Rows are generated block by block, and each library gets the same ones, in a process of its own. Only the time inside
the library counts. "MB grown" is how much the resident set has grown from the second tenth of the stream to its end:
what is allocated once does not hide what grows. River takes rows one by one, as dicts; making these is not timed.
"""

import argparse
import json
import subprocess
import sys
import time

import numpy as np

from .memory import resident

TEST_ROWS = 50_000


def add_arguments(parser):
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--block", type=int, default=1_000)
    parser.add_argument("--features", type=int, default=20)


class Rule:
    """Gaussian rows, labels from a noisy linear rule with an offset."""

    def __init__(self, features):
        self.weights = np.random.default_rng(1).normal(size=features)

    def block(self, rows, seed):
        random = np.random.default_rng([2, seed])
        X = random.normal(size=(rows, len(self.weights)))
        scores = X @ self.weights / np.linalg.norm(self.weights)
        return X, (scores + 0.3 + 0.3 * random.normal(size=rows) > 0).astype(np.int64)


class Blocks:
    """A classifier with partial_fit."""

    def __init__(self, classifier):
        self.classifier = classifier

    def learn(self, X, y):
        self.classifier.partial_fit(X, y, classes=[0, 1])

    def predict(self, X):
        return self.classifier.predict(X)

    def remarks(self):
        certificate = getattr(self.classifier, "certificate_", None)
        return "" if certificate is None else f"upper bound {certificate.upper_bound:.4g}"


class River:
    """A model that takes rows one by one."""

    def __init__(self, model):
        self.model = model

    def prepare(self, X, y):
        return [dict(enumerate(row)) for row in X.tolist()], y.tolist()

    def learn(self, X, y):
        for x, label in zip(X, y, strict=True):
            self.model.learn_one(x, bool(label))

    def predict(self, X):
        return np.array([int(self.model.predict_one(dict(enumerate(row))) or 0) for row in X.tolist()])

    def remarks(self):
        return ""


def sgd(**options):
    from sklearn.linear_model import SGDClassifier

    return Blocks(SGDClassifier(random_state=0, **options))


def pdm(**options):
    from dynmargin import PDMClassifier

    return Blocks(PDMClassifier(**options))


def river():
    from river.linear_model import Perceptron

    return River(Perceptron())


LIBRARIES = {
    "PDM": pdm,
    "PDM, counts dropped": lambda: pdm(keep_counts=False),
    "SGDClassifier, perceptron": lambda: sgd(loss="perceptron"),
    "SGDClassifier, p., average": lambda: sgd(loss="perceptron", average=True),  # ours is an average too
    "SGDClassifier, hinge": lambda: sgd(),
    "river Perceptron": river,
}


def measure(name, rows, block, features):
    """Print the figures of a library; run it in a process of its own, where all memory is the library's."""
    library, rule = LIBRARIES[name](), Rule(features)
    prepare = getattr(library, "prepare", lambda X, y: (X, y))
    seconds, memory, n_blocks = 0.0, [], rows // block
    for number in range(n_blocks):
        X, y = prepare(*rule.block(block, number))
        start = time.perf_counter()
        library.learn(X, y)
        seconds += time.perf_counter() - start
        if (number + 1) % max(1, n_blocks // 10) == 0:
            memory.append(resident("VmRSS"))
    X, y = rule.block(TEST_ROWS, 10**9)
    accuracy = float(np.mean(library.predict(X) == y))
    print(json.dumps({"seconds": seconds, "memory": memory, "accuracy": accuracy, "remarks": library.remarks()}))


def run(arguments):
    print(f"{'library':26} {'rows/s':>10} {'MB grown':>9} {'accuracy':>9}")
    for name in LIBRARIES:
        shape = [name, str(arguments.rows), str(arguments.block), str(arguments.features)]
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.stream", *shape]
        done = subprocess.run(command, capture_output=True, text=True)
        if "No module named" in done.stderr:
            print(f"{name:26} is not installed")
            continue
        done.check_returncode()
        found = json.loads(done.stdout)
        grown = (found["memory"][-1] - found["memory"][1]) / 1e6
        speed = arguments.rows / found["seconds"]
        print(f"{name:26} {speed:10.0f} {grown:9.1f} {found['accuracy']:9.4f}  {found['remarks']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=list(LIBRARIES))
    for number in ("rows", "block", "features"):
        parser.add_argument(number, type=int)
    measure(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
