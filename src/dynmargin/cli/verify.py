"""dynmargin verify: prove a model's certificate again from the data.

for example:
  dynmargin verify a9a.npz a9a.xz
  dynmargin verify a9a.npz a9a.xz -c 1 --classes=-1,1 --loss squared_hinge

Both bounds are computed anew: the margin from the weights, the upper bound from the counts. Nothing in the model file
is trusted. The file says which problem it solves, and so does the answer; -c, -B, --classes, --loss and --scale say
which problem it must be.
exit codes: 0 proven, 1 not proven, 2 not the data it was trained on (or its rows in another order), or not the problem
that was asked about, 3 failed
"""

import argparse
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import documents
from .options import (
    DATA_HELP,
    DONE,
    JOBS,
    LABEL,
    NOT_PROVEN,
    OTHER_DATA,
    READING,
    WEIGHTS,
    columns_text,
    finite,
    jobs,
    names,
    positive,
    read_data,
    read_model,
    require_there,
)
from .weights import read_weights

if TYPE_CHECKING:
    from ..certificate.verification import Verification
    from ..data.binary import Folder
    from ..data.dataset import Dataset
    from ..model.linear_model import LinearModel

OPTIONS = (WEIGHTS, READING, LABEL, JOBS, documents.JSON)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("model", metavar="MODEL", help="what train wrote; - for standard input")
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    add = parser.add_argument
    add("-c", type=positive, metavar="C", dest="C", help="what slacks must cost in every class (default: anything)")
    add("-B", type=finite, metavar="BIAS", dest="bias", help="the constant feature that there must be; -1 for none")
    add("--classes", type=names, metavar="LABELS", help="the classes that there must be, separated by commas")
    add("--loss", choices=("squared_hinge", "hinge"), help="the loss that it must be")
    add("--scale", choices=("standard", "maxabs", "none"), metavar="HOW", help="how the features must be scaled")
    memory = "memory that verifying on a folder may take, such as 2GB; its rows stay on the disk"
    add("--memory", metavar="BYTES", help=memory)
    add("-q", "--quiet", action="store_true", help="print nothing but notices and errors; the exit code tells")
    parser.set_defaults(run=run)


def percent(fraction: float) -> str:
    """Write a fraction in per cent; a small one keeps two digits."""
    from ..problem.statement import in_percent

    return in_percent(fraction, 3) if fraction >= 1e-4 else f"{100 * fraction:.2g} %"


def run(arguments: argparse.Namespace) -> int:
    """Read model and data, verify, print the verdict."""
    from .. import _core
    from ..certificate.verification import unproven
    from ..data.dataset import NO_LABELS, Csr
    from ..training.phases import enter
    from .on_disk import aligned, memory_in_words, rows_on_disk

    if arguments.memory is not None:
        _core.give_back_freed_memory()
    model = read_model(arguments)
    scale = "none" if model.scaling is None else model.scaling.kind
    if arguments.scale not in (None, scale):
        is_scaled = "not scaled" if scale == "none" else f"scaled by {scale}"
        differs = f"the features are {is_scaled}, but --scale {arguments.scale} was asked for"
        return conclude(arguments, model, unproven("other problem", differs))
    require_there(arguments)
    rows = rows_on_disk(arguments, scaled=model.scaling is not None)
    expected = {
        "C": arguments.C,
        "classes": labels(arguments.classes, model),
        "loss": arguments.loss,
        "intercept_scaling": arguments.bias,
    }
    if rows is not None:
        weights = read_weights(arguments.weights, len(rows)) if arguments.weights else None
        enter("proving")
        with memory_in_words(arguments, rows):
            found = model.verify(aligned(rows, model), None, weights, **expected)
        column = label_column(arguments, rows.folder, model)
        return conclude(arguments, model, replace(found, problem=found.problem and found.problem + column))
    dataset = read_data(arguments, model)
    if beyond := dataset.columns_beyond(model.feature_names):
        return conclude(arguments, model, unproven("other data", too_many(beyond, labelled=dataset.y is not None)))
    dataset = dataset.aligned(model.feature_names)
    if dataset.y is None:
        raise ValueError(NO_LABELS)
    X = dataset.X
    if isinstance(X, Csr) and X.shape[1] < model.n_features:  # the last features may have no value
        X = X.with_columns(model.n_features)
    weights = read_weights(arguments.weights, X.shape[0]) if arguments.weights else None
    enter("proving")
    found = model.verify(X, dataset.y, weights, **expected, n_jobs=jobs(arguments))
    columns = label_column(arguments, dataset, model) + dropped_columns(arguments, dataset)
    return conclude(arguments, model, replace(found, problem=found.problem and found.problem + columns))


