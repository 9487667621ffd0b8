"""The upper bound of rows that pass by, against the sums without rounding."""

import math

import numpy as np

from dynmargin import SparseCounts, _core
from dynmargin.problem.matrix import as_matrix
from dynmargin.problem.problems import BinaryProblem

from .cases import Case, Draw
from .exact import Value, dyadic, ratio, total


def check_online(seed):
    """Present rows in blocks; the bound with its error must enclose what the counts prove."""
    draw = Draw(seed)
    m, d = int(draw.random.integers(1, 30)), int(draw.random.integers(1, 5))
    C = math.inf if draw.chance(0.3) else draw.power(-20, 20)
    problem = BinaryProblem(1, C, C, draw.one_of(0.0, 1.0, draw.power(-20, 20)), classes=(0, 1))
    X = draw.table(m, d, draw.chance(0.4))
    X = draw.matrix(X if X.dtype == np.float32 else np.clip(X, -1e90, 1e90))
    y = draw.random.integers(0, 2, size=m)
    matrix, sides = as_matrix(X), problem.sides(y, None)
    core = problem.to_core(sides, None)
    rows = {}
    for key, row, side in zip(core.row_keys(matrix).tolist(), Case.rows_of(X), sides.tolist(), strict=True):
        if rows.setdefault(key, (row, side)) != (row, side):
            return []  # two rows have the same key: which of them was counted cannot be told
    state = _core.OnlineState(d, problem.rho, True)
    for _ in range(int(draw.random.integers(1, 4))):
        repeats = np.floor(10.0 ** draw.random.uniform(0, 12, size=m)) if draw.chance(0.5) else None
        state.present(matrix, core, repeats, 0.1)
    value, error = state.upper_bound()
    exact = bound_of_stream(
        Case("online", X, y, None, problem, np.zeros(d), 0.0, _nothing(m), True), core, matrix, state
    )
    if exact is None:
        return [] if value == math.inf else [f"no updates prove an upper bound of {value!r}"]
    failures = []
    if math.isfinite(value + error) and exact.compare(value + error) < 0:
        failures.append(f"the upper bound {value!r} with error {error!r} is false")
    if math.isfinite(value) and exact.compare(value - error) > 0:
        failures.append(f"the upper bound {value!r} is further from the exact one than {error!r}")
    return failures


def bound_of_stream(case, core, matrix, state):
    """Add up the updates that the state remembers; each presentation of a row has a coordinate of its own."""
    keys, counts = state.counted()
    place = {key: k for k, key in enumerate(core.row_keys(matrix).tolist())}
    t, bias, a, extended = 0, 0, {}, 0
    for key, n in zip(keys.tolist(), counts.tolist(), strict=True):
        k = place[key]
        t, bias, extended = t + n, bias + n * case.sides[k], extended + n * n
        for column, value in case.rows[k]:
            a.setdefault(column, []).append((n * case.sides[k] * dyadic(value)[0], dyadic(value)[1]))
    if t == 0:
        return None
    R, re = dyadic(case.problem.rho)
    squares = [(bias * bias * R * R, 2 * re)]
    for terms in a.values():
        n, e = total(terms)
        squares.append((n * n, 2 * e))
    num, den = ratio(total(squares), (1, 0))
    if not case.problem.hard_margin:
        above, below = ratio((extended, 0), case.penalties[0])
        num, den = num * below + above * den, den * below
    return Value(num, den * t * t)


def _nothing(m):
    return SparseCounts(np.empty(0, np.int64), np.empty(0, np.int64), (m,))
