"""Shards on the workers of a Dask cluster.

Every call is a set of pure tasks, one per shard: what they return depends on the shard and the arguments only. A worker
that dies costs time. Dask builds its shards again from their partitions and repeats the tasks whose answers are not
there yet. Answers have a key per shard and call, so none is counted twice, and a sum needs one of every shard.
"""

import itertools
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any, Self, TypeVar
from uuid import uuid4

import dask
import distributed
from distributed.scheduler import KilledWorker

from ..shards.shard import Shard
from ..shards.sums import FAN_IN, S, add_in_order, merge, tree_sum
from .parts import Part, as_shard

T = TypeVar("T")

ERROR_SECONDS = 1.0  # between checks for an answer that has failed
SLOW_SECONDS = 10.0  # without an answer: say who is awaited
LARGE = 1 << 14  # bytes of an argument
NO_WORKERS_SECONDS = 60.0  # without any worker: give up

logger = logging.getLogger("dynmargin")


class ClusterError(RuntimeError):
    """Rows are lost for good, or no worker is left: nothing can be proven.

    Examples
    --------
    >>> from dynmargin.dask import ClusterError
    >>> issubclass(ClusterError, RuntimeError)
    True
    """


def client_of(client: Any) -> distributed.Client:
    """Return the client that is given, or the current one."""
    if client is not None:
        if client.status in ("closing", "closed"):
            raise ValueError("the Dask client is closed; pass a connected one as client=, or None for the current one")
        return client
    try:
        return distributed.get_client()
    except ValueError:
        raise ValueError("there is no Dask client; start one with distributed.Client(...), or pass client=") from None


class Cluster:
    """The shards of a fit, one per partition, as an `Executor`; use it as a context."""

    keeps = True

    def __init__(self, client: distributed.Client, parts: Sequence[Part]) -> None:
        self.client = client
        self.name = f"dynmargin-{uuid4().hex[:12]}"
        self.calls = itertools.count()
        self.recent: deque[tuple[Any, Any]] = deque(maxlen=4)  # large arguments of the last calls, as futures
        make = dask.delayed(as_shard, pure=False)
        self.shards: list[Any] = client.compute(
            [make(i, *part, dask_key_name=f"{self.name}-shard-{i}") for i, part in enumerate(parts)]
        )

    def map(self, function: Callable[..., T], *arguments: Any) -> list[T]:
        """Return ``function(shard, *arguments)`` for every shard, in their order."""
        return self._gather(self._submit(function, arguments))

    def map_each(self, function: Callable[..., T], parts: Sequence[Any], *arguments: Any) -> list[T]:
        """Return ``function(shard, part, *arguments)`` for every shard and its part."""
        return self._gather(self._submit(function, arguments, parts))

    def sum(self, function: Callable[..., S], *arguments: Any) -> S:
        """Return the sum over all shards."""
        found: S = self._summed(self._submit(function, arguments))
        return found

    def sum_each(self, function: Callable[..., S], parts: Sequence[Any], *arguments: Any) -> S:
        """Return the sum of ``function(shard, part, *arguments)`` over all shards and their parts."""
        found: S = self._summed(self._submit(function, arguments, parts))
        return found

    def _summed(self, futures: list[Any]) -> Any:
        """Merge groups of answers on the workers, by the tree that is always used."""
        if len(futures) <= FAN_IN:
            return tree_sum(self._gather(futures))
        name, numbers = f"{self.name}-merge-{next(self.calls)}", itertools.count()

        def join(group: Sequence[Any]) -> Any:
            return self.client.submit(add_in_order, list(group), key=f"{name}-{next(numbers)}", pure=False)

        return self._gather([merge(futures, join)], futures)[0]

    def fold(self, function: Callable[..., T], start: T, *arguments: Any) -> Callable[[], T]:
        """Go from shard to shard in the background; return how to get the last value."""
        call, value = next(self.calls), start
        for i, shard in enumerate(self.shards):
            value = self.client.submit(
                function, shard, value, *arguments, key=f"{self.name}-fold-{call}-{i}", pure=False, priority=-1
            )
        return lambda: self._gather([value])[0]

    @property
    def n_workers(self) -> int:
        """How many workers there are."""
        return len(self.client.scheduler_info(n_workers=-1)["workers"])

    def __enter__(self) -> Self:
        """Use the shards."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let the workers have their memory back."""
        self.shards = []
        self.recent.clear()

    def _submit(self, function: Callable[..., Any], arguments: tuple[Any, ...], parts: Any = None) -> list[Any]:
        call = next(self.calls)
        keys = [f"{self.name}-{function.__name__}-{call}-{i}" for i in range(len(self.shards))]
        iterables = [self.shards] if parts is None else [self.shards, list(parts)]
        named = {f"argument_{i}": self._sent(argument) for i, argument in enumerate(arguments)}
        futures: list[Any] = self.client.map(_call, *iterables, key=keys, pure=False, function=function, **named)
        return futures

    def _sent(self, argument: Any) -> Any:
        """Send what is large once: a task of its own that returns it, which a worker keeps for the calls to come."""
        if getattr(argument, "nbytes", 0) < LARGE:
            return argument
        for known, future in self.recent:
            if known is argument:
                return future
        future = self.client.submit(_itself, argument, key=f"{self.name}-argument-{next(self.calls)}", pure=False)
        self.recent.append((argument, future))
        return future

    def _gather(self, futures: list[Any], behind: Sequence[Any] = ()) -> list[Any]:
        return gathered(self.client, futures, behind)


def gathered(
    client: distributed.Client, futures: list[Any], behind: Sequence[Any] = (), seconds: float = math.inf
) -> list[Any]:
    """Wait for answers, and for those `behind` them, and return them; say who is slow, and what is lost.

    The first error ends it: the other files may take much longer to read. TimeoutError if it takes longer than so many
    seconds.
    """
    began = alone = told = now = time.monotonic()
    try:
        while not any(future.status == "error" for future in futures):
            try:
                most = max(0.0, began + seconds - now)
                distributed.wait(futures, timeout=min(SLOW_SECONDS, ERROR_SECONDS, most))
                break
            except TimeoutError:
                now = time.monotonic()
                if now - began >= seconds:
                    raise
                if now - told < SLOW_SECONDS:
                    continue
                told = now
                alone = now if client.scheduler_info(n_workers=-1)["workers"] else alone
                if now - alone > NO_WORKERS_SECONDS:
                    raise ClusterError(
                        f"the cluster has had no worker for {now - alone:.0f} s; nothing is published"
                    ) from None
                _name_the_slow(client, [*behind, *futures], now - began)
        return list(client.gather(futures))
    except (KilledWorker, CancelledError) as error:
        raise ClusterError(
            f"rows are lost that the cluster cannot compute again ({error}); nothing is published. Let partitions "
            "come from where they can be read again, such as files, or keep copies of them"
        ) from error
    except BaseException:
        client.cancel([*behind, *futures])
        raise


def _name_the_slow(client: distributed.Client, futures: Sequence[Any], seconds: float) -> None:
    missing = {future.key for future in futures if not future.done()}
    late = {worker for worker, keys in client.processing().items() if missing.intersection(keys)}
    if late:
        logger.warning("still waiting for %s after %.0f s", ", ".join(sorted(late)), seconds)


def _call(shard: Shard, *part: Any, function: Callable[..., Any], **named: Any) -> Any:
    return function(shard, *part, *named.values())


def _itself(argument: T) -> T:
    return argument
