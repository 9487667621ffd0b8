"""Whatever a run decides by a logarithm, an exponential or a power is the same on every machine."""

import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynmargin import _core

CORE = Path(__file__).parent.parent / "cpp" / "dynmargin"

positive = st.floats(min_value=5e-324, max_value=1.7e308)


@given(positive)
def test_the_logarithm_is_right_to_the_last_digits(x):
    assert _core.log(x) == pytest.approx(math.log(x), rel=1e-15, abs=1e-300)


@given(st.floats(min_value=-700, max_value=709))
def test_the_exponential_is_right_to_the_last_digits(x):
    assert _core.exp(x) == pytest.approx(math.exp(x), rel=1e-15)


@given(st.floats(min_value=1e-100, max_value=1e100), st.floats(min_value=-2, max_value=2))
def test_powers_are_right_to_thirteen_digits(x, p):
    assert _core.pow(x, p) == pytest.approx(math.pow(x, p), rel=1e-13)


def test_the_ends_of_the_range():
    infinity = math.inf
    assert (_core.log(0.0), _core.log(infinity), _core.log(1.0)) == (-infinity, infinity, 0.0)
    assert math.isnan(_core.log(-1.0))
    assert math.isnan(_core.log(math.nan))
    assert (_core.exp(1e4), _core.exp(-1e4), _core.exp(0.0)) == (infinity, 0.0, 1.0)
    assert math.isnan(_core.exp(math.nan))
    assert (_core.pow(0.0, 0.3), _core.pow(0.0, 0.0), _core.pow(7.0, 1.0)) == (0.0, 1.0, 7.0)


def test_a_few_results_to_the_bit():
    """These are what every machine gives, whatever its C library."""
    assert [_core.log(10.0).hex(), _core.exp(1.0).hex(), _core.pow(3.0, 0.7).hex()] == [
        "0x1.26bb1bbb55516p+1",
        "0x1.5bf0a8b14576ap+1",
        "0x1.142e81c889914p+1",
    ]


def test_the_core_asks_the_c_library_for_no_function_that_ieee_does_not_fix():
    loose = re.compile(r"std::(log|exp|pow|log2|exp2|log1p|expm1|cbrt|hypot|sin|cos|tan)\w*\(")
    found = [f"{path.name}: {match[0]}" for path in CORE.rglob("*.hpp") for match in loose.finditer(path.read_text())]
    assert not found
