"""Shards on a disk: each is read, asked and dropped; those that fit into memory stay there."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from .shard import Shard
from .sums import FAN_IN, S, tree_sum

T = TypeVar("T")


class OnDisk:
    """Shards that are visited one after the other in the order of the file; an `Executor`.

    While one is asked, a thread reads the next. A pass gives the sums that `tree_sum` gives, bit for bit, and holds one
    of them per level of the tree.

    Parameters
    ----------
    read : callable
        Returns a shard, given its number.
    sizes : sequence of int
        The bytes that each takes in memory.
    room : int
        The bytes that shards may take that stay in memory.

    Attributes
    ----------
    bytes_read : int
        What has been read from the disk so far.
    passes : int
        How often all shards were visited.
    """

    keeps = False

    def __init__(self, read: Callable[[int], Shard], sizes: Sequence[int], room: int) -> None:
        self._read, self._sizes = read, list(sizes)
        self._resident: dict[int, Shard] = {}
        self._staying: set[int] = set()
        self._folds: list[_Fold] = []
        self._beside = ThreadPoolExecutor(1)
        self.bytes_read = self.passes = 0
        for i, size in enumerate(self._sizes):  # the first ones that fit
            if size > room:
                break
            room -= size
            self._staying.add(i)

    @property
    def nbytes(self) -> int:
        """The bytes that all shards would take in memory."""
        return sum(self._sizes)

    def release(self) -> None:
        """Let no shard stay in memory from now on: each is dropped after its next visit."""
        self._staying.clear()

    def visit(self) -> Iterator[tuple[int, Shard]]:
        """Yield the number of every shard and the shard, in their order."""
        self.passes += 1
        folds, self._folds = self._folds, []
        coming = self._coming(0)
        for i in range(len(self._sizes)):
            shard = coming.result() if isinstance(coming, Future) else coming
            assert shard is not None
            coming = self._coming(i + 1)
            for fold in folds:
                fold.take(shard)
            yield i, shard
            if i in self._staying:
                for problem in shard.problems.values():  # scores and sums at a point that will not come again
                    problem.newton, problem.name = None, ""
                self._resident[i] = shard
            else:
                shard.problems.clear()  # they refer to the shard, which would wait for the garbage collector
                self._resident.pop(i, None)
            del shard
        for fold in folds:
            fold.done = True

    def _coming(self, i: int) -> "Shard | Future[Shard] | None":
        """Begin to read a shard, unless it is there or does not exist."""
        if i in self._resident or i == len(self._sizes):
            return self._resident.get(i)
        self.bytes_read += self._sizes[i]
        return self._beside.submit(self._read, i)

    def map(self, function: Callable[..., T], *arguments: Any) -> list[T]:
        """Return ``function(shard, *arguments)`` for every shard."""
        if function is Shard.forget:  # only shards that are in memory remember anything
            return [function(shard, *arguments) for shard in self._resident.values()]
        return [function(shard, *arguments) for _, shard in self.visit()]

    def map_each(self, function: Callable[..., T], parts: Sequence[Any], *arguments: Any) -> list[T]:
        """Return ``function(shard, part, *arguments)`` for every shard and its part."""
        return [function(shard, parts[i], *arguments) for i, shard in self.visit()]

    def sum(self, function: Callable[..., S], *arguments: Any) -> S:
        """Return the sum of ``function(shard, *arguments)`` over all shards."""
        return sum_in_turn(function(shard, *arguments) for _, shard in self.visit())

    def sum_each(self, function: Callable[..., S], parts: Sequence[Any], *arguments: Any) -> S:
        """Return the sum of ``function(shard, part, *arguments)`` over all shards and their parts."""
        return sum_in_turn(function(shard, parts[i], *arguments) for i, shard in self.visit())

    def fold(self, function: Callable[..., T], start: T, *arguments: Any) -> Callable[[], T]:
        """Compute ``value = function(shard, value, *arguments)`` from shard to shard, during the next pass."""
        fold = _Fold(function, start, arguments)
        self._folds.append(fold)

        def value() -> T:
            if not fold.done:  # not even in part: a pass that failed has left some of it
                fold.value, self._folds = start, [fold]
                for _ in self.visit():
                    pass
            return fold.value  # type: ignore[no-any-return]

        return value


class _Fold:
    """A value that goes from shard to shard."""

    def __init__(self, function: Callable[..., Any], start: Any, arguments: tuple[Any, ...]) -> None:
        self.function, self.value, self.arguments, self.done = function, start, arguments, False

    def take(self, shard: Shard) -> None:
        self.value = self.function(shard, self.value, *self.arguments)


def sum_in_turn(parts: Iterable[S]) -> S:
    """Return `tree_sum` of parts that come one after the other, holding one sum per level."""
    levels: list[_Level[S]] = []
    for part in parts:
        carried = part
        for level in levels:
            if (group := level.take(carried)) is None:
                break
            carried = group
        else:
            levels.append(_Level(carried))
    rest: list[S] = []
    for level in levels:  # groups that are not full are whole now
        full = [found for found in map(level.take, rest) if found is not None]
        rest = [*full, level.group]
    if not rest:
        raise ValueError("there are no shards")
    return tree_sum(rest)


class _Level(Generic[S]):
    """The last group of a level of the tree, so far."""

    def __init__(self, first: S) -> None:
        self.group, self.size = first, 1

    def take(self, part: S) -> S | None:
        """Add a part to the group; if that is full, the part begins another and the full one is returned."""
        if self.size == FAN_IN:
            full, self.group, self.size = self.group, part, 1
            return full
        self.group, self.size = self.group + part, self.size + 1
        return None
