"""dynmargin train: from a file to a model and its certificate.

for example:
  dynmargin train a9a.xz a9a.npz --epsilon 0.001
  dynmargin train a9a.xz a9a.npz --until-settled 99.9%
  dynmargin train 'parts-*.svm.zst' model.npz --workers 4

-c, -B, -wLABEL, -v, -C and -q mean what they mean in LIBLINEAR; -s is accepted where the problem is ours.
exit codes: 0 what was asked for is proven, 1 it is not (the model is still written), 3 failed
"""

import argparse
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..algorithms.registry import ALGORITHMS, NAMES, find
from . import cluster, documents, liblinear, options, search
from .options import DATA_HELP, DONE, NOT_PROVEN, finite, notice, positive, several, share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..data.dataset import Dataset
    from ..model.scaling import Scaling
    from ..path.error_curve import ErrorCurve
    from ..problem.problems import Problem
    from ..shards.rows_on_disk import RowsOnDisk
    from ..training.checkpoint import Checkpoint
    from ..training.fit import Fit, Train
    from ..training.request import Request


OPTIONS = (options.FITTING, options.WEIGHTS, options.READING, options.LABEL, options.JOBS, documents.JSON)

LEAST_READING = 1.0  # seconds, in which a package for tables may have to be loaded too
LARGEST_EXACT = 2.0**53  # up to here all whole numbers are doubles
MANY_CLASSES = 20  # of labels that are not whole numbers: they may be meant for regression
LONGEST_LIMIT = 1e8  # seconds, that is three years: clocks refuse what is much longer
SETTLING = ("auto", "newton", "dcd", "pdm")  # algorithms that continue to as small a gap as predictions need


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("data", metavar="DATA", help=DATA_HELP)
    parser.add_argument("model", metavar="MODEL", nargs="?", help="default: DATA.model.npz; - for standard output")
    add = parser.add_argument
    add("--algorithm", choices=NAMES, default="auto", metavar="NAME", help=f"{', '.join(NAMES)} (default: auto)")
    losses = "squared_hinge (the default), or hinge: for auto, dcd and mpu"
    add("--loss", choices=("squared_hinge", "hinge"), metavar="LOSS", help=losses)
    add("-B", type=finite, default=1.0, metavar="BIAS", dest="bias", help="constant feature (default 1); -1 for none")
    add("-wLABEL", metavar="WEIGHT", dest="_", help="multiply C for the class LABEL, as in -w-1 5")
    scaled = "put the features on a common scale, which becomes part of the model (default: none)"
    add(
        "--scale",
        choices=("standard", "maxabs", "none"),
        default="none",
        metavar="HOW",
        help=f"standard, maxabs: {scaled}",
    )
    several_classes = "several classes: each against the rest (ovr, the default), or all at once (joint)"
    add("--multi-class", choices=("ovr", "joint"), default="ovr", help=several_classes)
    until = "train until the predictions of that share of the rows are settled: no more training changes them"
    add("--until-settled", type=share, metavar="SHARE", help=f"{until}, as in 99.9%%")
    add("-v", "--validate", type=several, metavar="K", help="cross-validate with K folds; no model is written")
    search.add_arguments(parser)
    cluster.add_arguments(parser)
    add("--checkpoint", metavar="FILE", help="keep snapshots there, and continue from them if the file exists")
    every = "seconds between two snapshots (default 60); they take at most 2 %% of the time"
    add("--checkpoint-every", type=positive, default=60.0, metavar="SECONDS", help=every)
    memory = "what training on a folder may take, as in 2GB; its rows stay on the disk"
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

    liblinear.apply_training_options(arguments)
    arguments.loss = loss_of(arguments)
    if arguments.multi_class == "joint" and not NAMES[arguments.algorithm][0].joint:
        able = [name for name, (algorithm, _) in NAMES.items() if algorithm.joint]
        raise ValueError(f"--multi-class joint needs one of {', '.join(able)}, not {arguments.algorithm}")
    if cluster.is_asked(arguments):
        cluster.require_possible(arguments)
    if arguments.until_settled is not None:
        require_settling(arguments)
    if arguments.search_C:
        search.require_searchable(arguments)
    else:
        search.require_unused(arguments)
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
        with cluster.connected(arguments) as client:
            return TrainingOnCluster(arguments, client).fit()
    training = training_for(arguments)
    return training.search() if arguments.search_C else training.fit()


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
        able = ", ".join(one.name for one in ALGORITHMS.values() if loss in one.losses)
        raise ValueError(f"--loss {loss} needs --algorithm {able}; {arguments.algorithm} has the squared hinge only")
    if loss == "hinge" and arguments.multi_class == "joint":
        raise ValueError("--multi-class joint has squared slacks only, not --loss hinge")
    return loss


