"""gamma'_d and ‖a‖/t of a run against t, from the first update on: the quantities of the paper's Section 2.

A run is watched without being changed. Its first visits are recorded update by update, and the states in between are
put together again from the record, so that every t can be shown. From there on the run pauses now and then and is
checked; a second run with the same seed does that, because it makes the very same updates.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..algorithms.pdm import to_core
from ..classifiers.request import draw_seed
from ..problem.matrix import as_matrix
from ..problem.packed import PackedProblem
from ..problem.problems import BinaryProblem
from ..training.schedule import PAPER, Schedule
from .problems import Problem
from .readers import Rows, Sides

RECORDED_VISITS = 20_000
PER_DECADE = 12  # moments that are shown, for every factor of ten in t or in visits
SLICE_SECONDS = 0.5
OVER = {_core.Event.infeasible, _core.Event.exhausted}

Rule = _core.DynamicMargin | _core.FixedMargin
Start = Callable[[], _core.Trainer]


class Moment(NamedTuple):
    """A state: the updates so far, its directional margin and its upper bound."""

    t: int
    margin: float
    bound: float


def trajectory(
    problem: Problem, X: Rows, y: Sides, rules: list[Rule], seed: int, plain: bool
) -> tuple[list[Moment], str]:
    """Run one rule after the other to convergence, as in the paper; return moments of the run and how it ended.

    It is the run of a classifier with `random_state=seed`. Several rules are PDM-succ's accuracies. `plain` is whether
    it is plain PDM, which has rules for its first epoch.
    """
    matrix, C = as_matrix(X), problem.C
    packed = PackedProblem(matrix, _core.pack(matrix), BinaryProblem(1, C, C, 1.0), y)
    schedule: Schedule = PAPER if plain else PAPER.for_other_rules()

    def start() -> _core.Trainer:
        return packed.binary.start(packed.rows, rules[0], to_core(schedule), 1.0, packed.key(draw_seed(seed)))

    early = list(_early(start, X, y, problem.delta))
    late, ended = _late(start, rules)
    after = early[-1].t if early else 0
    return [*early, *(moment for moment in late if moment.t > after)], ended


def _early(start: Start, X: Rows, y: Sides, delta: float) -> Iterator[Moment]:
    """Put states together from the record of the first visits."""
    trainer = start()
    trainer.record_updates()
    trainer.pause_at(RECORDED_VISITS)
    event = _core.Event.slice_over
    while event not in (_core.Event.budget_spent, _core.Event.converged, *OVER):
        event = trainer.advance(SLICE_SECONDS)
    record = np.array(trainer.recorded_updates, dtype=np.int64).reshape(-1, 2)
    rows, ends = record[:, 0], np.cumsum(record[:, 1])
    for t in _spaced(1, int(ends[-1])):
        # A multiple update is so many single ones: a t within it is a state like any other.
        i = int(np.searchsorted(ends, t))
        counts = np.bincount(rows[:i], weights=record[:i, 1], minlength=len(y)).astype(np.float64)
        counts[rows[i]] += t - (ends[i - 1] if i else 0)
        yield Moment(t, *_bounds_of(counts, X, y, delta))


def _bounds_of(counts: NDArray[np.float64], X: Rows, y: Sides, delta: float) -> tuple[float, float]:
    """Return gamma'_d and ‖a‖/t of a = sum_k n_k y_k, for rho = 1."""
    signed = y * counts
    w, bias = X.T @ signed, float(signed.sum())
    norm = math.sqrt(float(w @ w) + bias**2 + delta**2 * float(counts @ counts))
    scores = y * (X @ w + bias) + delta**2 * counts
    return float(scores.min()) / norm, norm / float(counts.sum())


def _late(start: Start, rules: list[Rule]) -> tuple[list[Moment], str]:
    """Let the run pause and check it; its last moment is that of its end."""
    trainer, moments = start(), []
    pauses = iter(_spaced(RECORDED_VISITS, 10**15))
    trainer.pause_at(next(pauses))
    left, ended = rules[1:], ""
    while not ended:
        event = trainer.advance(SLICE_SECONDS)
        if event == _core.Event.converged and left:
            trainer.set_rule(left.pop(0))
        elif event == _core.Event.converged:
            ended = "converged"
        elif event in OVER:
            ended = event.name
        elif event == _core.Event.budget_spent:
            trainer.pause_at(next(pause for pause in pauses if pause > trainer.visits))
        else:
            continue
        found = trainer.check()
        moments.append(Moment(trainer.updates, found.directional_margin, found.upper_bound))
    # Passes that gather no update leave t as it is; the last moment with a t is the one to keep.
    last = {moment.t: moment for moment in moments}
    return list(last.values()), ended


def _spaced(first: int, last: int) -> Iterator[int]:
    """Yield whole numbers with about the same factor from one to the next, up to the last."""
    exact = float(first)
    shown = 0
    while exact < last:
        if round(exact) > shown:
            yield (shown := round(exact))
        exact *= 10 ** (1 / PER_DECADE)
    yield last
