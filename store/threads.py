"""Threads: what starting one may run into, and what many of them do to memory."""

import contextlib
from typing import TYPE_CHECKING

from sightline.errors import OutOfProcesses

if TYPE_CHECKING:  # whoever has a thread to start has loaded it
    import threading


_M_ARENA_MAX = -8
"""The parameter of glibc's mallopt(3) that says how many heaps there may be."""


def start_thread(thread: "threading.Thread") -> None:
    """Start a thread. Raises OutOfProcesses where the system has none left.

    They count among a user's processes, of which a command that forks without end leaves none.
    """
    try:
        thread.start()
    except RuntimeError as error:
        raise OutOfProcesses from error


def share_one_heap() -> None:
    """Have all threads take memory from one heap, in a process that starts many over hours.

    glibc gives new threads heaps of their own, up to eight for each core, and what one leaves there the others do not
    use. As Python runs one thread at a time, they seldom wait for each other.
    """
    with contextlib.suppress(ImportError, OSError, AttributeError):  # another C library
        import ctypes  # 4 ms, of servers alone

        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
