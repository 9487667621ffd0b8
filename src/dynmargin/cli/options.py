"""What the commands share: exit codes, options, notices, and reading what they name."""

import argparse
import math
import re
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..data import FORMATS

if TYPE_CHECKING:
    from ..data.dataset import Dataset
    from ..model.linear_model import LinearModel

DONE, NOT_PROVEN, OTHER_DATA, FAILED, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 130, 141
EXIT_CODES = f"""exit codes:
  {DONE}    done; verify: proven
  {NOT_PROVEN}    train: the model is written, but epsilon is not proven; verify: not proven; paper: a cell failed
  {OTHER_DATA}    verify: not the data that the model was trained on, or not the problem asked about
  {FAILED}    failed: the command line, a file or its contents are wrong (one sentence on stderr says how)
  {INTERRUPTED}  interrupted by Ctrl-C
  {BROKEN_PIPE}  the reader of the output closed it early"""

FILE_HELP = "LIBSVM text, .csv, .tsv, .parquet, .npz or a folder of blocks; may be compressed; - for standard input"
DATA_HELP = f"{FILE_HELP}; a pattern in quotes, such as 'parts-*.svm', for several files"


def number(kind: type, accepts: Callable[[Any], bool], otherwise: str) -> Callable[[str], Any]:
    """Return a parser of numbers that refuses some of them."""

    def parse(text: str) -> Any:
        value = kind(text)
        if not accepts(value):
            raise argparse.ArgumentTypeError(f"{text} is {otherwise}")
        return value

    parse.__name__ = kind.__name__  # for "invalid float value"
    return parse


positive = number(float, lambda value: value > 0, "not positive")
accuracy = number(float, lambda value: 0 < value <= 1, "not a number above 0 and at most 1")
finite = number(float, math.isfinite, "not finite")
at_least_one = number(int, lambda value: value >= 1, "less than 1")
several = number(int, lambda value: value >= 2, "less than 2")
seed = number(int, lambda value: 0 <= value < 2**32, "not a valid seed: it must be a whole number from 0 to 4294967295")


