"""Each event is recorded once, though a harness may run two hooks of ours at it: a person's and a project's.

One small file a session says which events were taken up. A hook that cannot tell takes its event up.
"""

import fcntl
import json
import os

from sightline.disk.layout import HOOKS, make_folder, open_private

_TAIL_BYTES = 1 << 14
"""How far back is looked: hooks at one event run beside each other, or one after the other."""


def is_first(root: str, session: str, event: str, use: str) -> bool:
    """Whether no other hook has taken up this event of a tool's use; it is taken up with this.

    Args:
        root: of the store.
        session: name of the session.
        event: the harness' name of the event.
        use: the harness' id of the use; where it gives none, events cannot be told apart.
    """
    if not use:
        return True
    try:
        return _noted(os.path.join(root, HOOKS), f"{session}.events", json.dumps([event, use]).encode() + b"\n")
    except OSError:
        return True


def _noted(folder: str, name: str, line: bytes) -> bool:
    make_folder(folder)
    fd = open_private(os.path.join(folder, name), os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        size = os.fstat(fd).st_size
        if b"\n" + line in b"\n" + os.pread(fd, _TAIL_BYTES, max(0, size - _TAIL_BYTES)):
            return False
        os.write(fd, line)
        return True
    finally:
        os.close(fd)
