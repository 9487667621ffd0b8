"""Problems to run on: the real sets prepared as in the paper, generated ones, scikit-learn's own, any LIBSVM file.

Files are looked for in a folder, never downloaded. A problem is (X, y, C) with X in CSR or dense float64.
"""

import bz2
import gzip
import lzma
import tarfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn import datasets
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

OPENERS = {".xz": lzma.open, ".bz2": bz2.open, ".gz": gzip.open}


@dataclass(frozen=True)
class PaperSet:
    """A two-class problem of the paper, with what identifies its file."""

    name: str
    file: str
    source: str
    delta: float  # the extension; C = 1 / (2 delta²)
    shape: tuple[int, int]
    n_positive: int
    best: float  # the best directional margin, as independent solvers agree

    @property
    def C(self):
        return 1 / (2 * self.delta**2)

    def load(self, folder):
        path = require(folder, self.file, self.source)
        if self.name == "covertype":
            X, y = read_covertype(path)
        else:
            X, y = read_libsvm(path, self.shape[1])
        if X.shape != self.shape or (y > 0).sum() != self.n_positive:
            raise SystemExit(
                f"{path}: expected {self.shape}, {self.n_positive} positive; got {X.shape}, {(y > 0).sum()}"
            )
        return X, y


PAPER_SETS = {
    problem.name: problem
    for problem in (
        PaperSet("adult", "adult/a9a.xz", "the LIBSVM data page", 1.0, (32561, 123), 7841, 85.295e-4),
        PaperSet("web", "web/w8a.xz", "the LIBSVM data page", 1.0, (49749, 300), 1479, 211.033e-4),
        PaperSet("covertype", "covertype/covtype.csv.xz", "UCI", 3.0, (581012, 54), 211840, 47.953e-4),
    )
}


def require(folder, file, source):
    if folder is None:
        raise SystemExit("name the folder with the data by --data-dir or DYNMARGIN_DATA")
    path = Path(folder) / file
    if not path.exists():
        raise SystemExit(f"{path} is not there; it can be had from {source}")
    return path


def read_libsvm(path, n_features=None):
    with OPENERS.get(path.suffix, open)(path, "rb") as file:
        return datasets.load_svmlight_file(file, n_features=n_features)


def read_covertype(path):
    with lzma.open(path) as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    return sp.csr_matrix(table[:, :-1] * 0.001), np.where(table[:, -1] == 1, 1, -1)


