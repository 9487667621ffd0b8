"""What each reader promises about any input whatever; an exception that leaves a target is a broken promise.

What may be refused is refused by the documented exception with a sentence; what is accepted can be written and read
again, and is what another reader of the format reads.
"""

import io
import os
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.datasets import load_svmlight_file

import dynmargin
from dynmargin import DataError, ModelFileError
from dynmargin.algorithms.registry import ALGORITHMS
from dynmargin.comparison.compare import make
from dynmargin.data import libsvm
from dynmargin.data.dataset import Csr, Dataset
from dynmargin.data.formats import read_dataset, write_dataset
from dynmargin.model import liblinear_file

from .mutate import archive_of, entries_of

CORPUS = Path(__file__).parent / "corpus"
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")


@dataclass(frozen=True)
class Target:
    """A reader under attack.

    Attributes
    ----------
    check : callable
        Gives the reader some bytes and checks what it promises; takes a folder for files as well.
    fresh : callable
        Makes valid inputs by the present code, beside those of the corpus.
    """

    check: Callable[[bytes, Path], None]
    fresh: Callable[[], list[bytes]]

    def seeds(self, name: str) -> list[bytes]:
        kept = [path.read_bytes() for path in sorted((CORPUS / name).iterdir()) if path.is_file()]
        return kept + self.fresh()


def refused(error: Exception) -> None:
    """Require a sentence for a human, not whatever an inner library said last."""
    text = str(error)
    assert len(text.split()) >= 3, f"not a sentence: {text!r}"
    repeats_the_array = text.startswith("Expected 2D array")  # scikit-learn's own words
    assert len(text) < 2000 or repeats_the_array, f"a message of {len(text)} characters: {text[:300]}"


def same(a: object, b: object) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.dtype.kind == b.dtype.kind and a.tolist().__repr__() == b.tolist().__repr__()


# LIBSVM text ----------------------------------------------------------------------------------------------------------


def check_text(data: bytes, _: Path) -> None:
    try:
        X, y = dynmargin.read_libsvm(io.BytesIO(data))
    except DataError as error:
        return refused(error)
    assert len(y) == X.shape[0] == len(X.indptr) - 1
    assert X.nnz == 0 or 0 <= X.indices.min() <= X.indices.max() < X.shape[1]
    if data.startswith(COMPRESSED):
        return None  # scikit-learn unpacks by the name of the file
    written = io.BytesIO()
    libsvm.write(Dataset(Csr(X.data, X.indices, X.indptr, X.shape), y), written)
    again, y_again = dynmargin.read_libsvm(io.BytesIO(written.getvalue()), n_features=X.shape[1], zero_based=False)
    assert same(X.data, again.data), "written and read again, the values differ"
    assert same(X.indices, again.indices), "written and read again, the columns differ"
    assert same(X.indptr, again.indptr), "written and read again, the rows differ"
    assert same(y, y_again), "written and read again, the labels differ"
    try:
        theirs, their_y = load_svmlight_file(io.BytesIO(data))
    except Exception:  # it refuses more and less, in its own ways
        return None
    assert same(X.data, theirs.data), "scikit-learn reads other values"
    assert same(X.indices, theirs.indices), "scikit-learn reads other columns"
    assert same(X.indptr, theirs.indptr), "scikit-learn reads other rows"
    assert same(y, their_y), "scikit-learn reads other labels"


# Models ---------------------------------------------------------------------------------------------------------------

_rng = np.random.default_rng(0)
X = _rng.normal(size=(12, 3)).round(2)
Y = np.arange(12) % 3


def _models() -> list[dynmargin.LinearModel]:
    found = []
    for y, parameters in (
        (Y == 1, {}),
        (Y, {}),
        (Y, {"multi_class": "joint"}),
        (np.array(["a", "b"])[Y % 2], {"C": 10.0}),
    ):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = Path(folder) / "model.npz"
            dynmargin.PDMClassifier(0.1, random_state=0, **parameters).fit(X, y).save(path)
            found.append(path.read_bytes())
    return found


_known: list[tuple[object, float, float]] = []  # problem, margin and upper bound of certificates that are true


