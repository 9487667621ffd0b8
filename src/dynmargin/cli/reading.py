"""What the commands that read data have in common."""

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..data.dataset import Dataset
    from ..model import LinearModel

FORMATS = ("libsvm", "csv", "tsv", "parquet", "npz", "folder")
DATA_HELP = "LIBSVM text, .csv, .tsv, .parquet, .npz or a folder of ours; may be compressed; - for standard input"


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how data are to be read."""
    parser.add_argument("--format", choices=FORMATS, help="of the data; by default told by the name")
    parser.add_argument("--label", help="name or number (1 is the first, -1 the last) of the label's column in a table")


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
