"""Lets the hook at a turn's end wait for the one that logs the last batch of calls.

The harness waits for that one neither while the agent works nor when it ends, but then ends it, too.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sightline.config import HOOKS, default_root
from sightline.doors.hooks.hook_session import PATIENCE_SECONDS
from sightline.private_files import open_private, remove_file

_TURN_SECONDS = 0.005


@contextmanager
def logging_batch(session: str) -> Iterator[None]:
    """Hold the lock of a session while a batch of it is logged."""
    fd = -1
    with suppress(OSError):  # without its folder nothing is kept of the session
        fd = open_private(_path(session), os.O_RDWR | os.O_CREAT)
        fcntl.flock(fd, fcntl.LOCK_SH)
    try:
        yield
    finally:
        if fd >= 0:
            os.close(fd)


def wait_for_batch(session: str) -> None:
    """Wait until no batch of a session is being logged."""
    until = time.monotonic() + PATIENCE_SECONDS
    try:
        fd = open_private(_path(session), os.O_RDWR)
    except OSError:  # no batch was logged
        return
    try:
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_file(_path(session))
                return
            if time.monotonic() > until:
                return
            time.sleep(_TURN_SECONDS)
    finally:
        os.close(fd)


def _path(session: str) -> str:
    return os.path.join(default_root(), HOOKS, f"{session}.batch")
