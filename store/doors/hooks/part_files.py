"""Files with what went through each pipe of a list of commands, one a part, kept until the list has ended.

They lie beside the file of the command. Bytes are written at once, so a process that dies loses none that it took.
Whoever writes such a file has it locked, so that a list which runs is not taken for one that was broken off.
"""

import fcntl
import json
import os
from collections.abc import Iterable
from contextlib import suppress

from sightline.doors.hooks.error_log import log_error
from sightline.doors.hooks.pending_commands import part_path
from sightline.named_tuple import NamedTuple
from sightline.private_files import open_private, write_all

_ENDINGS = 0  # number of the file that says how each part ended


class PartEnd(NamedTuple):
    """How a part of a list ended.

    Attributes:
        number: the number of its pipe.
        code: its exit code; None where that is not known.
        cut: whether the reader of the output left before its end.
        left_open: whether a process that it started may have written on.
        lost: whether some of its output could not be kept.
    """

    number: int
    code: int | None
    cut: bool = False
    left_open: bool = False
    lost: bool = False


class PartFile:
    """The file of one part. If it cannot be written, that is recorded, and the command does not notice."""

    def __init__(self, use: str, number: int) -> None:
        self._use, self._number = use, number
        self._lost = False
        self._fd = -1
        try:
            self._fd = open_private(part_path(use, number), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with suppress(OSError):  # not every file system has locks
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except Exception as error:
            self._fail(error)

    def take(self, _: str, data: memoryview, __: int) -> None:
        """The next bytes."""
        if not self._lost:
            try:
                write_all(self._fd, data)
            except OSError as error:
                self._fail(error)

    def end(self, code: int | None, *, cut: bool, left_open: bool) -> None:
        """Record how the part ended."""
        told = PartEnd(self._number, code, cut, left_open, self._lost)
        try:
            fd = open_private(part_path(self._use, _ENDINGS), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with open(fd, "wb", buffering=0) as file:
                write_all(file.fileno(), json.dumps(told).encode() + b"\n")
        except Exception as error:
            self._fail(error)
        if self._fd >= 0:
            os.close(self._fd)

    def _fail(self, error: Exception) -> None:
        self._lost = True
        log_error(("capture", f"{self._use}.{self._number}"), error)


def endings(use: str) -> dict[int, PartEnd]:
    """How the parts of a list that have ended did so, by number."""
    try:
        with open(open_private(part_path(use, _ENDINGS), os.O_RDONLY), "rb") as file:
            told = [PartEnd(*json.loads(line)) for line in file.read().splitlines()]
    except (OSError, ValueError, TypeError):
        return {}
    return {one.number: one for one in told}


def is_written(use: str, numbers: Iterable[int]) -> bool:
    """Whether a process still takes what one of these parts writes."""
    for number in numbers:
        if (fd := open_part(use, number)) is not None:
            try:
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            except OSError:  # not every file system has locks
                return False
            finally:
                os.close(fd)
    return False


def open_part(use: str, number: int) -> int | None:
    """Open the file with what a part wrote; None if it has not run."""
    try:
        return open_private(part_path(use, number), os.O_RDONLY)
    except OSError:
        return None
