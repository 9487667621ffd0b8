"""The real data sets, prepared as in the paper; the files are looked for in a folder, never downloaded."""

import lzma
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file


@dataclass(frozen=True)
class DataSet:
    """A two-class problem of the paper."""

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
        path = Path(folder) / self.file
        if not path.exists():
            raise SystemExit(f"{self.name}: {path} is not there; it can be had from {self.source}")
        with lzma.open(path) as file:
            if self.name == "covertype":
                table = np.loadtxt(file, delimiter=",", skiprows=1)
                X, y = sp.csr_matrix(table[:, :-1] * 0.001), np.where(table[:, -1] == 1, 1, -1)
            else:
                X, y = load_svmlight_file(file, n_features=self.shape[1])
        if X.shape != self.shape or (y > 0).sum() != self.n_positive:
            raise SystemExit(
                f"{path}: expected {self.shape} with {self.n_positive} positive, got {X.shape}, {(y > 0).sum()}"
            )
        return X, y


SETS = {
    problem.name: problem
    for problem in (
        DataSet("adult", "adult/a9a.xz", "the LIBSVM data page", 1.0, (32561, 123), 7841, 85.295e-4),
        DataSet("web", "web/w8a.xz", "the LIBSVM data page", 1.0, (49749, 300), 1479, 211.033e-4),
        DataSet("covertype", "covertype/covtype.csv.xz", "UCI", 3.0, (581012, 54), 211840, 47.953e-4),
    )
}
