"""LIBSVM / SVMlight text."""

import codecs
import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import _core
from ..problem.cores import cores
from .archives import contents, name_of
from .dataset import Csr, DataError, Dataset
from .limits import max_unpacked, require_end

CHUNK_BYTES = 1 << 20  # what a thread parses at a time
PIECE_BYTES = 16 << 20  # what is parsed at a time where a text is not held in memory as a whole
ROWS_PER_WRITE = 10_000
OTHER_FILES = {  # how they begin, and what to do with them
    codecs.BOM_UTF16_LE: "it is UTF-16 text; write it as UTF-8, as iconv does",
    codecs.BOM_UTF16_BE: "it is UTF-16 text; write it as UTF-8, as iconv does",
    b"\x93NUMPY": "an .npy file holds a single array; write X and y into one .npz file, as numpy.savez does",
    b"PK\x03\x04": "it is a zip archive; if it is an .npz file, use --format npz",
    b"PAR1": "it is a Parquet file; use --format parquet",
}
LONGEST_GLANCE = 10_000  # bytes of a first line


def parse(text: NDArray[np.uint8], name: str, zero_based: bool | Literal["auto"] = "auto") -> Dataset:
    """Parse LIBSVM text; `name` is for messages."""
    text = _without_mark(text, name)
    parsed: Any = _core.parse_libsvm(text, zero_based is False, cores(), CHUNK_BYTES)
    if parsed.error:
        line, column, message = parsed.error
        raise DataError(f"{message}{_about_tables(text, line)}", name, line, column)
    indices, has_values = parsed.columns, len(parsed.values) > 0
    first = 1 if zero_based is False or (zero_based == "auto" and has_values and parsed.smallest > 0) else 0
    if first == 1:
        indices -= 1
    n_columns = max(1, parsed.largest - first + 1)
    notices = (f"{name}: query ids (qid) are ignored",) if parsed.query_ids else ()
    X = Csr(parsed.values, indices, parsed.starts, (len(parsed.labels), n_columns))
    return Dataset(X, parsed.labels, first_index=first, notices=notices)


def _without_mark(text: NDArray[np.uint8], name: str) -> NDArray[np.uint8]:
    """Skip the mark that editors on Windows put before UTF-8; refuse what begins as other files do."""
    begin = text[:6].tobytes()
    for mark, instead in OTHER_FILES.items():
        if begin.startswith(mark):
            raise DataError(instead, name)
    return text[len(codecs.BOM_UTF8) :] if begin.startswith(codecs.BOM_UTF8) else text


def _about_tables(text: NDArray[np.uint8], line: int) -> str:
    """Say how a table is read, where the first line of a text looks like one."""
    first = text[:LONGEST_GLANCE].tobytes().split(b"\n", 1)[0]
    found = next((format for format, mark in (("csv", b","), ("tsv", b"\t")) if mark in first), None)
    return f"; if it is a table, use --format {found}" if line == 1 and found and b":" not in first else ""


class OtherBase(Exception):
    """An index 0 in a text whose indices seemed to begin with 1."""


def parse_pieces(text: Iterator[bytes], name: str, zero_based: bool | Literal["auto"] = "auto") -> Iterator[Dataset]:
    """Parse LIBSVM text that comes in pieces, some megabytes at a time.

    Where indices begin is told by the first rows; if they turn out to be wrong, `OtherBase` is raised.
    """
    lines, guessed = 0, zero_based == "auto"
    for piece in _whole_lines(text, name):
        try:
            part = parse(np.frombuffer(piece, dtype=np.uint8), name, zero_based)
        except DataError as error:
            if guessed and zero_based is False and "index 0 in a file" in error.reason:
                raise OtherBase from error
            raise DataError(error.reason, name, lines + (error.line or 1), error.column) from error
        if zero_based == "auto" and part.X.shape[0] > 0 and len(part.csr().data):
            zero_based = part.first_index == 0
        lines += piece.count(b"\n")
        yield part


