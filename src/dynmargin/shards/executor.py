"""How functions reach the shards, and how answers come back."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from .shard import Shard
from .sums import S, tree_sum

T = TypeVar("T")


class Executor(Protocol):
    """Shards in an order that does not change, wherever they lie.

    Every shard answers exactly once per call, or the call fails: there is no sum over some of the shards. Functions
    depend on the shard and their arguments only, so an executor may call them again when an answer is lost.

    Attributes
    ----------
    keeps : bool
        Whether shards stay in memory between calls. If not, a run asks for points by their weights alone: to follow a
        path costs a pass per step.
    """

    keeps: bool

    def map(self, function: Callable[..., T], *arguments: Any) -> list[T]:
        """Return ``function(shard, *arguments)`` for every shard, in their order."""

    def map_each(self, function: Callable[..., T], parts: Sequence[Any], *arguments: Any) -> list[T]:
        """Return ``function(shard, part, *arguments)`` for every shard and the part that belongs to it."""

    def sum(self, function: Callable[..., S], *arguments: Any) -> S:
        """Return the sum of ``function(shard, *arguments)`` over all shards, as `tree_sum` orders it."""

    def sum_each(self, function: Callable[..., S], parts: Sequence[Any], *arguments: Any) -> S:
        """Return the sum of ``function(shard, part, *arguments)`` over all shards and their parts, likewise."""

    def fold(self, function: Callable[..., T], start: T, *arguments: Any) -> Callable[[], T]:
        """Begin ``value = function(shard, value, *arguments)`` from shard to shard; return how to get the last value.

        It may be computed while other calls go on.
        """


class InProcess:
    """Shards in the memory of this process, one after the other: a cluster in miniature, with the real merging."""

    keeps = True

    def __init__(self, shards: Sequence[Shard]) -> None:
        self.shards = list(shards)

    def map(self, function: Callable[..., T], *arguments: Any) -> list[T]:
        """Return ``function(shard, *arguments)`` for every shard."""
        return [function(shard, *arguments) for shard in self.shards]

    def map_each(self, function: Callable[..., T], parts: Sequence[Any], *arguments: Any) -> list[T]:
        """Return ``function(shard, part, *arguments)`` for every shard and its part."""
        return [function(shard, part, *arguments) for shard, part in zip(self.shards, parts, strict=True)]

    def sum(self, function: Callable[..., S], *arguments: Any) -> S:
        """Return the sum of ``function(shard, *arguments)`` over all shards."""
        return tree_sum(self.map(function, *arguments))

    def sum_each(self, function: Callable[..., S], parts: Sequence[Any], *arguments: Any) -> S:
        """Return the sum of ``function(shard, part, *arguments)`` over all shards and their parts."""
        return tree_sum(self.map_each(function, parts, *arguments))

    def fold(self, function: Callable[..., T], start: T, *arguments: Any) -> Callable[[], T]:
        """Compute ``value = function(shard, value, *arguments)`` from shard to shard."""

        def value() -> T:
            last = start
            for shard in self.shards:
                last = function(shard, last, *arguments)
            return last

        return value
