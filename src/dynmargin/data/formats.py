"""Which format a file has, and how it is read and written."""

import bz2
import gzip
import io
import lzma
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

import numpy as np

from ..problem.matrix import as_matrix
from . import Format, binary, libsvm, npz, tables
from .archives import STDIN, contents, head, name_of, pieces, without_compression
from .atomic import STDOUT, atomic_write
from .columns import Asked, several_called
from .dataset import Csr, DataError, Dataset

TABLES = ("csv", "tsv", "parquet")
DELIMITERS = {"csv": ",", "tsv": "\t"}
_SUFFIXES: dict[str, Format] = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".npz": "npz"}


def format_of(path: str) -> Format:
    """Tell the format by the name: a folder, one of four suffixes (before .gz and the like), or else LIBSVM text."""
    if path.endswith(("/", os.sep)) or Path(path).is_dir():
        return "folder"
    return _SUFFIXES.get(Path(without_compression(path)).suffix.lower(), "libsvm")


def read_dataset(
    path: str,
    format: Format | None = None,
    *,
    label: str | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    features: int | None = None,
    drop: Sequence[str] = (),
    names: Sequence[str] | None = None,
    required: bool = False,
) -> Dataset:
    """Read any file; "-" is standard input.

    `label` is the name or number of the label's column in tables, and `drop` has those of columns to leave out. With
    `features` they may be missing: a label is not looked for in a table of that many columns, and a column called
    "label" replaces one of another name. `names` are those of a model: only such columns are read. If a label is
    `required`, a table without one is refused by its first line.
    """
    format = format or format_of(path)
    asked = Asked(label, drop, required, features, names)
    check_beginning(path, format, asked)
    if format == "folder":
        return _checked(binary.read(path), path)
    delimiter = DELIMITERS.get(format, ",")
    content, name = contents(path), name_of(path)
    match format:
        case "libsvm":
            return libsvm.parse(content, name, zero_based)
        case "npz":
            return _checked(npz.parse(content, name), name)
    if format == "parquet":
        return tables.parse_parquet(content, name, asked)
    return tables.parse_csv(content, name, asked, delimiter)


def stored_rows(path: str, format: Format) -> int | None:
    """Return how many rows a file says that it has; None if it has to be read for that."""
    if format == "folder":
        return binary.open_folder(path).shape[0]
    if format == "parquet" and without_compression(path) == path:
        return tables.rows_in_parquet(path)
    return None


def check_beginning(path: str, format: Format, asked: Asked) -> None:
    """Refuse what the first line of a file shows to be wrong, before everything is read."""
    if asked.drop and format not in TABLES:
        raise DataError(f"--drop is for tables (.csv, .tsv, .parquet); this is {format}", name_of(path))
    if format in DELIMITERS and (first := head(path, tables.HEAD_BYTES)):
        tables.check_header(first, name_of(path), asked, DELIMITERS[format])


def _checked(dataset: Dataset, name: str) -> Dataset:
    """Refuse arrays that do not form rows, labels and names."""
    X, y, names = dataset.X, dataset.y, dataset.feature_names
    if isinstance(X, Csr):
        if not (X.indptr.ndim == X.indices.ndim == X.data.ndim == 1 and X.data.dtype.kind in "fiub"):
            raise DataError("the arrays of its CSR matrix are not one-dimensional numbers", name)
        if X.indptr.dtype.kind + X.indices.dtype.kind != "ii" or len(X.indptr) != X.shape[0] + 1:
            raise DataError("the row pointers of its CSR matrix do not fit its shape", name)
        if not 0 <= X.shape[1] < 2**63:
            raise DataError(f"its CSR matrix cannot have {X.shape[1]} columns", name)
        try:
            as_matrix(X)  # checks what the pointers and indices point to
        except ValueError as error:
            raise DataError(str(error), name) from error
    if y is not None and (y.shape != X.shape[:1] or y.dtype.kind not in "fiubU"):
        raise DataError(f"its labels are {y.shape} of {y.dtype}; one number or text per row is needed", name)
    if names is not None:
        if names.dtype.kind != "U" or names.shape != X.shape[1:]:
            raise DataError(f"its feature_names are {names.shape} of {names.dtype}, not one text per column", name)
        if len(distinct := np.unique(names)) < len(names):
            twice = next(one for one in distinct.tolist() if np.count_nonzero(names == one) > 1)
            raise DataError(several_called(twice), name)
    return dataset


