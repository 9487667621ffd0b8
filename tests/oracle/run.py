"""Many cases, one after the other."""

from collections import Counter

import numpy as np

from .cases import draw_case
from .check import check_case
from .exact import truth_of
from .online import check_online
from .sharded import check_sharded
from .trained import check_trained

TRAINED, ONLINE, SHARDED = 100, 50, 25  # every so many cases are of that kind


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
    case, random = draw_case(seed), np.random.Generator(np.random.PCG64([seed, 1]))
    if seed % SHARDED == 2 and case.legal and not case.joint:
        return f"{case.kind} over shards", check_sharded(case, truth_of(case), random)
    return case.kind, check_case(case, random)
