"""Generated problems with the shape of the paper's sets that are not available here: labelled so, never compared.

Rows, columns, non-zeros per row and the share of positive rows are those of the set; everything else is made up. Rows
and columns are the paper's. The other two are as these sets are commonly described; we have counted neither.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .readers import Rows, Sides

NOISE = 0.3  # of the labels, as a part of the spread of the scores: no set of the paper is separable


def make_like(
    files: list[Path], n_features: int, *, rows: int, per_row: int, positive: float, seed: int = 0
) -> tuple[Rows, Sides]:
    """Generate rows of a given length with about the wanted share of positive ones.

    Features of sparse rows have the frequencies of words, those of full rows are all there.
    """
    from scipy.sparse import csr_matrix, diags_array

    random = np.random.default_rng(seed)
    if per_row == n_features:
        drawn, columns = per_row, np.tile(np.arange(n_features, dtype=np.int32), rows)
        values = random.normal(size=rows * drawn).astype(np.float32)
    else:
        frequency = 1 / (np.arange(n_features) + 10.0)
        frequency /= frequency.sum()
        drawn = _draws(frequency, per_row)
        columns = random.choice(n_features, size=rows * drawn, p=frequency).astype(np.int32)
        values = random.exponential(size=rows * drawn).astype(np.float32)
    starts = np.arange(rows + 1, dtype=np.int64) * drawn
    X = csr_matrix((values, columns, starts), shape=(rows, n_features))
    X.sum_duplicates()
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = csr_matrix(diags_array(1 / norms).astype(np.float32) @ X)
    rule = random.normal(size=n_features) * (random.random(n_features) < max(0.1, 20 / n_features))
    scores = X @ rule
    scores = scores + NOISE * scores.std() * random.normal(size=rows)
    return X, np.where(scores > np.quantile(scores, 1 - positive), 1, -1)


def _draws(frequency: NDArray[np.float64], distinct: int) -> int:
    """Return how many features to draw for about so many different ones: some are drawn twice."""
    too_few, enough = 0, distinct
    while (1 - (1 - frequency) ** enough).sum() < distinct:
        too_few, enough = enough, 2 * enough
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if (1 - (1 - frequency) ** middle).sum() < distinct:
            too_few = middle
        else:
            enough = middle
    return enough
