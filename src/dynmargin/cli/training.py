"""What a command line asks to be trained on, in memory: reading it, training, and what is written about it."""

import argparse
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..algorithms.registry import find
from . import documents, options, search
from .options import DONE, NOT_PROVEN, notice
from .weights import for_rows, weights_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..data.dataset import Dataset
    from ..model.scaling import Scaling
    from ..path.error_curve import ErrorCurve
    from ..problem.problems import Problem
    from ..training.checkpoint import Checkpoint
    from ..training.fit import Fit, Train
    from ..training.request import Request


LEAST_TIME = 1.0  # seconds to read or scale in any case; a package for tables may have to be loaded too
LARGEST_EXACT = 2.0**53  # up to here all whole numbers are doubles
MANY_CLASSES = 20  # of labels that are not whole numbers: they may be meant for regression
CHECKPOINT_EVERY = 60.0  # seconds, unless --checkpoint-every says otherwise
LONGEST_LIMIT = 1e8  # seconds, that is three years: clocks refuse what is much longer


def read(arguments: argparse.Namespace) -> "Dataset":
    """Read the data and report their size."""
    from ..data.archives import name_of
    from ..data.dataset import DataError
    from ..problem.statement import counted

    began = time.perf_counter()
    with limit_of("read", arguments):
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
def limit_of(done: str, arguments: argparse.Namespace) -> Iterator[None]:
    """Give up when --max-time is over before the rows are read, or scaled; few rows have a model in any case."""
    from .signals import alarm

    with too_late_if_not(done, arguments) as seconds:
        if seconds == math.inf:
            yield
        else:
            with alarm(seconds):
                yield


@contextmanager
def too_late_if_not(done: str, arguments: argparse.Namespace) -> Iterator[float]:
    """Say how many seconds there are to read or scale the rows, and put it into words if they were not enough."""
    from ..training.phases import too_late

    limit, started = arguments.max_time, arguments.started
    if limit is None or limit > LONGEST_LIMIT:
        yield math.inf
        return
    try:
        yield max(LEAST_TIME, started + limit - time.perf_counter())
    except TimeoutError:
        raise too_late(limit, started, done) from None


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
    return Checkpoint(arguments.checkpoint, arguments.checkpoint_every or CHECKPOINT_EVERY, parameters, notice)


class Training:
    """What a command line asks for, over the data that it names."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        from ..problem.matrix import as_matrix
        from ..problem.problems import require_weight_in_every_class
        from ..training.phases import pack

        self.arguments = arguments
        self.curve: ErrorCurve | None = None  # of a search for C
        self.checkpoint = open_checkpoint(arguments)
        self.algorithm, train = find(arguments.algorithm)
        self.train = train if self.checkpoint is None else self.checkpoint.around(train)
        weights = weights_in(arguments.weights) if arguments.weights else None  # before much is read
        self.dataset = read(arguments)
        self.shape = self.dataset.X.shape
        self.classes, self.y = self.dataset.labelled()
        self.weights = None if weights is None else for_rows(weights, arguments.weights, len(self.y))
        require_weight_in_every_class(self.classes, self.y, self.weights)
        self.scaling = self.scale()
        self.begin(options.jobs(arguments))
        self.matrix = as_matrix(self.dataset.X)
        try:
            self.rows = pack(self.matrix, self.request)
        except ValueError:  # it has met a row of infinite length
            self.dataset.require_lengths()
            raise

    def begin(self, n_jobs: int = 1) -> None:
        """State the request, and mention weights of classes that no row has."""
        from ..training.request import Request

        asked = self.arguments
        for label in class_weights(self.classes, asked.class_weights)[1]:
            notice(f"no row has the label {label} of -w{label}")
        self.request = Request(
            epsilon=asked.epsilon,
            seed=asked.seed,
            max_time=asked.max_time,
            n_jobs=n_jobs,
            started=asked.started,
            warn=notice,
            checkpoint=self.checkpoint,
        )
        self.began = time.perf_counter()  # the limit of time counts from the start, what is reported from here

    def scale(self) -> "Scaling | None":
        """Put the features on a common scale, if that is asked for."""
        from ..data.dataset import Csr
        from ..model.scaling import fit_scaling

        kind, X = self.arguments.scale, self.dataset.X
        if kind == "none":
            return None
        self.dataset.require_finite()
        with limit_of("scaled", self.arguments):
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
        return Live(self.arguments.epsilon, labels, self.arguments.max_time, steady=self.algorithm.steady)

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
            lines.append(f"{self.work(fitted, algorithm)}, {seconds:.2f} s")
            if len(fitted.results) > 1:
                lines.append(f"{len(fitted.results)} classes, each against the rest; the one with the largest gap:")
            piped = asked.model == "-"  # nothing else may be in the output then
            lines.append(str(worst.certificate))
            if self.scaling is not None:
                lines.append(f"this is about scaled rows: {self.scaling}")
            lines += [f"model written to {'standard output' if piped else asked.model}"]
            print("\n".join(lines), file=sys.stderr if piped else sys.stdout)
        return int(asked.code)

    def work(self, fitted: "Fit", algorithm: str) -> str:
        """Say how it was trained, and how much work that was."""
        from ..problem.statement import work_text

        return f"{algorithm}; {work_text(fitted.passes, fitted.updates)}"

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
