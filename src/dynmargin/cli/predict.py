"""dynmargin predict: labels or scores for the rows of a file, which labels are settled, and the accuracy.

for example:
  dynmargin predict a9a.t.xz a9a.npz labels.txt
  dynmargin predict a9a.t.xz a9a.npz labels.txt --settled

Without OUT only the accuracy is printed, or the labels if the data have none to compare with.
exit codes: 0 done, 3 failed
"""

import argparse
import sys

from . import documents
from .liblinear import add_prediction_arguments, require_no_probabilities
from .options import DATA_HELP, DONE, LABEL, READING, columns_text, notice, read_data, read_model

OPTIONS = (READING, LABEL, documents.JSON)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    parser.add_argument("model", metavar="MODEL", help="what train or convert wrote; - for standard input")
    parser.add_argument("out", metavar="OUT", nargs="?", help="one label per line; - for standard output")
    parser.add_argument("--scores", action="store_true", help="write scores after each label, below a line of names")
    settled = "write after each label whether it is settled (yes or no: no more training changes it), and count these"
    parser.add_argument("--settled", action="store_true", help=settled)
    parser.add_argument("-q", "--quiet", action="store_true", help="print neither the accuracy nor the count")
    add_prediction_arguments(parser)
    parser.set_defaults(run=run, optional="out")


def run(arguments: argparse.Namespace) -> int:
    """Read model and data, write predictions, print the accuracy."""
    import numpy as np

    from ..certificate.certificate import percent
    from ..data.atomic import atomic_write, require_other_file
    from ..data.dataset import Csr
    from ..data.libsvm import label_text
    from ..model.linear_model import labels_of
    from ..training.phases import enter

    require_no_probabilities(arguments)
    documents.require_separate(arguments, arguments.out, "OUT")
    if arguments.out is not None:
        require_other_file(arguments.out, arguments.data, arguments.model)
    model = read_model(arguments)
    dataset = read_data(arguments, model)
    if beyond := dataset.columns_beyond(model.feature_names):
        notice(f"the model does not use {columns_text(beyond)}")
    dataset = dataset.aligned(model.feature_names)
    X, y = dataset.X, dataset.y
    if isinstance(X, Csr):
        if X.shape[1] > model.n_features:
            notice(f"features beyond the model's {model.n_features} are not used")
        X = X.with_columns(model.n_features)
    enter("predicting")
    scores = model.decision_function(X)
    labels = labels_of(scores, model.classes)
    settled = model.settled(X) if arguments.settled else None
    enter(None)
    out = arguments.out or ("-" if y is None and not arguments.json else None)
    if out is not None:
        names, lines = ["label"], [label_text(label) for label in labels.tolist()]
        if settled is not None:
            names.append("settled")
            lines = [f"{line} {'yes' if sure else 'no'}" for line, sure in zip(lines, settled, strict=True)]
        if arguments.scores:
            names += [label_text(label) for label in (model.classes[1:] if scores.ndim == 1 else model.classes)]
            columns = scores.reshape(len(labels), -1).tolist()
            lines = [f"{line} {' '.join(map(repr, row))}" for line, row in zip(lines, columns, strict=True)]
        if len(names) > 1:
            lines.insert(0, " ".join(names))
        with atomic_write(out) as file:
            file.write("".join(f"{line}\n" for line in lines).encode())
    right = None if y is None or not np.isin(y, model.classes).any() else int((labels == y).sum())
    if arguments.json:
        documents.show(
            "predict",
            rows=len(labels),
            accuracy=None if right is None else right / len(labels),
            right=right,
            settled=None if settled is None else int(settled.sum()),
            labels=labels if y is None and out is None else None,
            out=out,
        )
        return DONE
    if settled is not None and not arguments.quiet:
        count = f"{percent(float(settled.mean()))} of the predictions are settled ({settled.sum()}/{len(settled)})"
        print(count, file=sys.stderr if out == "-" else sys.stdout)
    if y is not None and not arguments.quiet:
        if right is not None:
            accuracy = f"Accuracy = {right / len(y):.4%} ({right}/{len(y)})"
            print(accuracy, file=sys.stderr if out == "-" else sys.stdout)
        else:
            notice("no row has a label that the model knows: there is no accuracy")
    return DONE
