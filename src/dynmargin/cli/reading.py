"""What the commands that read data have in common."""

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..data.dataset import Dataset
    from ..model import LinearModel

FORMATS = ("libsvm", "csv", "tsv", "parquet", "npz", "folder")
DATA_HELP = "LIBSVM text, .csv, .tsv, .parquet, .npz or a folder of ours; may be compressed; - for standard input"


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how data are to be read."""
    parser.add_argument("--format", choices=FORMATS, help="of the data; by default told by the name")
    parser.add_argument("--label", help="name or number (1 is the first, -1 the last) of the label's column in a table")


def add_weights_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names a file of weights."""
    parser.add_argument("--weights", metavar="FILE", help="a weight for every row, a line each; multiplies C for it")


def read_weights(path: str | None, n_rows: int) -> "NDArray[np.float64] | None":
    """Read one weight a line, if there is a file."""
    if path is None:
        return None
    import numpy as np

    with open(path, encoding="utf-8") as file:
        words = file.read().split()
    try:
        weights = np.array([float(word) for word in words])
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if len(weights) != n_rows:
        raise ValueError(f"{path} has {len(weights)} weights for {n_rows} rows")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(f"{path}: weights must be finite and not negative")
    return weights


def notice(message: str) -> None:
    """Tell the user something that is not an error."""
    print(f"dynmargin: {message}", file=sys.stderr)


def read_for_model(arguments: argparse.Namespace, model: "LinearModel") -> "Dataset":
    """Read data as the model saw them in training: same base of indices, same columns."""
    from ..data.formats import read_dataset

    dataset = read_dataset(
        arguments.data,
        arguments.format,
        label=arguments.label or model.parameters.get("label"),
        zero_based="auto" if model.first_index is None else model.first_index == 0,
        features=model.n_features if arguments.label is None else None,
    )
    for message in dataset.notices:
        notice(message)
    return dataset.aligned(model.feature_names)
