"""Capturing what comes through a pipe: standard input to a buffer, passed on as it comes where that is wanted."""

import os
from collections.abc import Callable

from sightline.store.errors import StoreFailed
from sightline.store.records import Buffer
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
) -> Buffer:
    """Keep all that a descriptor gives until its end.

    Args:
        store: where it is kept.
        fd: what is read.
        command: what the buffer is called.
        cwd: working directory of whatever wrote it.
        session: who captures.
        label: a name for the buffer.
        exit_code: of the command that wrote it, None where it is unknown.
        pass_on: what else sees the bytes as they come.

    Raises:
        StoreFailed: the store could not take it; everything was still passed on.
    """
    recording = None
    try:
        recording = store.begin("cmd", command, cwd, session, label=label)
        recording.register()
        while data := os.read(fd, _READ_BYTES):
            if pass_on:
                pass_on(data)
            recording.append("out", data)
        return recording.seal(exit_code=exit_code)
    except StoreFailed:
        if recording:
            recording.discard()
        while pass_on and (data := os.read(fd, _READ_BYTES)):
            pass_on(data)
        raise
    except BaseException:  # whoever it is passed on to has gone, or a key was pressed
        if recording:
            recording.abandon()
        raise
