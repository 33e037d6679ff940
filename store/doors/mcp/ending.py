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
    """From now on each of them raises Ended in the main thread.

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
    """From now on each of them calls this in the main thread, between two of its steps."""
    for number in _SIGNALS:
        signal.signal(number, act)


def ignore_signals() -> None:
    """The end has begun: they say nothing new."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _raise(*_: object) -> NoReturn:
    raise Ended
