"""The setting that an oracle would give a peer: the loosest of its ladder that truly reaches an accuracy.

No peer knows by itself when it is there. Every rung that was tried is kept in a file, so a search that was ended
continues, and serves any other accuracy.
"""

import contextlib
import json
import multiprocessing
import os
import signal
import time
import warnings
from pathlib import Path

import numpy as np

from dynmargin import MaxMarginClassifier, PDMClassifier

from .truth import margin_of

SHORT = 2.0  # seconds: only if no peer gets there within these are all given the whole limit
STRIDE = 4  # rungs that are skipped on the way to the first that reaches the accuracy
FINEST = 1e-6  # accuracy of what counts as the best margin, where it can be proven in time
TRUTH_SECONDS = 60.0  # for that: less than the best margin would be too easy to reach
HARD_MARGIN_COSTS = [10.0**e for e in range(9)]


class Rungs:
    """What each setting of each peer reached on each problem, and how long it took; kept in a file."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "rungs.json"
        self.known = json.loads(self.path.read_text()) if self.path.exists() else {}

    def get(self, problem, key, compute, limit=0.0):
        """Look up what is known, or compute and keep it; what ran out of time is tried again if there is more of it."""
        of_problem = self.known.setdefault(problem, {})
        if key not in of_problem or (of_problem[key][1] is None and of_problem[key][0] < limit):
            of_problem[key] = compute()
            self.path.write_text(json.dumps(self.known, indent=1))
        return of_problem[key]

    def best_margin(self, problem, X, y, C, limit):
        """Return the best margin known and what no classifier exceeds."""
        seconds = max(TRUTH_SECONDS, limit / 3)

        def compute():
            hard = np.isinf(C)
            make, epsilon = (PDMClassifier, 1e-3) if hard else (MaxMarginClassifier, FINEST)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                classifier = make(epsilon, C=C, random_state=0, max_time=seconds).fit(X, y)
            return [classifier.certificate_.margin, classifier.certificate_.upper_bound]

        margin, upper_bound = self.get(problem, f"best in {seconds:g} s", compute)
        return margin, upper_bound


def oracles(peers, name, X, y, C, target, limit, rungs):
    """Return the setting of every peer, None for those that do not reach the target in time or are far from the first.

    A rung that takes longer than another peer needs would not change who is fastest.
    """
    for seconds in (min(SHORT, limit), limit):
        found = {peer.name: oracle(peer, name, X, y, C, target, seconds, rungs) for peer in peers}
        if any(setting is not None for setting, _ in found.values()):
            break
    return found


def oracle(adapter, name, X, y, C, target, limit, rungs):
    """Return the loosest setting that reaches the target within the limit, or None, and every rung tried.

    No peer has a hard margin. It gets the smallest C whose solution has the margin, and a tolerance for that.
    """
    tried = []

    def try_rung(cost, setting):
        adapter.prepare(X, y, cost)
        label = f"{adapter.name} C={cost:g} {setting:g}" if np.isinf(C) else f"{adapter.name} {setting:g}"
        wall, margin = rungs.get(name, label, lambda: run_apart(adapter, setting, X, y, C, limit), limit)
        if margin is not None:
            tried.append((wall, margin))
        return margin

    for cost in HARD_MARGIN_COSTS if np.isinf(C) else [C]:
        setting = loosest(adapter.settings, lambda setting: try_rung(cost, setting), target)  # noqa: B023
        if setting is not None:
            adapter.prepare(X, y, cost)
            return (setting, cost), tried
    return None, tried


def loosest(settings, margin_at, target):
    """Return the loosest setting whose margin reaches the target; `margin_at` is None where time ran out.

    Tighter settings take longer and reach more, so strides and then halves find it.
    """
    low, high, before = -1, len(settings), -np.inf
    for place in [*range(0, len(settings), STRIDE), len(settings) - 1]:
        margin = margin_at(settings[place])
        if margin is None or margin >= target:
            high = place
            break
        low = place
        if settings[place] < 1e-3 and abs(margin - before) <= 1e-3 * abs(target - margin):
            return None  # its solution does not reach the target
        before = margin
    while high - low > 1:
        middle = (low + high) // 2
        margin = margin_at(settings[middle])
        low, high = (low, middle) if margin is None or margin >= target else (middle, high)
    if high == len(settings) or (margin := margin_at(settings[high])) is None or margin < target:
        return None
    return settings[high]


def run_apart(adapter, setting, X, y, C, limit):
    """Fit in a process of its own, which is ended at the limit: no peer can be interrupted."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def fit():
        os.setsid()  # whatever this process starts is ended with it
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        w, b = adapter.fit(setting)
        seconds = adapter.seconds or time.perf_counter() - start
        sender.send((seconds, float(margin_of(X, y, C, w, b))))

    process = context.Process(target=fit)
    process.start()
    sender.close()  # so that the end of the process is noticed here
    found = (limit, None)
    with contextlib.suppress(EOFError):  # it has failed: a setting that the peer does not take
        found = receiver.recv() if receiver.poll(limit) else found
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()
    return found
