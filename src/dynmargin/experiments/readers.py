"""From published files to rows and sides: a function a kind of file; compressed ones are read as they are."""

import io
import tarfile
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
# Attributes in which 999 (9999 for the last two) stands for a value that is missing, counted from 1 after the case
# number and the class: as the format is described on the KDD Cup page.
PHYSICS_MISSING = (20, 21, 22, 44, 45, 46, 29, 55)


def sides_of(labels: NDArray[Any], positive: Any) -> Sides:
    """1 for a label, -1 for the others."""
    return np.where(labels == positive, 1, -1)


def read_two_classes(files: list[Path], n_features: int) -> tuple[Rows, Sides]:
    """LIBSVM text with two labels, the larger one positive."""
    X, y = read_libsvm(files[0], n_features=n_features)
    return X, sides_of(y, y.max())


def read_covertype(files: list[Path], n_features: int) -> tuple[Rows, Sides]:
    """UCI's table, with or without a line of names: 54 attributes and the class; class 1 against the rest, x 0.001."""
    from scipy.sparse import csr_matrix

    table = _numbers(files[0], delimiter=",")
    if table.shape[1] != n_features + 1:
        raise DataError(f"{n_features + 1} columns were expected, there are {table.shape[1]}", str(files[0]))
    return csr_matrix(table[:, :-1] * SCALE), sides_of(table[:, -1], 1)


def read_physics(files: list[Path], n_features: int) -> tuple[Rows, Sides]:
    """KDD Cup 2004's training file: case, class, 78 attributes, of which 8 have missing values; x 0.001."""
    from scipy.sparse import csr_matrix

    table = _numbers(files[0], delimiter=None)
    if table.shape[1] != PHYSICS_FEATURES + 2:
        raise DataError(f"{PHYSICS_FEATURES + 2} columns were expected, there are {table.shape[1]}", str(files[0]))
    attributes = np.delete(table[:, 2:], [number - 1 for number in PHYSICS_MISSING], axis=1)
    return csr_matrix(attributes * SCALE), sides_of(table[:, 1], 1)


def _numbers(path: Path, delimiter: str | None) -> NDArray[np.float64]:
    text = io.BytesIO(contents(path).tobytes())
    named = any(byte in b"abcdfghijklmnopqrstuvwxyz_" for byte in text.readline().lower())  # e is in 1e-5, too
    if not named:
        text.seek(0)
    try:
        return np.loadtxt(text, delimiter=delimiter, ndmin=2)
    except ValueError as error:
        raise DataError(str(error), str(path)) from error


def read_c11(files: list[Path], n_features: int) -> tuple[Rows, Sides]:
    """RCV1, the topic C11 against the rest."""
    return _read_rcv1(files, n_features, "C11")


def read_ccat(files: list[Path], n_features: int) -> tuple[Rows, Sides]:
    """RCV1, the topic CCAT against the rest."""
    return _read_rcv1(files, n_features, "CCAT")


def _read_rcv1(files: list[Path], n_features: int, topic: str) -> tuple[Rows, Sides]:
    """Vector files with a document's number where LIBSVM text has a label; a file of lines "topic document 1"."""
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


def read_newsgroups(files: list[Path], n_features: int) -> tuple[Rows, Sides]:
    """20 Newsgroups, all posts: uni- and bigrams, tf-idf, unit rows; even groups (by name, from 0) against odd ones."""
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
    """Sparse unit rows with Zipf-distributed features, labels from a sparse linear rule with noise; not RCV1 itself."""
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
