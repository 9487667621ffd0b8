"""How much memory training, verifying and predicting over rows on a disk take, before they begin."""

from dataclasses import dataclass
from typing import Any

from .. import _core
from ..data.binary import Block
from .sums import levels

SQUARES = 6  # matrices of the size of the Hessian: of a shard, summed, written out, solved
VECTORS = 12  # of weights, at any time: most while a shard is asked for careful sums
VECTORS_PER_LEVEL = 2  # of the tree in which sums are added
VECTORS_OF_DESCENT = 8  # while rows are visited, when nothing is proven
VECTORS_OF_GRADIENTS = 8  # conjugate ones, beside those above
BYTES_PER_COUNT = 18  # of a row, at the end: its number, its count, its side
BYTES_PER_COUNT_KEPT = 17  # of a row of a class that is done: the same
BYTES_PER_COUNT_WRITTEN = 26  # of a row of each class, where a model has several: they are joined, and checked
BYTES_PER_COUNT_CHECKED = 17  # of a row: its number within its shard, and whether numbers increase
BYTES_PER_DUAL_WEIGHT = 9  # of a row: its dual weight, and its side
BYTES_PER_ROW = 48  # of a shard in memory: where it is, its length, digest, label and side
BYTES_AT_WORK = 40  # of a row of the shard that is being asked: scores, slacks
BYTES_PER_VALUE = 16  # of a block that is written out: a double and its column
BYTES_PER_PREDICTION, BYTES_PER_SCORE = 100, 40  # of a row of such a block: labels; each score, and the sums for it
BYTES_PER_LABEL_KEPT = 150  # of a row, where the labels of all rows are one document
SMALLEST_SHARE = 0.05  # of the memory for the rows that coordinate descent works on, at least


class LimitTooSmall(ValueError):
    """A limit of memory that cannot be kept.

    Attributes
    ----------
    purpose : str
        What the memory is for.
    least : int
        The bytes that would be enough.
    parts : str
        What takes how many of them.
    """

    def __init__(self, limit: int, purpose: str, needs: dict[str, int], least: int) -> None:
        parts = ", ".join(f"{_core.in_units(size)} for {what}" for what, size in needs.items())
        super().__init__(
            f"a memory limit of {_core.in_units(limit)} is not enough: {purpose} takes at least "
            f"{_core.in_units(least)} ({parts})"
        )
        self.purpose, self.least, self.parts = purpose, least, parts
        self.arguments = limit, purpose, needs, least

    def __reduce__(self) -> tuple[Any, ...]:
        """Make it again where it is unpickled, as in another process."""
        return type(self), self.arguments


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
    for_pool : int
        What is left while rows are only visited.
    """

    limit: int
    needs: dict[str, int]
    for_rows: int
    for_pool: int

    @classmethod
    def of(
        cls,
        limit: int,
        stored: list[int],
        lengths: list[int],
        n_features: int,
        *,
        exact: bool,
        gradients: bool = False,
        scaling: int = 0,
        n_problems: int = 1,
    ) -> "Room":
        """Say what training takes, given the sizes of the blocks; refuse a limit that is too small.

        `exact` is with a Hessian, `gradients` without one, by conjugate gradients; otherwise there are dual weights.
        `scaling` is what the scaling of a block takes, if rows are scaled when they are read. The certificates of the
        classes that are done are kept, each perhaps with a count for every row.
        """
        n_rows = sum(lengths)
        needs = {
            "the blocks in use and being read": _asked_and_read(stored, lengths),
            "the weights": _vectors(lengths, n_features),
        }
        if scaling:
            needs["the block that is scaled"] = scaling
        if n_problems > 1:
            needs["the counts of the other classes"] = BYTES_PER_COUNT_KEPT * n_rows * (n_problems - 1)
        if exact:
            needs["the Hessian"] = 8 * SQUARES * (n_features + 1) ** 2
        elif gradients:
            needs["conjugate gradients"] = 8 * VECTORS_OF_GRADIENTS * (n_features + 1)
        else:
            needs["the dual weights"] = BYTES_PER_DUAL_WEIGHT * n_rows
        taken = sum(needs.values())
        # Counts take the place of rows that stay: these are dropped one by one while the certificate is made.
        at_the_end = taken + BYTES_PER_COUNT * n_rows
        smallest = max(at_the_end, 0 if exact or gradients else int(taken / (1 - SMALLEST_SHARE)))
        counts = (BYTES_PER_COUNT_KEPT + BYTES_PER_COUNT_WRITTEN) * n_rows * n_problems if n_problems > 1 else 0
        if counts > max(limit, smallest):  # when the model is written, there is nothing else
            raise LimitTooSmall(
                limit,
                f"a model of {n_problems} classes of these {n_rows} rows",
                {"their counts, while they are written": counts},
                counts,
            )
        if smallest > limit:
            needs["the counts of the certificate"] = BYTES_PER_COUNT * n_rows
            raise LimitTooSmall(limit, f"training on these {n_rows} rows", needs, smallest)
        left = limit - taken
        return cls(limit, needs, left, left + needs["the weights"] - 8 * VECTORS_OF_DESCENT * (n_features + 1))


def exact_fits(limit: int, n_features: int) -> bool:
    """Whether Newton's method can have its Hessian."""
    return n_features <= _core.MOST_HESSIAN_COLUMNS and 8 * SQUARES * (n_features + 1) ** 2 <= limit / 2


def memory_of(stored: int, n_rows: int) -> int:
    """Return the bytes that a block takes in memory."""
    return stored + n_rows * BYTES_PER_ROW


def to_verify(stored: list[int], lengths: list[int], n_features: int, n_counts: int, scaling: int) -> dict[str, int]:
    """Say what verifying a certificate with so many counts takes, beside the certificate itself."""
    needs = {
        "the blocks in use and being read": _asked_and_read(stored, lengths),
        "the weights": _vectors(lengths, n_features),
        "the counts": BYTES_PER_COUNT_CHECKED * n_counts,
    }
    return needs | ({"the block that is scaled": scaling} if scaling else {})


def to_predict(
    blocks: list[Block], n_features: int, n_scores: int, scaling: int, *, labels_kept: bool = False
) -> dict[str, int]:
    """Say what predicting takes, one block at a time, with so many scores per row."""
    block = max((one.nbytes + max(one.nbytes, BYTES_PER_VALUE * one.nonzeros) for one in blocks), default=0)
    longest = max((one.rows for one in blocks), default=0)
    needs = {
        "the block that is read and written out": block + longest * BYTES_PER_ROW,
        "its predictions": longest * (BYTES_PER_PREDICTION + BYTES_PER_SCORE * n_scores),
        "the weights": 8 * 3 * n_scores * (n_features + 1),
    }
    if labels_kept:
        needs["the labels of all rows"] = BYTES_PER_LABEL_KEPT * sum(one.rows for one in blocks)
    return needs | ({"the block that is scaled": scaling} if scaling else {})


def _vectors(lengths: list[int], n_features: int) -> int:
    """Return the bytes of all vectors of weights that there are while sums over blocks are added."""
    return 8 * (VECTORS + VECTORS_PER_LEVEL * levels(len(lengths))) * (n_features + 1)


def _asked_and_read(stored: list[int], lengths: list[int]) -> int:
    """Return the bytes of a block that is asked while the next one is read."""
    largest, longest = max(stored, default=0), max(lengths, default=0)
    return largest + 2 * memory_of(largest, longest) + longest * BYTES_AT_WORK