def convert_to_folder(
    path: str, out: str, format: Format | None = None, *, label: str | None = None, drop: Sequence[str] = ()
) -> tuple[bool, tuple[str, ...]]:
    """Write the rows of a file as a folder; return whether they have labels, and messages for the user.

    LIBSVM text and tables are read piece by piece, in memory that does not grow with the file. An .npz archive, and
    Parquet that is compressed as a whole or comes through a pipe, have to be read into memory first.
    """
    format, out = format or format_of(path), out.rstrip("/" + os.sep)
    name = name_of(path)
    if format == "libsvm":
        try:
            return _write_parts(libsvm.parse_pieces(pieces(path, name), name), out)
        except libsvm.OtherBase:
            if path == STDIN:
                raise DataError(
                    "indices begin with 0, which the first rows did not show; convert a file, not standard input", name
                ) from None
            return _write_parts(libsvm.parse_pieces(pieces(path, name), name, True), out)
    asked = Asked(label, drop)
    if format in DELIMITERS:
        return _write_parts(tables.parse_csv_pieces(pieces(path, name), name, asked, DELIMITERS[format]), out)
    if format == "parquet" and path != STDIN and without_compression(path) == path:
        return _write_parts(tables.parse_parquet_pieces(path, asked), out)
    dataset = read_dataset(path, format, label=label, drop=drop)
    return _write_parts(iter([dataset]), out)


def _write_parts(parts: Iterator[Dataset], out: str) -> tuple[bool, tuple[str, ...]]:
    """Write parts of the rows while the next one is being read."""
    with binary.writing(out) as writer, ThreadPoolExecutor(1) as beside:
        written, last, notices = None, None, dict[str, None]()
        for part in parts:
            if written is not None:
                written.result()
            X = part.X.canonical() if isinstance(part.X, Csr) else part.X
            written, last = beside.submit(writer.add, X, part.y), part
            notices |= dict.fromkeys(part.notices)
        if written is None or last is None:
            raise DataError("there are no rows", out)
        written.result()
        writer.finish(last.feature_names, last.first_index, last.label_name)
        return last.y is not None, tuple(notices)


def write_dataset(dataset: Dataset, path: str, format: Format | None = None) -> None:
    """Write any file, compressed if its name says so; "-" is standard output."""
    format = format or format_of(path)
    if isinstance(dataset.X, Csr):
        dataset = replace(dataset, X=dataset.X.canonical())
    if format == "folder":
        binary.write(dataset, path.rstrip("/" + os.sep))
        return
    if format == "libsvm" and dataset.y is not None and dataset.y.dtype.kind not in "fiub":
        raise DataError("LIBSVM text needs labels that are numbers", path)
    pack = _packer(path)
    with atomic_write(path) as file, pack(file) as packed:
        match format:
            case "libsvm":
                libsvm.write(dataset, packed)
            case "npz":
                npz.write(dataset, packed)
            case _:
                tables.write(dataset, packed, format)


def _packer(path: str) -> Callable[[BinaryIO], AbstractContextManager[BinaryIO]]:
    suffix = Path(path).suffix.lower() if path != STDOUT else ""
    if suffix == ".zst":
        raise DataError("zstd can be read but not written; use .gz, .bz2 or .xz", path)
    openers: dict[str, Callable[..., Any]] = {".gz": _open_gzip, ".bz2": bz2.open, ".xz": lzma.open}
    if suffix in openers:
        return lambda file: cast("AbstractContextManager[BinaryIO]", openers[suffix](file, "wb"))
    return nullcontext


class _Gzip(gzip.GzipFile):
    """Says that one cannot go back in it, as the others do: zipfile would try to."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        raise io.UnsupportedOperation("seek")


def _open_gzip(file: BinaryIO, mode: str) -> gzip.GzipFile:
    # Neither a name nor a time in the header: `file` has the name of a temporary file, and the same data are to give
    # the same bytes.
    return _Gzip(filename="", mode=mode, fileobj=file, mtime=0)
