"""Signals that ask a server to end: brought to its main thread, so that what runs can be brought to its end."""

import os
import select
import signal
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Ended(BaseException):
    """A signal asks for the end; no error, which handlers of those would take it for."""


def raise_signals() -> Callable[[int], None]:
    """From now on the first of them raises Ended in the main thread; the others say nothing new.

    What is raised by a signal is lost where Python lets nothing pass (in a finalizer, or a callback of a weak
    reference: it is printed there, and forgotten). So it is raised by what is returned, too.

    Returns:
        Waits until a descriptor can be read, its other side is gone, or a signal has come; raises Ended at the last.
    """
    told, tell = os.pipe()
    os.set_blocking(tell, False)  # which a handler may write to
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    call_at_signals(_raise)

    def wait(fd: int) -> None:
        events = select.poll()
        events.register(told, select.POLLIN)
        events.register(fd, select.POLLIN)
        if any(ready == told for ready, _ in events.poll()):
            raise Ended

    return wait


def call_at_signals(act: Callable[[int, FrameType | None], object]) -> None:
    """From now on each of them calls this in the main thread, between two of its steps; not one that is ignored."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, or a shell's &
            signal.signal(number, act)


def ignore_signals() -> None:
    """The end has begun: they say nothing new, to the very end of the process."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    _say_nothing()  # Python complains of one that has come already and is to be ignored only now
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # a handler of Python's is gone while it ends
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _say_nothing() -> None:
    call_at_signals(lambda *_: None)


def _raise(*_: object) -> NoReturn:
    _say_nothing()  # here: one that has come along with this would be raised while this is being handled
    raise Ended
