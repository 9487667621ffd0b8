"""dynmargin train over rows that stay on the disk."""

import argparse
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from ..algorithms.registry import find
from ..problem.statement import counted
from . import options
from .on_disk import memory_in_words
from .options import DONE, NOT_PROVEN, notice
from .training import Training, limit_of, mention_uncentred, open_checkpoint
from .weights import read_weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..model.scaling import Scaling
    from ..problem.problems import Problem
    from ..shards.rows_on_disk import RowsOnDisk
    from ..training.fit import Fit


class TrainingOnDisk(Training):
    """What a command line asks for, over rows that stay on the disk."""

    def __init__(self, arguments: argparse.Namespace, rows: "RowsOnDisk") -> None:
        import numpy as np

        from .. import _core
        from ..data.dataset import Dataset

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
        self.weights = read_weights(arguments.weights, len(rows)) if arguments.weights else None
        if not arguments.quiet:
            limit = _core.in_units(rows.memory_limit)
            n_rows, n_features = counted(rows.shape[0], "row"), counted(rows.shape[1], "feature")
            size = f"{n_rows}, {n_features}, {_core.in_units(rows.nbytes)}"
            notice(f"{arguments.data}: {size}; they stay on the disk, and training takes at most {limit} of memory")
        self.scaling = self.scale()
        self.begin()

    def scale(self) -> "Scaling | None":
        """Put the features on a common scale, if that is asked for: three passes for it, and then at every reading."""
        from ..model.scaling import scaling_of

        kind, rows = self.arguments.scale, self.data_on_disk
        if kind == "none":
            return None
        mention_uncentred(kind, sparse=not rows.folder.dense)
        with limit_of("scaled", self.arguments):
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

        with memory_in_words(self.arguments, self.data_on_disk):
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

    def work(self, fitted: "Fit", algorithm: str) -> str:
        """Say how it was trained, and how often everything was read; the last class knows that for all of them."""
        return f"{fitted.results[-1].algorithm or algorithm}; {counted(fitted.updates, 'update')}"
