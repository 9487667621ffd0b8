"""dynmargin predict: labels or scores for the rows of a file, and the accuracy if it has labels."""

import argparse
import sys
from typing import Any

from .exit_codes import DONE
from .reading import DATA_HELP, add_data_options, notice, read_for_model

EPILOG = """example:
  dynmargin predict a9a.t.xz a9a.npz labels.txt

Without OUT only the accuracy is printed, or the labels if the data have none to compare with.
exit codes: 0 done, 3 failed"""


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("predict", help="predict labels or scores", epilog=EPILOG)
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    parser.add_argument("model", metavar="MODEL", help="what train or convert wrote; - for standard input")
    parser.add_argument("out", metavar="OUT", nargs="?", help="a label a line; - for standard output")
    parser.add_argument("--scores", action="store_true", help="write scores after each label, under a line of names")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not print the accuracy")
    add_data_options(parser)
    parser.set_defaults(run=run, optional="out")


def run(arguments: argparse.Namespace) -> int:
    """Read, score, write, compare."""
    import numpy as np

    from ..data.dataset import Csr
    from ..fitting import label_text
    from ..model_file import load
    from ..whole_file import require_other_file, whole_file

    if arguments.data == arguments.model == "-":
        raise ValueError("only one of DATA and MODEL can be standard input")
    if arguments.out is not None:
        require_other_file(arguments.out, arguments.data, arguments.model)
    model = load(arguments.model)
    dataset = read_for_model(arguments, model)
    X, y = dataset.X, dataset.y
    if isinstance(X, Csr):
        if X.shape[1] > model.n_features:
            notice(f"features beyond the model's {model.n_features} are not used")
        X = X.with_columns(model.n_features)
    scores = model.decision_function(X)
    labels = model.labels(scores)
    out = arguments.out or ("-" if y is None else None)
    if out is not None:
        lines = [label_text(label) for label in labels.tolist()]
        if arguments.scores:
            named = model.classes[1:] if scores.ndim == 1 else model.classes
            columns = scores.reshape(len(labels), -1).tolist()
            lines = [f"{label} {' '.join(map(repr, row))}" for label, row in zip(lines, columns, strict=True)]
            lines.insert(0, " ".join(["label", *(label_text(label) for label in named)]))
        with whole_file(out) as file:
            file.write("".join(f"{line}\n" for line in lines).encode())
    if y is not None and not arguments.quiet:
        say = sys.stderr if out == "-" else sys.stdout
        right = int((labels == y).sum())
        if len(y) == 0 or not np.isin(y, model.classes).any():
            notice("no row has a label that the model knows: there is no accuracy")
        else:
            print(f"Accuracy = {right / len(y):.4%} ({right}/{len(y)})", file=say)
    return DONE