def share(text: str) -> float:
    """Read a share of all rows, as in 99.9% or 0.999."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a share of the rows, such as 99.9%")
    return value


def names(text: str) -> list[str]:
    """Split names at the commas between them; a name that has commas itself is in double quotes."""
    found = re.findall(r'\s*(?:("(?:[^"]|"")*")|([^,]*?))\s*(?:,|$)', text)
    return [quoted[1:-1].replace('""', '"') if quoted else plain for quoted, plain in found if quoted or plain]


class Names:
    """Reads names as `names` does, and can say which there are."""

    def __init__(self, known: Callable[[], Iterable[str]]) -> None:
        self.known = known

    def __call__(self, text: str) -> list[str]:
        """Split names at the commas between them."""
        return names(text)


# Options that several commands have, to be passed to argparse as parents.
LABEL, READING, WEIGHTS, FITTING, JOBS = (argparse.ArgumentParser(add_help=False) for _ in range(5))
LABEL.add_argument("--label", help="name or number (1 is the first, -1 the last) of the label's column in a table")
LABEL.add_argument(
    "--drop", type=names, default=[], metavar="NAMES", help="columns of a table to leave out, by name or number"
)
READING.add_argument("--format", choices=FORMATS, help="format of the data (default: by the file name)")
WEIGHTS.add_argument(
    "--weights", metavar="FILE", help="a weight per row, one per line, by which C is multiplied for that row"
)
JOBS.add_argument(
    "--jobs", type=at_least_one, metavar="N", help="threads (default: all cores); the result is the same for any number"
)
_add = FITTING.add_argument
_add("--epsilon", type=accuracy, default=0.01, help="the gap to prove, as a fraction of the best margin (default 0.01)")
_add(
    "-c",
    type=positive,
    default=1.0,
    metavar="C",
    dest="C",
    help="price of a squared slack (default 1); inf for the hard margin",
)
_add("--max-time", type=positive, metavar="SECONDS", help="stop after so many seconds, with what has been reached")
_add("--seed", type=seed, default=0, help="the same seed gives the same result (default 0)")


def jobs(arguments: argparse.Namespace) -> int:
    """Return how many threads to use."""
    from ..problem.cores import cores

    return int(arguments.jobs or cores())


def require_folds(n_folds: int, n_rows: int) -> None:
    """Refuse more folds than rows."""
    if n_folds > n_rows:
        raise ValueError(f"-v {n_folds} makes more folds than there are rows ({n_rows})")


def notice(message: str) -> None:
    """Tell the user something that is not an error."""
    say(f"dynmargin: {message}")


def say(line: str) -> None:
    """Write a line to standard error; what a terminal shows of the progress there gives way."""
    clear = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{clear}{line}", file=sys.stderr)


def columns_text(names: list[str]) -> str:
    """Name some columns of a table."""
    from ..problem.statement import labels_text

    return f"the column{'' if len(names) == 1 else 's'} {labels_text(names)}"


def read_data(
    arguments: argparse.Namespace, model: "LinearModel | None" = None, *, labelled: bool = False
) -> "Dataset":
    """Read the data; for a model with the label, the columns and the base of indices that it had in training."""
    from ..data.archives import name_of
    from ..data.formats import TABLES, format_of, read_dataset
    from ..data.several import files_of, read_several
    from ..training.phases import enter

    options: dict[str, Any] = {"label": arguments.label, "drop": arguments.drop, "required": labelled}
    if model is not None:
        options["label"] = arguments.label or model.parameters.get("label")
        options["names"] = None if model.feature_names is None else model.feature_names.tolist()
        if (arguments.format or format_of(arguments.data)) in TABLES:
            dropped = model.parameters.get("drop")
            dropped = dropped if isinstance(dropped, list) else []  # the file may say anything
            options["drop"] = [*arguments.drop, *(name for name in dropped if isinstance(name, str))]
        options["zero_based"] = "auto" if model.first_index is None else model.first_index == 0
        options["features"] = model.n_features if arguments.label is None else None
    mention_ignored_label(arguments)
    enter(f"reading {name_of(arguments.data)}")
    dataset = read_several(files_of(arguments.data), read_dataset, format=arguments.format, **options)
    enter("preparing")
    for message in dataset.notices:
        notice(message)
    return dataset


def mention_ignored_label(arguments: argparse.Namespace) -> None:
    """Mention that only tables have a column to choose for the label."""
    from ..data.formats import format_of
    from ..data.several import files_of

    where = {
        "libsvm": "LIBSVM text has the label first in every line",
        "npz": "an .npz file has the labels in its array y",
        "folder": "a folder has the labels that were chosen when it was written",
    }
    if arguments.label is None:
        return
    formats = {arguments.format or format_of(path) for path in files_of(arguments.data)}
    if len(formats) == 1 and (found := formats.pop()) in where:
        notice(f"--label {arguments.label} is ignored: {where[found]}")


def require_there(arguments: argparse.Namespace) -> None:
    """Refuse a folder that is not there, before anything is said about what it should be."""
    import os

    from ..data.dataset import DataError

    if getattr(arguments, "memory", None) is not None and not os.path.exists(arguments.data):
        raise DataError("there is no such folder", arguments.data)


def require_one_stdin(arguments: argparse.Namespace) -> None:
    """Refuse to read two things from standard input; the model of train is written."""
    read = {"DATA": "data", "MODEL": "" if arguments.command == "train" else "model", "--weights": "weights"}
    if len(piped := [name for name, place in read.items() if getattr(arguments, place, None) == "-"]) > 1:
        raise ValueError(f"only one of {' and '.join(piped)} can be standard input")


def read_model(arguments: argparse.Namespace) -> "LinearModel":
    """Load the model, unless standard input would have to be both model and data."""
    from ..model.linear_model import load
    from ..model.model_file import ModelFileError

    require_one_stdin(arguments)
    try:
        return load(arguments.model)
    except ModelFileError:
        if not is_model(arguments.data):
            raise
        order = "DATA MODEL" if arguments.command == "predict" else "MODEL DATA"
        message = f"{arguments.data} is a model, and {arguments.model} is not; the order is {order}"
        raise ModelFileError(message) from None


def is_model(path: str) -> bool:
    """Whether a file is a model of ours, not only one that numpy can read."""
    from ..data.archives import head
    from ..model.linear_model import load
    from ..model.model_file import ModelFileError

    if head(path, 2) != b"PK":
        return False
    try:
        load(path)
    except ModelFileError:
        return False
    return True
