"""Shows a unified diff without the bodies of its hunks: the headers of files and hunks, and the counts of lines.

The result has only lines of the diff and markers; a commit's lines in ``git show`` and ``git log -p`` stay.
"""

import re
from collections.abc import Iterator

from sightline.light.named_tuple import NamedTuple
from sightline.shape import markers
from sightline.shape.clean import clean_line
from sightline.shape.json.body import Body, LeftOut, Measure, write_lines
from sightline.shape.segments import Segment, join_segments
from sightline.shape.source import Source

LINE_BYTES = 512  # of a header; the path of a file is shorter
KEPT_FILES = 2_000  # no body has room for more
KEPT_HUNKS = 20_000
_HEAD_PERCENT = 70
_BEGINNING = re.compile(rb"diff |--- |Index: |commit [0-9a-f]{7,64}\b|From [0-9a-f]{40} |Only in |Binary files ")
_HUNK = re.compile(rb"@@ -\d+(?:,(\d{1,15}))? \+\d+(?:,(\d{1,15}))? @@")
_NEW_FILE = re.compile(rb"diff |Index: |Only in ")
_ALONE = b"Only in "
_OLD_NAME, _NEW_NAME, _BINARY = b"--- ", b"+++ ", b"GIT binary patch"
_HEADER = re.compile(
    rb"index |old mode |new mode |new file |deleted file |(?:dis)?similarity |rename |copy |Binary files |={20}"
)
_OUTSIDE = re.compile(rb"commit [0-9a-f]{7,64}\b|From [0-9a-f]{40} ")


class _NotDiff(ValueError):
    """A hunk does not match its header."""


class PatchHunk(NamedTuple):
    """One hunk: the line of its header, its last line, and the bytes between."""

    first: int
    last: int
    body_bytes: int


class PatchFile:
    """What a diff says about one file.

    Attributes:
        name: its path, as the diff writes it after ``a/`` or ``b/``; of a removed file, the old one.
        first: number of its first line.
        last: number of the last line of its last hunk, or of its headers.
        added: number of lines added; removed counts those removed.
        hunks: its hunks, in order.
    """

    def __init__(self, first: int) -> None:
        self.name = ""
        self.first = self.last = first
        self.added = self.removed = 0
        self.hunks: list[PatchHunk] = []


class Diff(NamedTuple):
    """A diff.

    Attributes:
        files: its files in order; only the first ones if there are very many.
        total: number of all files.
        added: number of lines added in all; removed counts those removed.
        alone: number of those files that only one side has, and of which nothing else is said.
    """

    files: tuple[PatchFile, ...]
    total: int
    added: int
    removed: int
    alone: int = 0

    @property
    def told(self) -> str:
        """The changes in a line."""
        return markers.diff_summary(self.total - self.alone, self.added, self.removed, self.alone)


def looks_like_diff(head: bytes) -> bool:
    """Return whether a text may be a diff, by its beginning."""
    return bool(_BEGINNING.match(head.lstrip(b"\r\n")))


def read_diff(source: Source) -> Diff | None:
    """Read a stream's diff; None if it has no hunk, or one that does not match its header."""
    reader = _Reader()
    try:
        for number, block in source.blocks():
            for line_number, line in enumerate(block.removesuffix(b"\n").split(b"\n"), number):
                reader.take(line_number, line)
    except _NotDiff:
        return None
    return reader.diff if reader.hunk_count else None


class _Reader:
    """Reads a diff line by line."""

    def __init__(self) -> None:
        self.hunk_count = 0
        self._kept: list[PatchFile] = []
        self._count = self._added = self._removed = self._alone = 0
        self._file: PatchFile | None = None
        self._is_named = False  # whether the file's +++ was read
        self._is_binary = False
        self._old = self._new = 0  # lines that the hunk still has
        self._hunk = (0, 0)  # the line of its header, and the bytes of its body so far

    @property
    def diff(self) -> Diff:
        self._end_hunk()
        return Diff(tuple(self._kept), self._count, self._added, self._removed, self._alone)

    def take(self, number: int, line: bytes) -> None:
        if self._old or self._new:
            self._body(number, line)
        elif self._hunk[0] and line.startswith(b"\\"):
            self._grow(number, line)
        else:
            self._between(number, line)

    def _body(self, number: int, line: bytes) -> None:
        file = self._file
        assert file
        sign = line[:1]
        if sign == b"+":
            self._new -= 1
            file.added += 1
            self._added += 1
        elif sign == b"-":
            self._old -= 1
            file.removed += 1
            self._removed += 1
        elif sign in (b" ", b"", b"\r"):  # an empty line of context may have lost its space
            self._old -= 1
            self._new -= 1
        elif sign != b"\\":
            raise _NotDiff(number)
        if self._old < 0 or self._new < 0:
            raise _NotDiff(number)
        self._grow(number, line)

    def _grow(self, number: int, line: bytes) -> None:
        assert self._file
        self._hunk = (self._hunk[0], self._hunk[1] + len(line) + 1)
        self._file.last = number

    def _end_hunk(self) -> None:
        first, size = self._hunk
        if first and self._file and self.hunk_count <= KEPT_HUNKS:
            self._file.hunks.append(PatchHunk(first, self._file.last, size))
        self._hunk = (0, 0)

    def _between(self, number: int, line: bytes) -> None:
        """Read a line outside of hunks."""
        file = self._file
        if file and self._is_named and (hunk := _HUNK.match(line)):
            self._end_hunk()
            self.hunk_count += 1
            self._old, self._new = (int(count) if count is not None else 1 for count in hunk.groups())
            self._hunk = (number, 0)
            file.last = number
            return
        if _NEW_FILE.match(line):
            self._begin(number).name = _name_in(line)
            self._alone += line.startswith(_ALONE)
        elif line.startswith(_OLD_NAME):
            if not file or self._is_named:
                file = self._begin(number)
            file.last = number
            file.name = _name_in(line) or file.name
        elif file and not file.hunks and not self._hunk[0] and self._is_header(line):
            file.last = number
        elif file and self._is_binary and not _OUTSIDE.match(line):
            self._grow(number, line)
        else:
            self._leave()

    def _is_header(self, line: bytes) -> bool:
        if line.startswith(_NEW_NAME):
            self._is_named = True
            if self._file:
                self._file.name = _name_in(line) or self._file.name
            return True
        if line.startswith(_BINARY):
            self._is_binary = True
        return self._is_binary or bool(_HEADER.match(line))

    def _begin(self, number: int) -> PatchFile:
        self._leave()
        self._file = file = PatchFile(number)
        self._count += 1
        if len(self._kept) < KEPT_FILES:
            self._kept.append(file)
        return file

    def _leave(self) -> None:
        self._end_hunk()
        self._file = None
        self._is_named = self._is_binary = False