def training_for(arguments: argparse.Namespace) -> "Training":
    """Return the training over rows in memory, or over those that stay on the disk."""
    from .on_disk import rows_on_disk

    options.require_there(arguments)
    rows = rows_on_disk(arguments, scaled=arguments.scale != "none")
    return Training(arguments) if rows is None else TrainingOnDisk(arguments, rows)


def require_settling(arguments: argparse.Namespace) -> None:
    """Refuse what does not go together with --until-settled."""
    from ..certificate.ball import FREE_INTERCEPT

    if NAMES[arguments.algorithm][0].free_bias:
        raise ValueError(f"--until-settled does not go with {arguments.algorithm}: {FREE_INTERCEPT}")
    if NAMES[arguments.algorithm][0].name not in SETTLING:
        able = ", ".join(name for name, (algorithm, _) in NAMES.items() if algorithm.name in SETTLING)
        raise ValueError(f"--until-settled needs one of {able}, not {arguments.algorithm}")
    for option, given in {"--validate": arguments.validate, "--checkpoint": arguments.checkpoint}.items():
        if given:
            raise ValueError(f"--until-settled and {option} exclude each other")


def default_model(data: str) -> str:
    """Name the model after the data, in the current folder."""
    from ..data.archives import without_compression
    from ..data.several import files_of

    if data == "-":
        raise ValueError("name the MODEL when the data come from standard input")
    if files_of(data) != [data]:
        raise ValueError("name the MODEL when the data are several files")
    return Path(without_compression(data)).name + ".model.npz"


def read(arguments: argparse.Namespace) -> "Dataset":
    """Read the data and report their size."""
    from ..data.archives import name_of
    from ..data.dataset import DataError
    from ..problem.statement import counted

    began = time.perf_counter()
    with limit_of_reading(arguments):
        dataset = options.read_data(arguments, labelled=True)
    if dataset.X.shape[0] == 0:
        raise DataError("there are no rows", name_of(arguments.data))
    if not arguments.quiet:
        rows, columns = dataset.X.shape
        seconds = time.perf_counter() - began
        size = f"{counted(rows, 'row')}, {counted(columns, 'feature')}"
        options.say(f"{name_of(arguments.data)}: {size}, read in {seconds:.2f} s")
    mention_many_features(dataset)
    mention_numbers_for_labels(dataset)
    return dataset


def mention_uncentred(kind: str, *, sparse: bool) -> None:
    """Mention that zeros stay zeros where there are many."""
    if kind == "standard" and sparse:
        notice("the data are sparse: --scale standard divides by the standard deviations and does not centre")


@contextmanager
def limit_of_reading(arguments: argparse.Namespace) -> Iterator[None]:
    """Give up reading when --max-time is over; a small file is read in any case."""
    from ..training.phases import too_late
    from .signals import alarm

    limit, started = arguments.max_time, arguments.started
    if limit is None or limit > LONGEST_LIMIT:
        yield
        return
    try:
        with alarm(max(LEAST_READING, started + limit - time.perf_counter())):
            yield
    except TimeoutError:
        raise too_late(limit, started, "read") from None


