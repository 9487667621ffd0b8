"""Signals that ask the program to end: it cleans up first, and cannot refuse for ever; and an alarm clock."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Ended(BaseException):
    """A signal asked us to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """Clean up on SIGTERM and SIGHUP as after an error, then die of the signal, as its sender expects.

    For a program, not for a library. A signal that is ignored (nohup) stays ignored. A second one, which
    terminals tend to send, does not disturb the removal of temporary files; a third one ends the program at once, in
    case the first was swallowed.
    """
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    caught = [number for name in names if signal.getsignal(number := getattr(signal, name)) == signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():  # only it may set handlers, and it gets the signals
        caught = []

    def first(number: int, _: object) -> None:
        for one in caught:
            signal.signal(one, second)
        raise _Ended(number)

    def second(number: int, _: object) -> None:
        for one in caught:
            signal.signal(one, signal.SIG_DFL)

    try:
        for number in caught:
            signal.signal(number, first)
        yield
    except _Ended as ended:
        signal.signal(ended.number, signal.SIG_DFL)
        os.kill(os.getpid(), ended.number)
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def dying_of_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C end the program at once, around code that would not notice it for minutes. Nothing is cleaned up.

    For a program, not for a library. If it is ignored or somebody else handles it, that does not change.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Alarm(BaseException):
    """The time is over. Nobody takes it for an error of whatever is being read."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after so many seconds, wherever the program is then: it may wait for a pipe.

    For a program, not for a library. Nothing happens where there is no such signal (Windows).
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_: int, __: object) -> None:
        raise _Alarm

    before = signal.signal(signal.SIGALRM, ring)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    except _Alarm:
        raise TimeoutError("time is up") from None
