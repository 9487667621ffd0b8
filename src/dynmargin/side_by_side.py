"""Independent runs side by side in threads; Ctrl-C and warnings stay with the thread that asked for them."""

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from queue import SimpleQueue
from threading import Event
from typing import TypeVar

from .training import Plan, note_interrupt

# A signal may be delivered to any thread, but Python acts on it in the main one: it has to wake up now and then.
WAKE_SECONDS = 0.05

Result = TypeVar("Result")


def run_each(run: Callable[[int, Plan], Result], count: int, plan: Plan, n_jobs: int) -> list[Result]:
    """Give what ``run(index, plan)`` gives for every index below `count`, by so many threads.

    Runs share nothing but the data and the plan's `interrupted`, so the results are the same for any number of threads.
    """
    if min(n_jobs, count) <= 1:
        return [run(index, plan) for index in range(count)]
    messages: SimpleQueue[str] = SimpleQueue()
    go = Event()  # not before Ctrl-C is waited for

    def run_when_told(index: int) -> Result:
        go.wait()
        return run(index, replace(plan, warn=messages.put))

    with ThreadPoolExecutor(min(n_jobs, count), thread_name_prefix="dynmargin") as pool:
        try:
            futures = [pool.submit(run_when_told, index) for index in range(count)]
            _wait(futures, messages, plan, go)
        except BaseException:  # runs end soon; those not begun yet need not begin
            go.set()
            plan.interrupted.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _wait(futures: list[Future[Result]], messages: SimpleQueue[str], plan: Plan, go: Event) -> None:
    """Wait until all are done or one has failed, pass on warnings; Ctrl-C makes the runs end soon."""
    waiting = set(futures)
    while waiting:
        try:
            go.set()
            done, waiting = wait(waiting, WAKE_SECONDS, FIRST_EXCEPTION)
            while not messages.empty():
                plan.warn(messages.get())
            for future in done:
                future.result()
        except KeyboardInterrupt:
            note_interrupt(plan)
