"""From published files to rows and sides: one function per kind of file; compressed ones are read as they are."""

import io
import tarfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.archives import contents
from ..data.dataset import DataError
from ..data.libsvm import read_libsvm

Rows = Any  # a scipy CSR matrix
Sides = NDArray[np.int64]  # 1 and -1

SCALE = 0.001  # "The Physics and Covertype datasets were rescaled by a multiplicative factor 0.001."
PHYSICS_FEATURES = 78
# Attributes in which 999 (9999 for the last two) stands for a missing value, counted from 1 after the case number and
# the class: as the KDD Cup page describes the format.
PHYSICS_MISSING = (20, 21, 22, 44, 45, 46, 29, 55)


def sides_of(labels: NDArray[Any], positive: Any) -> Sides:
    """Return 1 for a label, -1 for the others."""
    return np.where(labels == positive, 1, -1)


def read_two_classes(files: list[Path], n_features: int) -> tuple[Rows, Sides]:
    """Read LIBSVM text with two labels, the larger one positive."""
    X, y = read_libsvm(files[0], n_features=n_features)
    return X, sides_of(y, y.max())


def read_covertype(files: list[Path], n_features: int) -> tuple[Rows, Sides]:
    """Read UCI's table, with or without a line of names: 54 attributes, x 0.001, and the class, 1 against the rest."""
    from scipy.sparse import csr_matrix

    table = _table(files[0], n_features + 1, delimiter=",")
    return csr_matrix(table[:, :-1] * SCALE), sides_of(table[:, -1], 1)


def read_physics(files: list[Path], n_features: int) -> tuple[Rows, Sides]:
    """Read KDD Cup 2004's training file: case, class, 78 attributes, x 0.001, less the 8 that have missing values."""
    from scipy.sparse import csr_matrix

    table = _table(files[0], PHYSICS_FEATURES + 2)
    attributes = np.delete(table[:, 2:], [number - 1 for number in PHYSICS_MISSING], axis=1)
    return csr_matrix(attributes * SCALE), sides_of(table[:, 1], 1)


def _table(path: Path, n_columns: int, delimiter: str | None = None) -> NDArray[np.float64]:
    text = io.BytesIO(contents(path).tobytes())
    named = any(byte in b"abcdfghijklmnopqrstuvwxyz_" for byte in text.readline().lower())  # e is in 1e-5, too
    if not named:
        text.seek(0)
    try:
        table: NDArray[np.float64] = np.loadtxt(text, delimiter=delimiter, ndmin=2)
    except ValueError as error:
        raise DataError(str(error), str(path)) from error
    if table.shape[1] != n_columns:
        raise DataError(f"{n_columns} columns were expected, there are {table.shape[1]}", str(path))
    return table


def read_rcv1(topic: str, files: list[Path], n_features: int) -> tuple[Rows, Sides]:
    """Read RCV1, a topic against the rest.

    Its vector files have the number of a document where LIBSVM text has a label; a file of lines "topic document 1"
    comes last.
    """
    from scipy.sparse import csr_matrix, vstack

    *vectors, topics = files
    parts = [read_libsvm(file, n_features=n_features, zero_based=False) for file in vectors]
    documents = np.concatenate([numbers for _, numbers in parts]).astype(np.int64)
    if len(np.unique(documents)) < len(documents):
        raise DataError("a document occurs twice in the vector files", str(vectors[0].parent))
    prefix = topic.encode() + b" "
    lines = contents(topics).tobytes().splitlines()
    chosen = np.array([int(line.split()[1]) for line in lines if line.startswith(prefix)], dtype=np.int64)
    if unknown := set(chosen.tolist()) - set(documents.tolist()):
        raise DataError(f"document {min(unknown)} is not in the vector files", str(topics))
    return csr_matrix(vstack([X for X, _ in parts])), np.where(np.isin(documents, chosen), 1, -1)


read_c11, read_ccat = partial(read_rcv1, "C11"), partial(read_rcv1, "CCAT")


def read_newsgroups(files: list[Path], n_features: int) -> tuple[Rows, Sides]:
    """Read 20 Newsgroups: uni- and bigrams, tf-idf, unit rows; even groups (by name, from 0) against odd ones."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, groups = [], []
    with tarfile.open(files[0]) as archive:
        for member in archive:
            if file := archive.extractfile(member):  # a folder has none
                texts.append(file.read().decode("latin-1"))
                groups.append(member.name.split("/")[-2])
    X = TfidfVectorizer(ngram_range=(1, 2), dtype=np.float32).fit_transform(texts)
    even = {group: number % 2 == 0 for number, group in enumerate(sorted(set(groups)))}
    return X, np.array([1 if even[group] else -1 for group in groups])


def make_rcv1_like(
    files: list[Path], n_features: int, *, rows: int = 804_414, per_row: int = 75, seed: int = 0
) -> tuple[Rows, Sides]:
    """Generate sparse unit rows with Zipf-distributed features, labels from a sparse linear rule with noise."""
    from scipy.sparse import csr_matrix, diags_array

    random = np.random.default_rng(seed)
    frequency = 1 / (np.arange(n_features) + 10.0)
    columns = random.choice(n_features, size=rows * per_row, p=frequency / frequency.sum()).astype(np.int32)
    values = random.exponential(size=rows * per_row).astype(np.float32)
    X = csr_matrix((values, columns, np.arange(rows + 1, dtype=np.int64) * per_row), shape=(rows, n_features))
    X.sum_duplicates()
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = diags_array(1 / norms).astype(np.float32) @ X
    rule = random.normal(size=n_features) * (random.random(n_features) < 0.1)
    scores = X @ rule
    noise = 0.3 * scores.std() * random.normal(size=rows)
    return csr_matrix(X), np.where(scores + noise > 0, 1, -1)
