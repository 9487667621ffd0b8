"""The weights of the rows: a file with one per line."""

import argparse
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SMALL = 4 << 20  # bytes, which are read in less time than a cluster takes to start


def read_weights(path: str, n_rows: int) -> "NDArray[np.float64]":
    """Read the weights of so many rows."""
    return for_rows(weights_in(path), path, n_rows)


def weights_in(path: str) -> "NDArray[np.float64]":
    """Read weights for however many rows; what is wrong is named with its line."""
    import numpy as np

    from ..data.archives import contents, name_of
    from ..data.dataset import DataError

    content = contents(path).tobytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("the weights must be UTF-8 text, one number per line", name_of(path)) from None
    try:
        weights = np.array([float(word) for word in text.split()])
    except ValueError:
        raise _wrong_one(text, path) from None
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise _wrong_one(text, path)
    return weights


def _wrong_one(text: str, path: str) -> ValueError:
    """Name the first weight that is not a number, not finite or negative."""
    from ..data.archives import name_of
    from ..data.dataset import DataError

    for number, line in enumerate(text.split("\n"), 1):
        for word in re.finditer(r"\S+", line):
            if not _is_weight(word[0]):
                column = len(line[: word.start()].encode()) + 1
                reason = f"{word[0]!r} is not a weight; weights are finite numbers, none of them negative"
                return DataError(reason, name_of(path), number, column)
    raise AssertionError("no weight is wrong")


def _is_weight(word: str) -> bool:
    try:
        return 0 <= float(word) < float("inf")
    except ValueError:
        return False


def for_rows(weights: "NDArray[np.float64]", path: str, n_rows: int) -> "NDArray[np.float64]":
    """Return the weights, of which there must be one per row."""
    from ..data.archives import name_of
    from ..problem.statement import counted

    if len(weights) != n_rows:
        raise ValueError(f"{name_of(path)} has {counted(len(weights), 'weight')} for {counted(n_rows, 'row')}")
    return weights


def rows_known(arguments: argparse.Namespace, files: Sequence[str]) -> int | None:
    """Count the rows of all files, if that takes less time than starting a cluster: what is large is not read."""
    from ..data.formats import format_of, read_dataset, stored_rows
    from ..data.several import read_several

    counts = [stored_rows(path, arguments.format or format_of(path)) for path in files]
    if None not in counts:
        return sum(count for count in counts if count is not None)
    if sum(os.path.getsize(path) for path in files) > SMALL:
        return None
    options = {"label": arguments.label, "drop": arguments.drop, "required": True}
    return int(read_several(files, read_dataset, format=arguments.format, **options).X.shape[0])
