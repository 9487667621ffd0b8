"""Kill random workers at random moments of a fit; what comes out must be what comes out undisturbed, bit for bit.

    python -m tests.worker_kills --runs 50

Each run kills one of three workers at a random moment, from the submission of the first partition to the audit, and a
new one takes its place. Every certificate is verified by one process on all rows together.
"""

import argparse
import random
import threading
import time

from dynmargin.dask import DaskMaxMarginClassifier

from .cluster.data import delayed_parts, together
from .cluster.workers import Workers


def fit(X, y, client):
    began = time.perf_counter()
    classifier = DaskMaxMarginClassifier(1e-6, random_state=0, client=client).fit(X, y)
    return classifier, time.perf_counter() - began


def same(first, second):
    """Whether two classifiers have the same weights, counts and bounds, bit for bit."""
    mine, other = first.certificate_, second.certificate_
    return (
        (first.coef_ == second.coef_).all()
        and (mine.margin, mine.upper_bound) == (other.margin, other.upper_bound)
        and mine.witness_digest == other.witness_digest
    )


def kill_during(workers, delay, which):
    """Kill a worker after a moment, in a thread of its own."""

    def kill():
        time.sleep(delay)
        workers.kill(which)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--rows", type=int, default=20_000, help="per partition")
    parser.add_argument("--parts", type=int, default=6)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    X, y = delayed_parts(asked.parts, asked.rows)
    workers = Workers(asked.workers)
    try:
        fit(X, y, workers.client)  # the first one also loads the package
        expected, seconds = fit(X, y, workers.client)
        print(f"undisturbed: {seconds:.2f} s, {expected.algorithm_}, {expected.certificate_}", flush=True)
        equal = proven = 0
        for run in range(asked.runs):
            delay, which = chance.uniform(0, seconds), chance.randrange(asked.workers)
            thread = kill_during(workers, delay, which)
            found, took = fit(X, y, workers.client)
            thread.join()
            verified = bool(found.certificate_.to_local().verify(*together(asked.parts, asked.rows)))
            equal += same(found, expected)
            proven += verified and found.certificate_.achieved
            outcome = "equal" if same(found, expected) else "OTHER"
            print(f"run {run}: killed after {delay:.2f} s, took {took:.2f} s: {outcome}", flush=True)
            workers.refill(asked.workers)
        print(f"{asked.runs} runs: {proven} certified and verified, {equal} equal bit for bit")
    finally:
        workers.close()


if __name__ == "__main__":
    main()