def mention_numbers_for_labels(dataset: "Dataset") -> None:
    """Mention labels that are too large to be told apart, or look like measurements: each becomes a class."""
    import numpy as np

    y = dataset.y
    if y is None or y.dtype.kind != "f" or not np.isfinite(y).all():
        return
    if (np.abs(y) > LARGEST_EXACT).any():
        notice("labels beyond 2**53 are rounded, so that some may become the same")
    if (y == np.round(y)).all():
        return
    if (several := len(np.unique(y))) > MANY_CLASSES:
        notice(f"the labels are {several} different numbers, not all of them whole; each is taken for a class")


def mention_many_features(dataset: "Dataset") -> None:
    """Mention features that hardly any row has: a single large index, perhaps a mistyped one, makes as many."""
    from .. import _core
    from ..data.dataset import Csr
    from ..training.fit import BYTES_PER_FEATURE, MANY_FEATURES

    if not isinstance(dataset.X, Csr):
        return
    columns = dataset.X.shape[1]
    if columns > MANY_FEATURES and columns > 100 * len(dataset.X.data):
        memory = _core.in_units(BYTES_PER_FEATURE * columns)
        notice(f"the largest index makes {columns} features; training takes {memory} of memory")


def class_weights(classes: "NDArray[Any]", asked: dict[str, float]) -> "tuple[NDArray[np.float64], list[str]]":
    """Return a weight for each class, and the labels that no class has; numbers are compared as such."""
    import numpy as np

    weights, unknown = np.ones(len(classes)), []
    for text, weight in asked.items():
        try:
            found = classes == (float(text) if classes.dtype.kind in "fiub" else text)
        except ValueError:
            found = np.zeros(len(classes), dtype=bool)
        if not np.any(found):
            unknown.append(text)
        weights[found] *= weight
    return weights, unknown


def open_checkpoint(arguments: argparse.Namespace) -> "Checkpoint | None":
    """Open the file to continue from, if one is named."""
    from ..data.atomic import require_other_file
    from ..data.several import files_of
    from ..training.checkpoint import Checkpoint

    if arguments.checkpoint is None:
        return None
    require_other_file(arguments.checkpoint, *files_of(arguments.data), arguments.weights)
    if not arguments.validate and Path(arguments.checkpoint).resolve() == Path(arguments.model).resolve():
        raise ValueError(f"{arguments.checkpoint} is the model and the checkpoint; name another file for one of them")
    parameters = {
        "--algorithm": arguments.algorithm,
        "--epsilon": arguments.epsilon,
        "-c": arguments.C,
        "-B": arguments.bias,
        "-w": arguments.class_weights,
        "--multi-class": arguments.multi_class,
        "--scale": None if arguments.scale == "none" else arguments.scale,
        "--loss": None if "hinge" in arguments.algorithm or arguments.loss != "hinge" else "hinge",
    }
    return Checkpoint(arguments.checkpoint, arguments.checkpoint_every, parameters, notice)


