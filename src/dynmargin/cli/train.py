"""dynmargin train: from a file to a model and its certificate."""

import argparse
import math
import re
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..algorithms.table import ALGORITHMS
from .exit_codes import DONE, NOT_PROVEN
from .live import Live
from .reading import DATA_HELP, add_data_options, add_weights_option, notice, read_weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..data.dataset import Dataset
    from ..fitting import Fit, Settings

EPILOG = """example:
  dynmargin train a9a.xz a9a.npz --epsilon 0.001

-c, -B, -wLABEL, -v and -q mean what they mean in LIBLINEAR.
exit codes: 0 epsilon is proven, 1 it is not (the model is written all the same), 3 failed"""


def positive(text: str) -> float:
    """Parse a positive number."""
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def accuracy(text: str) -> float:
    """Parse epsilon."""
    value = float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0 and at most 1")
    return value


def finite(text: str) -> float:
    """Parse a number."""
    value = float(text)
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text} is not finite")
    return value


def several(text: str) -> int:
    """Parse a number of folds."""
    value = int(text)
    if value < 2:
        raise argparse.ArgumentTypeError(f"{text} is less than 2")
    return value


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("train", help="train a model and prove how good it is", epilog=EPILOG)
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    parser.add_argument(
        "model", metavar="MODEL", nargs="?", help="default: DATA.model.npz, here; - for standard output"
    )
    parser.add_argument(
        "--algorithm", choices=("auto", *ALGORITHMS), default="auto", help="default: auto, what suits the data"
    )
    add = parser.add_argument
    add("--epsilon", type=accuracy, default=0.01, help="fraction that may be missing to the best margin (default 0.01)")
    add("-c", type=positive, default=1.0, metavar="C", dest="C", help="price of a squared slack (default 1), or inf")
    add("-B", type=finite, default=1.0, metavar="BIAS", dest="bias", help="constant feature (default 1); -1 for none")
    add("-wLABEL", metavar="WEIGHT", dest="_", help="multiply C for the class LABEL, as in -w-1 5")
    add(
        "--multi-class",
        choices=("ovr", "joint"),
        default="ovr",
        help="several classes: each against the rest (ovr, the default), or all at once (joint)",
    )
    add("--max-time", type=positive, metavar="SECONDS", help="stop then, with what has been reached")
    add("--seed", type=int, default=0, help="the same seed gives the same result (default 0)")
    add("-v", "--validate", type=several, metavar="K", help="cross-validate with K folds; no model is written")
    add("-q", "--quiet", action="store_true", help="print nothing but notices and errors")
    add("-e", metavar="TOLERANCE", dest="tolerance", help="ignored: the certificate decides; see --epsilon")
    add_weights_option(parser)
    add_data_options(parser)
    parser.set_defaults(run=run, optional="model")


def take_class_weights(words: list[str]) -> tuple[list[str], dict[str, float]]:
    """Take LIBLINEAR's ``-wi weight`` out of a command line: argparse knows no options with a label in their name."""
    if words[:1] != ["train"]:
        return words, {}
    rest: list[str] = []
    weights: dict[str, float] = {}
    iterator = iter(words)
    for word in iterator:
        match = re.fullmatch(r"-w([-+]?\w.*)", word)
        if match is None:
            if re.match(r"-w(?!\w)", word):  # argparse would take it for the -wLABEL of the help
                raise ValueError("-w needs the label right after it, as in -w1 2")
            rest.append(word)
            continue
        value = next(iterator, "nothing")
        try:
            weights[match[1]] = positive(str(finite(value)))
        except (ValueError, argparse.ArgumentTypeError):
            raise ValueError(f"{word} needs a positive weight, got {value}") from None
    return rest, weights


