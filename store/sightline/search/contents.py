"""Finds lines in the outputs of many buffers, the most recently used first, and passes them on as they are found.

With ripgrep, one child searches many files; without it, `search` searches each stream. Of a line, only the text around
its match is kept, so that neither long lines nor many matches take much memory.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from sightline.base.errors import SightlineError
from sightline.base.private_files import open_stored
from sightline.base.project import Project
from sightline.base.records import Buffer
from sightline.light.named_tuple import NamedTuple
from sightline.search.engine import RG, SEARCH_SECONDS, check_pattern, pattern_of, run_engine
from sightline.search.executables import Executable, ripgrep
from sightline.search.line_search import search
from sightline.search.processes import Cancel
from sightline.shape.clean import clean_line
from sightline.store import Reading, Target

LINES_PER_STREAM = 50
"""Matching lines of one stream that are passed on; whoever wants the rest opens it."""

LINES = 5_000
"""Matching lines in all, after which the search ends."""

_PAGE = 500  # buffers whose records are read at once
_FIRST_FILES = 32  # searched by one child: few at first, for quick first results
_FILES = 512 if (most := os.sysconf("SC_OPEN_MAX")) < 0 else min(512, most // 4)  # afterwards: two descriptors each
_BEFORE_BYTES, _AFTER_BYTES = 80, 320
_MOST_OF_A_RECORD = 1 << 12  # bytes of the engine's output for one match, which can be as long as its line
_RG = (*RG, "--no-mmap", "--no-messages", "--with-filename", "--null", "-n", "-b", "-o", "-m", str(LINES_PER_STREAM))


class FoundLine(NamedTuple):
    """A matching line.

    Attributes:
        stream: ``out``, ``err`` or ``part.N`` of the buffer.
        line: number of the line in the stream, from 1.
        before: cleaned text before the match, as far as it is kept.
        match: cleaned text of the first match, as far as it is kept; empty if only the line is known.
        after: cleaned text after it.
    """

    stream: str
    line: int
    before: str
    match: str
    after: str


class SearchProgress(NamedTuple):
    """What a search has found since the last report.

    Attributes:
        buffer: the buffer that was searched; None at the end of a row of buffers without matches.
        lines: its matching lines, in the order of streams; at most ``LINES_PER_STREAM`` of a stream.
        searched: number of buffers searched so far.
    """

    buffer: Buffer | None
    lines: tuple[FoundLine, ...]
    searched: int


def may_lack(lines: Sequence[FoundLine]) -> bool:
    """Return whether a buffer may have more matching lines than were passed on."""
    return max(Counter(line.stream for line in lines).values(), default=0) >= LINES_PER_STREAM


def search_contents(
    store: Reading,
    pattern: str,
    tell: Callable[[SearchProgress], None],
    *,
    cancel: Cancel,
    project: Project | None = None,
    use_ripgrep: bool = True,
) -> bool:
    """Search every output of a store, or of one project.

    Letters match in either case unless the pattern has a capital.

    Args:
        store: the store.
        pattern: a regular expression, or plain text if it is not a valid one.
        tell: called in this thread for each buffer with matches, and now and then for the others.
        cancel: cancels it from another thread.
        project: the only one whose outputs are searched; None for all.
        use_ripgrep: whether ripgrep may be used if it is there.

    Returns:
        Whether everything was searched; False if there were more than ``LINES`` lines.

    Raises:
        UsageError: the pattern is empty or spans lines.
        SearchFailed: the engine failed, or there is none.
        Cancelled: ``cancel`` was used.
    """
    check_pattern(pattern)
    ignore_case = pattern == pattern.lower()
    look = _ripgrep_look(pattern, ignore_case, cancel) if use_ripgrep and ripgrep() else None
    left, searched = LINES, 0
    for batch in _batches(_outputs(store, project)):
        found = look(batch) if look else _each(store, batch, pattern, ignore_case, cancel)
        for buffer, lines in found:
            left -= len(lines)
            tell(SearchProgress(buffer, lines, searched))
            if left <= 0:
                return False
        searched += len({output.target.buffer.name for output in batch})
        tell(SearchProgress(None, (), searched))
        cancel.check()
    return True


class _Output(NamedTuple):
    target: Target
    path: str


def _outputs(store: Reading, project: Project | None) -> Iterator[_Output]:
    """Yield every stream of every buffer of the project that has bytes, most recently used first."""
    before: int | None = None
    while page := store.listed(_PAGE, before=before, project=project):
        for item in page:
            yield from _outputs_of(store, item.buffer)
        before = page[-1].used


def _outputs_of(store: Reading, buffer: Buffer) -> Iterator[_Output]:
    if buffer.state == "evicted":
        return
    for stream, info in buffer.streams.items():
        if info.bytes:
            target = Target(buffer, stream)
            try:
                yield _Output(target, store.local_copy(target))
            except (SightlineError, OSError):
                continue  # it was removed since it was listed


def _batches(outputs: Iterator[_Output]) -> Iterator[list[_Output]]:
    size = _FIRST_FILES
    while batch := list(islice(outputs, size)):
        yield batch
        size = _FILES


Look = Callable[[list[_Output]], Iterable[tuple[Buffer, tuple[FoundLine, ...]]]]


def _ripgrep_look(pattern: str, ignore_case: bool, cancel: Cancel) -> Look:
    """Return how ripgrep searches a batch."""
    how = ["-i"] if ignore_case else []
    how += ["-F"] if pattern_of(pattern, ignore_case=ignore_case, engines=("rg",)).literal else []

    def look(batch: list[_Output]) -> Iterator[tuple[Buffer, tuple[FoundLine, ...]]]:
        records = _Records()
        paths = {output.path: output.target for output in batch}
        command = Executable(ripgrep(), (*_RG, *how, "-e", pattern, "--", *paths))
        run_engine(command, records.feed, reads=tuple(paths), cancel=cancel)
        found = dict[str, list[FoundLine]]()
        for path, matches in records.by_path.items():
            target = paths[path]
            found.setdefault(target.buffer.name, []).extend(_lines(target.stream, path, matches))
        buffers = {output.target.buffer.name: output.target.buffer for output in batch}
        for name, buffer in buffers.items():
            if lines := found.get(name):
                yield buffer, tuple(lines)

    return look


class _Match(NamedTuple):
    line: int
    offset: int
    length: int


class _Records:
    """Reads ``PATH NUL LINE:OFFSET:MATCH``, and keeps the first match of each line."""

    def __init__(self) -> None:
        self.by_path: dict[str, list[_Match]] = {}
        self._begun = b""

    def feed(self, data: bytes) -> None:
        *whole, rest = data.split(b"\n")
        for record in whole:
            self._take(self._begun + record)
            self._begun = b""
        self._begun = (self._begun + rest)[:_MOST_OF_A_RECORD]

    def _take(self, record: bytes) -> None:
        path, _, rest = record.partition(b"\0")
        line, _, rest = rest.partition(b":")
        offset, _, match = rest.partition(b":")
        matches = self.by_path.setdefault(os.fsdecode(path), [])
        if not matches or matches[-1].line != int(line):
            matches.append(_Match(int(line), int(offset), len(match)))


def _lines(stream: str, path: str, matches: list[_Match]) -> list[FoundLine]:
    try:
        fd = open_stored(path)
    except OSError:
        return []  # it was removed during the search
    try:
        return [_around(fd, stream, match) for match in matches]
    finally:
        os.close(fd)


def _around(fd: int, stream: str, match: _Match) -> FoundLine:
    start = max(match.offset - _BEFORE_BYTES, 0)
    length = min(match.length, _AFTER_BYTES)
    data = os.pread(fd, match.offset - start + length + _AFTER_BYTES, start)
    at = match.offset - start
    before = data[:at].rpartition(b"\n")[2]
    behind = data[at + length :].partition(b"\n")[0]
    return FoundLine(stream, match.line, _text(before), _text(data[at : at + length]), _text(behind))


def _text(data: bytes) -> str:
    """Return cleaned text, without half a character at an end where the line was cut."""
    return clean_line(data).strip("\ufffd")


def _each(
    store: Reading, batch: list[_Output], pattern: str, ignore_case: bool, cancel: Cancel
) -> Iterator[tuple[Buffer, tuple[FoundLine, ...]]]:
    """Search a batch stream by stream, with any engine that exists."""
    found = dict[str, tuple[Buffer, list[FoundLine]]]()
    for output in batch:
        hits = search(
            output.path, pattern, ignore_case=ignore_case, first=LINES_PER_STREAM, seconds=SEARCH_SECONDS, cancel=cancel
        )
        if hits.lines:
            lines = found.setdefault(output.target.buffer.name, (output.target.buffer, []))[1]
            lines += _whole_lines(store, output.target, hits.lines)
    for buffer, lines in found.values():
        yield buffer, tuple(lines)


def _whole_lines(store: Reading, target: Target, numbers: tuple[int, ...]) -> Iterator[FoundLine]:
    with store.open_text(target) as reader:
        for number in numbers:
            for line in reader.lines(number, number, _AFTER_BYTES):
                yield FoundLine(target.stream, number, "", "", clean_line(line.data))
