"""CSV and Parquet, read by pyarrow, which the extra ``tables`` brings."""

import csv
import io
import shlex
import time
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.matrix import row_of_file
from ..problem.statement import among_others, counted
from ..problem.wording import any_of
from .columns import LABEL, Asked, choose, listed
from .dataset import Csr, DataError, Dataset, as_names
from .limits import SMALL, max_unpacked, require_unpacked, taking_memory

NUMBERS = ("int", "uint", "float", "double", "halffloat", "half_float", "bool")  # how such types are called
TEXT, TIMES = "text", "dates or times"
KINDS = {**dict.fromkeys(("timestamp", "date", "time", "duration"), TIMES), "null": "no values", "decimal": "decimals"}
INSTEAD = {  # of leaving a column out
    TEXT: "write a column of 0 and 1 for every category",
    TIMES: "write a number for every time, such as the days since the first",
    "decimals": "write them as floating-point numbers",
}
WORDS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}  # delimiters
FORMAT_OF = {"\t": "tsv", ",": "csv"}
MOST_DROPPED = 10  # named in a message
MOST_LOOKED_AT = 100_000  # rows, for a value that is not like the others
HEAD_BYTES = 1 << 20  # in which the first line ends
MOST_CELLS = 2**31  # a larger sparse matrix does not belong in a table
PIECE_BYTES = 16 << 20  # what is read at a time where a table is not held in memory as a whole
MOST_PATIENCE = 1.0  # seconds for pyarrow's threads to let go of what they have read
CELL_BYTES = 16  # of a number: in pyarrow's table, and in ours
COLUMN_BYTES = 10_000  # that pyarrow takes for a column of CSV, whatever it holds (3 GB for 300,000 columns)


def parse_csv(content: NDArray[np.uint8], name: str, asked: Asked, delimiter: str = ",") -> Dataset:
    """Read CSV; its first line holds names unless all its fields are numbers."""
    pyarrow = _pyarrow(name)
    from pyarrow import csv as pyarrow_csv

    lent = Lent(content[:])
    try:
        head = bytes(content[:HEAD_BYTES])
        _require_table(head, name, asked, delimiter)
        _require_room_for_columns(content, name, delimiter)
        headless = all(_is_number(field) for field in _fields(head, delimiter))
        table = pyarrow_csv.read_csv(
            pyarrow.py_buffer(lent.take()),
            read_options=pyarrow_csv.ReadOptions(autogenerate_column_names=headless),
            parse_options=pyarrow_csv.ParseOptions(delimiter=delimiter),
        )
    except MemoryError as error:  # pyarrow's is both
        raise MemoryError(_core.shortage("the table", CELL_BYTES * _cells(content, delimiter))) from error
    except pyarrow.ArrowException as error:
        # Only an error about columns is worth another look at the whole file.
        uneven = _uneven_row(content, delimiter, headless) if "columns" in str(error) else None
        reason = uneven or str(error)
        raise DataError(f"not readable as CSV: {reason}", name) from error
    finally:
        lent.await_return()
    if table.num_rows == 0:
        raise DataError("there are no rows below the names of the columns", name)
    dataset = _dataset(table, name, asked, named=not headless)
    return dataset if headless else replace(dataset, notices=_odd_names(dataset, table.column_names, name))


def _uneven_row(content: NDArray[np.uint8], delimiter: str, headless: bool) -> str | None:
    """Name the first row with too few or too many fields; pyarrow counts rows only if it reads one after the other."""
    import pyarrow
    from pyarrow import csv as pyarrow_csv

    uneven: list[Any] = []

    def keep(row: Any) -> str:
        uneven.append(row)
        return "error"

    lent = Lent(content[:])
    try:
        pyarrow_csv.read_csv(
            pyarrow.py_buffer(lent.take()),
            read_options=pyarrow_csv.ReadOptions(autogenerate_column_names=headless, use_threads=False),
            parse_options=pyarrow_csv.ParseOptions(delimiter=delimiter, invalid_row_handler=keep),
        )
    except pyarrow.ArrowException:
        pass
    finally:
        lent.await_return()
    if not uneven or uneven[0].number is None:
        return None
    row, before = uneven[0], 1 if headless else 2  # the line of names is counted, too
    fields = counted(row.actual_columns, "field")
    return f"{row_of_file(row.number - before)} has {fields}, and the first line has {row.expected_columns}"


