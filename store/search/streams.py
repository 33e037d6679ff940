"""Finds the lines of one stream that match a pattern: how many there are, and the numbers of the first.

The work is done by a child (ripgrep, else grep, else Python's ``re``) that can be limited, cancelled and killed; it is
given the open file as its standard input, so it can read nothing else.
"""

import os
import stat
import sys
from collections.abc import Sequence
from typing import NamedTuple

from sightline.errors import UsageError
from sightline.search.errors import SearchFailed
from sightline.search.executables import Executable, find, ripgrep, whole_pages
from sightline.search.processes import DEFAULT_MEMORY_BYTES, DEFAULT_SECONDS, Cancel, Ended, Group
from sightline.search.sandbox import NO_BACKING

ENGINES = ("rg", "grep -P", "grep -E", "re")
"""In the order they are tried; grep's ``-P`` first, since its ``-E`` does not know ``\\d``."""

_MAX_STDERR_BYTES = 2000
_NO_MATCH = 1
_RG = ("rg", "--no-config", "--threads=1", "--text", "--encoding=none", "--color=never", "--no-heading",
       "--no-filename", "--max-columns=1")  # fmt: skip


class Hits(NamedTuple):
    """What a search found.

    Attributes:
        total: lines that match, all of them.
        lines: numbers of the first of them, 1-based, split at ``\\n``, ascending.
        literal: whether the pattern did not compile and was searched for as it stands.
        engine: what searched, one of ``ENGINES``.
    """

    total: int
    lines: tuple[int, ...]
    literal: bool
    engine: str


class Wanted(NamedTuple):
    """What an engine is to look for.

    Attributes:
        pattern: the text of it.
        ignore_case: whether letters match in either case.
        invert: whether the lines that do not match are wanted.
        literal: whether the pattern is taken as it stands.
        first: how many are wanted.
        answer: what is to be printed, one of ``ANSWERS``.
    """

    pattern: str
    ignore_case: bool
    invert: bool = False
    literal: bool = False
    first: int = sys.maxsize
    answer: str = "lines"


ANSWERS = ("lines", "count", "offsets", "places", "matches")
"""``NUMBER:`` of each line that matches; their count; ``OFFSET:`` of each line; the same of each match; and
``NUMBER:OFFSET:MATCH``. What follows the last colon of the others is to be ignored."""


def search(
    path: str,
    pattern: str,
    *,
    ignore_case: bool = True,
    first: int = 100,
    invert: bool = False,
    offset: int = 0,
    lines_before: int = 0,
    seconds: float = DEFAULT_SECONDS,
    cancel: Cancel | None = None,
    engines: Sequence[str] = ENGINES,
) -> Hits:
    """Search a stream, which may be growing while it is read.

    Args:
        path: the stream's file; an empty stream may have none.
        pattern: a regular expression, taken literally where it does not compile.
        ignore_case: whether letters match in either case.
        first: how many line numbers are wanted.
        invert: whether the lines that do not match are wanted.
        offset: byte at which to begin, the start of a line.
        lines_before: how many lines stand before ``offset``; numbers count them.
        seconds: time limit.
        cancel: ends it from another thread.
        engines: which engines may be used; the first that this machine has is.

    Raises:
        UsageError: the pattern is empty or holds a newline or a NUL.
        SearchFailed: the time was over, no engine is here, or it broke off.
        Cancelled: ``cancel`` was used.
    """
    check_pattern(pattern)
    engine = engine_of(tuple(engines))
    wanted = Wanted(pattern, ignore_case, invert, False, first)
    searcher = _Searcher(engine, seconds, cancel or Cancel())
    found = searcher.search(path, wanted, offset, lines_before)
    if found is None:
        wanted = wanted._replace(literal=True)
        found = searcher.search(path, wanted, offset, lines_before)
    if found is None:
        raise SearchFailed(f"{engine} could not search for {pattern[:80]!r}", "try a simpler pattern")
    return Hits(found[0], found[1], wanted.literal, engine)


def check_pattern(pattern: str) -> None:
    """Raises UsageError for a pattern that is empty or holds a newline or a NUL."""
    if not pattern or "\n" in pattern or "\0" in pattern:
        what = "a newline or a NUL" if pattern else "nothing at all"
        raise UsageError(f"a search cannot be for {what}", "it looks at one line at a time")


class _Searcher:
    """One engine under one time limit."""

    def __init__(self, engine: str, seconds: float, cancel: Cancel) -> None:
        import time

        self._engine = engine
        self._seconds = seconds
        self._cancel = cancel
        self._clock = time.monotonic
        self._deadline = time.monotonic() + seconds

    def search(self, path: str, wanted: Wanted, offset: int, lines_before: int) -> tuple[int, tuple[int, ...]] | None:
        """Total and first line numbers; None where the pattern does not compile."""
        counted = _Count()
        ended = self._run(path, offset, wanted._replace(answer="count"), counted)
        if ended.exit_code > _NO_MATCH:
            if self._compiles(wanted):
                raise SearchFailed(f"the search broke off: {counted.complaint}", "try a simpler pattern")
            return None
        if not counted.total or wanted.first < 1:
            return counted.total, ()
        numbers = _Numbers(lines_before, wanted.first)
        self._run(path, offset, wanted, numbers)
        return max(counted.total, len(numbers.lines)), tuple(numbers.lines)

    def _compiles(self, wanted: Wanted) -> bool:
        ended = self._run(os.devnull, 0, wanted._replace(answer="count"), _Count())
        return ended.exit_code <= _NO_MATCH

    def _run(self, path: str, offset: int, wanted: Wanted, reader: "_Count | _Numbers") -> Ended:
        stdin = open_at(path, offset)
        seconds = max(0.0, self._deadline - self._clock())
        try:
            with Group(
                [command_of(self._engine, wanted, mappable_bytes(stdin))],
                seconds=seconds,
                memory_bytes=DEFAULT_MEMORY_BYTES,
                backing=NO_BACKING,  # our own options, and one file that is open already
                stdin=stdin,
                cancel=self._cancel,
            ) as group:
                ended = group.collect(reader.feed, reader.complain)
        finally:
            os.close(stdin)
        self._cancel.check()
        if ended.timed_out:
            raise SearchFailed(f"the search took more than {self._seconds:g} s", "try a simpler pattern")
        return ended


