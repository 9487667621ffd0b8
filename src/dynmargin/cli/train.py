"""dynmargin train: from a file to a model and its certificate.

for example:
  dynmargin train a9a.xz a9a.npz --epsilon 0.001
  dynmargin train a9a.xz a9a.npz --until-settled 99.9%
  dynmargin train 'parts-*.svm.zst' model.npz --workers 4

-c, -B, -wLABEL, -v, -C and -q mean what they mean in LIBLINEAR; -s is accepted where the problem is the same.
exit codes: 0 what was asked for is proven, 1 it is not (the model is still written), 3 failed
"""

import argparse
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..algorithms.registry import ALGORITHMS, NAMES
from . import cluster, documents, liblinear, options, search
from .options import DATA_HELP, finite, notice, positive, several, share
from .train_on_cluster import TrainingOnCluster
from .train_on_disk import TrainingOnDisk
from .training import Training

if TYPE_CHECKING:
    pass


OPTIONS = (options.FITTING, options.WEIGHTS, options.READING, options.LABEL, options.JOBS, documents.JSON)

SETTLING = ("auto", "newton", "dcd", "pdm")  # algorithms that continue to as small a gap as predictions need


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    parser.add_argument(
        "model", metavar="MODEL", nargs="?", help="the file to write (default: DATA.model.npz); - for standard output"
    )
    add = parser.add_argument
    add("--algorithm", choices=NAMES, default="auto", metavar="NAME", help=f"{', '.join(NAMES)} (default: auto)")
    losses = "squared_hinge (default), or hinge with auto, dcd or mpu"
    add("--loss", choices=("squared_hinge", "hinge"), metavar="LOSS", help=losses)
    add("-B", type=finite, default=1.0, metavar="BIAS", dest="bias", help="constant feature (default 1); -1 for none")
    add("-wLABEL", metavar="WEIGHT", dest="_", help="multiply C for the class LABEL, as in -w-1 5")
    scaled = "put the features on a common scale, which becomes part of the model (default: none)"
    add(
        "--scale",
        choices=("standard", "maxabs", "none"),
        default="none",
        metavar="HOW",
        help=f"standard or maxabs: {scaled}",
    )
    several_classes = "several classes: each against the rest (ovr, the default), or all at once (joint)"
    add("--multi-class", choices=("ovr", "joint"), default="ovr", help=several_classes)
    until = "train until this share of the predictions, such as 99.9%%, is settled: no more training changes them"
    add("--until-settled", type=share, metavar="SHARE", help=until)
    add("-v", "--validate", type=several, metavar="K", help="cross-validate with K folds; no model is written")
    search.add_arguments(parser)
    cluster.add_arguments(parser)
    add("--checkpoint", metavar="FILE", help="keep snapshots in this file, and continue from it if it exists")
    every = "seconds between two snapshots (default 60); they take at most 2 %% of the time"
    add("--checkpoint-every", type=positive, metavar="SECONDS", help=every)
    memory = "memory that training on a folder may take, such as 2GB; its rows stay on the disk"
    add("--memory", metavar="BYTES", help=f"{memory} (default: they are read into memory if they fit)")
    add("-q", "--quiet", action="store_true", help="print nothing but notices and errors")
    liblinear.add_training_arguments(parser)
    parser.set_defaults(run=run, optional="model")


def take_class_weights(words: list[str]) -> tuple[list[str], dict[str, float]]:
    """Take LIBLINEAR's ``-wi weight`` out of a command line: argparse knows no options with a label in their name."""
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
    """Check what is asked for, then do it; rows that are scaled already need no advice to scale them."""
    from ..problem.wording import SHELL, speaking

    with speaking(SHELL if arguments.scale == "none" else replace(SHELL, scaling="")):
        return train(arguments)