def _odd_names(dataset: Dataset, names: Sequence[str], name: str) -> tuple[str, ...]:
    """Mention names that look like a row, numbers that do not count the columns; and a feature without a name."""
    numbers = [float(one) for one in names if _is_number(one)]
    counting = all(later - one == 1 for one, later in pairwise(numbers))
    if len(numbers) >= len(names) / 2 and not (counting and len(numbers) > 1):
        first = f"the first line is taken for names ({listed(names)})"
        return (f"{name}: {first}; if it is a row, put a line of names above it",)
    if names[0] == "" and dataset.feature_names is not None and "" in dataset.feature_names.tolist():
        return (
            f"{name}: column 1 has no name, like an index that pandas writes; if it is one, leave it out with --drop 1",
        )
    return ()


def _require_table(head: bytes, name: str, asked: Asked, delimiter: str) -> None:
    """Refuse what the first line shows to be no table: nothing at all, another encoding, other delimiters."""
    line = head.split(b"\n", 1)[0]
    if not head.strip():
        raise DataError("the file is empty", name)
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        if error.end < HEAD_BYTES:  # else the line may have been cut there
            raise DataError(
                f"its first line is not UTF-8 text (byte {error.start + 1}); write it as UTF-8, as iconv does", name
            ) from None
        return
    several = asked.required or asked.label is not None or len(asked.names or ()) > 1  # columns must there be
    other = next((one for one in WORDS if one in text), None)
    if several and delimiter not in text and other is not None:
        how = f"use --format {FORMAT_OF[other]}" if other in FORMAT_OF else f"write {WORDS[delimiter]} instead"
        raise DataError(f"its first line has {WORDS[other]}, and no {WORDS[delimiter]}; {how}", name)


def check_header(head: bytes, name: str, asked: Asked, delimiter: str = ",") -> None:
    """Refuse what the first line of a CSV file shows to be wrong, before everything is read."""
    if b"\n" not in head:
        return
    _require_table(head, name, asked, delimiter)
    names = _fields(head, delimiter)
    named = not all(_is_number(field) for field in names)
    choose(names if named else _numbered(len(names)), named, asked, name)


def _fields(head: bytes, delimiter: str) -> list[str]:
    """Return the fields of the first line."""
    text = head.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace").removesuffix("\r")
    return next(csv.reader([text], delimiter=delimiter), [])


def _numbered(n_columns: int) -> list[str]:
    """Return the names that pyarrow gives to columns without any."""
    return [f"f{j}" for j in range(n_columns)]


