"""Brings signals that ask a server to end to its main thread, so that it can end what runs."""

import os
import select
import signal
from collections.abc import Callable
from types import FrameType

from sightline.light.typing_names import NoReturn

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class EndAsked(BaseException):
    """A signal asks for the end. It is no `Exception`, so that handlers of errors do not catch it."""


def raise_signals() -> Callable[[int], None]:
    """From now on the first of these signals raises Ended in the main thread; later ones do nothing.

    Python loses what a signal's handler raises in a finalizer or a weak reference's callback, where it is only
    printed. So the function that is returned raises it, too.

    Returns:
        A function that waits until a descriptor can be read, its other side is gone, or a signal has come: then Ended.
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
            raise EndAsked

    return wait


def call_at_signals(act: Callable[[int, FrameType | None], object]) -> None:
    """From now on each signal that is not ignored calls a function in the main thread, between two of its steps."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # ignored by nohup, or by a shell's &
            signal.signal(number, act)


def ignore_signals() -> None:
    """Ignore these signals until the process ends, since the end has begun."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    _say_nothing()  # Python complains of a signal that came before it was ignored
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # while Python ends, it has no handlers of its own
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _say_nothing() -> None:
    call_at_signals(lambda *_: None)


def _raise(*_: object) -> NoReturn:
    _say_nothing()  # ignored here, since a second signal would raise while the first is handled
    raise EndAsked
