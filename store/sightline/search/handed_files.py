"""Hands files to the programs of a query as open descriptors: nothing can be put into their place once they are open.

A program gets a name of its descriptor in place of a path. Where it writes that name, the path is put back.
"""

import fcntl
import os

from sightline.base.private_files import open_stored
from sightline.light.typing_names import Callable, Sequence
from sightline.search.executables import Executable

_NAMED = "/dev//fd//"  # the system's /dev/fd, spelled so that hardly any output has it
_FIRST = 10  # below are the standard streams of programs, and what feeds them
_DIGITS = 6


class HandedFiles:
    """The open files of one pipeline; it must be closed.

    Attributes:
        programs: the programs, with names of descriptors in place of paths.
        fds: the descriptors, for the kernel's rules.
    """

    def __init__(self, programs: Sequence[Executable], paths: Sequence[str]) -> None:
        """Open the files, each once for each word that names it: on macOS, descriptors of one file share their place.

        Raises:
            UnsafeStore: a path is a symbolic link, lies in one, or is not a file.
            OSError: raised by `os.open`; a missing file is left for its program to report.
        """
        self.fds: list[int] = []
        self._numbers: dict[int, int] = {}  # descriptor in a program, and ours
        self._paths: list[str] = []
        known = set(paths) - {os.devnull}
        self._above = _FIRST + sum(word in known for program in programs for word in program.argv)
        try:
            self.programs = [self._with_names(program, known) for program in programs]
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all of them."""
        for fd in self.fds:
            os.close(fd)
        self.fds.clear()

    @property
    def paths(self) -> frozenset[str]:
        """The paths that were handed on."""
        return frozenset(self._paths)

    def inherited(self, program: Executable) -> list[tuple[int, int]]:
        """Return (our descriptor, the program's) of the files of a program with names."""
        numbers = (_number_of(word) for word in program.argv)
        return [(self._numbers[number], number) for number in numbers if number in self._numbers]

    def with_paths(self, take: Callable[[bytes], None]) -> "WithPaths | None":
        """Return what passes an output on with paths in place of names; None if there are no names."""
        return WithPaths(self._paths, take) if self._paths else None

    def _with_names(self, program: Executable, known: set[str]) -> Executable:
        return program._replace(argv=tuple(self._name(word) if word in known else word for word in program.argv))

    def _name(self, path: str) -> str:
        number = _FIRST + len(self._paths)
        self._paths.append(path)
        try:
            fd = open_stored(path)
        except FileNotFoundError:
            return f"{_NAMED}{number}"
        try:
            self.fds.append(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, self._above))
        finally:
            os.close(fd)
        self._numbers[number] = self.fds[-1]
        return f"{_NAMED}{number}"


def _number_of(word: str) -> int:
    digits = word.removeprefix(_NAMED)
    return int(digits) if digits != word and digits.isdecimal() and len(digits) <= _DIGITS else -1


class WithPaths:
    """Passes an output on with paths in place of the names of descriptors."""

    def __init__(self, paths: Sequence[str], take: Callable[[bytes], None]) -> None:
        self._paths = [os.fsencode(path) for path in paths]
        self._take = take
        self._held = b""

    def feed(self, data: bytes) -> None:
        """Take the next bytes. The beginning of a name at their end is held back."""
        data = self._held + data
        held = _begun(data)
        self._held = data[len(data) - held :]
        self._pass_on(data[: len(data) - held])

    def finish(self) -> None:
        """Pass on what was held back, because the output has ended."""
        held, self._held = self._held, b""
        self._pass_on(held)

    def _pass_on(self, data: bytes) -> None:
        first, *named = data.split(_MARK)
        for part in named:
            digits = part[:_DIGITS]
            digits = digits[: len(digits) - len(digits.lstrip(b"0123456789"))]
            at = int(digits or b"0") - _FIRST
            is_ours = 0 <= at < len(self._paths)
            first += self._paths[at] + part[len(digits) :] if is_ours else _MARK + part
        if first:
            self._take(first)


_MARK = _NAMED.encode()


def _begun(data: bytes) -> int:
    """Return how many bytes at the end may be the beginning of a name."""
    for length in range(min(len(data), len(_MARK) + _DIGITS), 0, -1):
        end = data[-length:]
        if _MARK.startswith(end) or (end.startswith(_MARK) and end[len(_MARK) :].isdigit()):
            return length
    return 0
