"""Batches of past calls made buffers, in a process beside this one: meanwhile the next ones are read.

The other process writes files only. The index and the log stay with this one, which alone knows what they have.
"""

import os
import pickle
import signal
from collections.abc import Sequence
from typing import NamedTuple

from sightline.store.capture.importers.past import PastCall
from sightline.store.errors import StoreFailed
from sightline.store.records import Session
from sightline.store.store import Store
from sightline.store.tools.past_call import KeptCall, keep_call

WORTH_CALLS = 64
"""Fewer are written at once: starting the other process takes as long."""

_READ_BYTES = 1 << 20

Calls = Sequence[tuple[PastCall, Session]]


class Kept(NamedTuple):
    """What became of a batch.

    Attributes:
        calls: those that are on disk, in order.
        error: why the others are not; None where there are no others.
    """

    calls: list[KeptCall]
    error: StoreFailed | None = None


def keep_calls(store: Store, calls: Calls) -> Kept:
    """Write their buffers, up to the first that the store could not take."""
    kept: list[KeptCall] = []
    try:
        for call, session in calls:
            kept.append(keep_call(store, call, session))
    except StoreFailed as error:
        return Kept(kept, error)
    return Kept(kept)


class Writing:
    """A batch that is being written. It must be waited for, since nobody else knows of what it has written.

    Attributes:
        ids: of its calls.
    """

    def __init__(self, store: Store, calls: Calls) -> None:
        """Begin."""
        self.ids = {call.id for call, _ in calls}
        self._data = bytearray()
        self._from = self._process = -1
        if len(calls) >= WORTH_CALLS:
            self._begin(store, calls)
        self._kept = keep_calls(store, calls) if self._process < 0 else None

    def _begin(self, store: Store, calls: Calls) -> None:
        self._from, to = os.pipe()
        try:
            self._process = os.fork()
        except OSError:  # no room for another process
            os.close(self._from)
        if self._process == 0:
            _write(store, calls, to)
        os.close(to)

    def wait(self) -> Kept:
        """What has become of it. May be called again where a key interrupted it."""
        if self._kept is None:
            while data := os.read(self._from, _READ_BYTES):
                self._data += data
            os.waitpid(self._process, 0)
            os.close(self._from)
            self._kept = _told(bytes(self._data))
        return self._kept


def _write(store: Store, calls: Calls, to: int) -> None:
    """The other process, from its beginning to its end; a key that interrupts this one does not interrupt it."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        kept = keep_calls(store, calls)
        error = kept.error and (kept.error.message, kept.error.hint)
        with open(to, "wb") as file:
            file.write(pickle.dumps((kept.calls, error)))
    finally:
        os._exit(0)


def _told(data: bytes) -> Kept:
    try:
        calls, error = pickle.loads(data)  # noqa: S301 - from our own other half, through a pipe that nobody else has
    except (pickle.UnpicklingError, EOFError, IndexError, AttributeError):  # what it raises for less than all
        return Kept(
            [], StoreFailed("the process that writes outputs has ended", "`sightline doctor` finds what is left")
        )
    return Kept(calls, error and StoreFailed(*error))
