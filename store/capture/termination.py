"""Ends a command that another process captures: its group is asked to, and what has not ended soon is killed."""

import signal
import time

from sightline.capture.child import Child
from sightline.capture.command import TERM_GRACE_SECONDS
from sightline.disk.live import process_of
from sightline.records import Buffer
from sightline.store import Store

_LOOK_SECONDS = 0.02
_SEAL_SECONDS = 5.0  # for whoever captures it to notice and seal its buffer


def end_command(store: Store, buffer: Buffer, number: int = signal.SIGTERM) -> bool:
    """End a running command with all that it started, and wait until its buffer is sealed.

    Args:
        store: where it is kept.
        buffer: its record.
        number: the signal that it gets first.

    Returns:
        Whether there was a command to end.
    """
    process = process_of(store.layout, buffer.name)
    if process is None:
        return False
    child = Child(process.pid, -1, -1, -1, None, process.own_group)
    child.kill(number)
    kill_at = time.monotonic() + TERM_GRACE_SECONDS
    give_up_at = kill_at + _SEAL_SECONDS
    killed = number == signal.SIGKILL
    while (now := time.monotonic()) < give_up_at:
        sealed = store.resolve(buffer.ref).buffer.state != "running"
        if sealed and not child.group_lives:
            break
        if now >= kill_at and not killed:
            child.kill(signal.SIGKILL)
            killed = True
        time.sleep(_LOOK_SECONDS)
    return True
