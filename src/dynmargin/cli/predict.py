"""dynmargin predict: labels or scores for the rows of a file, which labels are settled, and the accuracy.

for example:
  dynmargin predict a9a.t.xz a9a.npz labels.txt
  dynmargin predict a9a.t.xz a9a.npz labels.txt --settled

Without OUT only the accuracy is printed, or the labels if the data have none to compare with.
exit codes: 0 done, 3 failed
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, TextIO

from . import documents
from .liblinear import add_prediction_arguments, require_no_probabilities
from .options import DATA_HELP, DONE, LABEL, READING, columns_text, notice, read_data, read_model, require_there

OPTIONS = (READING, LABEL, documents.JSON)

WORDS_AT_A_TIME = 1 << 15  # as text each takes up to a hundred bytes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    parser.add_argument("model", metavar="MODEL", help="what train or convert wrote; - for standard input")
    parser.add_argument(
        "out", metavar="OUT", nargs="?", help="the file to write, one label per line; - for standard output"
    )
    scores = "also write the scores after each label, below a header line; columns are separated by spaces"
    parser.add_argument("--scores", action="store_true", help=scores)
    settled = (
        "also write after each label whether it is settled, yes or no (no more training changes it); print how many are"
    )
    parser.add_argument("--settled", action="store_true", help=settled)
    memory = "memory that predicting on a folder may take, such as 2GB; its rows stay on the disk"
    parser.add_argument("--memory", metavar="BYTES", help=memory)
    parser.add_argument("-q", "--quiet", action="store_true", help="print neither the accuracy nor the count")
    add_prediction_arguments(parser)
    parser.set_defaults(run=run, optional="out")


def run(arguments: argparse.Namespace) -> int:
    """Read model and data, write predictions, print the accuracy."""
    import numpy as np

    from .. import _core
    from ..data.atomic import atomic_write, require_other_file
    from ..data.dataset import Csr
    from ..data.several import files_of
    from ..model.linear_model import labels_of
    from ..training.phases import enter
    from .on_disk import aligned, memory_in_words, rows_on_disk

    require_no_probabilities(arguments)
    documents.require_separate(arguments, arguments.out, "OUT")
    if arguments.out is not None:
        require_other_file(arguments.out, *files_of(arguments.data), arguments.model)
    if arguments.memory is not None:
        _core.give_back_freed_memory()
    model = read_model(arguments)
    require_there(arguments)
    rows = rows_on_disk(arguments, scaled=model.scaling is not None)
    if rows is None:
        dataset = read_data(arguments, model)
        if beyond := dataset.columns_beyond(model.feature_names):
            notice(f"the model does not use {columns_text(beyond)}")
        dataset = dataset.aligned(model.feature_names)
        blocks, labelled = iter([(dataset.X, dataset.y)]), dataset.y is not None
        shape = dataset.X.shape
    else:
        rows = aligned(rows, model)
        blocks, labelled, shape = rows.blocks(), rows.folder.labels is not None, rows.shape
        kept = not labelled and arguments.json and arguments.out is None
        with memory_in_words(arguments, rows):
            rows.require_room_to_predict(len(model.intercept), labels_kept=kept)
    if (rows is not None or isinstance(dataset.X, Csr)) and shape[1] > model.n_features:
        notice(f"features beyond the model's {model.n_features} are not used")
    named = dataset.feature_names is not None if rows is None else rows.folder.feature_names is not None
    if model.feature_names is not None and not named:
        notice("the model's features have names and those of the data have none, so they are matched by position")
    out = arguments.out or (None if labelled or arguments.json else "-")
    if arguments.scores and out is None:
        raise ValueError("--scores needs OUT, the file to write the scores to; - for standard output")
    found, unlabelled = Found(), []
    enter("predicting")
    with nullcontext() if out is None else atomic_write(out) as file:
        for X, y in blocks:
            X = X.with_columns(model.n_features) if isinstance(X, Csr) else X
            scores = model.decision_function(X)
            labels = labels_of(scores, model.classes)
            settled = model.settled(X) if arguments.settled else None
            found.add(labels, y, settled, model.classes)
            if not labelled and arguments.json and out is None:
                unlabelled.append(labels)
            if file is not None:
                written = scores if arguments.scores else None
                for lines in lines_of(labels, written, settled, model.classes, found.first):
                    file.write(lines)
                del written
            del X, y, scores, labels, settled  # before the next block is read
    enter(None)
    if arguments.json:
        found.document(np.concatenate(unlabelled) if unlabelled else None, out)
    elif not arguments.quiet:
        found.report(sys.stderr if out == "-" else sys.stdout)
    return DONE


def lines_of(labels: Any, scores: Any, settled: Any, classes: Any, first: bool) -> Iterator[bytes]:
    """Yield one line per row, some at a time, below a line of names where there is more than a label."""
    from ..data.libsvm import label_text

    names = ["label"] if settled is None else ["label", "settled"]
    words = {label: label_text(label) for label in classes.tolist()}
    if settled is not None or scores is not None:
        words = {label: between_spaces(text) for label, text in words.items()}
    if scores is not None:
        names += [*words.values()][1 if scores.ndim == 1 else 0 :]
        scores = scores.reshape(len(labels), -1)
    if first and len(names) > 1:
        yield f"{' '.join(names)}\n".encode()
    step = max(1, WORDS_AT_A_TIME // len(names))
    for some in (slice(begin, begin + step) for begin in range(0, len(labels), step)):
        lines = [words[label] for label in labels[some].tolist()]
        if settled is not None:
            lines = [f"{line} {'yes' if sure else 'no'}" for line, sure in zip(lines, settled[some], strict=True)]
        if scores is not None:
            columns = scores[some].tolist()
            lines = [f"{line} {' '.join(map(repr, row))}" for line, row in zip(lines, columns, strict=True)]
        yield "".join(f"{line}\n" for line in lines).encode()


def between_spaces(text: str) -> str:
    """Write a label as one of several columns between spaces: in quotes, as in a CSV file, if it could be several."""
    plain = text and not any(letter.isspace() or letter == '"' for letter in text)
    return text if plain else '"' + text.replace('"', '""') + '"'


class Found:
    """What predictions add up to, block by block."""

    def __init__(self) -> None:
        self.blocks = self.rows = self.right = self.known = self.settled = 0
        self.labelled = self.with_settled = False

    @property
    def first(self) -> bool:
        """Whether there was one block so far."""
        return self.blocks == 1

    def add(self, labels: Any, y: Any, settled: Any, classes: Any) -> None:
        """Count the rows of a block."""
        import numpy as np

        self.blocks, self.rows = self.blocks + 1, self.rows + len(labels)
        if settled is not None:
            self.with_settled, self.settled = True, self.settled + int(settled.sum())
        if y is not None:
            self.labelled = True
            self.right += int((labels == y).sum())
            self.known += int(np.isin(y, classes).sum())

    def document(self, labels: Any, out: str | None) -> None:
        """Print it as JSON."""
        right = self.right if self.labelled and self.known else None
        documents.show(
            "predict",
            rows=self.rows,
            accuracy=None if right is None else right / self.rows,
            right=right,
            settled=self.settled if self.with_settled else None,
            labels=labels,
            out=out,
        )

    def report(self, file: TextIO) -> None:
        """Print how many predictions are settled, and how many are right."""
        from ..certificate.settled_share import percent

        if self.with_settled:
            share = percent(self.settled / self.rows) if self.rows else "none"
            print(f"{share} of the predictions are settled ({self.settled}/{self.rows})", file=file)
        if self.labelled and self.known:
            print(f"Accuracy = {self.right / self.rows:.4%} ({self.right}/{self.rows})", file=file)
        elif not self.rows:
            notice("there are no rows to predict")
        elif self.labelled:
            notice("no row has a label that the model knows, so there is no accuracy")
