"""Fits at every scale: tens of thousands of tiny, hostile problems, each of which has to end well.

``python -m tests.stress_fits 20000 --seed 1`` draws problems whose entries, prices and weights lie anywhere between
the ends of the doubles, trains every estimator on them in turn, and prints what went wrong. A fit ends well with finite
weights and a certificate that verifies and survives the trip through a file, or with a ValueError; never with another
exception or a RuntimeWarning, and within 30 seconds of processor time.
"""

import argparse
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import dynmargin
from dynmargin.algorithms.registry import NAMES
from dynmargin.comparison.compare import make

KINDS = (*NAMES, "auto-hinge", "joint", "cv", "online", "warm")


class Unfinished(Exception):
    """The time limit of a fit has passed."""


class Wrong(Exception):
    """A fit ended, but not well."""


def logarithmic(random, low, high, size=None):
    """Return powers of ten, the exponents evenly between two ends."""
    return 10.0 ** random.uniform(low, high, size)


def draw_rows(random, n_rows, n_columns):
    """Return rows of all kinds: scaled as a whole, by row or by column, repeated, constant, zero, tiny or huge."""
    X = random.normal(size=(n_rows, n_columns))
    if random.random() < 0.3:
        X = random.integers(-2, 3, size=X.shape).astype(float)
    if random.random() < 0.15:
        X[:] = X[0]
    if random.random() < 0.2:
        X[:, random.integers(n_columns)] = 1.0
    if random.random() < 0.2:
        X[random.integers(n_rows)] = 0.0
    if random.random() < 0.3:
        X[random.integers(n_rows)] = X[random.integers(n_rows)] * random.choice([1.0, -1.0, 1 + 1e-15])
    reach = random.choice([0, 2, 8, 20, 60, 90, 150])
    match random.integers(5):
        case 0:
            X = X * logarithmic(random, -reach, reach)
        case 1:
            X = X * logarithmic(random, -reach, reach, n_columns)
        case 2:
            X = X * logarithmic(random, -reach, reach, (n_rows, 1))
        case 3:
            X = X * logarithmic(random, -reach, reach, X.shape)
    if random.random() < 0.05:
        X[random.integers(n_rows), random.integers(n_columns)] = random.choice([5e-324, 1e-310, 1e99, 1e154, -1e300])
    if random.random() < 0.1:
        limits = np.finfo(np.float32)
        X = np.clip(X, -1e37, 1e37).astype(np.float32)  # scikit-learn's own check warns where sums of rows overflow
        if random.random() < 0.3:
            X.flat[random.integers(X.size)] = random.choice([limits.max, limits.tiny, limits.smallest_subnormal])
    return X


def draw_case(random, kind):
    """Return an estimator's parameters, rows, labels and weights."""
    n_rows, n_columns = int(random.integers(2, 9)), int(random.integers(1, 5))
    n_classes = 3 if kind in ("joint", "cv") or random.random() < 0.15 else 2
    n_rows = max(n_rows, 2 * n_classes if kind == "cv" else n_classes)
    y = random.permutation(np.arange(n_rows) % n_classes)
    if random.random() < 0.2 and kind != "cv":  # one row per class, but for the first
        y = random.permutation(np.maximum(0, np.arange(n_rows) - n_rows + n_classes))
    parameters = {
        "epsilon": float(random.choice([0.01, 0.01, 0.2, 1e-5, 1.0])),
        "random_state": int(random.integers(9)),
    }
    name = {"auto-hinge": "auto", "joint": "pdm", "cv": "auto", "online": "pdm", "warm": "pdm"}.get(kind, kind)
    algorithm, settings = NAMES[name]
    known = make(name).get_params()
    hinge = kind == "auto-hinge" or settings.get("loss") == "hinge"
    if kind == "auto-hinge":
        parameters["loss"] = "hinge"
    if kind == "joint":
        parameters["multi_class"] = "joint"
    if "C" in known and kind != "cv":
        parameters["C"] = float(random.choice([1.0, logarithmic(random, -12, 12), np.inf]))
        if algorithm.soft_only or hinge:
            parameters["C"] = float(random.choice([1.0, logarithmic(random, -12, 12)]))
    if "stop" in known and name != "auto" and random.random() < 0.3:
        parameters["stop"] = "convergence"
    if "max_updates" in known and ("stop" in parameters or random.random() < 0.5):
        parameters["max_updates"] = 300_000  # a rule that is certain to be satisfied some day may take its time
    if "schedule" in known and random.random() < 0.3:
        parameters["schedule"] = "paper"
    if "intercept_scaling" in known:
        parameters["fit_intercept"] = bool(random.random() < 0.8)
        parameters["intercept_scaling"] = float(random.choice([1.0, 1.0, logarithmic(random, -90, 90)]))
    if "margin_floor" in known and random.random() < 0.1:
        parameters["margin_floor"] = 0.0
    weight = None
    if random.random() < 0.2:
        weight = logarithmic(random, -12, 12, n_rows) * (random.random(n_rows) < 0.9)
    return name, parameters, draw_rows(random, n_rows, n_columns), y, weight