def _name_in(line: bytes) -> str:
    """Return the name in a header of a file; empty for none, as of the new side of a removed file."""
    name = line.partition(b" ")[2].partition(b"\t")[0] if line[:1] in b"-+" else line.rpartition(b" ")[2]
    text = re.sub(r"[…{}\s]", "?", clean_line(name.strip(b'" \r')[:LINE_BYTES]))
    return "" if text == "/dev/null" else re.sub(r"^[a-z]/", "", text)


def diffstat(diff: Diff, source: Source, room: int) -> Body:
    """Make the body of a diff: with the headers of hunks, else of files; else of the first files and all other names.

    If even the names do not fit, it has as many as the room holds.

    Args:
        diff: the diff.
        source: its text.
        room: bytes of the body.
    """
    measure = Measure(LINE_BYTES, _HEAD_PERCENT)
    total = LeftOut(1, 0, f"[… {diff.told} …]")
    if written := write_lines(source, [total, *_gaps(diff, source, len(diff.files), True)], measure, room, {}):
        return written
    shown = len(diff.files)
    while True:
        names = _names(diff, shown, _EVERY_NAME) if shown < diff.total else ""
        needed = len(names.encode()) + 1 if names and shown else 0
        if written := write_lines(source, [total, *_gaps(diff, source, shown, False)], measure, room - needed, {}):
            size = len(join_segments(written.segments).encode())
            return _with_line(written, names if needed else _names(diff, shown, room - size - 1))
        if not shown:
            break
        shown = shown * 3 // 4
    whole = LeftOut(1, source.line_count, markers.elision(source.ref, 1, source.line_count))
    for gaps in ([total, whole], [whole]):
        if written := write_lines(source, gaps, measure, room, {}):
            return written
    written = write_lines(source, [whole], measure, len(whole.marker.encode()) + 1, {})
    assert written
    return written


_EVERY_NAME = 1 << 20  # bytes; more than any body has


def _names(diff: Diff, shown: int, room: int) -> str:
    """Name the files after the first ones, in so many bytes."""
    changes = [(file.name, file.added, file.removed) for file in diff.files[shown:] if file.name]
    return markers.changed_files(changes, room, all_known=len(changes) == diff.total - shown)


def _with_line(written: Body, line: str) -> Body:
    return written._replace(segments=(*written.segments, Segment(line + "\n"))) if line else written


def _gaps(diff: Diff, source: Source, shown: int, with_hunks: bool) -> Iterator[LeftOut]:
    """Yield the gaps: the bodies of the hunks of the first files, or all of their hunks; and all other files."""
    added = removed = 0
    for file in diff.files[:shown]:
        added += file.added
        removed += file.removed
        if not file.hunks:
            continue
        start = file.hunks[0].first
        yield LeftOut(start, start - 1, markers.diff_file(file.added, file.removed))
        if not with_hunks:
            yield LeftOut(start, file.last, markers.elision(source.ref, start, file.last))
            continue
        for hunk in file.hunks:
            marker = markers.elision(source.ref, hunk.first + 1, hunk.last)
            if hunk.first < hunk.last and hunk.body_bytes > len(marker.encode()) + 1:
                yield LeftOut(hunk.first + 1, hunk.last, marker)
    if shown < diff.total:
        first = 1 if not shown else diff.files[shown].first if shown < len(diff.files) else diff.files[-1].last + 1
        last = source.line_count
        counts = diff.total - shown, diff.added - added, diff.removed - removed
        more = markers.more_files(source.ref, first, last, *counts)
        yield LeftOut(first, last, more if shown else markers.elision(source.ref, 1, last))
