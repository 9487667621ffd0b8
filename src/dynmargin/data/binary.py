"""Our binary form: a folder of .npy arrays that are memory-mapped when read, and a header in JSON.

``header.json`` says what the folder holds; a dense table is ``X.npy``, a sparse one ``values.npy``, ``columns.npy`` and
``starts.npy``, labels are ``labels.npy``. Values are not read before they are used: opening a folder takes hardly any
time, and only the packed copy that training makes has to fit into memory.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .atomic import require_writable
from .dataset import Csr, DataError, Dataset
from .npz import require_table

HEADER = "header.json"
FORMAT, VERSION = "dynmargin data", 1


def read(folder: str) -> Dataset:
    """Map the arrays of a folder."""
    header = _header(folder)
    X: Csr | NDArray[Any]
    if header.get("layout") == "dense":
        X = require_table(_load(folder, "X"), folder)
    else:
        values, columns, starts = (_load(folder, name) for name in ("values", "columns", "starts"))
        X = Csr(values, columns, starts, (len(starts) - 1, int(header.get("columns", 0))))
    y = _load(folder, "labels") if header.get("labels") else None
    names, first = header.get("feature_names"), header.get("first_index")
    return Dataset(X, y, None if names is None else np.array(names, dtype=np.str_), first)


def write(dataset: Dataset, folder: str) -> None:
    """Write a new folder, which gets its name when it is complete."""
    target = Path(folder)
    if target.exists():
        raise DataError("it already exists; remove it, or name another folder", folder)
    require_writable(target)
    temporary = target.with_name(f".{target.name}.{os.urandom(8).hex()}")
    temporary.mkdir()
    try:
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
        for name, array in arrays.items():
            np.save(temporary / f"{name}.npy", array, allow_pickle=False)
        (temporary / HEADER).write_text(json.dumps(header, indent=1) + "\n", encoding="utf-8")
        os.rename(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _header(folder: str) -> dict[str, Any]:
    try:
        header: dict[str, Any] = json.loads((Path(folder) / HEADER).read_text(encoding="utf-8"))
        if header["format"] != FORMAT:
            raise KeyError
        version = int(header["version"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"not a folder of dynmargin data: {HEADER} is missing or not ours", folder) from error
    if version > VERSION:
        raise DataError(f"its format is version {version}; this program reads versions up to {VERSION}", folder)
    return header


def _load(folder: str, name: str) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(Path(folder) / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{name}.npy is missing or damaged: {error}", folder) from error
    return array