def run(arguments: argparse.Namespace) -> int:
    """Read, train, report, write."""
    from ..fitting import Settings
    from ..whole_file import require_other_file, require_writable

    if arguments.tolerance is not None:
        notice(f"-e {arguments.tolerance} is ignored: the certificate decides when to stop; --epsilon says how close")
    settings = Settings(
        arguments.algorithm,
        arguments.epsilon,
        arguments.C,
        max(0.0, arguments.bias),
        arguments.class_weights,
        arguments.multi_class,
        arguments.max_time,
        arguments.seed,
    )
    if arguments.validate:
        return validate(arguments, read(arguments), settings)
    path = arguments.model or default_model(arguments.data)
    require_writable(path)
    require_other_file(path, arguments.data)
    dataset = read(arguments)
    fit = train(arguments, dataset, settings, read_weights(arguments.weights, dataset.X.shape[0]))
    label = dataset.label_name or arguments.label
    model = replace(fit.model, parameters={**fit.model.parameters, "label": label})
    model.save(path)
    # What is to be read by a program goes to standard output alone.
    say = sys.stderr if path == "-" else sys.stdout
    if not arguments.quiet:
        for line in report(fit):
            print(line, file=say)
        print(f"model written to {'standard output' if path == '-' else path}", file=say)
    return DONE if fit.achieved else NOT_PROVEN


def default_model(data: str) -> str:
    """Name the model after the data, in the current folder."""
    from ..data.archives import without_compression

    if data == "-":
        raise ValueError("name the MODEL when the data come from standard input")
    return Path(without_compression(data)).name + ".model.npz"


def read(arguments: argparse.Namespace) -> "Dataset":
    """Read the data and say what was read."""
    from ..data.archives import name_of
    from ..data.formats import read_dataset

    began = time.perf_counter()
    dataset = read_dataset(arguments.data, arguments.format, label=arguments.label)
    for message in dataset.notices:
        notice(message)
    if not arguments.quiet:
        rows, columns = dataset.X.shape
        seconds = time.perf_counter() - began
        print(f"{name_of(arguments.data)}: {rows} rows, {columns} features, read in {seconds:.2f} s", file=sys.stderr)
    return dataset


def train(
    arguments: argparse.Namespace,
    dataset: "Dataset",
    settings: "Settings",
    weights: "NDArray[np.float64] | None",
) -> "Fit":
    """Train with a live line, unless it is to be quiet."""
    from ..fitting import classes_of, fit, label_text

    classes = classes_of(dataset)
    one_by_one = len(classes) > 2 and settings.multi_class == "ovr"
    labels = [label_text(label) for label in classes] if one_by_one else []
    with nullcontext() if arguments.quiet else Live(settings.epsilon, labels):
        found = fit(dataset, settings, notice, weights)
    if found.shortfall:
        notice(found.shortfall)
    return found


def report(fit: "Fit") -> list[str]:
    """Say what was done and what is proven."""
    from ..fitting import label_text

    passes = max(outcome.passes for outcome in fit.outcomes)
    updates = sum(outcome.updates for outcome in fit.outcomes)
    lines = [f"{fit.algorithm}: {passes} passes, {updates} updates, {fit.seconds:.2f} s"]
    certificate = fit.model.certificate
    if len(fit.outcomes) > 1 and certificate is not None:
        worst = label_text(certificate.problem.positive)
        lines.append(f"{len(fit.outcomes)} classes, each against the rest; the largest gap is that of class {worst}")
    return [*lines, str(certificate)]


def validate(arguments: argparse.Namespace, dataset: "Dataset", settings: "Settings") -> int:
    """Train on all folds but one and predict that one, for each in turn."""
    import numpy as np

    from ..data.dataset import Dataset
    from ..fitting import classes_of, folds

    if arguments.model:
        notice(f"{arguments.model} is not written: cross-validation leaves no model")
    classes, y = classes_of(dataset), dataset.y
    assert y is not None
    fold = folds(classes, y, arguments.validate, settings.seed)
    weights = read_weights(arguments.weights, len(y))
    right, code = 0, DONE
    for i in range(arguments.validate):
        inside, outside = np.flatnonzero(fold != i), np.flatnonzero(fold == i)
        theirs = None if weights is None else weights[inside]
        fit = train(arguments, Dataset(dataset.X[inside], y[inside]), settings, theirs)
        if any(outcome.stop_reason == "interrupted" for outcome in fit.outcomes):
            raise KeyboardInterrupt  # half a cross-validation is worth nothing
        right += int((fit.model.predict(dataset.X[outside]) == y[outside]).sum())
        code = code if fit.achieved else NOT_PROVEN
    print(f"Cross Validation Accuracy = {right / len(y):.4%}")
    return code