def check_model(data: bytes, folder: Path) -> None:
    path = folder / "model.npz"
    path.write_bytes(data)
    try:
        model = dynmargin.load(path)
    except ModelFileError as error:
        return refused(error)
    assert np.isfinite(model.coef).all()
    for y in (Y, Y == 1):
        try:
            verdict = model.verify(X, y)
        except ValueError as error:  # other features, other labels
            refused(error)
            continue
        if verdict:
            _require_true(model, y)
    if model.coef.shape[1] == X.shape[1] and model.feature_names is None:
        model.predict(X)
    try:
        model.save(folder / "again.npz")
    except ValueError as error:
        return refused(error)
    again = dynmargin.load(folder / "again.npz")
    assert same(model.coef, again.coef), "saved and loaded again, the weights differ"
    assert same(model.intercept, again.intercept), "saved and loaded again, the intercepts differ"
    assert same(model.classes, again.classes), "saved and loaded again, the classes differ"
    assert repr(model.parameters) == repr(again.parameters), "saved and loaded again, the parameters differ"
    for one, two in zip(model.certificates, again.certificates, strict=True):
        assert str(one) == str(two), "saved and loaded again, the certificates differ"


def _require_true(model: dynmargin.LinearModel, y: np.ndarray) -> None:
    """Compare bounds that are said to be proven with those of certificates that are certainly true."""
    if not _known:
        for y_known, parameters in ((Y == 1, {}), (Y, {}), (Y, {"multi_class": "joint"})):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = dynmargin.PDMClassifier(0.01, random_state=0, **parameters).fit(X, y_known)
            _known.extend(
                (c.problem, c.margin, c.upper_bound, len(set(y_known.tolist()))) for c in fitted.certificates_
            )
    for certificate in model.certificates:
        assert certificate.margin <= certificate.upper_bound
        for problem, margin, upper_bound, n_classes in _known:
            if certificate.problem == problem and n_classes == len(set(y.tolist())):
                assert certificate.margin <= upper_bound, "a margin beyond the best one is called proven"
                assert certificate.upper_bound >= margin, "an upper bound below a margin that exists is called proven"


def check_liblinear(data: bytes, _: Path) -> None:
    try:
        model = liblinear_file.parse(np.frombuffer(data, np.uint8), "it")
    except ModelFileError as error:
        return refused(error)
    assert np.isfinite(model.coef).all(), "weights that are not finite"
    assert np.isfinite(model.intercept).all(), "intercepts that are not finite"
    assert model.coef.shape[0] == len(model.intercept)
    model.predict(np.zeros((1, model.n_features)))
    try:
        text = liblinear_file.format_model(model)
    except ValueError as error:
        return refused(error)
    again = liblinear_file.parse(np.frombuffer(text.encode(), np.uint8), "it")
    assert same(model.coef, again.coef), "written and read again, the weights differ"
    assert same(model.classes, again.classes), "written and read again, the classes differ"


# Data -----------------------------------------------------------------------------------------------------------------


def check_npz(data: bytes, folder: Path) -> None:
    path = folder / "data.npz"
    path.write_bytes(data)
    _check_dataset(path, folder)


def check_folder(data: bytes, folder: Path) -> None:
    """Data are the zipped files of the folder."""
    target = folder / "data"
    target.mkdir(exist_ok=True)
    for path in target.iterdir():
        path.unlink()
    try:
        entries = entries_of(data)
    except Exception:
        return
    for name, content in entries.items():
        if name and "/" not in name and "\0" not in name:
            (target / name).write_bytes(content)
    _check_dataset(target, folder)


def _check_dataset(path: Path, folder: Path) -> None:
    try:
        dataset = read_dataset(str(path))
    except DataError as error:
        return refused(error)
    rows, columns = dataset.X.shape
    assert dataset.y is None or dataset.y.shape == (rows,)
    for use in (dataset.labelled, dataset.require_finite):
        try:
            use()
        except ValueError as error:
            refused(error)
    again = folder / "again.npz"
    try:
        write_dataset(dataset, str(again))
    except ValueError as error:
        return refused(error)
    read = read_dataset(str(again))
    assert read.X.shape == (rows, columns), "written and read again, the shape differs"
    if rows * columns < 10**5:
        assert same(_dense(dataset.X), _dense(read.X)), "written and read again, the rows differ"
    if dataset.y is not None:
        assert same(dataset.y, read.y), "written and read again, the labels differ"


def _dense(X: object) -> np.ndarray:
    with np.errstate(all="ignore"):
        return X.canonical().to_scipy().toarray() if isinstance(X, Csr) else np.asarray(X)


def _datasets() -> list[Dataset]:
    dense = Dataset(X, Y, np.array(["a", "b", "c"]))
    sparse = Dataset(dense.csr(), Y.astype(float), first_index=1)
    return [dense, sparse]


