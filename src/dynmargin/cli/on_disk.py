"""Which commands leave the rows of a folder on the disk."""

import argparse
from typing import TYPE_CHECKING

from .options import notice

if TYPE_CHECKING:
    from ..model.linear_model import LinearModel
    from ..shards.rows_on_disk import RowsOnDisk

CONVERT_FIRST = "--memory needs a folder of blocks: write one by dynmargin data convert {data} {data}.dm/"


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
            raise ValueError(CONVERT_FIRST.format(data=arguments.data))
        return None
    if getattr(arguments, "drop", None):
        raise ValueError("--drop is for tables; leave columns out when the folder is written: data convert --drop")
    available = _core.available_memory()
    limit = int(available / 2) if asked is None else bytes_of(asked) - (own := resident_memory())
    if limit <= 0:
        raise ValueError(f"--memory {asked} is less than the {_core.in_units(own)} that the program itself takes")
    if asked is not None and not getattr(arguments, "quiet", True):
        notice(f"of --memory {asked} the program itself takes {_core.in_units(own)}; {_core.in_units(limit)} are left")
    rows = open_data(arguments.data, memory_limit=limit)
    copies = scaled * 8 * (rows.shape[0] * rows.shape[1] if rows.folder.dense else rows.folder.nonzeros)
    return rows if rows.folder.memory + copies > (available if asked is None else limit) else None


def aligned(rows: "RowsOnDisk", model: "LinearModel") -> "RowsOnDisk":
    """Return rows that have the columns of the model: the last features may have no value. Names must agree."""
    from dataclasses import replace

    from ..shards.rows_on_disk import RowsOnDisk

    folder, names = rows.folder, model.feature_names
    if names is not None and folder.feature_names is not None and names.tolist() != folder.feature_names.tolist():
        raise ValueError(f"the columns in {folder.path} are not those of the model, or in another order")
    if folder.dense or folder.n_columns >= model.n_features:
        return rows
    return RowsOnDisk(replace(folder, n_columns=model.n_features), rows.memory_limit)
