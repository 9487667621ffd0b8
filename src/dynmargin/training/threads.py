"""Independent runs in threads; Ctrl-C and warnings stay with the thread that asked for them."""

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from queue import SimpleQueue
from threading import Event
from typing import TypeVar

from .request import Request
from .run import note_interrupt

# A signal may be delivered to any thread, but Python acts on it in the main one, which has to wake up now and then.
WAKE_SECONDS = 0.05

T = TypeVar("T")


def run_in_threads(run: Callable[[int, Request], T], count: int, request: Request) -> list[T]:
    """Return what ``run(index, request)`` returns for every index below `count`, `request.n_jobs` at a time.

    Runs share nothing but the data and the request's `interrupted`, so the results do not depend on the number of
    threads.
    """
    messages: SimpleQueue[str] = SimpleQueue()
    go = Event()  # set once the main thread waits for Ctrl-C

    def run_when_told(index: int) -> T:
        go.wait()
        return run(index, replace(request, warn=messages.put))

    with ThreadPoolExecutor(min(request.n_jobs, count), thread_name_prefix="dynmargin") as pool:
        try:
            futures = [pool.submit(run_when_told, index) for index in range(count)]
            _wait(futures, messages, request, go)
        except BaseException:  # runs end soon; those not begun yet need not begin
            go.set()
            request.interrupted.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _wait(futures: list[Future[T]], messages: SimpleQueue[str], request: Request, go: Event) -> None:
    """Wait until all are done or one has failed, and pass warnings on; Ctrl-C makes the runs end soon."""
    waiting = set(futures)
    while waiting:
        try:
            go.set()
            done, waiting = wait(waiting, WAKE_SECONDS, FIRST_EXCEPTION)
            while not messages.empty():
                request.warn(messages.get())
            for future in done:
                future.result()
        except KeyboardInterrupt:
            note_interrupt(request)
