"""Our binary form: a folder of .npy arrays, and a header in JSON.

``header.json`` says what the folder holds; a dense table is ``X.npy``, a sparse one ``values.npy``, ``columns.npy`` and
``starts.npy``, labels are ``labels.npy``. Nothing is parsed: opening a folder takes as long as copying it.
"""

import json
import os
import stat
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .atomic import atomic_folder
from .dataset import Csr, DataError, Dataset, as_names
from .limits import require_memory
from .npy import DamagedArray, read_array
from .npz import require_table

HEADER = "header.json"
FORMAT, VERSION = "dynmargin data", 1
LAYOUTS = ("dense", "csr")
DO_NOT_WAIT = getattr(os, "O_NONBLOCK", 0)  # for somebody who writes to a pipe
LARGEST_HEADER = 64 * 10**6  # bytes: names of three million columns


def read(folder: str) -> Dataset:
    """Read the arrays of a folder."""
    header = _header(folder)
    X: Csr | NDArray[Any]
    if header["layout"] == "dense":
        X = require_table(_load(folder, "X"), folder)
    else:
        values, columns, starts = (_load(folder, name) for name in ("values", "columns", "starts"))
        X = Csr(values, columns, starts, (starts.size - 1, header["columns"]))
    y = _load(folder, "labels") if header.get("labels") else None
    names = header.get("feature_names")
    return Dataset(X, y, None if names is None else as_names(names, folder), header.get("first_index"))


def write(dataset: Dataset, folder: str) -> None:
    """Write a new folder, which gets its name when it is complete."""
    if Path(folder).exists():
        raise DataError("it already exists; remove it, or name another folder", folder)
    header: dict[str, Any] = {"format": FORMAT, "version": VERSION, "labels": dataset.y is not None}
    arrays: dict[str, Any] = {} if dataset.y is None else {"labels": dataset.y}
    if isinstance(dataset.X, Csr):
        header |= {"layout": "csr", "columns": dataset.X.shape[1]}
        arrays |= {"values": dataset.X.data, "columns": dataset.X.indices, "starts": dataset.X.indptr}
    else:
        header["layout"] = "dense"
        arrays["X"] = dataset.X
    if dataset.feature_names is not None:
        header["feature_names"] = dataset.feature_names.tolist()
    if dataset.first_index is not None:
        header["first_index"] = dataset.first_index
    text = (json.dumps(header, indent=1) + "\n").encode()
    if len(text) > LARGEST_HEADER:
        raise DataError("the names of its columns take more than 64 MB", folder)
    with atomic_folder(folder) as place:
        for name, array in arrays.items():
            np.save(place / f"{name}.npy", array, allow_pickle=False)
        (place / HEADER).write_bytes(text)


def _header(folder: str) -> dict[str, Any]:
    """Read the header, and refuse what `read` does not expect in it."""
    try:
        with _open(folder, HEADER) as file:
            if (size := os.fstat(file.fileno()).st_size) > LARGEST_HEADER:
                raise ValueError
            header: dict[str, Any] = json.loads(file.read(size).decode())
        version = header["version"]
        if header["format"] != FORMAT or type(version) is not int:
            raise KeyError
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"not a folder of dynmargin data: {HEADER} is missing or not ours", folder) from error
    if version > VERSION:
        raise DataError(f"its format is version {version}; this program reads versions up to {VERSION}", folder)
    names, first = header.get("feature_names"), header.get("first_index")
    for name, fits in {
        "layout": header.setdefault("layout", "csr") in LAYOUTS,
        "columns": type(header.setdefault("columns", 0)) is int,
        "labels": isinstance(header.get("labels", False), bool),
        "feature_names": names is None or (isinstance(names, list) and all(isinstance(one, str) for one in names)),
        "first_index": first is None or (type(first) is int and first in (0, 1)),
    }.items():
        if not fits:
            raise DataError(f"{name!r} in {HEADER} is {str(header[name])[:40]}, which cannot be", folder)
    return header


def _open(folder: str, name: str) -> FileIO:
    """Open a file of the folder, but no pipe, which may have no end or not even a beginning, and no device."""
    file = FileIO(os.path.join(folder, name), opener=lambda path, flags: os.open(path, flags | DO_NOT_WAIT))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("it is not a file")
    return file


def _load(folder: str, name: str) -> NDArray[Any]:
    """Read an array whole. It is not mapped: shortening a mapped file kills the process that reads it."""
    try:
        with _open(folder, f"{name}.npy") as file:
            size = os.fstat(file.fileno()).st_size
            require_memory(f"the array {name!r}", size)  # it may have holes: its size says nothing about the disk
            return read_array(file, size)
    except (OSError, DamagedArray) as error:
        raise DataError(f"{name}.npy is missing or damaged: {error}", folder) from error