def newsgroups(folder):
    """Stands in for the paper's News20: all posts, uni- and bigrams, tf-idf, unit rows, even against odd groups."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    path = require(folder, "newsgroups/20news-bydate.tar.xz", "the 20 Newsgroups page (20news-bydate)")
    texts, groups = [], []
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile():
                texts.append(archive.extractfile(member).read().decode("latin-1"))
                groups.append(member.name.split("/")[-2])
    X = TfidfVectorizer(ngram_range=(1, 2), dtype=np.float32).fit_transform(texts)
    index = {group: i for i, group in enumerate(sorted(set(groups)))}
    return X, np.array([1 if index[group] % 2 == 0 else -1 for group in groups])


def rcv1_like(rows, features=47236, per_row=75, seed=0):
    """Sparse unit rows with Zipf-distributed features, labels from a sparse linear rule with noise; not RCV1 itself."""
    random = np.random.default_rng(seed)
    frequency = 1 / (np.arange(features) + 10.0)
    columns = random.choice(features, size=rows * per_row, p=frequency / frequency.sum()).astype(np.int32)
    values = random.exponential(size=rows * per_row).astype(np.float32)
    X = sp.csr_matrix((values, columns, np.arange(rows + 1, dtype=np.int64) * per_row), shape=(rows, features))
    X.sum_duplicates()
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sp.diags_array(1 / norms).astype(np.float32) @ X
    rule = random.normal(size=features) * (random.random(features) < 0.1)
    scores = X @ rule
    return sp.csr_matrix(X), np.where(scores + 0.3 * scores.std() * random.normal(size=rows) > 0, 1, -1)


def separable(rows, features, seed=0):
    """Dense rows that a plane through the augmented origin separates with some margin: for the hard margin."""
    random = np.random.default_rng(seed)
    u = random.normal(size=features)
    u /= np.linalg.norm(u)
    X = random.normal(size=(rows, features))
    scores = X @ u
    keep = abs(scores) > 0.1
    return X[keep], np.sign(scores[keep])


def classification(rows, features, **options):
    X, y = datasets.make_classification(rows, features, random_state=0, **options)
    return X, 2 * y - 1


def digits(pair=None):
    X, y = datasets.load_digits(return_X_y=True)
    if pair:
        X, y = X[np.isin(y, pair)], y[np.isin(y, pair)]
        return X / 16, np.where(y == pair[0], 1, -1)
    return X / 16, np.where(y % 2 == 0, 1, -1)


def breast_cancer(scaled):
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return (StandardScaler().fit_transform(X) if scaled else X), 2 * y - 1


def covertype(folder, scale):
    X, y = PAPER_SETS["covertype"].load(folder)
    return scale.fit_transform(X), y


def reuters(folder):
    return read_libsvm(require(folder, "reuters/reuters.trn.bz2", "the LIBSVM data page"), 8315)


def news20(folder):
    X, y = read_libsvm(require(folder, "news20/news20.xz", "the LIBSVM data page"), 62061)
    return MaxAbsScaler().fit_transform(X), np.where(y % 2 == 0, 1, -1)


# Varied problems to judge generality on: name -> (C, how to get X and y from a data folder).
VARIED = {
    "adult-C10": (10.0, lambda folder: PAPER_SETS["adult"].load(folder)),
    "adult-C0.01": (0.01, lambda folder: PAPER_SETS["adult"].load(folder)),
    "web-C10": (10.0, lambda folder: PAPER_SETS["web"].load(folder)),
    "covertype-maxabs": (1.0, lambda folder: covertype(folder, MaxAbsScaler())),
    "covertype-standard": (0.1, lambda folder: covertype(folder, StandardScaler(with_mean=False))),
    "reuters": (1.0, reuters),
    "reuters-C100": (100.0, reuters),
    "news20-even": (1.0, news20),
    "digits-even": (1.0, lambda folder: digits()),
    "digits-even-C0.01": (0.01, lambda folder: digits()),
    "breast-cancer": (1.0, lambda folder: breast_cancer(scaled=True)),
    "breast-cancer-raw": (1.0, lambda folder: breast_cancer(scaled=False)),
    "overlap-20": (1.0, lambda folder: classification(50_000, 20, n_informative=10, class_sep=0.5)),
    "overlap-5-tall": (1.0, lambda folder: classification(300_000, 5, n_redundant=0, class_sep=0.3)),
    "clean-100": (1.0, lambda folder: classification(30_000, 100, n_informative=40, class_sep=2.0)),
    "wide-genes": (0.1, lambda folder: classification(300, 8000, n_informative=50)),
    "rare-positives": (1.0, lambda folder: classification(60_000, 30, weights=[0.98], n_informative=10)),
    "dense-500": (0.1, lambda folder: classification(8000, 500, n_informative=100)),
    "rcv1-like-20k": (1.0, lambda folder: rcv1_like(20_000, seed=1)),
    "rcv1-like-20k-C30": (30.0, lambda folder: rcv1_like(20_000, seed=2)),
}

HARD = {
    "separable-5000x20": lambda folder: separable(5000, 20),
    "separable-20000x100": lambda folder: separable(20_000, 100),
    "digits-0-1": lambda folder: digits((0, 1)),
    "digits-3-8": lambda folder: digits((3, 8)),
}


def load(name, folder):
    """Load a problem by name: X, y in {-1, 1}, C."""
    if name in PAPER_SETS:
        return *PAPER_SETS[name].load(folder), PAPER_SETS[name].C
    if name in VARIED:
        C, make = VARIED[name]
        X, y = make(folder)
    elif name in HARD:
        C, (X, y) = np.inf, HARD[name](folder)
    elif name == "newsgroups":
        C, (X, y) = 50.0, newsgroups(folder)
    elif name.startswith("rcv1-like:"):
        C, (X, y) = 1 / (2 * 0.3**2), rcv1_like(int(name.partition(":")[2]))
    elif Path(name).exists():
        C, (X, y) = 1.0, read_libsvm(Path(name))
        y = np.where(y == y.max(), 1, -1)
    else:
        known = ", ".join([*PAPER_SETS, "newsgroups", "rcv1-like:ROWS", *VARIED, *HARD])
        raise SystemExit(f"no problem is called {name!r}, and no file; there are {known}")
    return X, y, C
