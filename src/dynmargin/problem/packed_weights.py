"""Weights of the columns that are packed, and whatever has such weights."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PackedWeights:
    """Weights of all columns, of which only these may differ from zero.

    Attributes
    ----------
    values : array of float64
        One per column that is packed.
    columns : array of int64
        These columns.
    shape : tuple of int
        The shape of all weights.
    """

    values: Vector
    columns: NDArray[np.int64]
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of all weights."""
        return int(np.prod(self.shape))

    def spread_out(self) -> Vector:
        """Return the weights of all columns."""
        spread = np.zeros(self.shape)
        if len(self.shape) == 1:
            spread[self.columns] = self.values  # takes two thirds of the time of what follows
        else:
            spread[..., self.columns] = self.values
        return spread


class SpreadOutLater:
    """A frozen dataclass that may be given packed weights, which are spread out when they are first asked for.

    Few ask, and an array over a million columns takes as long as training on a few thousand rows.
    """

    packed_field: ClassVar[str]

    def __post_init__(self) -> None:
        """Put packed weights aside."""
        if isinstance(self.__dict__[self.packed_field], PackedWeights):
            self.__dict__["_packed"] = self.__dict__.pop(self.packed_field)

    def weights_copy(self) -> Vector:
        """Return the weights of all columns in an array of their own."""
        packed: PackedWeights | None = self.__dict__.get("_packed")
        spread: Vector = getattr(self, self.packed_field).copy() if packed is None else packed.spread_out()
        return spread

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the weights, which are found without this method from now on."""
            packed = self.__dict__.get("_packed")
            if name == self.packed_field and packed is not None:
                self.__dict__[name] = packed.spread_out()
                self.__dict__["_packed"] = None
            if name in self.__dict__:  # or another thread was faster
                return self.__dict__[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
