"""Whatever Python hands to the core, the answer is an error in words, never a crash."""

import pickle

import numpy as np
import pytest

from dynmargin import PDMClassifier, _core


def state_of_a_stream(X, y):
    return PDMClassifier().partial_fit(X, y, classes=[0, 1])._streams[0].state


def damaged(state, place, value):
    """What a stored state becomes when one of its parts is another."""
    parts = list(state.__getstate__())
    parts[place] = value
    copy = _core.OnlineState.__new__(_core.OnlineState)
    copy.__setstate__(tuple(parts))
    return copy


@pytest.fixture(scope="module")
def state(breast_cancer):
    return state_of_a_stream(*breast_cancer)


def test_a_stored_stream_comes_back_whole(state):
    copy = pickle.loads(pickle.dumps(state))
    assert all(np.array_equal(a, b) for a, b in zip(copy.counted(), state.counted(), strict=True))
    assert copy.upper_bound() == state.upper_bound()


@pytest.mark.parametrize(
    ("place", "change"),
    [
        (1, lambda w: w[:-1]),  # weights and moments of different lengths
        (2, lambda moment: np.append(moment, 0.0)),
        (1, lambda w: np.full_like(w, np.nan)),
        (3, lambda keys: keys[:-1]),  # keys and counts of different lengths
        (4, lambda counts: -counts),
        (4, lambda counts: counts * 0),
        (4, lambda counts: np.full_like(counts, 2**60)),
        (0, lambda numbers: (-1.0, *numbers[1:])),  # rho
        (0, lambda numbers: (*numbers[:3], np.nan, *numbers[4:])),  # t
        (0, lambda numbers: (*numbers[:3], 2.0**60, *numbers[4:])),
    ],
)
def test_a_damaged_stream_is_refused(state, place, change):
    with pytest.raises(ValueError, match="damaged"):
        damaged(state, place, change(state.__getstate__()[place]))


@pytest.mark.parametrize("side", [-128, -2, 2, 5, 127])
def test_a_problem_refuses_sides_other_than_the_three(side):
    with pytest.raises(ValueError, match="-1, 0 and 1"):
        _core.Problem(np.array([1, -1, side], dtype=np.int8), 1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    "wrong", [{"rounds": (-1, 0, 0)}, {"widths": (0.0, 1.0)}, {"inner_passes": np.nan}, {"first_width": -1.0}]
)
def test_a_schedule_refuses_what_would_never_end(wrong):
    right = {"rounds": (9, 2, 2), "widths": (1.2, 1.0), "first_width": 1.1, "inner_passes": 2.0}
    order = "multiple_updates single_updates_first shuffle_first shuffle_active_sets balanced"
    flags = dict.fromkeys(f"{order} taking_back mixing renewal polish".split(), True)
    with pytest.raises(ValueError, match=r"rounds|widths"):
        _core.Schedule(**{**right, **flags, **wrong})


@pytest.mark.parametrize(("b", "db"), [(np.nan, 1.0), (1.0, 0.0), (1.0, np.inf), (-1.0, 1.0)])
def test_unlearning_refuses_thresholds_that_are_none(b, db):
    with pytest.raises(ValueError, match="b and db"):
        _core.MarginUnlearning(b, db)


def test_two_thousand_features_get_the_exact_hessian():
    """One step of Newton's method solves a problem in which every row has a slack and keeps it."""
    n = _core.MOST_HESSIAN_COLUMNS
    rows = _core.pack(_core.dense(np.eye(4, n)))
    problem = _core.Problem(np.array([1, -1, 1, -1], dtype=np.int8), 1.0, 0.1, 0.1)
    point = _core.Newton(rows, problem, np.arange(4, dtype=np.uint32), np.zeros(n + 1))
    point.step()
    assert point.margin == pytest.approx(point.upper_bound, rel=1e-12)
