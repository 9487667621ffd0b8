"""One shard: a block of rows, packed, and what it can say about a problem over all rows."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.dataset import Csr
from ..problem.matrix import as_matrix
from ..problem.problems import BinaryProblem, Weights, distinct, first_foreign
from ..training.request import LARGEST_COUNT
from ..training.run import SLICE_SECONDS
from .counted import Audited, CountedShard
from .path import Path, Vector
from .some_rows import SomeRows
from .sums import Evidence, Facts, PointSums, triangle_of

Integers = NDArray[np.int64]

OVER = (_core.Event.budget_spent, _core.Event.converged, _core.Event.exhausted)


# Of all rows so far, with and without their order; and of every shard by itself.
Digests = tuple[tuple[int, int], tuple[tuple[int, int], ...]]


class Survey(NamedTuple):
    """What a shard is asked before anything is known.

    Attributes
    ----------
    n_rows, n_features : int
        Its shape.
    classes : array
        The labels of its rows.
    rows, weights : array of float64
        How many rows each class has, and what they weigh.
    weighted : bool
        Whether rows have weights.
    nonzeros : int
        How many values are not zero.
    """

    n_rows: int
    n_features: int
    classes: NDArray[Any]
    rows: Vector
    weights: Vector
    weighted: bool
    nonzeros: int


class Shard:
    """A block of rows with labels and weights; several problems may share it.

    It can be sent and stored: rows are then written out, and packed again where they arrive.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        The rows.
    y : array of shape (n_rows,)
        Their labels.
    sample_weight : array of shape (n_rows,), optional
        Their weights.
    """

    def __init__(self, X: Any, y: NDArray[Any], sample_weight: Weights | None = None) -> None:
        rows = _core.pack(as_matrix(X))
        # Sums of repeated columns are rounded when they are packed; only the matrix itself proves something.
        self._hold(rows, X if rows.summed else None, y, sample_weight)

    @classmethod
    def of_rows(cls, rows: _core.PackedRows, y: NDArray[Any], sample_weight: Weights | None = None) -> "Shard":
        """Return the shard of rows that are packed already, from a matrix without repeated columns."""
        shard = cls.__new__(cls)
        shard._hold(rows, None, y, sample_weight)
        return shard

    def _hold(self, rows: _core.PackedRows, kept: Any, y: NDArray[Any], sample_weight: Weights | None) -> None:
        self.rows, self.kept = rows, kept
        self.y = y
        self.sample_weight = sample_weight
        columns = self.rows.columns
        self.columns = None if columns is None else columns.astype(np.int64)
        self.lock = threading.RLock()
        self.problems: dict[BinaryProblem, ProblemOnShard] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        if self.kept is not None:
            return Shard, (self.kept, self.y, self.sample_weight)
        return _unpickled, (*_core.unpack(self.rows), self.rows.n_matrix_columns, self.y, self.sample_weight)

    def __sizeof__(self) -> int:
        weights = 0 if self.sample_weight is None else self.sample_weight.nbytes
        return int(self.rows.nbytes + self.y.nbytes + weights)

    @property
    def n_features(self) -> int:
        """The number of columns, in all shards the same."""
        return self.rows.n_matrix_columns

    @property
    def provable(self) -> _core.Matrix | _core.PackedRows:
        """What to prove something from."""
        return self.rows if self.kept is None else as_matrix(self.kept)

    def survey(self) -> Survey:
        """Say what there is."""
        classes = distinct(self.y) if len(self.y) else self.y
        places = np.searchsorted(classes, self.y)
        rows = np.bincount(places, minlength=len(classes)).astype(np.float64)
        weighed = (
            rows
            if self.sample_weight is None
            else np.bincount(places, self.sample_weight, len(classes)).astype(np.float64)
        )
        weighted = self.sample_weight is not None
        return Survey(len(self.y), self.n_features, classes, rows, weighed, weighted, self.rows.n_nonzeros)

    def of(self, problem: BinaryProblem) -> "ProblemOnShard":
        """Return what it knows about a problem."""
        with self.lock:
            if problem not in self.problems:
                self.problems[problem] = ProblemOnShard(self, problem)
            return self.problems[problem]

    def forget(self, problem: BinaryProblem) -> None:
        """Give memory back when a run is over."""
        with self.lock:
            self.problems.pop(problem, None)

    def facts(self, problem: BinaryProblem) -> Facts:
        """Say what is known of the rows of a problem before training."""
        core = self.of(problem).core
        members = core.n_members
        if members == 0:
            return Facts(0, 0, 0.0, 0.0, 0.0)
        stiffness = core.stiffness(self.rows) * members
        prices = 2 * np.where(self.of(problem).sides > 0, problem.C_positive, problem.C_negative)
        weights = (self.of(problem).sides != 0).astype(np.float64) if self.sample_weight is None else self.sample_weight
        with np.errstate(invalid="ignore"):  # of rows of weight zero, where slacks have no price
            total = float(np.where(weights > 0, prices * weights, 0.0).sum())
        return Facts(members, core.n_nonzeros(self.rows), core.largest_norm(self.rows), stiffness, total)

    def digest(self, before: Digests, problem: BinaryProblem) -> Digests:
        """Continue the digest of the shards before, and add that of these rows alone to the list."""
        of_all, of_each = before
        on_shard = self.of(problem)
        return _core.append_digest(on_shard.core, self.rows, *of_all), (*of_each, on_shard.own_digest())

    def point(self, problem: BinaryProblem, path: Path, hessian: bool) -> PointSums:
        """Return the sums of the objective at the end of a path."""
        return self.of(problem).point(path, hessian)

    def product(self, problem: BinaryProblem, path: Path, v: Vector) -> Vector:
        """Return the Hessian's sum over rows, at the end of a path, times a vector."""
        return self.of(problem).product(path, v)

    def diagonal(self, problem: BinaryProblem, path: Path) -> Vector:
        """Return the diagonal of the Hessian's sum over rows at the end of a path."""
        return self.of(problem).diagonal(path)

    def own_solution(self, problem: BinaryProblem, seed: tuple[int, ...], n_shards: int, visits: float) -> Vector:
        """Return weights by so many visits per row of dual coordinate descent, as if all shards were like this one."""
        return self.of(problem).own_solution(problem, seed, n_shards, visits)

    def audit(self, problem: BinaryProblem, path: Path, scale: float, w: Vector, b: float, careful: bool) -> Audited:
        """Turn the slacks at the end of a path into counts, and say what they and the weights contribute to a proof."""
        return self.of(problem).audit(path, scale, w, b, careful)

    def evidence(
        self, counts: tuple[Integers, Integers], problem: BinaryProblem, w: Vector, b: float, careful: bool
    ) -> Evidence:
        """Say what weights and given counts contribute to a proof."""
        return self.of(problem).evidence(*counts, w, b, careful)

    def sides_of(self, rows: Integers, problem: BinaryProblem) -> NDArray[np.int8]:
        """Return on which side rows are."""
        sides: NDArray[np.int8] = self.of(problem).sides[rows]
        return sides

    def each(self, function: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
        """Return what a function says of the rows that take part."""
        chosen = None if self.sample_weight is None else np.flatnonzero(self.sample_weight).astype(np.int64)
        if self.kept is not None:  # sums of repeated columns are rounded when they are packed
            found = function(self.kept)
            return found if chosen is None else found[chosen]
        rows = _core.unpack(self.rows) if chosen is None else _core.unpack(self.rows, chosen)
        return function(Csr(*rows, (len(rows[-1]) - 1, self.n_features)))

    def foreign(self, problem: BinaryProblem) -> tuple[int, Any] | None:
        """Return the first row whose label is not one of the classes, and the label."""
        row = first_foreign(problem, self.y, self.sample_weight)
        return None if row is None else (row, self.y[row])


class ProblemOnShard:
    """A problem over all shards, as one of them sees it."""

    def __init__(self, shard: Shard, problem: BinaryProblem) -> None:
        self.shard = shard
        self.sides = problem.sides(shard.y, shard.sample_weight)
        self.core = problem.to_core(self.sides, shard.sample_weight)
        self.members = np.flatnonzero(self.sides).astype(np.uint32)
        self.lock = threading.RLock()  # a worker may run several tasks at a time
        self.newton: _core.Newton | None = None
        self.name, self.steps = "", 0  # of the path that it has come, and how far
        self.direction: Vector | None = None

    def packed(self, v: Vector) -> Vector:
        """Return the coordinates of the columns that this shard has, the augmented one last."""
        columns = self.shard.columns
        return v if columns is None else np.append(v[columns], v[-1])

    def spread(self, v: Vector) -> Vector:
        """Return the coordinates of all columns."""
        columns = self.shard.columns
        if columns is None:
            return v
        everywhere = np.zeros(self.shard.n_features + 1)
        everywhere[columns], everywhere[-1] = v[:-1], v[-1]
        return everywhere

    def at(self, path: Path) -> _core.Newton:
        """Follow a path to its end, from where the shard is if that is on it."""
        if self.newton is None or self.name != path.name or self.steps > len(path.steps):
            self.name = ""  # an interruption leaves no half-way point behind
            self.newton = _core.Newton(self.shard.rows, self.core, self.members, self.packed(path.start), path.price)
            if path.summed:
                self.newton.active_sum()
            self.name, self.steps, self.direction = path.name, 0, None
        for step in path.steps[self.steps :]:
            self.name = ""
            if step.direction is not None:
                self.direction = self.packed(step.direction)
                self.newton.aim(self.direction)
            if self.direction is None:
                raise ValueError("the first step of a path needs a direction")
            self.newton.go(1.0, self.direction, step.length)
            if step.summed:
                self.newton.active_sum()
            self.steps, self.name = self.steps + 1, path.name
        return self.newton

    def point(self, path: Path, hessian: bool) -> PointSums:
        """Return the sums of the objective at the end of a path."""
        with self.lock:
            newton = self.at(path)
            pull = self.spread(newton.w() - newton.gradient())
            upper = self._triangle(newton.active_sum()) if hessian else None  # the path says so too
            return PointSums(pull, newton.loss, newton.total, newton.n_active, upper)

    def _triangle(self, upper: Vector) -> Vector:
        columns = self.shard.columns
        if columns is None:
            return triangle_of(upper)
        places = np.append(columns, self.shard.n_features)
        everywhere = np.zeros((self.shard.n_features + 1,) * 2)
        everywhere[np.ix_(places, places)] = upper + np.triu(upper, 1).T
        return triangle_of(everywhere)

    def product(self, path: Path, v: Vector) -> Vector:
        """Return the Hessian's sum over rows times a vector."""
        with self.lock:
            return self.spread(self.at(path).active_product(self.packed(v)))

    def diagonal(self, path: Path) -> Vector:
        """Return the diagonal of the Hessian's sum over rows; zeros where it is small."""
        with self.lock:
            return self.spread(self.at(path).diagonal() - 1.0)

    def some(self, places: Integers) -> SomeRows:
        """Return a copy of some rows."""
        values, columns, starts = _core.unpack(self.shard.rows, places)
        weight = self.shard.sample_weight
        weights = np.ones(len(places)) if weight is None else weight[places]
        return SomeRows(values, columns.astype(np.int32), np.diff(starts), self.sides[places], weights, places)

    def sample(self, seed: tuple[int, ...], size: int) -> SomeRows:
        """Return so many of the rows that take part, the same for the same seed."""
        chosen = np.random.default_rng(seed).choice(self.members, size, replace=False)
        return self.some(np.sort(chosen).astype(np.int64))

    def own_solution(self, problem: BinaryProblem, seed: tuple[int, ...], n_shards: int, visits: float) -> Vector:
        """Return weights by dual coordinate descent on these rows alone, slacks `n_shards` times as expensive."""
        if len(self.members) == 0:
            return np.zeros(self.shard.n_features + 1)
        C_positive, C_negative = n_shards * problem.C_positive, n_shards * problem.C_negative
        as_if = replace(problem, C_positive=C_positive, C_negative=C_negative)
        core = as_if.to_core(self.sides, self.shard.sample_weight)
        key = int(np.random.default_rng(seed).integers(2**63))
        step, schedule = _core.CoordinateDescent(), _core.GainSchedule()
        trainer = _core.DualTrainer(self.shard.rows, core, step, schedule, 0.01, 0.0, True, key)
        trainer.pause_at(int(visits * len(self.members)))
        while trainer.advance(SLICE_SECONDS, LARGEST_COUNT) not in OVER:
            pass
        return self.spread(trainer.weights())

    def audit(self, path: Path, scale: float, w: Vector, b: float, careful: bool) -> Audited:
        """Turn slacks into counts; where there are none at all, which proves nothing, every row counts the same."""
        with self.lock:
            alpha = self.at(path).dual_weights() if scale > 0 else np.ones(len(self.members))
        counts = np.rint(alpha * (scale if scale > 0 else 1.0)).astype(np.int64)
        rows, counts = self.members[counts > 0].astype(np.int64), counts[counts > 0]
        counted = np.zeros(len(self.sides), dtype=bool)
        counted[rows] = True
        found = CountedShard(np.packbits(counted), np.packbits(self.sides[rows] > 0), counts)
        return Audited(self.evidence(rows, counts, w, b, careful), (found,))

    def evidence(self, rows: Integers, counts: Integers, w: Vector, b: float, careful: bool) -> Evidence:
        """Say what weights and counts contribute to a proof."""
        data = self.shard.provable
        by_columns = isinstance(data, _core.PackedRows)
        own = self.packed(np.append(w, 0.0))[:-1] if by_columns else w
        reals, whole, *sums = _core.shard_sums(self.core, data, np.ascontiguousarray(own), b, rows, counts, careful)
        a, rest = (self.spread(np.append(v, 0.0))[:-1] if by_columns and len(v) == len(own) else v for v in sums)
        return Evidence.of(reals, whole, a, rest if len(rest) == len(a) else None, self.own_digest())

    def own_digest(self) -> tuple[int, int]:
        """Return the digest of these rows alone, with and without their order."""
        return _core.append_digest(self.core, self.shard.rows, 0, 0)


def _unpickled(
    values: NDArray[Any],
    columns: NDArray[Any],
    starts: NDArray[Any],
    n_columns: int,
    y: NDArray[Any],
    sample_weight: Weights | None,
) -> Shard:
    return Shard(Csr(values, columns, starts, (len(starts) - 1, n_columns)), y, sample_weight)
