"""Rows that workers can make again, whoever had them before."""

import dask
import numpy as np
import scipy.sparse as sp

N_FEATURES = 12


def rows(part, n_rows, sparse=False, n_features=N_FEATURES):
    """Make the rows of a partition."""
    X = np.random.default_rng((7, part)).normal(size=(n_rows, n_features))
    if sparse:
        X = sp.csr_matrix(np.where(np.abs(X) > 1, np.float32(X), 0))
    return X


def labels(part, n_rows, sparse=False, n_features=N_FEATURES, n_classes=2):
    """Make their labels."""
    X = rows(part, n_rows, sparse, n_features)
    noise = np.random.default_rng((8, part)).normal(size=(n_rows, n_classes))
    scores = np.asarray(X @ np.random.default_rng(9).normal(size=(n_features, n_classes))) + 2 * noise
    return scores.argmax(axis=1)


def delayed_parts(n_parts, n_rows, **options):
    """Return partitions of rows and labels as lists of delayed parts."""
    shape = {name: value for name, value in options.items() if name != "n_classes"}
    X = [dask.delayed(rows)(part, n_rows, **shape) for part in range(n_parts)]
    return X, [dask.delayed(labels)(part, n_rows, **options) for part in range(n_parts)]


def together(n_parts, n_rows, **options):
    """Return the same in memory."""
    shape = {name: value for name, value in options.items() if name != "n_classes"}
    parts = [rows(part, n_rows, **shape) for part in range(n_parts)]
    X = sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.vstack(parts)
    return X, np.concatenate([labels(part, n_rows, **options) for part in range(n_parts)])
