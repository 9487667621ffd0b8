"""How the bounds of a model came together, as a section of its file: for pictures, never for a proof."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..training.result import Check

# Without the seconds: the same training on another day gives the same file.
HISTORY = ("history/problem", "history/passes", "history/updates", "history/margin", "history/upper_bound")
MOST_CHECKS = 100  # kept for each problem; a picture shows no more


def as_arrays(history: Sequence[Check]) -> dict[str, NDArray[Any]]:
    """Return the entries of a file, if there is a history."""
    kept = [check for problem in dict.fromkeys(check.problem for check in history) for check in _thin(history, problem)]
    if not kept:
        return {}
    columns = [[getattr(check, name.partition("/")[2]) for check in kept] for name in HISTORY]
    return {
        name: np.array(column, dtype=np.int64 if i < 3 else np.float64)
        for i, (name, column) in enumerate(zip(HISTORY, columns, strict=True))
    }


def from_arrays(arrays: Mapping[str, NDArray[Any]], n_problems: int) -> tuple[Check, ...]:
    """Return the checks of a file, at unknown times; refuse what cannot be any."""
    if not any(name in arrays for name in HISTORY):
        return ()
    columns = [arrays[name] for name in HISTORY]
    kinds = [np.int64] * 3 + [np.float64] * 2
    alike = all(column.ndim == 1 and len(column) == len(columns[0]) for column in columns)
    if not alike or any(column.dtype != kind for column, kind in zip(columns, kinds, strict=True)):
        raise ValueError("the history is not one number of each kind per check")
    if not ((columns[0] >= 0) & (columns[0] < n_problems)).all():
        raise ValueError("the history is about problems that are not there")
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(
        Check(np.nan, passes, updates, margin, bound, problem) for problem, passes, updates, margin, bound in rows
    )


def _thin(history: Sequence[Check], problem: int) -> list[Check]:
    """Return the checks of a problem: of many, those evenly spaced on a logarithmic scale, and always the last."""
    checks = [check for check in history if check.problem == problem]
    if len(checks) <= MOST_CHECKS:
        return checks
    places = np.unique(np.round(np.geomspace(1, len(checks), MOST_CHECKS)).astype(int)) - 1
    return [checks[place] for place in places]
