"""Everything at once for a long time: `python -m tests.soak --minutes 30`.

Fits of all algorithms, Ctrl-C, threads, callbacks that raise, bad input, cross-validation, streams and files, mixed at
random. Every certificate has to be verified, what is refused must be refused in words, and the memory of the process
must not grow.
"""

import argparse
import ctypes
import gc
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from statistics import median

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification

import dynmargin
from dynmargin import CheckCallback, MaxMarginClassifierCV, PDMClassifier
from dynmargin.algorithms.registry import ALGORITHMS
from dynmargin.comparison.compare import make
from dynmargin.training import run as training_run

GROWTH = 0.02  # of the memory after the warm-up; beyond it the soak fails
WARM_UP = 0.2  # of the time: caches fill, libraries load
SAMPLE_SECONDS = 2.0


def megabytes() -> float:
    """Return what the process holds, after the C library has returned what it can."""
    gc.collect()
    with suppress(AttributeError, OSError):  # glibc alone has it
        ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def problem(random: Random):
    """Make rows and labels, dense or sparse, float32 or float64, of two or three classes."""
    n_classes = random.choice((2, 2, 3))
    X, y = make_classification(
        random.choice((40, 150, 400)),
        random.choice((8, 20)),
        n_informative=6,
        n_classes=n_classes,
        class_sep=random.choice((0.5, 1.5)),
        random_state=random.randrange(50),
    )
    X = X.astype(random.choice((np.float32, np.float64)))
    return (csr_matrix(np.where(np.abs(X) > 0.7, X, 0)) if random.random() < 0.4 else X), y


def estimator(random: Random, **parameters):
    """Make any algorithm, with a limit, so that no fit takes long."""
    made = make(
        random.choice(list(ALGORITHMS)), epsilon=random.choice((0.3, 0.1, 0.03)), random_state=random.randrange(9)
    )
    parameters |= {"max_time": 0.5, "n_jobs": random.choice((None, None, 2))}
    return made.set_params(**{key: value for key, value in parameters.items() if key in made.get_params()})


def require_proven(fitted, X, y):
    for certificate in fitted.certificates_:
        verdict = certificate.verify(X, y)
        assert verdict, f"{type(fitted).__name__}: {verdict}"


def fit(random):
    X, y = problem(random)
    require_proven(estimator(random).fit(X, y), X, y)


def joint(random):
    X, y = problem(random)
    require_proven(PDMClassifier(0.1, multi_class="joint", max_time=0.5, random_state=0).fit(X, y), X, y)


def interrupted(random):
    """Press Ctrl-C at some moment of a fit; it may also come before or after it."""
    X, y = problem(random)
    asked = estimator(random, epsilon=1e-4)
    training_run.last_interrupt = -np.inf
    timer = threading.Timer(random.uniform(0, 0.05), signal.raise_signal, (signal.SIGINT,))
    timer.start()
    try:
        fitted = asked.fit(X, y)
        timer.join()
        require_proven(fitted, X, y)
    except KeyboardInterrupt:  # came before or after the fit
        pass
    finally:
        timer.cancel()
        with suppress(KeyboardInterrupt):
            timer.join()


def callback(random):
    X, y = problem(random)
    seen, after, raises = [0], random.randrange(1, 6), random.random() < 0.5

    def watch(*_):
        seen[0] += 1
        if seen[0] >= after and raises:
            raise LookupError("the callback has had enough")
        return seen[0] >= after

    try:
        asked = PDMClassifier(1e-4, max_time=0.5, random_state=0, n_jobs=random.choice((None, 2)))
        require_proven(asked.set_callbacks(CheckCallback(watch)).fit(X, y), X, y)
    except LookupError:
        assert raises


def bad_input(random):
    X, y = problem(random)
    dense = X.toarray() if hasattr(X, "toarray") else X.copy()
    wrong = csr_matrix(dense)
    match random.randrange(5):
        case 0:
            wrong.indices = wrong.indices.copy()
            wrong.indices[random.randrange(wrong.nnz)] = random.choice((-1, wrong.shape[1], 2**31 - 1))
        case 1:
            wrong.indptr = wrong.indptr[::-1].copy()
        case 2:
            wrong = dense
            wrong[random.randrange(len(dense)), 0] = random.choice((np.nan, np.inf))
        case 3:
            y = np.zeros(len(y))
        case _:
            y = y[:-1]
    with pytest.raises(ValueError, match=r"\S+ \S+ \S+"):
        estimator(random).fit(wrong, y)


def files(random, folder):
    X, y = problem(random)
    fitted = estimator(random).fit(X, y)
    fitted.save(folder / "model.npz")
    model = dynmargin.load(folder / "model.npz")
    verdict = model.verify(X, y)
    assert verdict, f"after save and load: {verdict}"
    assert (model.predict(X) == fitted.predict(X)).all()


def cross_validation(random):
    X, y = problem(random)
    fitted = MaxMarginClassifierCV(cv=3, max_time=2.0, n_jobs=random.choice((None, 2)), random_state=0).fit(X, y)
    require_proven(fitted, X, y)


def stream(random):
    X, y = problem(random)
    asked = PDMClassifier(0.1, random_state=0)
    for begin in range(0, len(y), 50):
        asked.partial_fit(X[begin : begin + 50], y[begin : begin + 50], classes=np.unique(y))
    assert np.isfinite(asked.coef_).all()


def soak(minutes: float, seed: int) -> int:
    """Run; print figures; return the number of failures."""
    warnings.simplefilter("ignore")
    random, done, failed = Random(seed), Counter(), Counter()
    began, seconds, sampled, samples = time.monotonic(), 60 * minutes, 0.0, []
    with tempfile.TemporaryDirectory() as folder:
        actions = {
            action.__name__: action
            for action in (fit, joint, interrupted, callback, bad_input, cross_validation, stream)
        } | {"files": lambda random: files(random, Path(folder))}
        weights = {"fit": 6, "cross_validation": 1}
        names = [name for name in actions for _ in range(weights.get(name, 2))]
        while (elapsed := time.monotonic() - began) < seconds:
            name, state = random.choice(names), random.getrandbits(64)
            try:
                actions[name](Random(state))
            except KeyboardInterrupt:
                if name != "interrupted":
                    raise
            except Exception as error:
                failed[name] += 1
                if failed[name] <= 3:
                    print(f"{name}, state {state}: {''.join(traceback.format_exception(error)[-3:])}", flush=True)
            done[name] += 1
            if elapsed > WARM_UP * seconds and elapsed - sampled > SAMPLE_SECONDS:
                sampled = elapsed
                samples.append(megabytes())
    fifth = max(1, len(samples) // 5)
    before, after = median(samples[:fifth]), median(samples[-fifth:])
    growth = after / before - 1
    print(", ".join(f"{name} {count}" for name, count in sorted(done.items())))
    print(
        f"seed {seed}: {sum(done.values())} actions in {minutes:g} min, {sum(failed.values())} failed; "
        f"memory {before:.1f} MB after the warm-up, {after:.1f} MB at the end ({growth:+.2%})"
    )
    if growth > GROWTH:
        print(f"the memory has grown by more than {GROWTH:.0%}")
    return sum(failed.values()) + (growth > GROWTH)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="Everything at once for a long time.")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
    sys.exit(soak(given.minutes, given.seed) > 0)
