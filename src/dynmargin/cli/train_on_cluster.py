"""dynmargin train over files that the workers of a cluster read."""

import argparse
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..algorithms.registry import find
from . import cluster
from .options import notice
from .training import Training, mention_uncentred, open_checkpoint, too_late_if_not
from .weights import for_rows, rows_known, weights_in

if TYPE_CHECKING:
    from ..model.scaling import Scaling
    from ..problem.problems import Problem
    from ..training.fit import Fit


class TrainingOnCluster(Training):
    """What a command line asks for, over files that the workers of a cluster read."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        """Check what can be checked without a cluster: starting one takes seconds, and may take minutes."""
        self.arguments, self.curve = arguments, None
        self.algorithm, _ = find("newton")
        self.files = cluster.files(arguments)
        self.checkpoint = open_checkpoint(arguments)
        self.weights = weights_in(arguments.weights) if arguments.weights else None
        if self.weights is not None and arguments.workers:  # a scheduler may have files that this machine has not
            n_rows = rows_known(arguments, self.files)
            for_rows(self.weights, arguments.weights, len(self.weights) if n_rows is None else n_rows)

    def fit(self) -> int:
        """Let the workers of a cluster read the files, then train."""
        with cluster.connected(self.arguments) as client:
            self.read(client)
            return super().fit()

    def read(self, client: Any) -> None:
        """Let the workers read the files."""
        with too_late_if_not("read", self.arguments) as seconds:
            self.parts = cluster.read(self.arguments, self.files, client, seconds)
        self.dataset, self.classes = self.parts.first, self.parts.classes
        self.shape = sum(self.parts.lengths), self.parts.n_features
        if self.weights is not None:
            for_rows(self.weights, self.arguments.weights, self.shape[0])
        self.scaling = self.scale()
        self.begin()

    def scale(self) -> "Scaling | None":
        """Put the features on a common scale, if that is asked for: three rounds for it."""
        from ..model.scaling import scaling_of, without_repetitions

        kind, parts = self.arguments.scale, self.parts
        if kind == "none":
            return None
        mention_uncentred(kind, sparse=not parts.dense)
        rows = parts.finite().each(without_repetitions)
        with too_late_if_not("scaled", self.arguments) as seconds:
            deadline = time.monotonic() + seconds

            def total(function: Callable[..., Any], *arguments: Any) -> Any:
                return rows.sum(function, *arguments, seconds=deadline - time.monotonic())

            scaling = scaling_of(kind, total, self.shape[0], centre=parts.dense)
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

    def work(self, fitted: "Fit", algorithm: str) -> str:
        """Say how it was trained, which is in rounds of every partition."""
        from ..problem.statement import counted

        updates = counted(fitted.updates, "update")
        if len(fitted.results) == 1:
            return f"{algorithm}; {updates}"
        rounds = counted(sum(result.passes for result in fitted.results), "round")
        return f"{algorithm} for the first class; {rounds}, {updates} for all"
