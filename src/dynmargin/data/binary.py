"""Our binary form: a folder of blocks of rows, packed as the core trains on them, and a header in JSON.

``header.json`` says what the folder holds, and how each block begins. ``rows-000000`` and so on are the blocks: the
bytes of `_core.store_rows`, then the numbers of the rows' labels, in one byte each (two, if there are many). Nothing is
parsed, and a block is read, used and dropped as a whole: data may be larger than memory.

Blocks are read, not mapped: shortening a mapped file kills the process that reads it. A block that is not the one that
was written is refused: the header has its size and how it begins, and that has a checksum of the rest.
"""

import json
import math
import os
import re
import shlex
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import FileIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..problem.matrix import as_matrix, require_lengths, row_of_file
from ..problem.problems import label_text
from ..problem.statement import counted
from .atomic import atomic_folder
from .dataset import Csr, DataError, Dataset, as_names
from .limits import require_memory, taking_memory
from .npy import read_into

HEADER = "header.json"
FORMAT, VERSION = "dynmargin data", 2
DO_NOT_WAIT = getattr(os, "O_NONBLOCK", 0)  # for somebody who writes to a pipe
LARGEST_HEADER = 64 * 10**6  # bytes: names of three million columns
HEAD_BYTES = 64  # of a block: all that its checksum does not cover, and the checksum
# Of packed rows, about. Three blocks are in memory at any time; of 8 MB each, they would take 20 MB from the rows that
# are visited again and again. Small ones cost nothing: Newton's method took 3.5 s on Covertype, five times over, with
# either size.
BLOCK_BYTES = 2 << 20
UNPACKED_AT_A_TIME = 1 << 16  # values
READ_AHEAD = 256  # bytes behind a block that a visit to its last row may ask the cache for
MOST_LABELS = 1 << 16  # different ones
MOST_COLUMNS = 2**31 - 1
LARGEST_BLOCK = 1 << 40  # bytes that a header may claim
WHAT_TO_DO = "copy the folder again, or write it again with dynmargin data convert"


@dataclass(frozen=True)
class Block:
    """What the header knows of a block.

    Attributes
    ----------
    rows, nonzeros : int
        Its size.
    stored : int
        The bytes of its packed rows.
    head : str
        How these begin, in hexadecimal digits.
    label_bytes : int
        Of the number of a label; 0 without labels.
    label_checksum : int
        CRC-32 of these numbers.
    """

    rows: int
    nonzeros: int
    stored: int
    head: str
    label_bytes: int
    label_checksum: int

    def fits(self) -> bool:
        """Whether it can be what a header says: it may be damaged."""
        sizes = (self.rows, self.nonzeros, self.stored, self.label_checksum)
        whole = all(type(size) is int and 0 <= size <= LARGEST_BLOCK for size in sizes)
        head = isinstance(self.head, str) and re.fullmatch(f"[0-9a-f]{{{2 * HEAD_BYTES}}}", self.head) is not None
        return whole and head and type(self.label_bytes) is int and self.label_bytes in (0, 1, 2)

    @property
    def layout(self) -> int:
        """How its rows are packed: the second word of a block."""
        return int.from_bytes(bytes.fromhex(self.head)[8:16], "little")

    @property
    def nbytes(self) -> int:
        """The size of its file."""
        return self.stored + self.rows * self.label_bytes


