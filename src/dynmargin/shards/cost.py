"""What a fit over shards costs: passes, bytes and latency, with constants that can be measured anywhere.

    seconds = start + m/K (pack + setup + points · point + hessian + audit) + m · gather + exchanges · latency

for m rows, K workers of one thread each and d features, d up to 2,000. Constants are per row, so they belong to rows of
one kind; ``python -m benchmarks cluster --what model`` measures them for Covertype.
"""

from dataclasses import dataclass

OTHER_EXCHANGES = 6  # beside points: a look at the labels, facts, the sample, the Hessian, the audit, the end

# Seconds per non-zero of a whole fit by one thread, alone and on a worker that has its share of them, and rounds; for
# exact Newton (Covertype) and for conjugate gradients (rcv1-like:300000, where coordinate descent is what a machine
# does alone).
EXACT, WIDE = (3e-8, 3e-8, 10), (1.1e-7, 1.65e-7, 65)
SECONDS_PER_ROUND = 0.01  # of latency


def alone_is_faster(nonzeros: float, workers: int, *, exact: bool) -> bool:
    """Whether one thread of one machine is expected to be faster than so many workers, if the rows fit."""
    alone, shared, rounds = EXACT if exact else WIDE
    return alone * nonzeros < shared * nonzeros / workers + rounds * SECONDS_PER_ROUND


@dataclass(frozen=True)
class Constants:
    """Seconds that a worker takes per row, and what the rest costs.

    Attributes
    ----------
    pack, setup, point, hessian, audit : float
        Seconds per row of a worker: to pack it and look at its label; to set the problem up; to score it at a point and
        add its gradient; to add it to the Hessian; for its part of the audit.
    gather : float
        Seconds per row of all that the process which leads takes for the counts, with their way to it.
    latency : float
        Seconds of an exchange with next to nothing to compute.
    start : float
        Seconds to find the starting point on a sample.
    """

    pack: float
    setup: float
    point: float
    hessian: float
    audit: float
    gather: float
    latency: float
    start: float


def bytes_per_round(n_features: int, *, hessian: bool) -> int:
    """Return what a shard sends in a round of exact Newton."""
    n = n_features + 1
    return 8 * n + 32 + (4 * n * (n + 1) if hessian else 0)


def seconds(constants: Constants, rows: float, workers: int, *, points: int) -> float:
    """Predict how long a fit takes in which the objective is evaluated at so many points."""
    of_worker = constants.pack + constants.setup + points * constants.point + constants.hessian + constants.audit
    exchanges = OTHER_EXCHANGES + points
    return constants.start + rows / workers * of_worker + rows * constants.gather + exchanges * constants.latency