def run_case(kind, name, parameters, X, y, weight, folder):
    """Fit, and check all that is published."""
    if kind == "cv":
        classifier = dynmargin.MaxMarginClassifierCV(Cs=[1e-8, 1.0, 1e8], cv=2, **parameters)
    else:
        classifier = make(name, **parameters)
    if kind == "online":
        for rows in np.array_split(np.arange(len(y)), 2):
            part = None if weight is None else weight[rows]
            classifier.partial_fit(X[rows], y[rows], classes=np.unique(y), sample_weight=part)
            require_finite(classifier)
            for found in classifier.certificates_:
                assert found.dual >= 0, found.dual
                str(found), repr(found), found._repr_html_()
        classifier.certify(X, y, sample_weight=weight)
    else:
        classifier.fit(X, y, sample_weight=weight)
    if kind == "warm":
        classifier.set_params(warm_start=True).fit(X, y, sample_weight=weight)
        even = len(y) // 2 * 2
        classifier.fit(X[:even], y[:even], None if weight is None else weight[:even])
        classifier.fit(X, y, sample_weight=weight)
        classifier.partial_fit(X, y, sample_weight=weight)
        require_finite(classifier)
        classifier.certify(X, y, sample_weight=weight)
    require_finite(classifier)
    for found in classifier.certificates_:
        says_something = bool(np.isfinite(found.margin) and np.isfinite(found.upper_bound))
        if bool(found.verify(X, y, weight)) != says_something:
            raise Wrong(f"certificate: {found.verify(X, y, weight)}")
        if found.achieved and not says_something:
            raise Wrong(f"achieved for nothing: {found}")
        for number in (found.primal, found.dual, found.duality_gap, found.gap):
            if np.isnan(number):
                raise Wrong(f"NaN in {found}")
        if found.primal < found.dual * (1 - 1e-9):
            raise Wrong("primal below dual")
        str(found), repr(found), found._repr_html_()
    path = folder / "model.npz"
    classifier.save(path)
    loaded = dynmargin.load(path)
    for stored, found in zip(loaded.certificates, classifier.certificates_, strict=True):
        if stored.verify(X, y, weight).verdict != found.verify(X, y, weight).verdict:
            raise Wrong("the saved model has another verdict")
    if not np.array_equal(loaded.coef, classifier.coef_):
        raise Wrong("the saved model is another one")
    return classifier


def require_finite(classifier):
    """Refuse weights that no model can have."""
    for name in ("coef_", "intercept_", "dual_coef_"):
        if not np.isfinite(getattr(classifier, name, 0.0)).all():
            raise Wrong(f"{name} is not finite ({classifier.stop_reason_}, {classifier.certificate_})")


def outcome(kind, number, seed, folder):
    """Run one case; return how it ended and what to say about it."""
    case = draw_case(np.random.default_rng([seed, number, *map(ord, kind)]), kind)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            classifier = run_case(kind, *case, folder)
        for one in caught:
            if not issubclass(one.category, ConvergenceWarning) and "starts afresh" not in str(one.message):
                place = f"{Path(one.filename).name}:{one.lineno}"
                return "warning", f"{one.category.__name__}: {one.message} ({place})"
        found, reason = classifier.certificates_, classifier.stop_reason_
        if reason == "online" or np.isfinite([bound for c in found for bound in (c.margin, c.upper_bound)]).all():
            return "ok", reason
        if caught or reason == "inseparable":
            return "ok: nothing", reason
        return "nothing, silently", f"{reason}: {classifier.certificate_}"
    except ValueError as error:
        return "refused", str(error)
    except Unfinished:
        return "unfinished", ""
    except Wrong as error:
        return "wrong", str(error)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return "error", f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"


def main():
    """Run the cases of every kind and say how they ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=int, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seconds", type=float, default=30.0, help="of the processor, for a fit")
    arguments = parser.parse_args()

    def alarm(*_):
        raise Unfinished

    signal.signal(signal.SIGPROF, alarm)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for kind in arguments.kinds.split(","):
            endings, said, slowest, began = Counter(), defaultdict(list), (0.0, -1), time.process_time()
            for number in range(arguments.first, arguments.first + arguments.cases):
                started = time.process_time()
                signal.setitimer(signal.ITIMER_PROF, arguments.seconds)
                ending, detail = outcome(kind, number, arguments.seed, Path(folder))
                signal.setitimer(signal.ITIMER_PROF, 0)
                endings[ending] += 1
                said[ending].append((number, detail))
                slowest = max(slowest, (time.process_time() - started, number))
            took = f"{time.process_time() - began:.0f} s, slowest {slowest[0]:.2f} s ({slowest[1]})"
            print(f"{kind}: {dict(endings)}; {took}", flush=True)
            for ending, lines in said.items():
                if ending.startswith("ok"):
                    print(f"    {ending}: {dict(Counter(detail for _, detail in lines))}")
                elif ending == "refused":
                    for start, many in Counter(detail[:70] for _, detail in lines).most_common(6):
                        print(f"    refused {many}: {start}")
                else:
                    failed = True
                    for number, detail in lines[:6]:
                        print(f"    {ending} {number}: {detail[:230]}")
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