@dataclass(frozen=True, eq=False)
class Folder:
    """A folder of packed rows, of which nothing has been read but the header.

    Attributes
    ----------
    path : str
        Where it is.
    blocks : list of Block
        Its blocks, in the order of the rows.
    n_columns : int
        The number of columns.
    dense : bool
        Whether the rows came from a table.
    dtype : data type
        Of the values that it was made from.
    labels : array or None
        The different labels, in the order in which they were first seen; None without labels.
    label_rows : array of int
        How many rows have each.
    feature_names, first_index, label_name
        As in `Dataset`.
    """

    path: str
    blocks: list[Block]
    n_columns: int
    dense: bool
    dtype: np.dtype[Any]
    labels: NDArray[Any] | None
    label_rows: NDArray[np.int64]
    feature_names: NDArray[np.str_] | None = None
    first_index: int | None = None
    label_name: str | None = None

    @property
    def lengths(self) -> list[int]:
        """How many rows each block has."""
        return [block.rows for block in self.blocks]

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return sum(self.lengths), self.n_columns

    @property
    def nbytes(self) -> int:
        """The size of all blocks."""
        return sum(block.nbytes for block in self.blocks)

    @property
    def nonzeros(self) -> int:
        """How many values are not zero."""
        return sum(block.nonzeros for block in self.blocks)

    @property
    def memory(self) -> int:
        """The bytes that reading and packing all rows in memory takes."""
        n_rows, n_columns = self.shape
        cells = 8 * n_rows * n_columns if self.dense else 12 * self.nonzeros + 4 * n_rows
        return cells + self.nbytes + 100 * n_rows

    def read(
        self, i: int, *, trust_digests: bool = True, memory: _core.BlockMemory | None = None
    ) -> tuple[_core.PackedRows, NDArray[Any] | None]:
        """Read a block: its rows, packed, and their labels. Digests that are not trusted are computed anew.

        With memory for blocks, the rows stay where they are read.
        """
        block, name = self.blocks[i], block_name(i)
        try:
            with _open(self.path, name) as file:
                if (size := os.fstat(file.fileno()).st_size) != block.nbytes:
                    raise ValueError(f"it has {counted(size, 'byte')}, not {block.nbytes}")
                require_memory(f"the block {name}", size)  # it may have holes: its size says nothing about the disk
                with taking_memory(f"the block {name}", size):
                    content = (
                        np.empty(size, dtype=np.uint8) if memory is None else memory.take(size + READ_AHEAD)[:size]
                    )
                if (read_into if memory is None else _read_straight_into)(content, file) != size:
                    raise ValueError("it ends too early")
            rows, numbers = content[: block.stored], content[block.stored :]
            if rows[:HEAD_BYTES].tobytes().hex() != block.head:
                raise ValueError("it does not begin as it was written")
            packed = _core.load_rows(rows, self.n_columns, trust_digests, copy=memory is None)
            if packed.n_rows != block.rows:
                raise ValueError(f"it has {counted(packed.n_rows, 'row')}, not {block.rows}")
            return packed, self._labels(block, numbers)
        except FileNotFoundError as error:
            raise DataError(f"its file {name} is missing; {WHAT_TO_DO}", self.path) from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise DataError(f"its file {name} is not as it was written: {reason}; {WHAT_TO_DO}", self.path) from error

    def _labels(self, block: Block, numbers: NDArray[np.uint8]) -> NDArray[Any] | None:
        if self.labels is None:
            return None
        if zlib.crc32(numbers.data) != block.label_checksum:
            raise ValueError("its labels have another checksum")
        places = numbers.view(f"<u{block.label_bytes}") if block.label_bytes else numbers
        if len(places) and int(places.max()) >= len(self.labels):
            raise ValueError("it has a label that the header does not know")
        return self.labels[places]

    def dataset(self) -> Dataset:
        """Read all rows into memory."""
        (n_rows, n_columns), nonzeros = self.shape, self.nonzeros
        size = self.dtype.itemsize * (n_rows * n_columns if self.dense else nonzeros)
        require_memory("the rows", size if self.dense else size + 4 * (nonzeros + n_rows))
        return self._dense() if self.dense else self._sparse(nonzeros)

    def _dense(self) -> Dataset:
        with taking_memory("the rows", self.dtype.itemsize * math.prod(self.shape)):
            X, labels = np.zeros(self.shape, dtype=self.dtype), self._no_labels()
        for begin, rows, y in self._read_all():
            for first, (values, columns, starts) in _unpacked(rows):
                places = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
                X[begin + first + places, columns] = values
            if labels is not None:
                labels[begin : begin + rows.n_rows] = y
        return self._dataset(X, labels)

    def _sparse(self, nonzeros: int) -> Dataset:
        n_rows, n_columns = self.shape
        index = np.int32 if max(nonzeros, n_rows, n_columns) < 2**31 else np.int64
        with taking_memory("the rows", (self.dtype.itemsize + 4) * nonzeros + 4 * n_rows):
            values, columns = np.empty(nonzeros, self.dtype), np.empty(nonzeros, index)
            starts, labels, place = np.zeros(n_rows + 1, index), self._no_labels(), 0
        for begin, rows, y in self._read_all():
            for first, (own_values, own_columns, own_starts) in _unpacked(rows):
                end = place + len(own_values)
                if end > nonzeros:
                    raise DataError(f"its blocks hold more than the {nonzeros} values of {HEADER}", self.path)
                values[place:end], columns[place:end] = own_values, own_columns
                starts[begin + first + 1 : begin + first + len(own_starts)] = own_starts[1:] + place
                place = end
            if labels is not None:
                labels[begin : begin + rows.n_rows] = y
        if place != nonzeros:
            raise DataError(f"its blocks hold {counted(place, 'value')}, not the {nonzeros} of {HEADER}", self.path)
        return self._dataset(Csr(values, columns, starts, self.shape), labels)

    def _no_labels(self) -> NDArray[Any] | None:
        return None if self.labels is None else np.empty(self.shape[0], self.labels.dtype)

    def _read_all(self) -> Iterator[tuple[int, _core.PackedRows, NDArray[Any] | None]]:
        """Yield the number of rows before each block, its rows and their labels."""
        begin = 0
        for i, block in enumerate(self.blocks):
            yield begin, *self.read(i)
            begin += block.rows

    def _dataset(self, X: Csr | NDArray[Any], y: NDArray[Any] | None) -> Dataset:
        return Dataset(X, y, self.feature_names, self.first_index, label_name=self.label_name)


