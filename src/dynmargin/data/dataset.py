"""What a file holds: rows, perhaps labels and names; and the error raised when it cannot be read."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..problem.matrix import as_floats, require_finite, require_lengths, row_of_file
from ..problem.problems import distinct, require_two_classes

MOST_CHARACTERS = 500  # of a reason
ENTRIES_PER_BLOCK = 1 << 20  # of a sparse matrix, multiplied at a time
NO_LABELS = "the data have no labels: in a table --label names their column, in an .npz file they are the array y"
LONGEST_NAME = 1000  # of a column: an array of text takes as much for every name as for the longest


class DataError(ValueError):
    """A file that cannot be read as data, and where it goes wrong if that is known.

    Attributes
    ----------
    reason, path : str
        What is wrong, and in which file.
    line, column : int or None
        Where, counted from 1; columns count bytes. For a compressed file the place is in the unpacked text.

    Examples
    --------
    >>> import io
    >>> from dynmargin import DataError, read_libsvm
    >>> try:
    ...     read_libsvm(io.BytesIO(b"+1 1:0.5 2:one"))
    ... except DataError as error:
    ...     print(error.line, error.column)
    1 12
    """

    def __init__(self, reason: str, path: str, line: int | None = None, column: int | None = None) -> None:
        reason = reason if len(reason) <= MOST_CHARACTERS else f"{reason[:MOST_CHARACTERS]}..."  # of a hostile file
        super().__init__(reason, path, line, column)
        self.reason, self.path, self.line, self.column = reason, path, line, column

    def __str__(self) -> str:
        place = "" if self.line is None else f", line {self.line}, column {self.column}"
        return f"{self.path}{place}: {self.reason}"


def as_names(names: list[str], path: str) -> NDArray[np.str_]:
    """Return the names of columns as an array."""
    if (longest := max(map(len, names), default=0)) > LONGEST_NAME:
        raise DataError(f"a column has a name of {longest} characters; at most {LONGEST_NAME} are allowed", path)
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        raise DataError("the name of a column holds invalid Unicode", path) from None
    return np.array(names, dtype=np.str_)


@dataclass(frozen=True, eq=False)
class Csr:
    """The three arrays of a sparse matrix, under scipy's names but without scipy."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    shape: tuple[int, int]

    def tocsr(self) -> Self:
        """Return itself: what `as_matrix` asks any sparse matrix for."""
        return self

    def to_scipy(self) -> Any:
        """Return the same arrays as a scipy.sparse.csr_matrix."""
        from scipy.sparse import csr_matrix

        return csr_matrix((self.data, self.indices, self.indptr), shape=self.shape)

    def __matmul__(self, other: NDArray[np.float64]) -> NDArray[np.float64]:
        """Multiply by a table, each row summed in its own order."""
        n_rows = self.shape[0]
        product = np.zeros((n_rows, other.shape[1]))
        begin = 0
        while begin < n_rows:  # a block of rows at a time
            last = np.searchsorted(self.indptr, self.indptr[begin] + ENTRIES_PER_BLOCK, side="right")
            end = max(begin + 1, int(last) - 1)
            entries = slice(int(self.indptr[begin]), int(self.indptr[end]))
            rows = np.repeat(np.arange(end - begin), np.diff(self.indptr[begin : end + 1]))
            indices, values = self.indices[entries], self.data[entries]
            for k, w in enumerate(other.T):
                product[begin:end, k] = np.bincount(rows, weights=values * w[indices], minlength=end - begin)
            begin = end
        return product

    def __getitem__(self, rows: NDArray[np.int64]) -> "Csr":
        """Copy some rows, in the order given."""
        lengths = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        taken = np.arange(indptr[-1]) + np.repeat(self.indptr[:-1][rows] - indptr[:-1], lengths)
        return Csr(self.data[taken], self.indices[taken], indptr.astype(self.indptr.dtype), (len(rows), self.shape[1]))

    def canonical(self) -> "Csr":
        """Return rows whose columns are in order and distinct; values of the same column are added."""
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        if ((np.diff(self.indices) > 0) | (np.diff(rows) > 0)).all():
            return self
        order = np.lexsort((self.indices, rows))
        rows, columns, values = rows[order], self.indices[order], as_floats(self.data)[order]
        first = np.concatenate([[True], (np.diff(columns) > 0) | (np.diff(rows) > 0)])
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[first], minlength=self.shape[0]))])
        values = np.add.reduceat(values, np.flatnonzero(first))
        return Csr(values, columns[first], indptr.astype(self.indptr.dtype), self.shape)

    def with_columns(self, n_columns: int) -> "Csr":
        """Return rows of that many columns; entries beyond them are dropped."""
        if self.shape[1] <= n_columns:
            return replace(self, shape=(self.shape[0], n_columns))
        return self._keep(self.indices < n_columns, self.indices, n_columns)

    def take_columns(self, order: list[int]) -> "Csr":
        """Return rows of these columns, in the order given."""
        places = np.full(self.shape[1], -1, dtype=self.indices.dtype)
        places[order] = np.arange(len(order))
        indices = places[self.indices]
        return self._keep(indices >= 0, indices, len(order))

    def _keep(self, kept: NDArray[np.bool_], indices: NDArray[Any], n_columns: int) -> "Csr":
        indptr = np.concatenate([[0], np.cumsum(kept)])[self.indptr].astype(self.indptr.dtype)
        return Csr(self.data[kept], indices[kept], indptr, (self.shape[0], n_columns))


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows as they were read.

    Attributes
    ----------
    X : Csr or array
        The rows; float32 or float64.
    y : array or None
        Their labels, if there are any.
    feature_names : array of str or None
        The names of the columns, where the file has names.
    first_index : int or None
        Where the file's indices begin, 0 or 1, for LIBSVM text.
    notices : tuple of str
        Messages for the user.
    label_name : str or None
        The name of the label's column, where the file has names.
    dropped : tuple of str
        The columns of a table that were to be left out: their names, or their numbers where it has no names.
    ignored : tuple of str
        The columns of a table that the model which the rows are for does not know.
    files : tuple of (str, int)
        The files that the rows come from, and how many each has, for messages.
    """

    X: Csr | NDArray[Any]
    y: NDArray[Any] | None
    feature_names: NDArray[np.str_] | None = None
    first_index: int | None = None
    notices: tuple[str, ...] = ()
    label_name: str | None = None
    dropped: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    files: tuple[tuple[str, int], ...] = ()

    def labelled(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the classes, in order, and the label of each row; labels that cannot be trained on are refused."""
        y = self.y
        if y is None:
            raise ValueError(NO_LABELS)
        if len(y) == 0:
            raise ValueError("there are no rows to train on")
        self.require_labels()
        classes = distinct(y)
        require_two_classes(classes)
        return classes, y

    def require_labels(self) -> None:
        """Refuse labels that are not finite, naming the first row that has one."""
        if self.y is not None and self.y.dtype.kind == "f" and len(wrong := np.flatnonzero(~np.isfinite(self.y))):
            column = "" if self.label_name is None else f" in column {self.label_name!r}"
            row = int(wrong[0])
            raise ValueError(f"the label of {self.row_name(row)}{column} is {self.y[row]}, which is not a label")

    def require_finite(self) -> None:
        """Refuse NaN and infinities, naming the first row that has one."""
        require_finite(self.X, self.row_name)

    def require_lengths(self) -> None:
        """Refuse rows that cannot be packed, naming the first one."""
        require_lengths(self.X, self.row_name)

    def row_name(self, row: int) -> str:
        """Name a row as it is counted in its file."""
        for file, length in self.files:
            if row < length:
                return f"row {row + 1} of {file} (counting from 1)"
            row -= length
        return row_of_file(row)

    def columns_beyond(self, names: NDArray[np.str_] | None) -> list[str]:
        """Return the names of the columns that are not among `names`, where both have names."""
        if names is None or self.feature_names is None:
            return []
        known = set(names.tolist())
        return [*self.ignored] + [name for name in self.feature_names.tolist() if name not in known]

    def aligned(self, names: NDArray[np.str_] | None) -> Self:
        """Put the columns into the order of `names`, where both have names; drop those of `columns_beyond`."""
        if names is None or self.feature_names is None or np.array_equal(names, self.feature_names):
            return self
        places = {name: j for j, name in enumerate(self.feature_names.tolist())}
        if missing := [name for name in names.tolist() if name not in places]:
            raise ValueError(f"the data have no column {missing[0]!r}, which the model needs")
        order = [places[name] for name in names.tolist()]
        X = self.X.take_columns(order) if isinstance(self.X, Csr) else self.X[:, order]
        return replace(self, X=X, feature_names=names)

    def csr(self) -> Csr:
        """Return the rows in sparse form, without the zeros of dense ones."""
        if isinstance(self.X, Csr):
            return self.X
        rows, columns = np.nonzero(self.X)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(self.X)))])
        return Csr(self.X[rows, columns], columns, indptr, self.X.shape)
