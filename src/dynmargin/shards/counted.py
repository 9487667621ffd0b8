"""The counts of shards on their way to a certificate, with what they prove."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .sums import Evidence

Integers = NDArray[np.int64]


class CountedShard(NamedTuple):
    """The counts of a shard: which of its rows have one, on which side these are, and how many."""

    counted: NDArray[np.uint8]
    positive: NDArray[np.uint8]
    counts: Integers

    def unpacked(self, n_rows: int) -> tuple[Integers, Integers, NDArray[np.int8]]:
        """Return the rows with a count, their counts and their sides."""
        rows = np.flatnonzero(np.unpackbits(self.counted, count=n_rows)).astype(np.int64)
        positive = np.unpackbits(self.positive, count=len(rows)).view(np.int8)
        return rows, self.counts, 2 * positive - 1


@dataclass(frozen=True)
class Audited:
    """What shards contribute to a proof, summed, and the counts of each: only these grow with the number of shards."""

    evidence: Evidence
    counted: tuple[CountedShard, ...]

    def __add__(self, other: "Audited") -> "Audited":
        return Audited(self.evidence + other.evidence, self.counted + other.counted)