def _unpacked(rows: _core.PackedRows) -> Iterator[tuple[int, tuple[NDArray[Any], ...]]]:
    """Yield the first of some rows and their CSR arrays, a few at a time: the latter take twice the memory of rows."""
    step = max(1, rows.n_rows * UNPACKED_AT_A_TIME // max(1, rows.n_nonzeros))
    for begin in range(0, rows.n_rows, step):
        yield begin, _core.unpack(rows, np.arange(begin, min(begin + step, rows.n_rows), dtype=np.int64))


def _read_straight_into(room: NDArray[np.uint8], file: FileIO) -> int:
    """Read as `read_into` does, into memory that was used before."""
    filled = 0
    while filled < len(room) and (count := file.readinto(room.data[filled:])):
        filled += count
    return filled


def block_name(i: int) -> str:
    """Return the name of a block's file."""
    return f"rows-{i:06}"


def read(folder: str) -> Dataset:
    """Read all rows of a folder into memory."""
    return open_folder(folder).dataset()


def open_folder(folder: str) -> Folder:
    """Read the header, and refuse what cannot be."""
    if not os.path.isdir(folder):
        words = shlex.join(["dynmargin", "data", "convert", folder, f"{folder}.dm/"])
        there = f"this is a file, not a folder; write one with {words}"
        raise DataError(there if os.path.exists(folder) else "there is no such folder", folder)
    try:
        with _open(folder, HEADER) as file:
            if (size := os.fstat(file.fileno()).st_size) > LARGEST_HEADER:
                raise ValueError
            header: dict[str, Any] = json.loads(file.read(size).decode())
        version = header["version"]
        if header["format"] != FORMAT or type(version) is not int:
            raise KeyError
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        files = os.path.join(folder, "*")
        raise DataError(
            f"dynmargin data convert did not write this folder ({HEADER} is missing or damaged); for the files in it, "
            f"use a pattern such as '{files}'",
            folder,
        ) from error
    if version != VERSION:
        hint = "convert the data again" if version < VERSION else f"this program reads versions up to {VERSION}"
        raise DataError(f"its format is version {version}; {hint}", folder)
    names, first, columns = header.get("feature_names"), header.get("first_index"), header.get("columns")
    title = header.get("label_name")
    blocks, labels = _blocks(header.get("blocks")), _labels(header.get("labels"))
    for name, fits in {
        "columns": type(columns) is int and 0 <= columns <= MOST_COLUMNS,
        "dense": isinstance(header.get("dense"), bool),
        "values": header.get("values") in ("float32", "float64"),
        "feature_names": names is None or (isinstance(names, list) and all(isinstance(one, str) for one in names)),
        "first_index": first is None or (type(first) is int and first in (0, 1)),
        "label_name": title is None or isinstance(title, str),
        "blocks": blocks is not None and all((block.label_bytes > 0) == (labels is not None) for block in blocks),
        "labels": header.get("labels") is None or labels is not None,
        "label_rows": labels is None or _counts_of(header.get("label_rows"), labels, blocks or []),
    }.items():
        if not fits:
            raise DataError(f"{name!r} in {HEADER} is {str(header.get(name))[:40]}, which is not valid", folder)
    if names is not None and len(names) != columns:
        raise DataError(f"{HEADER} has {counted(len(names), 'name')}, and the number of columns is {columns}", folder)
    assert blocks is not None
    return Folder(
        folder,
        blocks,
        columns,  # type: ignore[arg-type]  # an int
        header["dense"],
        np.dtype(header["values"]),
        labels,
        np.array(header.get("label_rows") or [], dtype=np.int64),
        None if names is None else as_names(names, folder),
        first,
        title,
    )


def _blocks(found: Any) -> list[Block] | None:
    try:
        blocks = [Block(*one) for one in found]
    except TypeError:
        return None
    return blocks if all(block.fits() for block in blocks) else None


def _labels(found: Any) -> NDArray[Any] | None:
    """Return the different labels: numbers of one kind, or text."""
    if not isinstance(found, list) or len(found) > MOST_LABELS or len({type(one) for one in found}) > 1:
        return None
    if not all(isinstance(one, str | bool | int | float) for one in found) or len(set(found)) < len(found):
        return None
    if not found:
        return np.empty(0)
    if isinstance(found[0], str):
        try:
            return as_names(found, HEADER)
        except DataError:
            return None
    labels = np.array(found) if isinstance(found[0], bool | int | float) else None
    return labels if labels is not None and labels.dtype.kind in "fiub" and np.isfinite(labels).all() else None


def _counts_of(found: Any, labels: NDArray[Any], blocks: list[Block]) -> bool:
    whole = isinstance(found, list) and all(type(one) is int and one >= 0 for one in found)
    return whole and len(found) == len(labels) and sum(found) == sum(block.rows for block in blocks)


@dataclass
class FolderWriter:
    """Blocks that are being written, into a folder that has no name yet.

    Attributes
    ----------
    place : Path
        The folder.
    path : str
        The name it will get, for messages.
    """

    place: Path
    path: str
    blocks: list[Block] = field(default_factory=list)
    n_columns: int = 0
    n_rows: int = 0
    dense: bool = False
    single: bool = True  # whether all values came as float32
    labelled: bool | None = None
    label_places: dict[Any, int] = field(default_factory=dict)
    label_rows: list[int] = field(default_factory=list)

    def add(self, X: Csr | NDArray[Any], y: NDArray[Any] | None) -> None:
        """Write rows as blocks of about the usual size; they may have more columns than those before."""
        self.dense, self.labelled = not isinstance(X, Csr), y is not None
        self.single &= (X.data if isinstance(X, Csr) else X).dtype == np.float32
        self.n_columns = max(self.n_columns, X.shape[1])
        cuts = _cuts(X)
        for begin, end in pairwise(cuts):
            self._add_block(_part(X, begin, end, self.n_columns), None if y is None else y[begin:end])

    def _add_block(self, X: Csr | NDArray[Any], y: NDArray[Any] | None) -> None:
        matrix = as_matrix(X)
        try:
            packed = _core.pack(matrix)
        except ValueError as error:
            try:
                require_lengths(X, self._row_name)
            except ValueError as named:
                raise DataError(str(named), self.path) from error
            raise DataError(str(error), self.path) from error
        if packed.summed:  # their sums are rounded, and the digest is that of the parts
            raise DataError("a row stores a column twice; add the values up first", self.path)
        stored = _core.store_rows(packed)
        numbers = np.empty(0, np.uint8) if y is None else self._numbers(y)
        with (self.place / block_name(len(self.blocks))).open("xb") as file:
            file.write(stored.data)
            file.write(numbers.data)
        head = stored[:HEAD_BYTES].tobytes().hex()
        width = 0 if y is None else numbers.dtype.itemsize
        checksum = zlib.crc32(numbers.view(np.uint8).data)
        self.blocks.append(Block(packed.n_rows, packed.n_nonzeros, len(stored), head, width, checksum))
        self.n_rows += packed.n_rows

    def _row_name(self, row: int) -> str:
        """Name a row of the block that is being written, as it is counted among all rows."""
        return row_of_file(self.n_rows + row)

    def _numbers(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of labels; new ones get the next."""
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            row = int(np.flatnonzero(~np.isfinite(y))[0])
            raise DataError(f"the label of {self._row_name(row)} is {y[row]}, which is not a label", self.path)
        found, inverse, counts = np.unique(y, return_inverse=True, return_counts=True)
        places = np.array([self.label_places.setdefault(one, len(self.label_places)) for one in found.tolist()])
        if len(self.label_places) > MOST_LABELS:
            raise DataError(
                f"the rows have more than {MOST_LABELS} different labels, so they cannot be classes", self.path
            )
        self.label_rows += [0] * (len(self.label_places) - len(self.label_rows))
        for place, count in zip(places.tolist(), counts.tolist(), strict=True):
            self.label_rows[place] += count
        width = "u1" if len(self.label_places) <= 1 << 8 else "<u2"
        return places.astype(width)[inverse] if len(y) else np.empty(0, width)

    def finish(
        self, feature_names: NDArray[np.str_] | None, first_index: int | None, label_name: str | None = None
    ) -> None:
        """Write the header, which makes the folder whole."""
        kinds = {type(label) for label in self.label_places}
        if len(kinds) > 1:
            texts = ", ".join(label_text(label) for label in list(self.label_places)[:5])
            raise DataError(f"the labels are neither all numbers nor all text: {texts}", self.path)
        header: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "columns": self.n_columns,
            "dense": self.dense,
            "values": "float32" if self.single and self.blocks else "float64",
            "labels": list(self.label_places) if self.labelled else None,
            "label_rows": self.label_rows,
        }
        header |= {} if feature_names is None else {"feature_names": feature_names.tolist()}
        header |= {} if first_index is None else {"first_index": first_index}
        header |= {} if label_name is None else {"label_name": label_name}
        header["blocks"] = [list(vars(block).values()) for block in self.blocks]
        text = (json.dumps(header) + "\n").encode()
        if len(text) > LARGEST_HEADER:
            raise DataError("the names of its columns take more than 64 MB", self.path)
        (self.place / HEADER).write_bytes(text)


@contextmanager
def writing(folder: str) -> Iterator[FolderWriter]:
    """Write a new folder, which gets its name when it is complete."""
    if Path(folder).exists():
        raise DataError("it already exists; remove it, or name another folder", folder)
    with atomic_folder(folder) as place:
        yield FolderWriter(place, folder)


def write(dataset: Dataset, folder: str) -> None:
    """Write rows that are in memory."""
    with writing(folder) as writer:
        writer.add(dataset.X, dataset.y)
        writer.finish(dataset.feature_names, dataset.first_index, dataset.label_name)


def _cuts(X: Csr | NDArray[Any]) -> list[int]:
    """Return where to cut rows into blocks; a row that is longer than a block is one of its own."""
    n_rows = X.shape[0]
    if not isinstance(X, Csr):
        step = max(1, BLOCK_BYTES // max(1, X.shape[1] * X.dtype.itemsize))
        return [*range(0, n_rows, step), n_rows]
    entry = X.data.dtype.itemsize + (2 if X.shape[1] < 1 << 16 else 4)
    cuts, most = [0], BLOCK_BYTES // entry
    while cuts[-1] < n_rows:
        end = int(np.searchsorted(X.indptr, X.indptr[cuts[-1]] + most, side="right")) - 1
        cuts.append(min(n_rows, max(cuts[-1] + 1, min(end, cuts[-1] + BLOCK_BYTES // 8))))
    return cuts if n_rows else [0, 0]


def _part(X: Csr | NDArray[Any], begin: int, end: int, n_columns: int) -> Csr | NDArray[Any]:
    if not isinstance(X, Csr):
        return X[begin:end]
    entries = slice(int(X.indptr[begin]), int(X.indptr[end]))
    starts = X.indptr[begin : end + 1] - X.indptr[begin]
    return Csr(X.data[entries], X.indices[entries], starts, (end - begin, n_columns))


def _open(folder: str, name: str) -> FileIO:
    """Open a file of the folder, but no pipe, which may have no end or not even a beginning, and no device."""
    file = FileIO(os.path.join(folder, name), opener=lambda path, flags: os.open(path, flags | DO_NOT_WAIT))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("it is not a file")
    return file
