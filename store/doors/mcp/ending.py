"""Signals that ask a server to end: raised in its main thread, so that what runs can be brought to its end."""

import signal
from typing import NoReturn

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Ended(SystemExit):
    """A signal asks for the end; of this kind, since an event loop lets no other pass wherever it comes from."""


def raise_signals() -> None:
    """From now on each of them raises Ended in the main thread."""
    for number in _SIGNALS:
        signal.signal(number, _raise)


def ignore_signals() -> None:
    """The end has begun: they say nothing new."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _raise(*_: object) -> NoReturn:
    raise Ended