def _whole_lines(text: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Put pieces together to some megabytes of whole lines; the last one may have no end."""
    held: list[bytes] = []
    size = 0
    for piece in text:
        size += len(piece)
        if size < PIECE_BYTES or (end := piece.rfind(b"\n") + 1) == 0:
            require_end(size, max_unpacked(), name)  # a line may have no end
            held.append(piece)
            continue
        yield b"".join([*held, piece[:end]])
        held, size = [piece[end:]], len(piece) - end
    if size:
        yield b"".join(held)


def read_libsvm(
    f: str | os.PathLike[str] | BinaryIO,
    *,
    n_features: int | None = None,
    dtype: DTypeLike = np.float64,
    zero_based: bool | Literal["auto"] = "auto",
) -> tuple[Any, NDArray[np.float64]]:
    r"""Read LIBSVM / SVMlight text as ``sklearn.datasets.load_svmlight_file`` does, an order of magnitude faster.

    The values are the same to the last bit. What differs: column indices are 32-bit where they fit (LinearSVC refuses
    others) and may be as large as 64 bits hold; .xz and .zst files are read as well as .gz and .bz2, all recognised by
    their first bytes; errors name the line and the column. Some input is refused that scikit-learn accepts: digits with
    underscores (``1_000``), numbers too large for a double, the index ``-0``, query ids that are not whole numbers or
    whose colon is misplaced.

    Parameters
    ----------
    f : path or binary file object
        What to read; plain, or compressed by gzip, bzip2, xz or zstd (before Python 3.14 with the zstandard package).
    n_features : int, optional
        The number of columns; by default as many as the largest index needs.
    dtype : data type, default=float64
        Of the values.
    zero_based : bool or "auto", default="auto"
        Whether indices begin with 0. "auto" assumes 1 unless it finds a 0.

    Returns
    -------
    X : scipy.sparse.csr_matrix
        The rows.
    y : array of float64
        The labels.

    Examples
    --------
    >>> import io
    >>> from dynmargin import read_libsvm
    >>> X, y = read_libsvm(io.BytesIO(b"+1 1:0.5 3:2  # a comment\n-1 2:1\n"))
    >>> X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    >>> y
    array([ 1., -1.])
    """
    name = name_of(f)
    dataset = parse(contents(f), name, zero_based)
    for notice in dataset.notices:
        warnings.warn(notice, stacklevel=2)
    X = dataset.csr()
    if n_features is not None:
        if n_features < X.shape[1]:
            raise DataError(f"there are {X.shape[1]} features, more than n_features={n_features}", name)
        X = X.with_columns(n_features)
    assert dataset.y is not None
    return replace(X, data=X.data.astype(dtype, copy=False)).to_scipy(), dataset.y


def write(dataset: Dataset, file: BinaryIO) -> None:
    """Write LIBSVM text, one-based, every number with as many digits as it takes to read back the same."""
    X = dataset.csr()
    for begin in range(0, X.shape[0], ROWS_PER_WRITE):
        rows = range(begin, min(begin + ROWS_PER_WRITE, X.shape[0]))
        file.write("".join(_lines(X, dataset.y, rows)).encode())


def _lines(X: Csr, y: NDArray[Any] | None, rows: range) -> Iterator[str]:
    starts = X.indptr[rows.start : rows.stop + 1].tolist()
    indices = (X.indices[starts[0] : starts[-1]] + 1).tolist()
    values = [format_number(value) for value in X.data[starts[0] : starts[-1]].tolist()]
    labels = ["0"] * len(rows) if y is None else [format_number(label) for label in y[rows.start : rows.stop].tolist()]
    entries = [f" {index}:{value}" for index, value in zip(indices, values, strict=True)]
    for label, begin, end in zip(labels, starts, starts[1:], strict=False):
        yield label + "".join(entries[begin - starts[0] : end - starts[0]]) + "\n"


def format_number(value: Any) -> str:
    """Return a number with as few digits as read back the same, whole ones without a point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value)) if value or not str(value).startswith("-") else "-0"
    return str(value)


def label_text(label: Any) -> str:
    """Return a label as files of labels have it: whole numbers without a point."""
    return format_number(label.item() if isinstance(label, np.generic) else label)