class Training:
    """What a command line asks for, over the data that it names."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        from ..problem.matrix import as_matrix
        from ..problem.problems import require_weight_in_every_class
        from ..training.phases import pack
        from ..training.request import Request

        self.arguments = arguments
        self.curve: ErrorCurve | None = None  # of a search for C
        self.checkpoint = open_checkpoint(arguments)
        self.algorithm, train = find(arguments.algorithm)
        self.train = train if self.checkpoint is None else self.checkpoint.around(train)
        self.dataset = read(arguments)
        self.shape = self.dataset.X.shape
        self.classes, self.y = self.dataset.labelled()
        self.scaling = self.scale()
        self.weights = options.read_weights(arguments.weights, len(self.y)) if arguments.weights else None
        require_weight_in_every_class(self.classes, self.y, self.weights)
        for label in class_weights(self.classes, arguments.class_weights)[1]:
            notice(f"no row has the label {label} of -w{label}")
        self.request = Request(
            epsilon=arguments.epsilon,
            seed=arguments.seed,
            max_time=arguments.max_time,
            n_jobs=options.jobs(arguments),
            started=arguments.started,
            warn=notice,
            checkpoint=self.checkpoint,
        )
        self.began = time.perf_counter()  # the limit of time counts from the start, what is reported from here
        self.matrix = as_matrix(self.dataset.X)
        try:
            self.rows = pack(self.matrix, self.request)
        except ValueError:  # it has met a row of infinite length
            self.dataset.require_finite()
            raise

    def scale(self) -> "Scaling | None":
        """Put the features on a common scale, if that is asked for."""
        from ..data.dataset import Csr
        from ..model.scaling import fit_scaling

        kind, X = self.arguments.scale, self.dataset.X
        if kind == "none":
            return None
        self.dataset.require_finite()
        scaling = fit_scaling(kind, X)
        mention_uncentred(kind, sparse=isinstance(X, Csr))
        self.dataset = replace(self.dataset, X=scaling.of(X))
        return scaling

    def problems(self, classes: "NDArray[Any]") -> "list[Problem]":
        """State the problems over these classes."""
        from ..problem.problems import state_problems

        asked = self.arguments
        return state_problems(
            classes,
            asked.C,
            class_weights(classes, asked.class_weights)[0],
            rho=max(0.0, asked.bias),
            loss=asked.loss,
            free_bias=self.algorithm.free_bias,
            joint=asked.multi_class == "joint",
        )

    def live(self, problems: "list[Problem]") -> Any:
        """Show the checks of the bounds, unless the command is to be quiet."""
        if self.arguments.quiet:
            return nullcontext()
        from ..data.libsvm import label_text
        from ..progress.live import Live

        labels = [label_text(problem.positive) for problem in problems] if len(problems) > 1 else []
        return Live(self.arguments.epsilon, labels, self.arguments.max_time)

    def search(self) -> int:
        """Choose C with a proof for the whole range, then train with it."""
        packed, data = (self.matrix, self.rows), (self.dataset.X, self.y, self.weights)
        self.curve = search.search(self.arguments, self.request, packed, data, self.classes, self.problems)
        self.arguments.C = self.curve.C
        return self.fit()

    def fitted(self, problems: "list[Problem]") -> "Fit":
        """Train on the problems, and count the rows that are settled."""
        from ..certificate.ball import Settled
        from ..training.fit import fit
        from ..training.settling import fit_until_settled, with_share

        def to_gap(request: "Request", train: "Train") -> "Fit":
            return fit(self.matrix, self.y, self.weights, problems, request, train, self.rows)

        X = self.dataset.X if self.weights is None else self.dataset.X[self.weights.nonzero()[0]]
        if self.arguments.until_settled is not None:
            return fit_until_settled(to_gap, self.request, self.train, lambda of: of(X), self.arguments.until_settled)
        found = to_gap(self.request, self.train)
        if problems[0].free_bias:
            return found
        return with_share(found, float(Settled(found.certificates, found.coef, found.intercept).of(X).mean()))

    def fit(self) -> int:
        """Train, write the model, and print what is proven."""
        from ..model import model_file
        from ..problem.statement import work_text
        from ..training.phases import enter

        asked, dataset, problems = self.arguments, self.dataset, self.problems(self.classes)
        with self.live(problems):
            fitted = self.fitted(problems)
        seconds = time.perf_counter() - self.began
        if fitted.shortfall:
            notice(fitted.shortfall)
        worst, algorithm = fitted.worst, fitted.results[0].algorithm or f"{asked.algorithm}: as asked"
        parameters = {name: getattr(asked, name) for name in ("epsilon", "C", "class_weights", "multi_class", "seed")}
        if asked.until_settled is not None:
            parameters["until_settled"] = asked.until_settled
        if self.curve is not None:
            parameters["search"] = str(self.curve)
        label = dataset.label_name or asked.label
        if dataset.dropped:
            parameters["drop"] = list(dataset.dropped)
        model_file.write(
            asked.model,
            classes=self.classes,
            coef=fitted.coef,
            intercept=fitted.intercept,
            bias=problems[0].rho,
            certificates=fitted.certificates,
            feature_names=dataset.feature_names,
            first_index=dataset.first_index,
            parameters={"algorithm": algorithm, **parameters, "stop_reason": worst.stop_reason, "label": label},
            scaling=self.scaling,
            history=fitted.history,
        )
        # Known before it is printed: whatever becomes of the output, the exit code is that of the proof.
        found = self.curve is None or self.curve.ended == "tolerance"
        asked.code = DONE if fitted.achieved and found else NOT_PROVEN
        enter(None)
        if asked.json:
            self.show(fitted, algorithm, seconds)
        elif not asked.quiet:
            lines = [] if self.curve is None else [str(self.curve)]
            lines.append(f"{algorithm}; {work_text(fitted.passes, fitted.updates)}, {seconds:.2f} s")
            if len(fitted.results) > 1:
                lines.append(f"{len(fitted.results)} classes, each against the rest; the one with the largest gap:")
            piped = asked.model == "-"  # nothing else may be in the output then
            lines.append(str(worst.certificate))
            if self.scaling is not None:
                lines.append(f"this is about scaled rows: {self.scaling}")
            lines += [f"model written to {'standard output' if piped else asked.model}"]
            print("\n".join(lines), file=sys.stderr if piped else sys.stdout)
        return int(asked.code)

    def show(self, fitted: "Fit", algorithm: str, seconds: float) -> None:
        """Print the object that --json asks for."""
        asked, curve, worst = self.arguments, self.curve, fitted.worst.certificate
        (rows, features), fields = self.shape, documents.certificate_fields
        documents.show(
            "train",
            **{"data": asked.data, "rows": rows, "features": features, "classes": self.classes},
            **{"C": asked.C, "loss": asked.loss, "scale": asked.scale, "algorithm": algorithm},
            **{**fields(worst), "achieved": fitted.achieved},
            **{"stop_reason": fitted.worst.stop_reason, "shortfall": fitted.shortfall},
            **{"passes": fitted.passes, "updates": fitted.updates, "seconds": seconds},
            certificates=[{"class": one.problem.positive, **fields(one)} for one in fitted.certificates],
            search=curve
            and {
                "C": curve.C,
                "error": curve.error,
                "proven": curve.proven,
                "ended": curve.ended,
                "fits": len(curve.Cs),
            },
            model=asked.model,
        )

    def validate(self) -> int:
        """Train on all folds but one and predict that one, for each in turn; print the accuracy."""
        from ..model.linear_model import labels_of, scores_of
        from ..training.folds import Fold, fit_folds, stratified_folds
        from ..training.phases import enter

        y, asked, request = self.y, self.arguments, self.request
        options.require_folds(asked.validate, len(y))
        places = stratified_folds(y, self.classes, asked.validate, request.seed)
        folds = [Fold.of(i, places != i, y, self.weights) for i in range(asked.validate)]

        def state(fold: Fold, _: float) -> "list[Problem]":
            return self.problems(fold.classes)

        if self.checkpoint is not None:
            self.checkpoint.begin(self.rows, y, self.weights, request.seed)
        with self.live(self.problems(self.classes)):
            found = fit_folds(self.matrix, self.rows, y, folds, [asked.C], state, request, self.train)
        right, code = 0, DONE
        for i, (fold, (fitted,)) in enumerate(zip(folds, found, strict=True)):
            if any(result.stop_reason == "interrupted" for result in fitted.results):
                raise KeyboardInterrupt  # half a cross-validation is worth nothing
            if fitted.shortfall:
                notice(f"fold {i + 1}: {fitted.shortfall}")
            outside = (places == i).nonzero()[0]
            scores = scores_of(self.dataset.X[outside], fitted.coef, fitted.intercept)
            right += int((labels_of(scores, fold.classes) == y[outside]).sum())
            code = code if fitted.achieved else NOT_PROVEN
        enter(None)
        return self.conclude_validation(right, code)

    def conclude_validation(self, right: int, code: int) -> int:
        """Print how many rows were predicted right while they were held out."""
        asked, n_rows = self.arguments, self.shape[0]
        if asked.json:
            folds_right = {
                "folds": asked.validate,
                "right": right,
                "accuracy": right / n_rows,
                "achieved": code == DONE,
            }
            documents.show("train", data=asked.data, rows=n_rows, classes=self.classes, C=asked.C, **folds_right)
        else:
            print(f"Cross Validation Accuracy = {right / n_rows:.4%}")
        return code


class TrainingOnDisk(Training):
    """What a command line asks for, over rows that stay on the disk."""

    def __init__(self, arguments: argparse.Namespace, rows: "RowsOnDisk") -> None:
        import numpy as np

        from .. import _core
        from ..data.dataset import Dataset
        from ..training.request import Request

        refused = {
            "-C": arguments.search_C,
            "--multi-class joint": arguments.multi_class == "joint",
            "-v with --checkpoint": arguments.validate and arguments.checkpoint,
        }
        for option, given in refused.items():
            if given:
                raise ValueError(f"{option} needs rows that fit into memory; these stay on the disk")
        self.arguments, self.data_on_disk, self.curve = arguments, rows, None
        self.checkpoint = open_checkpoint(arguments)
        self.algorithm, _ = find(arguments.algorithm)
        folder = rows.folder  # which knows names and indices
        self.dataset = Dataset(
            np.empty((0, 0)), None, folder.feature_names, folder.first_index, label_name=folder.label_name
        )
        self.shape, self.classes = rows.shape, rows.classes
        for label in class_weights(self.classes, arguments.class_weights)[1]:
            notice(f"no row has the label {label} of -w{label}")
        self.weights = options.read_weights(arguments.weights, len(rows)) if arguments.weights else None
        if not arguments.quiet:
            limit = _core.in_units(rows.memory_limit)
            n_rows, n_features = rows.shape
            size = f"{n_rows} rows, {n_features} features, {_core.in_units(rows.nbytes)}"
            notice(f"{arguments.data}: {size}; they stay on the disk, in memory are at most {limit}")
        self.scaling = self.scale()
        self.request = Request(
            epsilon=arguments.epsilon,
            seed=arguments.seed,
            max_time=arguments.max_time,
            started=arguments.started,
            warn=notice,
            checkpoint=self.checkpoint,
        )
        self.began = time.perf_counter()

    def scale(self) -> "Scaling | None":
        """Put the features on a common scale, if that is asked for: three passes for it, and then at every reading."""
        from ..model.scaling import scaling_of

        kind, rows = self.arguments.scale, self.data_on_disk
        if kind == "none":
            return None
        mention_uncentred(kind, sparse=not rows.folder.dense)
        scaling = scaling_of(kind, rows.sum, len(rows), centre=rows.folder.dense)
        self.data_on_disk = rows.scaled_by(scaling)
        return scaling

    def validate(self) -> int:
        """Train on all folds but one and predict that one, for each in turn; print the accuracy."""
        import numpy as np

        from ..model.linear_model import labels_of, scores_of
        from ..training.folds import Fold, stratified_folds

        rows, asked, request = self.data_on_disk, self.arguments, self.request
        options.require_folds(asked.validate, len(rows))
        y = rows.labels()
        places = stratified_folds(y, self.classes, asked.validate, request.seed)
        self.data_on_disk = rows.with_less(y.nbytes + places.nbytes + 8 * len(y))  # and the weights of a fold
        right, code = 0, DONE
        for i in range(asked.validate):
            fold, later = Fold.of(i, places != i, y, self.weights), asked.validate - i
            if request.max_time is not None:  # the time left is shared evenly among the folds left
                now = time.perf_counter()
                share = (request.started + request.max_time - now) / later
                self.request = replace(request, started=now, max_time=max(0.0, share))
            problems = self.problems(fold.classes)
            with self.live(problems):
                fitted = self.fitted(problems, fold.weight)
            if any(result.stop_reason == "interrupted" for result in fitted.results):
                raise KeyboardInterrupt  # half a cross-validation is worth nothing
            if fitted.shortfall:
                notice(f"fold {i + 1}: {fitted.shortfall}")
            coef, intercept, classes = fitted.coef, fitted.intercept, fold.classes
            found = rows.each(lambda X: labels_of(scores_of(X, coef, intercept), classes))  # noqa: B023  # used at once
            right += int(np.count_nonzero((found == y) & (places == i)))
            code = code if fitted.achieved else NOT_PROVEN
        return self.conclude_validation(right, code)

    def fitted(self, problems: "list[Problem]", weights: "NDArray[np.float64] | None" = None) -> "Fit":
        """Train on the problems; a fold has weights of its own."""
        from ..problem.problems import binary
        from ..shards.disk_fit import fit_on_disk
        from ..shards.fit import unchanged

        _, found = fit_on_disk(
            self.data_on_disk,
            self.weights if weights is None else weights,
            lambda _: binary(problems),
            self.request,
            algorithm=self.algorithm.name,
            around=unchanged if self.checkpoint is None else self.checkpoint.around,
            settle=self.arguments.until_settled,
        )
        return found


class TrainingOnCluster(Training):
    """What a command line asks for, over files that the workers of a cluster read."""

    def __init__(self, arguments: argparse.Namespace, client: Any) -> None:
        from ..training.request import Request

        self.arguments, self.curve = arguments, None
        self.checkpoint = open_checkpoint(arguments)
        self.algorithm, _ = find("newton")
        self.parts = cluster.read(arguments, client)
        self.dataset, self.classes = self.parts.first, self.parts.classes
        self.shape = sum(self.parts.lengths), self.parts.n_features
        for label in class_weights(self.classes, arguments.class_weights)[1]:
            notice(f"no row has the label {label} of -w{label}")
        self.weights = options.read_weights(arguments.weights, self.shape[0]) if arguments.weights else None
        self.scaling = self.scale()
        self.request = Request(
            epsilon=arguments.epsilon,
            seed=arguments.seed,
            max_time=arguments.max_time,
            started=arguments.started,
            warn=notice,
            checkpoint=self.checkpoint,
        )
        self.began = time.perf_counter()

    def scale(self) -> "Scaling | None":
        """Put the features on a common scale, if that is asked for: three rounds for it."""
        from ..model.scaling import scaling_of, without_repetitions

        kind, parts = self.arguments.scale, self.parts
        if kind == "none":
            return None
        mention_uncentred(kind, sparse=not parts.dense)
        rows = parts.finite().each(without_repetitions)
        scaling = scaling_of(kind, rows.sum, self.shape[0], centre=parts.dense)
        self.parts = parts.each(scaling.of)
        return scaling

    def fitted(self, problems: "list[Problem]") -> "Fit":
        """Train on the problems where the rows are, and count the rows that are settled."""
        from ..problem.problems import binary
        from ..shards.fit import fit, survey, unchanged
        from ..shards.settling import fit_settled, settled_share
        from ..training.settling import with_share

        stated, share = binary(problems), self.arguments.until_settled
        with self.parts.shards(self.weights) as shards:
            data = survey(shards)
            if data.faster_alone(shards.n_workers) and not self.arguments.quiet:
                notice("where the rows fit one machine, training without --workers or --scheduler is faster")
            if share is not None:
                return fit_settled(data, stated, self.request, share)
            around = unchanged if self.checkpoint is None else self.checkpoint.around
            found = fit(data, stated, self.request, around)
            return with_share(found, settled_share(data, found))
