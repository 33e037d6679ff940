"""Threads: what can go wrong when one starts, what many of them do to the heap, and how many can run at once."""

import _thread
import os

from sightline.base.errors import OutOfProcesses
from sightline.light.library import suppress
from sightline.light.typing_names import TYPE_CHECKING, Callable

if TYPE_CHECKING:  # whoever has a thread to start has loaded it
    import threading


_M_ARENA_MAX = -8
"""The parameter of glibc's mallopt(3) for the number of heaps."""


def start_thread(thread: "threading.Thread") -> None:
    """Start a thread. Raises OutOfProcesses if the system has none left.

    Threads count among a user's processes, and a command that forks without end uses up all of these.
    """
    try:
        thread.start()
    except RuntimeError as error:
        raise OutOfProcesses from error


def started_thread(work: Callable[[], object]) -> Callable[[], object]:
    """Let a thread do something, and return what waits for its end, to be called once; saves loading `threading`, 1 ms.

    Args:
        work: raises nothing, and imports nothing, since `threading` takes the thread that loads it for the main one.

    Raises:
        OutOfProcesses: see `start_thread`.
    """
    ended = _thread.allocate_lock()
    ended.acquire()

    def whole() -> None:
        try:
            work()
        finally:
            ended.release()

    try:
        _thread.start_new_thread(whole, ())
    except RuntimeError as error:
        raise OutOfProcesses from error
    return ended.acquire


def available_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share_one_heap() -> None:
    """Let all threads take memory from one heap, in a process that starts many over hours.

    glibc gives new threads heaps of their own, up to eight for each core, and memory that one leaves there is not used
    by others. Since Python runs one thread at a time, they seldom wait for each other.
    """
    with suppress(ImportError, OSError, AttributeError):  # another C library
        import ctypes  # 4 ms, which only servers need

        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def give_back_memory() -> None:
    """Give the system the free memory of the heap, of which glibc by itself gives back only what lies at its end.

    It takes some 2 ms for 20 MB of which half is free.
    """
    with suppress(ImportError, OSError, AttributeError):  # another C library
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)
