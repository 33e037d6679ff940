"""Markers of running captures: a small locked file for each, touched as bytes arrive.

The lock proves that the writer lives: the kernel frees it when the writer dies, in whatever way.
"""

import fcntl
import os
import time

from sightline.base.private_files import open_private, remove_file, write_all
from sightline.disk.layout import Layout
from sightline.disk.record_check import is_buffer_name
from sightline.light.named_tuple import NamedTuple

_MARKER_BYTES = 64  # a marker has two numbers of processes
TOUCH_SECONDS = 0.02  # as often as watchers can use; each touch wakes every inspector


class Marker:
    """The writer's side of a marker: it holds the lock until it is closed."""

    def __init__(self, layout: Layout, name: str) -> None:
        self._path = layout.marker(name)
        # It is locked before it gets its name, so nobody ever sees a living capture's marker unlocked.
        temporary = os.path.join(layout.live, f".{name}.{os.getpid()}")
        self._fd = open_private(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            write_all(self._fd, f"{os.getpid()}\n".encode())
            os.rename(temporary, self._path)
        except BaseException:
            os.close(self._fd)
            remove_file(temporary)
            raise
        self._touched = 0.0

    def tell_process(self, pid: int, *, own_group: bool) -> None:
        """Note which process is captured, so that others can end it."""
        write_all(self._fd, f"{pid} {own_group:d}\n".encode())

    def touch(self) -> None:
        """Tell watchers that bytes have arrived, at most every TOUCH_SECONDS."""
        now = time.monotonic()
        if now - self._touched >= TOUCH_SECONDS:
            self._touched = now
            os.utime(self._fd)

    def close(self, *, remove: bool = True) -> None:
        """Remove the marker, because the capture has ended; or leave it unlocked, as a dying writer does."""
        if self._fd >= 0:
            if remove:
                remove_file(self._path)
            os.close(self._fd)
            self._fd = -1


class DeadMarker:
    """A marker whose writer died, locked by the process that takes care of the buffer."""

    def __init__(self, path: str, fd: int) -> None:
        self._path = path
        self._fd = fd

    def close(self, *, remove: bool = True) -> None:
        """Release it; by default the marker is removed, because the buffer is taken care of."""
        if remove:
            remove_file(self._path)
        os.close(self._fd)


def take_dead(layout: Layout, name: str) -> DeadMarker | None:
    """Lock and return the marker of a capture whose writer died; None if the writer lives or there is no marker."""
    path = layout.marker(name)
    try:
        fd = open_private(path, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(fd).st_ino == os.lstat(path).st_ino:
            return DeadMarker(path, fd)
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(fd)
    return None


def marker_names(layout: Layout) -> list[str]:
    """Return the names of buffers that have a marker, whether their writer lives or not."""
    return [name for name in os.listdir(layout.live) if not name.startswith(".") and is_buffer_name(name)]


def writer_alive(layout: Layout, name: str) -> bool:
    """Return whether a living writer holds the buffer's marker."""
    try:
        fd = open_private(layout.marker(name), os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared, so that readers do not see each other's locks
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(fd)


class Process(NamedTuple):
    """A captured process.

    Attributes:
        pid: its process id.
        own_group: whether it leads a process group of its own.
    """

    pid: int
    own_group: bool


def process_of(layout: Layout, name: str) -> Process | None:
    """Return the process that a living writer captures; None if there is none, or none is noted."""
    if not writer_alive(layout, name):
        return None
    try:
        with open(open_private(layout.marker(name), os.O_RDONLY), "rb") as file:
            words = file.read(_MARKER_BYTES).split()[1:]
        return Process(int(words[0]), words[1] == b"1") if len(words) == 2 else None
    except (FileNotFoundError, ValueError):
        return None


_START_SECONDS = 60.0  # that a captured process may start after its record was made, on a machine under load


def may_be_of(process: Process, created: float) -> bool:
    """Return whether a process started when a capture began, so that its id was not given to another one since.

    Args:
        process: the process.
        created: when the capture began, seconds since the epoch.

    Returns:
        False only if the system says that the process started later; where it does not say, the living writer vouches
        for the process.
    """
    try:
        with open(f"/proc/{process.pid}/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        with open("/proc/uptime", "rb") as file:
            running = float(file.read().split()[0])
    except (OSError, ValueError, IndexError):
        return True
    age = running - ticks / os.sysconf("SC_CLK_TCK")
    return time.time() - age <= created + _START_SECONDS


def group_lives(group: int) -> bool:
    """Return whether anything of a process group is left that can still do something."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return not _only_zombies(group)


def _only_zombies(group: int) -> bool:
    """Return whether all that is left of a group are zombies; False if the system does not tell."""
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return False
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                state, _, pgrp = file.read().rpartition(b")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(pgrp) == group and state not in (b"Z", b"X"):
            return False
    return bool(pids)
