"""CSV and Parquet, read by pyarrow (``pip install dynmargin[tables]``)."""

from collections import Counter
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .dataset import Csr, DataError, Dataset, as_names
from .limits import max_unpacked, require_unpacked, taking_memory

NUMBERS = ("int", "uint", "float", "double", "halffloat", "half_float", "bool")  # how such types are called
LABEL = "label"  # what the label's column is called in tables that we write
MOST_CELLS = 2**31  # a larger sparse matrix does not belong in a table
CELL_BYTES = 16  # of a number: in pyarrow's table, and in ours
COLUMN_BYTES = 10_000  # that pyarrow takes for a column of CSV, whatever it holds (3 GB for 300,000 columns)


def parse_csv(
    content: NDArray[np.uint8], name: str, label: str | None, features: int | None = None, delimiter: str = ","
) -> Dataset:
    """Read CSV; its first line holds names unless all its fields are numbers."""
    pyarrow = _pyarrow(name)
    from pyarrow import csv

    first_line = bytes(content[: 1 << 20]).split(b"\n", 1)[0].decode(errors="replace")
    _require_room_for_columns(content, name, delimiter)
    headless = all(_is_number(field) for field in first_line.split(delimiter))
    try:
        table = csv.read_csv(
            pyarrow.py_buffer(content),
            read_options=csv.ReadOptions(autogenerate_column_names=headless),
            parse_options=csv.ParseOptions(delimiter=delimiter),
        )
    except MemoryError as error:  # pyarrow's is both
        raise MemoryError(_core.shortage("the table", CELL_BYTES * _cells(content, delimiter))) from error
    except pyarrow.ArrowException as error:
        raise DataError(f"not readable as CSV: {error}", name) from error
    return _dataset(table, name, label, features, named=not headless)


def parse_parquet(content: NDArray[np.uint8], name: str, label: str | None, features: int | None = None) -> Dataset:
    """Read Parquet."""
    pyarrow = _pyarrow(name)
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(pyarrow.py_buffer(content)))
        n_bytes = CELL_BYTES * file.metadata.num_rows * file.metadata.num_columns
        require_unpacked(n_bytes, len(content), name)
        with taking_memory("the table", n_bytes):
            table = file.read()
    except (DataError, MemoryError):
        raise
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"not readable as Parquet: {error}", name) from error
    return _dataset(table, name, label, features, named=True)


def write(dataset: Dataset, file: BinaryIO, format: str) -> None:
    """Write Parquet, CSV or TSV with a line of names; the label comes first."""
    _pyarrow("output")
    from pyarrow import csv, parquet

    if format == "parquet":
        parquet.write_table(_table(dataset), file)
    else:
        csv.write_csv(_table(dataset), file, csv.WriteOptions(delimiter="\t" if format == "tsv" else ","))


def _pyarrow(name: str) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise DataError("CSV and Parquet need another package: pip install dynmargin[tables]", name) from None
    return pyarrow


def _require_room_for_columns(content: NDArray[np.uint8], name: str, delimiter: str) -> None:
    """Refuse a first line of so many fields that their administration alone would fill the memory."""
    columns = 1
    for begin in range(0, len(content), 1 << 20):
        line, end, _ = content[begin : begin + (1 << 20)].tobytes().partition(b"\n")
        columns += line.count(delimiter.encode())
        if end:
            break
    if COLUMN_BYTES * columns > max_unpacked():
        size = _core.in_units(COLUMN_BYTES * columns)
        raise DataError(f"a table of {columns} columns takes {size} of memory; use LIBSVM text, .npz or a folder", name)


