"""Searches one stream by lines: counts matches and returns the first, or finds lines that equal one of some texts."""

import time
from collections.abc import Callable, Sequence, Set
from contextlib import suppress

from sightline.base.errors import SightlineError
from sightline.light.named_tuple import NamedTuple
from sightline.search.engine import (
    ENGINES,
    GREP,
    NO_MATCH,
    RG,
    EngineEnd,
    SearchPattern,
    WantedAnswer,
    check_pattern,
    compiles,
    engine_of,
    look,
    opened,
    run_engine,
)
from sightline.search.errors import SearchFailed
from sightline.search.executables import Executable, find, ripgrep
from sightline.search.processes import DEFAULT_SECONDS, Cancel, fed

MOST_FOUND = 200_000
"""Lines found that equal one of some texts, at most: with more, nobody could tell which ones were shown."""

_MOST_FOR_RG = 2_000  # texts; with more, grep is faster
_RG_CHARACTERS = 200  # of a text that is searched: ripgrep takes seconds to prepare for very long ones


class LineHits(NamedTuple):
    """The result of a search.

    Attributes:
        total: number of all matching lines.
        lines: numbers of the first of them, from 1, split at ``\\n``, ascending.
        literal: whether the pattern was not valid, and was searched as plain text.
        engine: the engine that searched, one of ``ENGINES``.
    """

    total: int
    lines: tuple[int, ...]
    literal: bool
    engine: str


def search(
    path: str,
    pattern: str,
    *,
    ignore_case: bool = True,
    first: int = 100,
    invert: bool = False,
    offset: int = 0,
    lines_before: int = 0,
    last: int = 0,
    seconds: float = DEFAULT_SECONDS,
    cancel: Cancel | None = None,
    engines: Sequence[str] = ENGINES,
) -> LineHits:
    """Search a stream, which may grow meanwhile.

    Args:
        path: path of the stream's file; an empty stream may have none.
        pattern: a regular expression, or plain text if it is not a valid one.
        ignore_case: whether letters match in either case.
        first: number of line numbers wanted.
        invert: whether lines that do not match are wanted.
        offset: byte at which to begin, the start of a line.
        lines_before: number of lines before ``offset``, which line numbers include.
        last: the last line to search; 0 for the end of the stream.
        seconds: time limit.
        cancel: cancels it from another thread.
        engines: the engines that may be used; the first one on this machine is.

    Raises:
        UsageError: the pattern is empty, or has a newline or a NUL.
        SearchFailed: the time ran out, there is no engine, or it failed.
        Cancelled: ``cancel`` was used.
    """
    check_pattern(pattern)
    engine, deadline = engine_of(engines), time.monotonic() + seconds

    def answer(sought: SearchPattern, wanted: WantedAnswer, take: Callable[[bytes], None]) -> EngineEnd:
        left = max(0.0, deadline - time.monotonic())
        with opened(path, offset) as stdin:
            return look(stdin, sought, wanted, take, engine=engine, seconds=left, cancel=cancel)

    sought, count = SearchPattern(pattern, ignore_case), bytearray()
    ended = answer(sought, WantedAnswer("count", invert=invert), count.extend)
    if ended.exit_code > NO_MATCH and not compiles(sought, engine):
        sought = sought._replace(literal=True)
        ended = answer(sought, WantedAnswer("count", invert=invert), count.extend)
    if ended.exit_code > NO_MATCH:
        raise SearchFailed(f"the search broke off: {ended.complaint}", "try a simpler pattern")
    total = int(count.strip() or 0)
    numbers = _Numbers(lines_before, first, last)
    if total and last:
        with suppress(_Beyond):
            answer(sought, WantedAnswer("lines", invert=invert), numbers.feed)
        return LineHits(numbers.total, tuple(numbers.lines), sought.literal, engine)
    if total and first > 0:
        answer(sought, WantedAnswer("lines", first, invert), numbers.feed)
    return LineHits(max(total, len(numbers.lines)), tuple(numbers.lines), sought.literal, engine)


