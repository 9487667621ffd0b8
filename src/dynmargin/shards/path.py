"""The path that a run has taken: where it began, and its steps since.

A shard keeps the scores of its rows at the last point, and the sum over the rows that have a slack there; the next
point costs it one pass. If it is lost it is built again and follows the path from the start. So whatever a shard
returns is a function of its rows and the path, bit for bit, and does not depend on what happened to it on the way.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

DAMAGED = "the snapshot of the run is damaged, or of another run"


class Step(NamedTuple):
    """One step: so far along a direction, or further along the one before; and whether the Hessian is summed there.

    The Hessian's sum over rows is kept from point to point, so its last digits depend on where it was asked for.
    """

    direction: Vector | None
    length: float
    summed: bool = False


@dataclass(frozen=True)
class Path:
    """A sequence of points, of which the last one is meant.

    Attributes
    ----------
    start : array of float64
        Weights of all columns, the augmented coordinate last.
    price : float
        Of a slack, as a fraction of what it costs.
    steps : tuple of Step
        From there to the point.
    summed : bool
        Whether the Hessian is summed at the start.
    name : str
        The same for all points of one path: a shard that has come part of the way knows it by that.
    """

    start: Vector
    price: float = 1.0
    steps: tuple[Step, ...] = ()
    summed: bool = False
    name: str = field(default_factory=lambda: uuid4().hex)

    def then(self, step: Step) -> "Path":
        """Return the path with one step more."""
        return replace(self, steps=(*self.steps, step))

    def with_hessian(self) -> "Path":
        """Return the path with the Hessian summed at its end."""
        if not self.steps:
            return replace(self, summed=True)
        return replace(self, steps=(*self.steps[:-1], self.steps[-1]._replace(summed=True)))

    @property
    def end(self) -> Vector:
        """The weights at the last point."""
        w, direction = self.start.copy(), self.start
        for step in self.steps:
            direction = direction if step.direction is None else step.direction
            w += step.length * direction
        return w

    def numbers(self) -> list[float]:
        """Return the path as numbers, for a checkpoint."""
        found = [self.price, float(self.summed), *self.start.tolist()]
        for step in self.steps:
            found += [step.length, float(step.direction is not None) + 2 * step.summed]
            found += [] if step.direction is None else step.direction.tolist()
        return found

    @classmethod
    def from_numbers(cls, numbers: Vector, size: int) -> "Path":
        """Bring a path back, whose points have that many coordinates."""
        if len(numbers) < 2 + size or not np.isfinite(numbers).all():
            raise ValueError(DAMAGED)
        path = cls(numbers[2 : 2 + size].copy(), float(numbers[0]), summed=numbers[1] == 1)
        rest = numbers[2 + size :]
        while len(rest):
            kind = rest[1] if len(rest) > 1 else -1
            new, summed = kind in (1, 3), kind in (2, 3)
            if kind not in range(4) or len(rest) < (2 + size if new else 2) or not (new or path.steps):
                raise ValueError(DAMAGED)
            path = path.then(Step(rest[2 : 2 + size].copy() if new else None, float(rest[0]), summed))
            rest = rest[2 + size :] if new else rest[2:]
        return path

    @property
    def nbytes(self) -> int:
        """The size of the message."""
        return self.start.nbytes + sum(8 if step.direction is None else step.direction.nbytes for step in self.steps)
