"""Capturing what comes through a pipe: standard input to a buffer, passed on as it comes where that is wanted."""

import os
from collections.abc import Callable

from sightline.capture.fallback import Echo, Unkept
from sightline.capture.keeping import Keeper
from sightline.records import Buffer
from sightline.store import Store

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
    unkept_to: Echo | None = None,
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
        unkept_to: what sees all of them where the store keeps nothing, and nobody has seen them come.

    Returns:
        The sealed buffer; the beginning of what came where nothing may be kept, or the store could not take it.
    """
    keeper = Keeper(store.redaction(), unkept_to)
    if store.settings.captures(cwd):
        keeper.begin(lambda: store.begin("cmd", command, cwd, session, label=label))
    try:
        while data := os.read(fd, _READ_BYTES):
            if pass_on:
                pass_on(data)
            keeper.take("out", data)
        return keeper.end(lambda recording: recording.seal(exit_code=exit_code))
    except BaseException:  # whoever it is passed on to has gone, or a key was pressed
        keeper.abandon()
        raise