def train(arguments: argparse.Namespace) -> int:
    """Read the data, then train and write the model, or cross-validate."""
    from ..data.atomic import require_other_file, require_writable
    from ..data.several import files_of

    options.require_one_stdin(arguments)
    liblinear.apply_training_options(arguments)
    arguments.loss = loss_of(arguments)
    if arguments.multi_class == "joint" and not NAMES[arguments.algorithm][0].joint:
        able = [name for name, (algorithm, _) in NAMES.items() if algorithm.joint]
        raise ValueError(f"--multi-class joint needs --algorithm {choice(able)}, not {arguments.algorithm}")
    if cluster.is_asked(arguments):
        cluster.require_possible(arguments)
    if arguments.until_settled is not None:
        require_settling(arguments)
    if arguments.search_C:
        search.require_searchable(arguments)
    else:
        search.require_unused(arguments)
    if arguments.checkpoint_every is not None and arguments.checkpoint is None:
        raise ValueError("--checkpoint-every needs --checkpoint FILE")
    if arguments.validate and not arguments.search_C:
        if arguments.model:
            notice(f"{arguments.model} is not written: cross-validation leaves no model")
        return training_for(arguments).validate()
    arguments.model = arguments.model or default_model(arguments.data)
    documents.require_separate(arguments, arguments.model, "MODEL")
    require_writable(arguments.model)
    require_other_file(arguments.model, *files_of(arguments.data), arguments.weights)
    require_no_data(arguments.model)
    if cluster.is_asked(arguments):
        return TrainingOnCluster(arguments).fit()
    training = training_for(arguments)
    return training.search() if arguments.search_C else training.fit()


def choice(names: Iterable[str]) -> str:
    """Write the algorithms that one may choose, the default first."""
    from ..problem.wording import any_of

    return any_of(sorted(names, key=lambda name: name != "auto"))


def require_no_data(model: str) -> None:
    """Refuse to replace a file that is no model: a pattern without quotes names the second of its files there."""
    from ..data.archives import head

    if model != "-" and head(model, 2) and not options.is_model(model):
        raise ValueError(f"{model} already exists and is not a model; remove it, or name another file (quote patterns)")


def loss_of(arguments: argparse.Namespace) -> str:
    """Return the loss that the command line asks for, by its name or by that of an algorithm."""
    algorithm, settings = NAMES[arguments.algorithm]
    loss = str(arguments.loss or settings.get("loss", "squared_hinge"))
    if loss != settings.get("loss", loss):
        raise ValueError(f"--algorithm {arguments.algorithm} and --loss {loss} contradict each other")
    if loss not in algorithm.losses:
        able = choice(one.name for one in ALGORITHMS.values() if loss in one.losses)
        raise ValueError(f"--loss {loss} needs --algorithm {able}; {arguments.algorithm} has the squared hinge only")
    if loss == "hinge" and arguments.multi_class == "joint":
        raise ValueError("--multi-class joint has squared slacks only, not --loss hinge")
    return loss


def training_for(arguments: argparse.Namespace) -> "Training":
    """Return the training over rows in memory, or over those that stay on the disk."""
    from .. import _core
    from .on_disk import rows_on_disk

    if arguments.memory is not None:
        _core.give_back_freed_memory()
    options.require_there(arguments)
    rows = rows_on_disk(arguments, scaled=arguments.scale != "none")
    return Training(arguments) if rows is None else TrainingOnDisk(arguments, rows)


def require_settling(arguments: argparse.Namespace) -> None:
    """Refuse what does not go together with --until-settled."""
    from ..certificate.ball import FREE_INTERCEPT

    if NAMES[arguments.algorithm][0].free_bias:
        raise ValueError(f"--until-settled does not go with {arguments.algorithm}: {FREE_INTERCEPT}")
    if NAMES[arguments.algorithm][0].name not in SETTLING:
        able = choice(name for name, (algorithm, _) in NAMES.items() if algorithm.name in SETTLING)
        raise ValueError(f"--until-settled needs --algorithm {able}, not {arguments.algorithm}")
    for option, given in {"--validate": arguments.validate, "--checkpoint": arguments.checkpoint}.items():
        if given:
            raise ValueError(f"--until-settled and {option} cannot be combined")


def default_model(data: str) -> str:
    """Name the model after the data, in the current folder."""
    from ..data.archives import without_compression
    from ..data.several import files_of

    if data == "-":
        raise ValueError("name the MODEL when the data come from standard input")
    if files_of(data) != [data]:
        raise ValueError("name the MODEL when the data are several files")
    return Path(without_compression(data)).name + ".model.npz"
