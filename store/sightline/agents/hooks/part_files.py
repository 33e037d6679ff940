"""Files with what went through each pipe of a list of commands, one a part, kept until the list has ended.

They lie beside the file of the command. Bytes are written at once, so a process that dies loses none that it took.
Whoever writes such a file has it locked, and a part's end is told with the shell that goes on with the next. So a list
that runs is not taken for one that was broken off.
"""

import fcntl
import os
import time

from sightline.agents.hooks.error_log import log_error
from sightline.agents.hooks.pending_commands import part_path
from sightline.base.private_files import open_private, write_all
from sightline.light.json_text import dumps, loads
from sightline.light.library import suppress
from sightline.light.named_tuple import NamedTuple

_ENDINGS = 0  # number of the file that says how each part ended
_SHELL_SECONDS = 600.0  # for so long after a part a shell is waited for; some harnesses use one for all commands


class PartEnd(NamedTuple):
    """How a part of a list ended.

    Attributes:
        number: the number of its pipe.
        code: its exit code; None where that is not known.
        cut: whether the reader of the output left before its end.
        left_open: whether a process that it started may have written on.
        lost: whether some of its output could not be kept.
        shell: the pid of the shell that runs the list; 0 if it is not known.
    """

    number: int
    code: int | None
    cut: bool = False
    left_open: bool = False
    lost: bool = False
    shell: int = 0


class PartFile:
    """The file of one part. If it cannot be written, that is recorded, and the command does not notice."""

    def __init__(self, key: str, number: int, shell: int = 0) -> None:
        self._key, self._number, self._shell = key, number, shell
        self._lost = False
        self._fd = -1
        try:
            self._fd = open_private(part_path(key, number), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with suppress(OSError):  # not every file system has locks
                fcntl.flock(self._fd, fcntl.LOCK_EX)  # who looks whether it is written has it only for a moment
        except Exception as error:  # whatever is broken, the command goes on, and its output is passed on
            self._fail(error)

    def take(self, _: str, data: memoryview) -> None:
        """The next bytes."""
        if not self._lost:
            try:
                write_all(self._fd, data)
            except OSError as error:
                self._fail(error)

    def end(self, code: int | None, *, cut: bool, left_open: bool) -> None:
        """Record how the part ended."""
        told = PartEnd(self._number, code, cut, left_open, self._lost, self._shell)
        try:
            fd = open_private(part_path(self._key, _ENDINGS), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with open(fd, "wb", buffering=0) as file:
                write_all(file.fileno(), dumps(told).encode() + b"\n")
        except Exception as error:  # whatever is broken, the command goes on, and its output is passed on
            self._fail(error)
        if self._fd >= 0:
            os.close(self._fd)

    def _fail(self, error: Exception) -> None:
        self._lost = True
        log_error(("capture", f"{self._key}.{self._number}"), error)


def endings(key: str) -> dict[int, PartEnd]:
    """How the parts of a list that have ended did so, by number."""
    try:
        with open(open_private(part_path(key, _ENDINGS), os.O_RDONLY), "rb") as file:
            told = [PartEnd(*loads(line)) for line in file.read().splitlines()]
    except (OSError, ValueError, TypeError):
        return {}
    return {one.number: one for one in told}


def still_runs(key: str, parts: int) -> bool:
    """Whether a list of so many parts may still run: a process takes what a part writes, or the shell is there."""
    return any(_is_written(key, number) for number in range(1, parts + 1)) or _is_between_parts(key)


def _is_written(key: str, number: int) -> bool:
    fd = open_part(key, number)
    if fd is None:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # not every file system has locks
        return False
    finally:
        os.close(fd)
    return False


def _is_between_parts(key: str) -> bool:
    with suppress(OSError):
        ended = time.time() - os.stat(part_path(key, _ENDINGS)).st_mtime
        return ended < _SHELL_SECONDS and any(_is_there(one.shell) for one in endings(key).values())
    return False


def _is_there(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except OSError:  # it has ended, or is not ours
        return False
    return True


def part_bytes(key: str, number: int) -> int:
    """The number of bytes that a part wrote; 0 if it has not run."""
    with suppress(OSError):
        return os.stat(part_path(key, number)).st_size
    return 0


def open_part(key: str, number: int) -> int | None:
    """Open the file with what a part wrote; None if it has not run."""
    try:
        return open_private(part_path(key, number), os.O_RDONLY)
    except OSError:
        return None
