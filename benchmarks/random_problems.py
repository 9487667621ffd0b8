"""Problems that nobody has looked at, drawn from a seed.

Whoever tunes on a list of problems fits that list. Here shape, density, lengths of rows, scales of columns, duplicates,
rare features, noise, separability, imbalance and C all come from the seed: tune on some seeds, report on others, once.
"""

import numpy as np
import scipy.sparse as sp

MOST_NONZEROS = 2e7
ROWS, FEATURES, PER_ROW = (500, 300_000), (3, 1_000_000), (2, 2000)


def log_uniform(random, low, high):
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def whole(random, low, high):
    return max(int(low), round(log_uniform(random, low, max(low, high))))


def dense(random):
    """Draw a table of numbers whose columns share some directions."""
    columns = whole(random, FEATURES[0], PER_ROW[1])
    rows = whole(random, ROWS[0], min(ROWS[1], MOST_NONZEROS / columns))
    shared = random.normal(size=(rows, 5)) @ random.normal(size=(5, columns))
    return random.normal(size=(rows, columns)) + random.uniform(0, 2) * shared


def one_hot(random):
    """Draw categories, some of them rare: one column per level, one entry per row and category."""
    categories = whole(random, PER_ROW[0], 60)
    rows = whole(random, ROWS[0], min(ROWS[1], MOST_NONZEROS / categories))
    levels = [whole(random, 2, FEATURES[1] / categories) for _ in range(categories)]
    starts = np.concatenate([[0], np.cumsum(levels)])
    chosen = [start + zipf(random, n, rows) for start, n in zip(starts, levels, strict=False)]
    columns = np.column_stack(chosen).ravel()
    return sp.csr_matrix((np.ones(len(columns)), columns, np.arange(rows + 1) * categories), (rows, int(starts[-1])))


def text(random):
    """Draw documents: words by Zipf's law, lengths that differ by a factor, counts or weights, perhaps normalised."""
    features = whole(random, 1000, FEATURES[1])
    per_row = log_uniform(random, PER_ROW[0], min(PER_ROW[1], features / 4))
    rows = whole(random, ROWS[0], min(ROWS[1], MOST_NONZEROS / per_row))
    lengths = np.clip(per_row * random.lognormal(0, random.uniform(0, 1), rows), 1, features / 2).astype(int)
    words = zipf(random, features, int(lengths.sum()))
    X = sp.csr_matrix((np.ones(len(words)), words, np.concatenate([[0], np.cumsum(lengths)])), (rows, features))
    X.sum_duplicates()
    if random.random() < 0.6:  # as TfidfTransformer does
        X.data = 1 + np.log(X.data)
        X = sp.csr_matrix(X.multiply(1 + np.log((1 + rows) / (1 + np.bincount(X.indices, minlength=features)))))
        X.data /= np.repeat(np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()), np.diff(X.indptr))
    return X


def pixels(random):
    """Draw smooth pictures: of low rank, never negative, many of them zero."""
    columns = whole(random, 50, PER_ROW[1])
    rows = whole(random, ROWS[0], min(ROWS[1], MOST_NONZEROS / columns))
    rank = whole(random, 5, 50)
    X = np.abs(random.normal(size=(rows, rank))) @ random.normal(size=(rank, columns))
    X = np.maximum(0, X - np.quantile(X[:500], random.uniform(0, 0.9)))
    return sp.csr_matrix(X) if np.mean(X[:500] > 0) < 0.5 else X


def zipf(random, n, size):
    """Draw from n things, the k-th with a probability of about 1 / k^power."""
    power, u = random.uniform(0.6, 1.4), random.random(size)
    if abs(power - 1) < 1e-3:
        return np.minimum(n - 1, ((n + 1.0) ** u - 1).astype(int))
    places = (1 + u * ((n + 1.0) ** (1 - power) - 1)) ** (1 / (1 - power)) - 1
    return np.minimum(n - 1, places.astype(int))


KINDS = {"dense": dense, "one-hot": one_hot, "text": text, "pixels": pixels}


def random_problem(seed, separable=False):
    """Draw X, y in {-1, 1}, C and the kind; a separable one has a gap, no noise, no C, and columns as drawn."""
    random = np.random.default_rng(seed)
    kind = list(KINDS)[random.integers(len(KINDS))]
    X = KINDS[kind](random)
    X = with_duplicates(random, X) if random.random() < 0.25 else X
    # How rows are labelled: by a direction, in the units of the columns before they get scales of their own.
    columns = X.shape[1]
    direction = random.normal(size=columns) * (random.random(columns) < log_uniform(random, 0.05, 1))
    scores = np.asarray(X @ direction).ravel()
    scores = (scores - scores.mean()) / (scores.std() or 1.0)
    share = log_uniform(random, 0.01, 0.5)
    scores -= np.quantile(scores, 1 - share)
    if separable:
        kept = np.flatnonzero(abs(scores) > random.uniform(0.05, 0.3))
        return X[kept], np.where(scores[kept] > 0, 1, -1), np.inf, kind
    if random.random() < 0.5:  # a gap between the classes, before noise
        kept = np.flatnonzero(abs(scores) > random.uniform(0, 0.3))
        X, scores = (X[kept], scores[kept]) if len(kept) >= ROWS[0] else (X, scores)
    y = np.where(scores > 0, 1, -1)
    noise = random.choice([0.0, random.uniform(0, 0.3)])
    y = np.where(random.random(len(y)) < noise, -y, y)
    if abs(y.sum()) == len(y):  # one class only
        y[random.integers(len(y))] *= -1
    decades = random.uniform(0, 4) if random.random() < 0.5 else 0.0
    scales = 10 ** random.uniform(-decades / 2, decades / 2, columns)
    X = sp.csr_matrix(X.multiply(scales)) if sp.issparse(X) else X * scales
    return X, y, log_uniform(random, 1e-3, 1e3), kind


def with_duplicates(random, X):
    """Draw rows again: some are there several times."""
    return X[random.integers(0, whole(random, X.shape[0] / 10, X.shape[0]), X.shape[0])]