def _cells(content: NDArray[np.uint8], delimiter: str) -> int:
    """Count the fields of a table, at least."""
    pieces = (content[begin : begin + (1 << 20)].tobytes() for begin in range(0, len(content), 1 << 20))
    return sum(piece.count(delimiter.encode()) + piece.count(b"\n") for piece in pieces)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _dataset(table: Any, name: str, label: str | None, features: int | None, named: bool) -> Dataset:
    names: list[str] = table.column_names
    if len(set(names)) < len(names):
        twice = next(column for column, times in Counter(names).items() if times > 1)
        raise DataError(f"several columns are called {twice!r}", name)
    if features is not None:
        label = _label_if_there(names, label, features)
    target = None if label is None else _find(names, label, name)
    others = [j for j in range(len(names)) if j != target]
    if not others:
        raise DataError("there is no column besides the label", name)
    columns = [_numbers(table.column(j), names[j], name, labelled=target is not None) for j in others]
    single = all(column.dtype == np.float32 for column in columns)
    with taking_memory("the table", CELL_BYTES * table.num_rows * len(others)):
        X = np.empty((table.num_rows, len(others)), dtype=np.float32 if single else np.float64)
    for j, column in enumerate(columns):
        X[:, j] = column
    y = None if target is None else _labels(table.column(target), names[target], name)
    if not named:
        return Dataset(X, y)
    feature_names = as_names([names[j] for j in others], name)
    return Dataset(X, y, feature_names, label_name=None if target is None else names[target])


def _label_if_there(names: list[str], label: str | None, features: int) -> str | None:
    """Find the label in a table that may have none: by its name, the name that `write` gives it, or its number."""
    if len(names) == features:
        return None
    for title in (label, LABEL):
        if title in names:
            return title
    return label if _is_number(label or "") else None


def _find(names: list[str], label: str, name: str) -> int:
    """Find the column of the label by its name, or else by its number: 1 is the first, -1 the last."""
    if label in names:
        return names.index(label)
    try:
        number = int(label)
    except ValueError:
        known = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        raise DataError(f"no column is called {label!r}; there are {known}", name) from None
    if not 1 <= abs(number) <= len(names):
        raise DataError(
            f"there is no column {number}; they are numbered from 1 to {len(names)}, or from -1 backwards", name
        )
    return number - 1 if number > 0 else len(names) + number


def _numbers(column: Any, title: str, name: str, labelled: bool) -> NDArray[Any]:
    kind = str(column.type)
    if not kind.startswith(NUMBERS):
        label = "" if labelled else "if it is the label, name it by --label; else "
        raise DataError(f"column {title!r} holds {kind}, not numbers: {label}encode it as numbers, or drop it", name)
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0]) + 1
        raise DataError(f"column {title!r} has no value in row {row}", name)
    array: NDArray[Any] = column.to_numpy()
    return array


def _labels(column: Any, title: str, name: str) -> NDArray[Any]:
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0]) + 1
        raise DataError(f"the label {title!r} is missing in row {row}", name)
    if not str(column.type).startswith((*NUMBERS, "string", "large_string", "dictionary<values=string")):
        raise DataError(f"the label {title!r} holds {column.type}, neither numbers nor text", name)
    labels = np.asarray(column.to_pylist() if "dictionary" in str(column.type) else column.to_numpy())
    return labels.astype(np.str_) if labels.dtype.kind in "OUS" else labels


def _table(dataset: Dataset) -> Any:
    import pyarrow

    X = dataset.X
    if isinstance(X, Csr):
        rows, columns = X.shape
        if rows * columns > MOST_CELLS:
            raise DataError(f"{rows} x {columns} is too large for a table; use text, .npz or a folder", "output")
        dense = np.zeros(X.shape, dtype=X.data.dtype)
        dense[np.repeat(np.arange(rows), np.diff(X.indptr)), X.indices] = X.data
        X = dense
    names = (
        [f"f{j + 1}" for j in range(X.shape[1])] if dataset.feature_names is None else dataset.feature_names.tolist()
    )
    if dataset.y is not None:
        label = LABEL
        while label in names:
            label = f"{label}_"
        return pyarrow.table([dataset.y, *X.T.copy()], names=[label, *names])
    return pyarrow.table([*X.T.copy()], names=names)