def too_many(columns: list[str], *, labelled: bool) -> str:
    """Say what to do about columns of a table that the model does not know; one of them may be the label."""
    from ..problem.statement import among_others

    dropped = f"--drop {shlex.quote(','.join(map(among_others, columns)))}"
    if labelled:
        advice = f"leave {'it' if len(columns) == 1 else 'them'} out with {dropped}"
    elif len(columns) == 1:
        advice = f"if it is the label, name it with --label {shlex.quote(columns[0])}"
    else:
        advice = "name the label with --label, and leave the others out with --drop"
    return f"the table also has {columns_text(columns)}; {advice}"


def conclude(arguments: argparse.Namespace, model: "LinearModel", found: "Verification") -> int:
    """Print the verdict, and return its code."""
    from ..training.phases import enter

    enter(None)
    worst = model.certificate
    # Known before it is printed: whatever becomes of the output, the exit code is that of the verdict.
    arguments.code = {"proven": DONE, "other data": OTHER_DATA, "other problem": OTHER_DATA}.get(
        found.verdict, NOT_PROVEN
    )
    if arguments.quiet and not arguments.json:
        return int(arguments.code)
    if arguments.json:
        of_file = {**documents.certificate_fields(worst), "classes": model.classes} if found else {}
        documents.show(
            "verify",
            verdict=found.verdict,
            proven=bool(found),
            detail=found.detail,
            problem=found.problem or None,
            **{name: of_file.get(name) for name in ("classes", "margin", "upper_bound", "gap", "settled_share")},
            epsilon_in_file=of_file.get("epsilon"),
        )
        return int(arguments.code)
    lines = [f"{found.verdict}: {found.detail}"]
    if found and len(model.certificates) > 1:
        lines.insert(0, f"all {len(model.certificates)} classes are proven; the one with the largest gap:")
    if found and worst and worst.gap < 1:  # else nothing is separated
        what, of = ("margin", "best") if worst.loss == "squared_hinge" else ("value 1 / sqrt(objective)", "largest")
        within = f"the {what} is within {percent(worst.gap)} of the {of} possible"
        lines.append(f"{within}; the file says that {asked_for(model, worst.epsilon)}")
    if found.problem:
        lines.append(f"the problem: {found.problem}")
    print("\n".join(lines))
    return int(arguments.code)


def asked_for(model: "LinearModel", epsilon: float) -> str:
    """Say what the training was to reach, as far as the file is to be believed."""
    from ..certificate.settled_share import percent as share_text

    parameters = model.parameters
    share = parameters.get("until_settled")  # of dynmargin train
    if parameters.get("stop") == "predictions":  # of an estimator
        share = parameters.get("settle")
    if isinstance(share, float | int) and 0 < share <= 1:
        return f"{share_text(float(share))} of the rows were to be settled"
    return f"{percent(epsilon)} was asked for"


def labels(words: list[str] | None, model: "LinearModel") -> list[Any] | None:
    """Return the classes that are named, those of the model for what is written as they are."""
    from ..problem.problems import label_text

    if words is None:
        return None
    known = {label_text(label): label for label in model.classes.tolist()}
    if model.classes.dtype.kind in "fiu":
        words = [label_text(float(word)) if is_number(word) else word for word in words]
    return [known.get(word, word) for word in words]


def is_number(word: str) -> bool:
    """Whether a word is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def label_column(arguments: argparse.Namespace, dataset: "Dataset | Folder", model: "LinearModel") -> str:
    """Say which column of a table the labels are, and whether it is the one that the model names."""
    from ..data.formats import TABLES, format_of
    from ..data.several import files_of
    from ..problem.problems import label_text

    tables = {arguments.format or format_of(path) for path in files_of(arguments.data)} <= set(TABLES)
    said = model.parameters.get("label")
    label = dataset.label_name or (tables and (arguments.label or said)) or None
    if label is None:  # LIBSVM text and archives have no columns to choose from
        return ""
    chosen = ""
    if tables and not arguments.label and said is not None:  # a column called "label" replaces one of another name
        chosen = ", as the model says" if label == said else f", where the model says {label_text(said)}"
    return f"; labels from the column {label_text(label)}{chosen}"


def dropped_columns(arguments: argparse.Namespace, dataset: "Dataset") -> str:
    """Say which columns of a table are left out, and who has chosen them."""
    if not dataset.dropped:
        return ""
    chosen = "" if arguments.drop else ", as the model says"
    return f"; without {columns_text(list(dataset.dropped))}{chosen}"