def first_place(
    path: str, pattern: str, *, ignore_case: bool, literal: bool, offset: int, cancel: Cancel | None
) -> int:
    """Return where the first match in a matching line begins, in bytes from the line's start; 0 if that is not told.

    Args:
        path: path of the stream's file.
        pattern: the pattern, as it was searched; the same for the next two.
        ignore_case: whether letters match in either case.
        literal: whether it is plain text.
        offset: byte at which the line begins.
        cancel: cancels it from another thread.
    """
    begun = bytearray()

    def feed(data: bytes) -> None:
        begun.extend(data[:_MOST_DIGITS])
        if b":" in begun:
            raise _Beyond

    with suppress(_Beyond, SearchFailed), opened(path, offset) as stdin:
        sought = SearchPattern(pattern, ignore_case, literal)
        look(stdin, sought, WantedAnswer("places", 1), feed, engine=engine_of(), seconds=DEFAULT_SECONDS, cancel=cancel)
    number = bytes(begun).partition(b":")[0]
    return int(number) if number.isdigit() else 0


_MOST_DIGITS = 24


class _Beyond(Exception):
    """The rest of the engine's output is not needed."""


class _Numbers:
    """Reads ``NUMBER:line``, and keeps the numbers; a line is never kept, however long."""

    def __init__(self, lines_before: int, most: int, last: int = 0) -> None:
        self.lines: list[int] = []
        self.total = 0
        self._last = last
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
        number = int(self._begun) + self._lines_before
        if self._last and number > self._last:
            raise _Beyond
        self.total += 1
        if len(self.lines) < self._most:
            self.lines.append(number)
        self._begun = b""


def can_find() -> bool:
    """Return whether this machine has a program that finds whole lines."""
    return bool(find("grep"))


def find_lines(path: str, sought: frozenset[bytes]) -> list[tuple[int, bytes]]:
    """Return (number, line) of a file's lines that equal one of some texts; none if grep fails, or takes long.

    It takes a fraction of the time of reading them in Python.

    Args:
        path: path of the file; nothing else is read, and nothing is written.
        sought: texts without newlines, none of them empty.
    """
    found, others = list[tuple[int, bytes]](), 0

    def take(number: int, line: bytes) -> None:
        nonlocal others
        if line in sought:
            found.append((number, line))
        else:
            others += 1

    if len(sought) <= _MOST_FOR_RG and (program := ripgrep()) and all(map(_is_text, sought)):
        # Texts are searched anywhere in a line, in two thirds of the time of whole lines, unless they occur everywhere.
        # A map would not be faster here, and a large stream would count as memory.
        longest = 1 + max(map(len, sought), default=0)  # with its newline; a longer line may be the whole file
        how = ("--no-mmap", "-n", "-F", "-m", str(MOST_FOUND), f"--max-columns={longest}", "-f", "-", "--", path)
        texts = {text.decode()[:_RG_CHARACTERS].encode() for text in sought}
        _find(Executable(program, (*RG, *how)), path, texts, take)
        if len(found) + others < MOST_FOUND:
            return found
        found.clear()
    exact = ("-n", "-F", "-x", "-m", str(MOST_FOUND), "-f", "-", "--", path)
    _find(Executable(find("grep"), (*GREP, *exact)), path, sought, take)
    return found


def _is_text(data: bytes) -> bool:
    try:
        return data.decode().isprintable()
    except UnicodeDecodeError:
        return False


def _find(program: Executable, path: str, texts: Set[bytes], take: Callable[[int, bytes], None]) -> None:
    """Pass on (number, line) of what a program prints for some texts, as far as it comes."""
    begun = b""

    def feed(data: bytes) -> None:
        nonlocal begun
        *rows, begun = (begun + data).split(b"\n")
        for row in rows:
            number, colon, line = row.partition(b":")
            if colon and number.isdigit():
                take(int(number), line)

    try:
        with fed(b"".join(text + b"\n" for text in texts)) as stdin:
            run_engine(program, feed, stdin=stdin, reads=(path,), seconds=DEFAULT_SECONDS)
    except SightlineError:
        pass  # if it cannot be run, it finds nothing
