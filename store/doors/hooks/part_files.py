"""Files with what went through each pipe of a list of commands, one a part, kept until the list has ended.

They lie beside the file of the command. Bytes are written at once, so a process that dies loses none that it took.
"""

import json
import os

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
            write_all(fd, json.dumps(told).encode() + b"\n")
        except Exception as error:
            self._fail(error)

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


def open_part(use: str, number: int) -> int | None:
    """Open the file with what a part wrote; None if it has not run."""
    try:
        return open_private(part_path(use, number), os.O_RDONLY)
    except OSError:
        return None
