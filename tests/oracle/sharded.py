"""The same witnesses over shards: every bound that the sums of shards prove is compared with exact arithmetic."""

from itertools import pairwise

import numpy as np

from dynmargin.certificate.bounds import outward
from dynmargin.certificate.certify import certificate_from
from dynmargin.shards.executor import InProcess
from dynmargin.shards.problem import ShardedProblem
from dynmargin.shards.shard import Shard
from dynmargin.shards.verification import verify_shards

from .cases import Csr

LARGEST_CUT = 20


def check_sharded(case, truth, random):
    """Cut the rows of a legal case anywhere; return sentences on what does not hold."""
    cuts = np.sort(random.integers(0, len(case.y) + 1, random.integers(0, LARGEST_CUT))).tolist()
    lengths = [end - begin for begin, end in pairwise([0, *cuts, len(case.y)])]
    epsilon = float(10.0 ** -random.integers(0, 16))  # which decides how careful the sums are
    try:
        shards = InProcess([_shard(case, begin, end) for begin, end in pairwise([0, *cuts, len(case.y)])])
        problem = ShardedProblem(shards, case.problem, lengths, case.n_columns)
    except ValueError:  # rows or patterns too long, or too short, to be trained on
        return []
    witnesses = case.weights, case.intercept, case.counts.indices, case.counts.data
    failures = []
    for confirming in (False, True):
        bounds = outward(
            problem.prove(None, *witnesses, confirming, epsilon),
            case.problem,
            case.weights.shape,
            confirming=confirming,
        )
        if not truth.margin_holds(bounds[0]):
            failures.append(f"over shards a margin of {bounds[0]!r} is false (confirming: {confirming})")
        if not truth.upper_bound_holds(bounds[1]):
            failures.append(f"over shards an upper bound of {bounds[1]!r} is false (confirming: {confirming})")
        if not confirming and np.isfinite(bounds[:2]).all():
            found = case.weights, case.intercept, case.counts
            certificate = certificate_from(bounds, case.problem, problem.digests, *found, epsilon=0.01)
            if not (verified := verify_shards(certificate, shards)):
                failures.append(f"what shards have published is not proven over them: {verified}")
            if not (verified := certificate.verify(case.X, case.y, case.sample_weight)):
                failures.append(f"what shards have published is not proven in one piece: {verified}")
    return failures


def _shard(case, begin, end):
    X = case.X
    part = (
        Csr(case.rows[begin:end], case.n_columns, X.data.dtype, X.indices.dtype)
        if hasattr(X, "indptr")
        else X[begin:end]
    )
    weight = case.sample_weight
    return Shard(part, case.y[begin:end], None if weight is None else weight[begin:end])