def parse_csv_pieces(text: Iterator[bytes], name: str, asked: Asked, delimiter: str = ",") -> Iterator[Dataset]:
    """Read CSV that comes in pieces, some megabytes at a time.

    What a column holds is told by the first piece. Numbers are read as float64 then, so that whole ones may be followed
    by others.
    """
    pyarrow = _pyarrow(name)
    from pyarrow import csv as pyarrow_csv

    first = bytearray()
    while len(first) < PIECE_BYTES and (piece := next(text, b"")):
        first += piece
    _require_table(bytes(first[:HEAD_BYTES]), name, asked, delimiter)
    content = np.frombuffer(bytes(first), dtype=np.uint8)
    _require_room_for_columns(content, name, delimiter)
    headless = all(_is_number(field) for field in _fields(bytes(first[:HEAD_BYTES]), delimiter))
    options: dict[str, Any] = {
        "read_options": pyarrow_csv.ReadOptions(autogenerate_column_names=headless, block_size=PIECE_BYTES),
        "parse_options": pyarrow_csv.ParseOptions(delimiter=delimiter),
    }
    end = len(first) if len(first) < PIECE_BYTES else first.rfind(b"\n") + 1
    lent = [Lent(content[:end]), Lent(_Stream(bytes(first), text))]
    try:
        schema = pyarrow_csv.read_csv(pyarrow.py_buffer(lent[0].take()), **options).schema
        types = {one.name: pyarrow.float64() if str(one.type).startswith(NUMBERS) else one.type for one in schema}
        if (target := choose(schema.names, not headless, asked, name).label) is not None:
            title = schema.names[target]
            types[title] = schema.field(title).type
        convert = pyarrow_csv.ConvertOptions(column_types=types)
        with pyarrow_csv.open_csv(lent[1].take(), convert_options=convert, **options) as reader:
            before = 0
            for batch in reader:
                if batch.num_rows:
                    table = pyarrow.Table.from_batches([batch])
                    dataset = _dataset(table, name, asked, named=not headless, before=before)
                    before += batch.num_rows
                    notices = () if headless else _odd_names(dataset, table.column_names, name)
                    yield replace(dataset, notices=notices)
    except MemoryError as error:  # pyarrow's is both
        raise MemoryError(_core.shortage("a piece of the table", CELL_BYTES * PIECE_BYTES)) from error
    except pyarrow.ArrowException as error:
        raise DataError(f"not readable as CSV: {error}", name) from error
    finally:
        reader = None
        for one in lent:
            one.await_return()


class Lent:
    """Something of Python's that pyarrow's threads read.

    The last of them to let go of it takes Python's lock for that, often after the reading is over. Where the
    interpreter is being finalized by then, that aborts the process; so the reading ends when they all have let go.
    """

    def __init__(self, what: Any) -> None:
        self._held: Any = what
        self._seen = weakref.ref(what)

    def take(self) -> Any:
        """Hand it over."""
        what, self._held = self._held, None
        return what

    def await_return(self) -> None:
        """Wait until nobody has it any more."""
        self._held = None
        deadline = time.monotonic() + MOST_PATIENCE
        while self._seen() is not None and time.monotonic() < deadline:
            time.sleep(1e-4)


