"""Capturing what comes through a pipe: standard input to a buffer, passed on as it comes where that is wanted."""

import os
from collections.abc import Callable

from sightline.store.capture.command import Unkept
from sightline.store.disk.recording import Recording
from sightline.store.errors import StoreFailed
from sightline.store.records import Buffer
from sightline.store.shape.budgets import HARD_LIMIT_BYTES
from sightline.store.store import Store

_READ_BYTES = 1 << 18


def capture_stdin(
    store: Store,
    fd: int,
    *,
    command: str,
    cwd: str,
    session: str,
    label: str = "",
    exit_code: int | None = None,
    pass_on: Callable[[bytes], None] | None = None,
) -> Buffer | Unkept:
    """Keep all that a descriptor gives until its end, and pass on all of it whatever becomes of the store.

    Args:
        store: where it is kept.
        fd: what is read.
        command: what the buffer is called.
        cwd: working directory of whatever wrote it.
        session: who captures.
        label: a name for the buffer.
        exit_code: of the command that wrote it, None where it is unknown.
        pass_on: what else sees the bytes as they come.

    Returns:
        The sealed buffer; the beginning of what came where nothing may be kept, or the store could not take it.
    """
    keeper = _Keeper()
    if store.settings.captures(cwd):
        keeper.begin(lambda: store.begin("cmd", command, cwd, session, label=label))
    try:
        while data := os.read(fd, _READ_BYTES):
            if pass_on:
                pass_on(data)
            keeper.take(data)
        return keeper.end(exit_code)
    except BaseException:  # whoever it is passed on to has gone, or a key was pressed
        keeper.abandon()
        raise


class _Keeper:
    """A recording as long as the store takes it, and the beginning of what came for when it no longer does."""

    def __init__(self) -> None:
        self._recording: Recording | None = None
        self._failure: StoreFailed | None = None
        self._head = bytearray()

    def begin(self, make: Callable[[], Recording]) -> None:
        try:
            self._recording = make()
            self._recording.register()
        except StoreFailed as error:
            self._give_up(error)

    def take(self, data: bytes) -> None:
        self._head += data[: HARD_LIMIT_BYTES - len(self._head)]
        try:
            if self._recording:
                self._recording.append("out", data)
        except StoreFailed as error:
            self._give_up(error)

    def end(self, exit_code: int | None) -> Buffer | Unkept:
        try:
            if self._recording:
                return self._recording.seal(exit_code=exit_code)
        except StoreFailed as error:
            self._give_up(error)
        return Unkept(bytes(self._head), b"", self._failure)

    def abandon(self) -> None:
        if self._recording:
            self._recording.abandon()

    def _give_up(self, error: StoreFailed) -> None:
        self._failure = error
        recording, self._recording = self._recording, None
        if recording:
            recording.discard()