def _npz() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{i}.npz" for i in range(2)]
        for dataset, path in zip(_datasets(), paths, strict=True):
            write_dataset(dataset, str(path))
        return [path.read_bytes() for path in paths]


def _folders() -> list[bytes]:
    found = []
    for dataset in _datasets():
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "data"
            write_dataset(dataset, str(target), "folder")
            found.append(archive_of({path.name: path.read_bytes() for path in sorted(target.iterdir())}))
    return found


# The estimators' input ------------------------------------------------------------------------------------------------

NAMES = tuple(ALGORITHMS)


def check_arrays(data: bytes, _: Path) -> None:
    """Fit and verify arrays of any structure; which estimator is told by their bytes."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {
                key: archive[key] for key in archive.files if archive.zip.getinfo(key + ".npy").file_size < 1 << 16
            }
    except Exception:
        return
    arrays = {key: array for key, array in arrays.items() if isinstance(array, np.ndarray)}  # bytes are no .npy
    rows, y = _hostile_rows(arrays), arrays.get("y", Y)
    name = NAMES[sum(data) % len(NAMES)]
    estimator = make(name, epsilon=0.1, random_state=0)
    limits = {key: value for key, value in (("max_updates", 300), ("max_time", 0.2)) if key in estimator.get_params()}
    estimator.set_params(**limits)
    weight = arrays.get("sample_weight")
    try:
        estimator.fit(rows, y, **({} if weight is None else {"sample_weight": weight}))
    except (ValueError, TypeError) as error:
        refused(error)
        _check_verify(rows, y)
        return
    assert np.isfinite(estimator.coef_).all(), f"{name}: weights that are not finite"
    assert np.isfinite(estimator.intercept_).all(), f"{name}: intercepts that are not finite"
    for certificate in estimator.certificates_:
        verdict = certificate.verify(rows, y, *(() if weight is None else (weight,)))
        assert verdict, f"{name}: its own certificate is {verdict}"
    estimator.predict(rows)


_fitted: list[dynmargin.PDMClassifier] = []


def _check_verify(rows: object, y: object) -> None:
    """What no fit takes, a certificate may still be asked about."""
    if not _fitted:
        _fitted.append(dynmargin.PDMClassifier(0.1, random_state=0).fit(X, Y))
    try:
        _fitted[0].certificate_.verify(rows, y)
    except (ValueError, TypeError) as error:
        refused(error)


def _hostile_rows(arrays: dict[str, np.ndarray]) -> object:
    """Make rows as they are, without the checks of their own constructors."""
    if "X" in arrays:
        rows = arrays["X"]
        rows.flags.writeable = "read_only" not in arrays
        return rows[:, ::-1] if rows.ndim == 2 and "reversed" in arrays else rows
    rows = csr_matrix((1, 1))
    rows.data, rows.indices, rows.indptr = (arrays.get(name, np.zeros(1)) for name in ("data", "indices", "indptr"))
    try:
        rows._shape = tuple(int(n) for n in arrays["shape"].ravel()[:2])
    except (KeyError, ValueError, OverflowError, TypeError):
        rows._shape = X.shape
    assert issparse(rows)
    return rows


def _arrays() -> list[bytes]:
    sparse = csr_matrix(np.where(np.abs(X) > 0.5, X, 0))
    csr = {"data": sparse.data, "indices": sparse.indices, "indptr": sparse.indptr, "shape": np.array(sparse.shape)}
    found = []
    for arrays in (
        {"X": X, "y": Y},
        {"X": np.asfortranarray(X, dtype=np.float32), "y": (Y == 1), "reversed": np.array(1)},
        {"X": X, "y": Y % 2, "sample_weight": np.linspace(0, 2, 12), "read_only": np.array(True)},
        csr | {"y": Y},
        csr | {"y": Y % 2, "indices": sparse.indices.astype(np.int64), "indptr": sparse.indptr.astype(np.int64)},
    ):
        file = io.BytesIO()
        np.savez(file, **arrays)
        found.append(file.getvalue())
    return found


def _nothing() -> list[bytes]:
    return []


TARGETS = {
    "text": Target(check_text, _nothing),
    "model": Target(check_model, _models),
    "liblinear": Target(check_liblinear, _nothing),
    "folder": Target(check_folder, _folders),
    "npz": Target(check_npz, _npz),
    "arrays": Target(check_arrays, _arrays),
}


def scratch() -> tempfile.TemporaryDirectory:
    """Return a folder for files that are read at once, in memory where the system has such a place."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