class _Stream(io.RawIOBase):
    """Pieces of bytes as a file."""

    def __init__(self, first: bytes, rest: Iterator[bytes]) -> None:
        self._held, self._rest = memoryview(first), rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, at most `size`."""
        if not len(self._held):
            self._held = memoryview(next(self._rest, b""))
        taken = len(self._held) if size < 0 else size
        found, self._held = self._held[:taken], self._held[taken:]
        return bytes(found)


def parse_parquet_pieces(path: str, asked: Asked) -> Iterator[Dataset]:
    """Read Parquet, some rows at a time."""
    pyarrow = _pyarrow(path)
    from pyarrow import parquet

    try:
        with pyarrow.OSFile(path) as source, parquet.ParquetFile(source) as file:
            rows = max(1, PIECE_BYTES // (CELL_BYTES * max(1, file.metadata.num_columns)))
            before = 0
            for batch in file.iter_batches(rows):
                yield _dataset(pyarrow.Table.from_batches([batch]), path, asked, named=True, before=before)
                before += batch.num_rows
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"not readable as Parquet: {error}", path) from error


def rows_in_parquet(path: str) -> int:
    """Return how many rows a file of Parquet says that it has."""
    pyarrow = _pyarrow(path)
    from pyarrow import parquet

    try:
        with pyarrow.OSFile(path) as source:
            return int(parquet.read_metadata(source).num_rows)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"not readable as Parquet: {error}", path) from error


def parse_parquet(content: NDArray[np.uint8], name: str, asked: Asked) -> Dataset:
    """Read Parquet."""
    pyarrow = _pyarrow(name)
    from pyarrow import parquet

    lent = Lent(content[:])
    file: Any = None
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(pyarrow.py_buffer(lent.take())))
        n_bytes = CELL_BYTES * file.metadata.num_rows * file.metadata.num_columns
        require_unpacked(n_bytes, len(content), name)
        with taking_memory("the table", n_bytes):
            choose(file.schema_arrow.names, True, asked, name)  # before everything is read
            table = file.read()
    except (DataError, MemoryError):
        raise
    except (pyarrow.ArrowException, OSError) as error:  # its frames hold the file
        raise DataError(f"not readable as Parquet: {error}", name) from error.with_traceback(None)
    finally:
        file = None
        lent.await_return()
    return _dataset(table, name, asked, named=True)


def write(dataset: Dataset, file: BinaryIO, format: str) -> None:
    """Write Parquet, CSV or TSV with a line of names; the label comes first."""
    _pyarrow("output")
    from pyarrow import csv as pyarrow_csv
    from pyarrow import parquet

    if format == "parquet":
        parquet.write_table(_table(dataset), file)
    else:
        pyarrow_csv.write_csv(
            _table(dataset), file, pyarrow_csv.WriteOptions(delimiter="\t" if format == "tsv" else ",")
        )


def _pyarrow(name: str) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise DataError("CSV and Parquet need pyarrow: pip install pyarrow", name) from None
    return pyarrow


def _require_room_for_columns(content: NDArray[np.uint8], name: str, delimiter: str) -> None:
    """Refuse a first line of so many fields that their administration alone would fill the memory."""
    columns = 1
    for begin in range(0, len(content), 1 << 20):
        line, end, _ = content[begin : begin + (1 << 20)].tobytes().partition(b"\n")
        columns += line.count(delimiter.encode())
        if end:
            break
    if COLUMN_BYTES * columns > max(SMALL, max_unpacked()):
        size = _core.in_units(COLUMN_BYTES * columns)
        raise DataError(f"a table of {columns} columns takes {size} of memory; use LIBSVM text, .npz or a folder", name)


def _cells(content: NDArray[np.uint8], delimiter: str) -> int:
    """Count the fields of a table, at least; in little memory, since there is none to spare by then."""
    pieces = (content[begin : begin + (1 << 12)].tobytes() for begin in range(0, len(content), 1 << 12))
    return sum(piece.count(delimiter.encode()) + piece.count(b"\n") for piece in pieces)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _dataset(table: Any, name: str, asked: Asked, named: bool, before: int = 0) -> Dataset:
    """Make a data set of a table, or of a part of one that comes after so many rows."""
    names: list[str] = table.column_names
    chosen = choose(names, named, asked, name)
    target, places = chosen.label, chosen.features
    # A label that the model names, not the user, may belong to a table of other columns.
    sure = target is not None and asked.features is None
    _require_numbers(table, [names[j] for j in places], name, before, labelled=sure)
    columns = [_numbers(table.column(j), names[j], name, before) for j in places]
    single = all(column.dtype == np.float32 for column in columns)
    with taking_memory("the table", CELL_BYTES * table.num_rows * len(places)):
        X = np.empty((table.num_rows, len(places)), dtype=np.float32 if single else np.float64)
    for j, column in enumerate(columns):
        X[:, j] = column
    y = None if target is None else _labels(table.column(target), names[target], name, before)
    if not named:
        return Dataset(X, y, dropped=chosen.dropped)
    return Dataset(
        X,
        y,
        as_names([names[j] for j in places], name),
        label_name=None if target is None else names[target],
        dropped=chosen.dropped,
        ignored=chosen.ignored,
    )


def _require_numbers(table: Any, names: Sequence[str], name: str, before: int, labelled: bool) -> None:
    """Refuse columns that do not hold numbers, all of them at once."""
    kinds = {column: str(table.schema.field(column).type) for column in names}
    other = [column for column, kind in kinds.items() if not kind.startswith(NUMBERS)]
    if not other:
        return
    dropped = shlex.quote(",".join(map(among_others, other[:MOST_DROPPED])))
    them = "it" if len(other) == 1 else "them"
    odd = [_odd_value(table.column(column)) for column in other]
    if odd[0] is not None and None not in odd:
        row, value = odd[0]
        where = f"column {other[0]!r} holds {value!r} in {row_of_file(before + row)}, and numbers elsewhere"
        which = them if len(other) == 1 else f"all {len(other)} columns like this"
        raise DataError(f"{where}: write numbers only, or leave {which} out with --drop {dropped}", name)
    found = dict.fromkeys(_in_words(kinds[column]) for column in other)
    what = ", ".join(found)
    if what == TEXT and len(other) == 1:
        what = f"text ({_some_values(table.column(other[0]))})"
    which = f"column {other[0]!r} holds" if len(other) == 1 else f"the columns {listed(other, repr)} hold"
    label, leave_out = "", f"leave {them} out with --drop {dropped}"
    if not labelled:
        label = f"if {'it' if len(other) == 1 else 'one of them'} is the label, name it with --label; "
        leave_out = f"otherwise {leave_out}" if len(other) == 1 else "leave the others out with --drop"
    advice = [leave_out, *(INSTEAD[kind] for kind in found if kind in INSTEAD)]
    raise DataError(f"{which} {what}, not numbers: {label}{any_of(advice)}", name)


def _odd_value(column: Any) -> tuple[int, str] | None:
    """Return the first value of a column of numbers that is none, as "?" for one that is missing, and its row."""
    values = column.slice(0, MOST_LOOKED_AT).to_pylist() if "string" in str(column.type) else []
    odd = [row for row, value in enumerate(values) if value is not None and not _is_number(value)]
    return (odd[0], values[odd[0]]) if odd and 2 * len(odd) <= len(values) else None


def _in_words(kind: str) -> str:
    """Say what a column of a type of pyarrow's holds."""
    if "string" in kind:
        return TEXT
    return next((words for start, words in KINDS.items() if kind.startswith(start)), kind)


