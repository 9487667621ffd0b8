"""Which commands leave the rows of a folder on the disk."""

import argparse
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .options import mention_ignored_label, notice

if TYPE_CHECKING:
    from ..model.linear_model import LinearModel
    from ..shards.rows_on_disk import RowsOnDisk

AT_WORK, AT_WORK_PER_ROW = 24 << 20, 200  # bytes, at most, beside rows in memory: modules, and what training takes
BYTES_PER_WEIGHT = 50  # of --weights, while they are read as text


def rows_on_disk(arguments: argparse.Namespace, *, scaled: bool = False) -> "RowsOnDisk | None":
    """Return the rows if they are to stay on the disk: where they are larger than memory, or than --memory.

    If rows are scaled, there is a second copy of their values in memory.

    --memory is about the whole process, so that it can be the limit of a container.
    """
    from .. import _core
    from ..data.formats import format_of
    from ..data.limits import bytes_of, resident_memory
    from ..shards.rows_on_disk import open_data

    asked = getattr(arguments, "memory", None)
    if (arguments.format or format_of(arguments.data)) != "folder":
        if asked is not None:
            words = shlex.join(["dynmargin", "data", "convert", arguments.data, f"{arguments.data}.dm/"])
            raise ValueError(f"--memory needs a folder of blocks: write one with {words}")
        return None
    if getattr(arguments, "drop", None):
        raise ValueError("--drop is for tables; leave columns out when the folder is written: data convert --drop")
    available = _core.available_memory()
    limit = int(available / 2) if asked is None else bytes_of(asked) - (own := resident_memory())
    if limit <= 0:
        raise ValueError(f"--memory {asked} is less than the {_core.in_units(own)} that the program itself takes")
    if asked is not None and not getattr(arguments, "quiet", False):
        notice(f"of --memory {asked} the program itself takes {_core.in_units(own)}; {_core.in_units(limit)} are left")
    rows = open_data(arguments.data, memory_limit=limit)
    if getattr(arguments, "weights", None):
        limit = max(0, limit - BYTES_PER_WEIGHT * len(rows))
        rows = open_data(arguments.data, memory_limit=limit)
    copies = scaled * 8 * (rows.shape[0] * rows.shape[1] if rows.folder.dense else rows.folder.nonzeros)
    at_work = 0 if asked is None else AT_WORK + AT_WORK_PER_ROW * len(rows)
    if rows.folder.memory + copies + at_work <= (available if asked is None else limit):
        return None
    mention_ignored_label(arguments)
    return rows


@contextmanager
def memory_in_words(arguments: argparse.Namespace, rows: "RowsOnDisk") -> Iterator[None]:
    """Say in terms of --memory, which the program itself takes a part of, what would be enough."""
    from .. import _core
    from ..data.limits import bytes_of
    from ..shards.room import LimitTooSmall

    try:
        yield
    except LimitTooSmall as error:
        if arguments.memory is None:
            raise
        own = bytes_of(arguments.memory) - rows.memory_limit
        raise ValueError(
            f"--memory {arguments.memory} is not enough: {error.purpose} takes at least "
            f"{_core.in_units(own + error.least)} ({_core.in_units(own)} for the program itself, {error.parts})"
        ) from error


def aligned(rows: "RowsOnDisk", model: "LinearModel") -> "RowsOnDisk":
    """Return rows that have the columns of the model: the last features may have no value. Names must agree."""
    from dataclasses import replace

    from ..data.columns import listed
    from ..shards.rows_on_disk import RowsOnDisk

    folder, names = rows.folder, model.feature_names
    if names is not None and folder.feature_names is not None and names.tolist() != folder.feature_names.tolist():
        theirs, ours = listed(folder.feature_names.tolist()), listed(names.tolist())
        raise ValueError(
            f"the columns of {folder.path} are {theirs}; the model needs {ours}, in this order. In a table columns are "
            "matched by their names"
        )
    if folder.dense or folder.n_columns >= model.n_features:
        return rows
    return RowsOnDisk(replace(folder, n_columns=model.n_features), rows.memory_limit)
