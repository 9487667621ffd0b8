"""Many cases, one after the other."""

from collections import Counter

import numpy as np

from .cases import draw_case
from .check import check_case
from .online import check_online
from .trained import check_trained

TRAINED, ONLINE = 100, 50  # every so many cases are of that kind


def run(first_seed, count):
    """Return how many cases there were of each kind, and (seed, kind, sentence) for all that does not hold."""
    cases, failures = Counter(), []
    for seed in range(first_seed, first_seed + count):
        try:
            kind, sentences = check(seed)
        except Exception as error:  # a failure like any other, with the seed that reproduces it
            kind, sentences = "raised", [f"{type(error).__name__}: {error}"]
        cases[kind] += 1
        failures += [(seed, kind, sentence) for sentence in sentences]
    return cases, failures


def run_block(block):
    """Run the cases of (first seed, count): what a process of its own does at a time."""
    return run(*block)


def check(seed):
    """Return the kind of a seed's case, and what does not hold."""
    if seed % TRAINED == 0:
        return check_trained(seed)
    if seed % ONLINE == 1:
        return "online", check_online(seed)
    case = draw_case(seed)
    return case.kind, check_case(case, np.random.Generator(np.random.PCG64([seed, 1])))