def _some_values(column: Any) -> str:
    """Quote the first few values of a column of text."""
    values = list(dict.fromkeys(value for value in column.slice(0, 100).to_pylist() if value is not None))
    shown = [repr(value if len(value) <= 20 else value[:20] + "...") for value in values[:2]]
    return ", ".join([*shown, *(["..."] if len(values) > 2 else [])])


def _numbers(column: Any, title: str, name: str, before: int) -> NDArray[Any]:
    if column.null_count:
        row = row_of_file(before + int(np.flatnonzero(column.is_null().to_numpy())[0]))
        raise DataError(f"column {title!r} has no value in {row}", name)
    array: NDArray[Any] = column.to_numpy()
    return array


def _labels(column: Any, title: str, name: str, before: int) -> NDArray[Any]:
    if column.null_count:
        row = row_of_file(before + int(np.flatnonzero(column.is_null().to_numpy())[0]))
        raise DataError(f"the label {title!r} is missing in {row}", name)
    if not str(column.type).startswith((*NUMBERS, "string", "large_string", "dictionary<values=string")):
        raise DataError(f"the label {title!r} holds {_in_words(str(column.type))}, neither numbers nor text", name)
    labels = np.asarray(column.to_pylist() if "dictionary" in str(column.type) else column.to_numpy())
    if labels.dtype.kind not in "OUS":
        return labels
    labels = labels.astype(np.str_)
    if len(empty := np.flatnonzero(labels == "")):  # nothing between two commas is text to pyarrow
        raise DataError(f"the label {title!r} is missing in {row_of_file(before + int(empty[0]))}", name)
    return labels


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
