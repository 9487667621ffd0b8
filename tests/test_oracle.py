"""A short run of the oracle: 3,000 cases, about 10 seconds. ``python -m tests.oracle`` runs as many as one likes."""

import math
from fractions import Fraction

import numpy as np
import pytest
from oracle.cases import KINDS, draw_case
from oracle.check import check_certificate, make_certificate
from oracle.exact import Value, root_down, truth_of
from oracle.run import run

from dynmargin import _core


@pytest.mark.parametrize("first_seed", [0, 10**9, 2 * 10**9])
def test_no_certificate_claims_more_than_exact_arithmetic_proves(first_seed):
    cases, failures = run(first_seed, 1000)
    assert failures == []
    assert {*KINDS, "online", "squared hinge over shards"} < set(cases)


def test_the_oracle_notices_bounds_that_are_not_rounded_outward(monkeypatch):
    """What it would be worth if it did not: with all errors taken for zero, many bounds are false."""
    for name in ("Problem", "JointProblem"):
        prove = getattr(_core, name).prove

        def without_errors(*arguments, prove=prove):
            (margin, _), (upper_bound, _), *ball = prove(*arguments)
            return (margin, 0.0), (upper_bound, 0.0), *ball

        monkeypatch.setattr(getattr(_core, name), "prove", without_errors)
    random, failed = np.random.default_rng(0), set()
    for seed in range(600):
        case = draw_case(seed)
        if case.legal and check_certificate(make_certificate(case), case, truth_of(case), random):
            failed.add(case.kind)
    assert failed == set(KINDS)


def test_exact_values_are_compared_with_doubles_exactly():
    random = np.random.default_rng(0)
    for _ in range(500):
        num, den = (int(random.integers(1, 2**60)) << int(random.integers(0, 900)) for _ in range(2))
        down = root_down(num, den)
        assert Fraction(down) ** 2 <= Fraction(num, den) < Fraction(math.nextafter(down, math.inf)) ** 2
        below, above = Value(num, den).neighbours()
        assert Fraction(below) ** 2 < Fraction(num, den) < Fraction(above) ** 2
        below, above = Value(num, den, -1).neighbours()
        assert Fraction(above) ** 2 < Fraction(num, den) < Fraction(below) ** 2
    assert Value(9, 4).neighbours() == (math.nextafter(1.5, 0), math.nextafter(1.5, 2))
    assert root_down(1, 2**2147) == 5e-324
    assert root_down(1, 2**2200) == 0.0
    assert root_down(2**4000, 1) == math.nextafter(math.inf, 0)
