"""dynmargin train over files that the workers of a cluster read."""

import argparse
from typing import TYPE_CHECKING, Any

from ..algorithms.registry import find
from . import cluster, options
from .options import notice
from .training import Training, mention_uncentred, open_checkpoint

if TYPE_CHECKING:
    from ..model.scaling import Scaling
    from ..problem.problems import Problem
    from ..training.fit import Fit


class TrainingOnCluster(Training):
    """What a command line asks for, over files that the workers of a cluster read."""

    def __init__(self, arguments: argparse.Namespace, client: Any) -> None:
        self.arguments, self.curve = arguments, None
        self.checkpoint = open_checkpoint(arguments)
        self.algorithm, _ = find("newton")
        self.parts = cluster.read(arguments, client)
        self.dataset, self.classes = self.parts.first, self.parts.classes
        self.shape = sum(self.parts.lengths), self.parts.n_features
        self.weights = options.read_weights(arguments.weights, self.shape[0]) if arguments.weights else None
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
