"""How much memory training over shards on a disk takes, before it begins."""

from dataclasses import dataclass

from .. import _core

SQUARES = 6  # matrices of the size of the Hessian: of a shard, summed, written out, solved
VECTORS = 12  # of weights, at any time
BYTES_PER_COUNT = 18  # of a row, at the end: its number, its count, its side
BYTES_PER_DUAL_WEIGHT = 9  # of a row: its dual weight, and its side
BYTES_PER_ROW = 48  # of a shard in memory: where it is, its length, digest, label and side
BYTES_AT_WORK = 40  # of a row of the shard that is being asked: scores, slacks
SMALLEST_SHARE = 0.05  # of the memory for the rows that coordinate descent works on, at least


@dataclass(frozen=True)
class Room:
    """What takes memory, in bytes, and what is left for rows that stay.

    Attributes
    ----------
    limit : int
        What there may be in all.
    needs : dict
        What takes how much, whatever happens.
    for_rows : int
        What is left.
    """

    limit: int
    needs: dict[str, int]
    for_rows: int

    @classmethod
    def of(
        cls, limit: int, stored: list[int], lengths: list[int], n_features: int, *, exact: bool, scaling: int = 0
    ) -> "Room":
        """Say what training takes, given the sizes of the blocks; refuse a limit that is too small.

        `scaling` is what the scaling of a block takes, if rows are scaled when they are read.
        """
        n_rows, largest = sum(lengths), max(stored, default=0)
        longest = max(lengths, default=0)
        in_memory = largest + longest * BYTES_PER_ROW
        needs = {
            "the blocks that are asked and read": largest + 2 * in_memory + longest * BYTES_AT_WORK,
            "the weights": 8 * VECTORS * (n_features + 1),
        }
        if scaling:
            needs["the block that is scaled"] = scaling
        if exact:
            needs["the Hessian"] = 8 * SQUARES * (n_features + 1) ** 2
        else:
            needs["the dual weights"] = BYTES_PER_DUAL_WEIGHT * n_rows
        taken = sum(needs.values())
        # Counts take the place of rows that stay: these are dropped one by one while the certificate is made.
        at_the_end = taken + BYTES_PER_COUNT * n_rows
        smallest = max(at_the_end, 0 if exact else int(taken / (1 - SMALLEST_SHARE)))
        if smallest > limit:
            needs["the counts of the certificate"] = BYTES_PER_COUNT * n_rows
            parts = ", ".join(f"{_core.in_units(size)} for {what}" for what, size in needs.items())
            raise ValueError(
                f"a memory limit of {_core.in_units(limit)} is not enough: training on these {n_rows} rows takes at "
                f"least {_core.in_units(smallest)} ({parts})"
            )
        return cls(limit, needs, limit - taken)


def exact_fits(limit: int, n_features: int) -> bool:
    """Whether Newton's method can have its Hessian."""
    return n_features <= _core.MOST_HESSIAN_COLUMNS and 8 * SQUARES * (n_features + 1) ** 2 <= limit / 2


def memory_of(stored: int, n_rows: int) -> int:
    """Return the bytes that a block takes in memory."""
    return stored + n_rows * BYTES_PER_ROW
