"""Verification of a certificate over shards: the same checks as on one machine, the sums where the rows are."""

from collections.abc import Collection
from typing import Any

from ..certificate.certificate import Certificate
from ..certificate.verification import Verification, unproven
from ..problem.problems import BinaryProblem
from ..problem.statement import counted, foreign_text
from .executor import Executor
from .problem import ShardedProblem
from .shard import Shard, Survey


def verify_shards(
    certificate: Certificate,
    shards: Executor,
    *,
    C: float | None = None,
    classes: Collection[Any] | None = None,
    loss: str | None = None,
    intercept_scaling: float | None = None,
) -> Verification:
    """Recompute each bound from its witness and the data; the parameters are those of ``Certificate.verify``."""
    problem = certificate.problem
    if not isinstance(problem, BinaryProblem):
        raise TypeError("a joint certificate is verified on rows in memory: certificate.verify(X, y)")
    if (refused := certificate.refusal(C, classes, loss, intercept_scaling)) is not None:
        return refused
    parts: list[Survey] = shards.map(Shard.survey)
    lengths, n_features = [part.n_rows for part in parts], certificate.weights.shape[-1]
    if sum(lengths) != certificate.counts.shape[0] or any(part.n_features != n_features for part in parts):
        rows, features = counted(certificate.counts.shape[0], "labelled row"), counted(n_features, "feature")
        return unproven("other data", f"it was made for {rows} and {features}")
    before = 0
    for length, foreign in zip(lengths, shards.map(Shard.foreign, problem), strict=True):
        if foreign is not None:
            row, label = foreign
            return unproven("other data", foreign_text(problem.classes, before + row, label))
        before += length
    try:
        sharded = ShardedProblem(shards, problem, lengths, n_features)
        return certificate.recomputed(sharded, sharded, weighted=any(part.weighted for part in parts))
    except ValueError as error:  # impossible counts or costs
        return unproven("not proven", str(error))