class _Count:
    """Reads the one number that a counting engine prints; nothing is none."""

    def __init__(self) -> None:
        self._text = b""
        self._complaint = b""

    def feed(self, data: bytes) -> None:
        self._text += data

    def complain(self, data: bytes) -> None:
        self._complaint = (self._complaint + data)[:_MAX_STDERR_BYTES]

    @property
    def total(self) -> int:
        return int(self._text.strip() or 0)

    @property
    def complaint(self) -> str:
        lines = self._complaint.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no reason was given"


class _Numbers:
    """Reads ``NUMBER:line``, keeping the numbers; a line is never kept, however long."""

    def __init__(self, lines_before: int, most: int) -> None:
        self.lines: list[int] = []
        self._lines_before = lines_before
        self._most = most
        self._begun = b""
        self._in_number = True

    def feed(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            end = data.find(b":" if self._in_number else b"\n", at)
            if self._in_number:
                self._begun += data[at : end if end >= 0 else len(data)]
                if end >= 0:
                    self._number()
            if end < 0:
                return
            self._in_number = not self._in_number
            at = end + 1

    def _number(self) -> None:
        if len(self.lines) < self._most:
            self.lines.append(int(self._begun) + self._lines_before)
        self._begun = b""

    def complain(self, data: bytes) -> None:
        """What the second run says the first has said."""


def open_at(path: str, offset: int) -> int:
    """A file as an engine reads it, from an offset on; the caller closes it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)  # an empty stream has no file
    if offset:
        os.lseek(fd, offset, os.SEEK_SET)
    return fd


def mappable_bytes(fd: int) -> int:
    """Bytes of the file that a descriptor stands at the start of; 0 for what is no file, or has been read of."""
    status = os.fstat(fd)
    return status.st_size if stat.S_ISREG(status.st_mode) and not os.lseek(fd, 0, os.SEEK_CUR) else 0


def engine_of(engines: tuple[str, ...] = ENGINES) -> str:
    """The first of some engines that this machine has. Raises SearchFailed where it has none."""
    for engine in engines:
        if engine == "rg" and ripgrep():
            return engine
        if engine.startswith("grep") and (grep := find("grep")) and (engine != "grep -P" or _knows_perl(grep)):
            return engine
        if engine == "re" and sys.executable:
            return engine
    raise SearchFailed("there is no search engine on this machine", "install ripgrep or grep")


def _knows_perl(grep: str) -> bool:
    import subprocess

    said = subprocess.run([grep, "-P", "-e", "x"], stdin=subprocess.DEVNULL, capture_output=True)
    return said.returncode == _NO_MATCH


_RG_ANSWERS = {
    "lines": ("-n",),
    "count": ("-c",),
    "offsets": ("-b",),
    "places": ("-b", "-o"),
    "matches": ("-n", "-b", "-o", "--max-columns=0"),
}
_RE_ANSWERS = {"lines": "", "count": "c", "offsets": "b", "places": "bo", "matches": "nbo"}


def command_of(engine: str, wanted: Wanted, maps_bytes: int = 0) -> Executable:
    """An engine that looks for something in its standard input.

    Args:
        engine: one of ``ENGINES``.
        wanted: what to look for.
        maps_bytes: of the file that it is, where it stands at the start of one; 0 for anything else.
    """
    if engine == "re":
        return _re_command(wanted)
    how = ["-i"] if wanted.ignore_case else []
    how += ["-v"] if wanted.invert else []
    how += _RG_ANSWERS[wanted.answer]
    how += ["-m", str(wanted.first)] if wanted.answer != "count" and wanted.first < sys.maxsize else []
    if engine == "rg":
        how += ["-F"] if wanted.literal else []
        # As a file of its own it is mapped, which takes a third of the time; only Linux opens it anew under this name.
        file = "/dev/stdin" if maps_bytes and sys.platform == "linux" else "-"
        return Executable(ripgrep(), (*_RG, *how, "-e", wanted.pattern, file), whole_pages(maps_bytes))
    how = [word for word in how if not word.startswith("--max-columns")]
    how.append("-F" if wanted.literal else engine.rpartition(" ")[2])
    return Executable(find("grep"), ("grep", "-a", "--color=never", *how, "-e", wanted.pattern))


def _re_command(wanted: Wanted) -> Executable:
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "re_engine.py")
    how = "".join(
        letter for letter, given in (("i", wanted.ignore_case), ("v", wanted.invert), ("F", wanted.literal)) if given
    )
    how += _RE_ANSWERS[wanted.answer]
    argv = (sys.executable, "-I", "-S", script, "-" + how, str(wanted.first), wanted.pattern)
    return Executable(sys.executable, argv)
