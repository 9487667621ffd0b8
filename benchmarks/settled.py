"""Settled predictions: the share of the training rows at several gaps, and the time until a share is reached."""

import time
import warnings

import numpy as np

from dynmargin import MaxMarginClassifier

from .adapters import small_csr
from .sets import add_data_dir, load, names_of


def add_arguments(parser):
    parser.add_argument("--sets", default="adult,web,covertype,newsgroups")
    parser.add_argument("--epsilon", default="0.01,1e-3,1e-4,1e-6", help="gaps to train to")
    parser.add_argument("--settle", default="0.99,0.999,1", help="shares to train to")
    parser.add_argument("--runs", type=int, default=3, help="the least time of so many is printed")
    parser.add_argument("--max-time", type=float, default=600.0)
    add_data_dir(parser)


def timed(classifier, X, y, runs):
    """Return the least seconds that a fit takes, and the classifier."""
    return min(least_seconds(classifier.fit, X, y, runs=1) for _ in range(runs)), classifier


def least_seconds(call, *arguments, runs=5):
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        call(*arguments)
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def run(arguments):
    warnings.filterwarnings("ignore")
    for name in names_of(arguments.sets):
        X, y, C = load(name, arguments.data_dir)
        X = X if isinstance(X, np.ndarray) else small_csr(X)
        print(f"{name}: {X.shape[0]} x {X.shape[1]}, C={C:g}")
        run_on(X, y, {"C": C, "random_state": 0, "max_time": arguments.max_time}, arguments)


def run_on(X, y, options, arguments):
    first = None
    for epsilon in map(float, arguments.epsilon.split(",")):
        seconds, found = timed(MaxMarginClassifier(epsilon, **options), X, y, arguments.runs)
        first = first or seconds
        gap, share = found.certificate_.gap, found.settled(X).mean()
        print(f"  epsilon {epsilon:<8g} gap {gap:8.1e}  settled {share:9.4%}  {seconds:8.3f} s", flush=True)
    ratio = least_seconds(found.settled, X) / least_seconds(found.predict, X)
    print(f"  settled(X) takes {ratio:.1f} times as long as predict(X)")
    for share in map(float, arguments.settle.split(",")):
        settling = MaxMarginClassifier(stop="predictions", settle=share, **options)
        seconds, found = timed(settling, X, y, arguments.runs)
        reached, gap = found.certificate_.settled_share, found.certificate_.gap
        times = f"{seconds / first:.1f} times epsilon 0.01"
        print(f"  until {share:<8g}   gap {gap:8.1e}  settled {reached:9.4%}  {seconds:8.3f} s, {times}", flush=True)
