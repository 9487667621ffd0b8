"""The digest of a problem and its two witnesses, by which a certificate shows that they are its own."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.packed_weights import PackedWeights
from ..problem.problems import Problem
from .counts import SparseCounts

Vector = NDArray[np.float64]


def digest_witnesses(
    problem: Problem,
    weights: Vector | PackedWeights,
    intercept: float | Vector,
    counts: SparseCounts,
    *,
    with_classes: bool = True,
    format_3: bool = False,
) -> int:
    """Return a digest of the problem's numbers and classes and of the two witnesses.

    `format_3` asks for the digest that files had when that format was new; it takes all numbers one after the other.
    """
    classes = json.dumps(problem.classes, default=str).encode() if with_classes else b""
    if format_3:
        all_weights = weights.spread_out() if isinstance(weights, PackedWeights) else weights
        witnesses: list[NDArray[Any]] = [all_weights.ravel(), counts.indices, counts.data]
    else:
        of_weights = (
            _core.digest_nonzeros(weights.values, weights.columns)
            if isinstance(weights, PackedWeights)
            else _core.digest_nonzeros(weights.ravel())
        )
        of_counts = _core.digest_nonzeros(counts.data, counts.indices)
        witnesses = [np.array([of_weights, weights.size, of_counts], dtype=np.uint64)]
    parts = (
        witnesses[0],
        np.hstack([intercept, problem.numbers()]),
        *witnesses[1:],
        np.array(counts.shape, dtype=np.int64),
        np.frombuffer(classes.ljust(-(-len(classes) // 8) * 8), dtype=np.uint64),
    )
    return _core.digest_words([np.ascontiguousarray(part).view(np.uint64) for part in parts])
