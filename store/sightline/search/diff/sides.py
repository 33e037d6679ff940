"""One side of a comparison: an output as a run of lines, whichever files they lie in."""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from sightline.base.records import Buffer
from sightline.light.named_tuple import NamedTuple
from sightline.shape.source import LINE_LIMIT, Line
from sightline.store import Reading, StreamReader, Target


class FilePiece(NamedTuple):
    """Bytes of a file that begin and end where lines do."""

    path: str
    offset: int
    length: int


class SidePart(NamedTuple):
    """A file, and its reader by lines, which is closed with the side, and names its stream."""

    path: str
    reader: StreamReader


class Folders(NamedTuple):
    """Folders whose names differ between hosts and between checkouts.

    Attributes:
        project: the folder of an output's project; empty if it is not known.
        home: the home folder of who ran the command; empty if the command did not run below one.
    """

    project: str = ""
    home: str = ""


def folders_of(buffer: Buffer) -> Folders:
    """Return the folders of an output, by where it was made."""
    project = buffer.project or buffer.cwd
    home = _HOME.match(buffer.cwd)
    return Folders(project if project.count("/") > 1 else "", home[0] if home else "")


_HOME = re.compile(r"/(?:home|Users)/[^/]+|/root(?![^/])")


class Side:
    """Lines of one or several files, one after another, as they were when it was opened.

    It must be closed, or used as a context manager.
    """

    def __init__(self, ref: str, parts: Sequence[SidePart], folders: Folders = Folders()) -> None:  # noqa: B008 (a tuple)
        """Take over the readers.

        Args:
            ref: its name.
            parts: its parts, in order; none for an output without bytes.
            folders: the folders that its lines may name.
        """
        self.ref = ref
        self.folders = folders
        self._parts = tuple(parts)
        self._ends = list(accumulate(part.reader.line_count for part in self._parts))

    def __enter__(self) -> "Side":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        for part in self._parts:
            part.reader.close()

    @property
    def parts(self) -> tuple[SidePart, ...]:
        """The files with its lines, in order."""
        return self._parts

    @property
    def line_count(self) -> int:
        """Number of lines of all parts."""
        return self._ends[-1] if self._ends else 0

    @property
    def byte_count(self) -> int:
        """Number of bytes of all parts."""
        return sum(part.reader.byte_count for part in self._parts)

    @property
    def whole_path(self) -> str:
        """The only file with its lines, ``/dev/null`` for none; empty if there are several."""
        if len(self._parts) > 1:
            return ""
        return self._parts[0].path if self._parts else os.devnull

    def lines(self, first: int, last: int, limit: int = LINE_LIMIT) -> Iterator[Line]:
        """Yield lines first to last, inclusive, as far as they exist, numbered through all parts."""
        for part, before, start, end in self._ranges(first, last):
            for line in part.reader.lines(start, end, limit):
                yield line._replace(number=line.number + before) if before else line

    def pieces(self, first: int, last: int) -> list[FilePiece]:
        """Return where the bytes of these lines lie."""
        if first == 1 and last >= self.line_count:  # no need to find the lines
            return [FilePiece(part.path, 0, part.reader.byte_count) for part in self._parts]
        found = []
        for part, _, start, end in self._ranges(first, last):
            offset = part.reader.offset_of_line(start)
            found.append(FilePiece(part.path, offset, part.reader.offset_of_line(end + 1) - offset))
        return found

    def last_within(self, first: int, most_bytes: int, most_lines: int) -> int:
        """Return the last of the lines from ``first`` on that keep within these bytes and lines; at least one."""
        last = min(first + most_lines - 1, self.line_count)
        if last == self.line_count and self.byte_count <= most_bytes:
            return last
        left = most_bytes
        for part, before, start, end in self._ranges(first, last):
            offset = part.reader.offset_of_line(start)
            length = part.reader.offset_of_line(end + 1) - offset
            if length > left:
                return max(before + part.reader.line_at(offset + left) - 1, first)
            left -= length
        return last

    def ref_of(self, first: int, last: int) -> str:
        """Return the ref of some lines, ``@cmd_a1b2c3:42-80``; over several parts, of those in the first."""
        for part, _, start, end in self._ranges(first, last):
            return f"{part.reader.ref}:{start}-{end}"
        return self.ref

    def _ranges(self, first: int, last: int) -> Iterator[tuple[SidePart, int, int, int]]:
        """Yield (part, lines before it, first, last) for the parts with these lines."""
        before = 0
        for part, end in zip(self._parts, self._ends, strict=True):
            start, stop = max(first - before, 1), min(last, end) - before
            if start <= stop:
                yield part, before, start, stop
            before = end


def open_side(store: Reading, target: Target) -> Side:
    """Open the lines of a stream; for ``all``, one stream after the other, or all blocks of a result.

    Streams are not merged: in which order two streams arrive differs from run to run, and would look like a change.

    Raises:
        ExpiredRef, StoreFailed, UnsafeStore: raised by `Reading.open`.
    """
    parts = list[SidePart]()
    try:
        for stream in _streams(target.buffer) if target.stream == "all" else (target.stream,):
            parts.append(_part(store, target._replace(stream=stream)))
    except BaseException:
        for part in parts:
            part.reader.close()
        raise
    return Side(target.ref, parts, folders_of(target.buffer))


def _streams(buffer: Buffer) -> Sequence[str]:
    """Return what ``all`` of a buffer means: its blocks, or the streams that have bytes."""
    blocks = [stream for stream in buffer.streams if stream.startswith("part.")]
    if blocks:
        return sorted(blocks, key=lambda stream: int(stream.removeprefix("part.")))
    if buffer.state == "running":  # its record lags behind it
        return ("out", "err")
    return sorted((stream for stream, info in buffer.streams.items() if info.bytes), reverse=True)


def _part(store: Reading, target: Target) -> SidePart:
    return SidePart(store.local_copy(target), store.open_text(target))
