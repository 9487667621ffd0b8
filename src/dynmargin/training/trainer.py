"""What every algorithm offers to the loop that trains it."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core


class Trainer(Protocol):
    """A run that is advanced in slices; the core's trainers are of this kind, and so is any other."""

    @property
    def updates(self) -> int:
        """Steps taken."""

    @property
    def full_passes(self) -> int:
        """Passes over all rows completed."""

    def advance(self, seconds: float, max_updates: int, /) -> _core.Event:
        """Train for about that many seconds, or until something happens.

        The trainer itself decides when a check is worth its cost: it returns ``Event.check_due`` then.
        """

    def check(self) -> _core.Bounds:
        """Return the bounds of the moment, before any proof."""

    def checked(self, gap: float, enough: float | None, /) -> None:
        """Take note of a check: the gap still to be closed, and the upper bound that would be enough to close it."""

    def renew(self) -> None:
        """Go on from better counts after a check, where the algorithm has a way to find them."""

    def support(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return rows and their counts, or the dual weights of all rows as reals."""

    def snapshot(self) -> NDArray[np.uint8]:
        """Return the state as bytes, for a checkpoint."""

    def restore(self, snapshot: NDArray[np.uint8], /) -> None:
        """Continue from a snapshot of a run with the same data and parameters."""

    def model(self) -> tuple[NDArray[np.float64], float]:
        """Return the best weights, their augmented coordinate last, and the scale that is best for them."""
