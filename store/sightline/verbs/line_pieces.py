"""Makes lines of a stream, or of both in order of arrival, pieces of a body: cleaned, with their raw lines."""

import contextlib
from collections.abc import Iterator

from sightline.base.errors import BadRange
from sightline.base.profile import DEFAULT, Profile
from sightline.light.late_imports import late_modules
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Protocol
from sightline.shape import markers
from sightline.shape.clean import clean_line, plain_text
from sightline.shape.line_cut import common_head, raw_range
from sightline.shape.segments import Segment, join_segments
from sightline.shape.source import LINE_LIMIT, CutLine, Line
from sightline.store import Reading, Target
from sightline.verbs.short_output import clean

if TYPE_CHECKING:
    from sightline.store import StreamReader

with late_modules(globals()):
    from sightline.shape import variants  # 2 ms, not for views of the default profile


class PageLines(Protocol):
    """The lines for a page or a search."""

    @property
    def line_count(self) -> int:
        """Number of lines."""

    @property
    def byte_count(self) -> int:
        """Number of bytes."""

    @property
    def unended(self) -> tuple[tuple[str, int], ...]:
        """Return (stream, its line) for last lines without a newline, which may still grow."""

    def numbered(self, first: int, last: int) -> Iterator[tuple[str, Line]]:
        """Yield (ref of the stream, line with its number there) for lines first to last, inclusive."""

    def plain(self, first: int, last: int, room: int, /) -> Segment | None:
        """Return as many of these lines as fit in the room; None if their text takes long to make."""


class _OneStream:
    def __init__(self, reader: "StreamReader", target: Target, profile: Profile) -> None:
        self._reader = reader
        self._cleaned = clean(self._reader, profile)
        self.line_count = self._reader.line_count
        sealed = target.buffer.state != "running"
        self.byte_count = target.buffer.stream(target.stream).bytes if sealed else self._reader.byte_count
        self.unended = () if self._reader.ends_with_newline else ((target.stream, self.line_count),)

    def numbered(self, first: int, last: int) -> Iterator[tuple[str, Line]]:
        for line in self._cleaned.lines(first, min(last, self.line_count)):
            yield self._reader.ref, line

    def plain(self, first: int, last: int, room: int, /) -> Segment | None:
        if self._cleaned is not self._reader:
            return None
        _, block = next(self._reader.blocks(first), (first, b""))
        data = block[: min(room, LINE_LIMIT)]
        if (lines := data.count(b"\n")) > last - first:
            lines = last - first + 1
            data = b"\n".join(data.split(b"\n", lines)[:lines]) + b"\n"
        elif len(data) < len(block):
            data = data[: data.rfind(b"\n") + 1]
        else:  # it goes on in the next block, or ends without a newline
            return None
        if first + lines > self.line_count + 1 - len(self.unended):
            return None
        text = plain_text(data)
        return Segment(text, self._reader.ref, first, first + lines - 1) if text else None


class _BothStreams:
    def __init__(self, store: Reading, target: Target, profile: Profile) -> None:
        self._profile = profile
        self._merged = store.open_merged(target.buffer)
        self._refs = {stream: Target(target.buffer, stream).ref for stream in ("out", "err")}
        self.line_count = self._merged.line_count
        self.byte_count = self._merged.byte_count
        ends = [(stream, self._merged.source(stream)) for stream in self._refs]
        self.unended = tuple((name, one.line_count) for name, one in ends if not one.ends_with_newline)
        self.close = self._merged.close

    def numbered(self, first: int, last: int) -> Iterator[tuple[str, Line]]:
        for stream, line in self._merged.lines(first, min(last, self.line_count)):
            yield self._refs[stream], variants.cleaned_line(line, self._profile.cleaning.views)

    def plain(self, _first: int, _last: int, _room: int, /) -> Segment | None:
        return None


@contextlib.contextmanager
def open_lines(store: Reading, target: Target, profile: Profile = DEFAULT) -> Iterator[PageLines]:
    """Open the lines that a target names, as they are now, for reading by a profile's rule."""
    only, *others = target.buffer.streams or ("out",)
    if target.stream == "all" and not others and store.pretty_facts(target._replace(stream=only)):
        target = target._replace(stream=only)
    if target.stream == "all":
        both = _BothStreams(store, target, profile)
        with contextlib.closing(both):
            yield both
    else:
        with store.open_text(target) as reader:
            yield lines_of(reader, target, profile)


def lines_of(reader: "StreamReader", target: Target, profile: Profile) -> PageLines:
    """Return the lines of an open stream, as they are now, for reading by a profile's rule."""
    return _OneStream(reader, target, profile)


class Page(NamedTuple):
    """The lines that fit.

    Attributes:
        segments: the body.
        last: number of the last line in it; one less than the first asked for if there is none.
        clipped: the only line that was cut in its middle; None if all are whole.
    """

    segments: tuple[Segment, ...]
    last: int
    clipped: Segment | None = None

    @property
    def text(self) -> str:
        """The text of the body."""
        return join_segments(self.segments)


def beyond(path: str, first: int, total: int) -> BadRange:
    """Return the error for a line that a file does not have."""
    return BadRange(
        f"{path} has {total:,} lines; there is no line {first:,}",
        f"lines 1-{total} are there" if total else "it is empty",
    )


def page_of(lines: PageLines, first: int, last: int, room: int) -> Page:
    """Return as many whole lines as fit; if even the first one does not, it is cut in its middle."""
    if plain := lines.plain(first, last, room):
        return Page((plain,), plain.last)
    body = _Body()
    number, left = first - 1, room
    cut: Segment | None = None
    total = lines.line_count
    last_ended = total - len(lines.unended)
    for ref, line in lines.numbered(first, last):
        # An unfinished last line gets no newline. One between others does, so its text is not its plain rendering.
        text = clean_line(line.data) + ("" if total == number + 1 > last_ended else "\n")
        size = len(text) if text.isascii() else len(text.encode())
        if size > left or len(line.data) != line.length:
            if number >= first:
                break
            cut = clipped(ref, line, room)
            size = left
            body.add(cut)
        elif last_ended <= number < total - 1:
            body.add(Segment(text, ref, line.number, line.number, partial=True))
        else:
            body.add_line(ref, line.number, text)
        left -= size
        number += 1
    return Page(body.segments(), number, cut)


class _Body:
    """Builds a page; neighbouring whole lines of one stream become one piece."""

    def __init__(self) -> None:
        self._segments: list[Segment] = []
        self._texts: list[str] = []
        self._ref, self._first, self._last = "", 0, 0

    def add_line(self, ref: str, number: int, text: str) -> None:
        """Add a whole line. A page has hundreds, so no object is made for each."""
        if number != self._last + 1 or ref != self._ref:
            self._end_piece()
            self._ref, self._first = ref, number
        self._texts.append(text)
        self._last = number

    def add(self, segment: Segment) -> None:
        """Add a line in another form, as a piece of its own."""
        self._end_piece()
        self._segments.append(segment)

    def segments(self) -> tuple[Segment, ...]:
        """Return the whole body."""
        self._end_piece()
        return tuple(self._segments)

    def _end_piece(self) -> None:
        if self._texts:
            self._segments.append(Segment("".join(self._texts), self._ref, self._first, self._last))
            self._texts = []
            self._ref = ""


def clipped(ref: str, line: Line, room: int) -> Segment:
    """Return a line that is too long, with its middle cut out and counted in bytes."""
    size = min(max((room - _MARKER_BYTES) // 2, 1), len(line.data) // 2)
    first, last = line.data[:size], line.data[len(line.data) - size :]
    kept, end = _whole_characters(first), _whole_characters(last)
    head, tail = clean_line(kept), clean_line(end)
    elided = line.length - len(head.encode()) - len(tail.encode())
    cut = line.cut((0, common_head(kept, first)), (line.length - common_head(end[::-1], last[::-1]), line.length))
    marker = markers.clipping(ref, line.number, max(elided, 0))
    return Segment(f"{head}{marker}{tail}\n", ref, line.number, line.number, True, (cut,))


_MARKER_BYTES = 96


def _whole_characters(data: bytes) -> bytes:
    """Return bytes without the part of a character that a cut left at either end."""
    return data if data.isascii() else data.decode("utf-8", "ignore").encode()


def around(line: Line, limit: int, word: str) -> tuple[str, CutLine | None]:
    """Return a line's text, a long one clipped to this length around a word in small letters.

    If a line was not read whole, its first half is searched, and its last half if only that has the word.

    Returns:
        The text, and which part of the line it shows unless that is all.
    """
    half = len(line.data) // 2
    ends = (line.data,) if line.whole else (line.data[:half], line.data[half:])
    texts = [clean_line(data) for data in ends]
    place = next((place for place, text in enumerate(texts) if word in text.lower()), 0)
    text, before = texts[place], line.length - len(ends[place]) if place else 0
    if line.whole and len(text) <= limit + markers.SAVED_BYTES:
        return text, None
    start = max(0, min(text.lower().find(word) - limit // 3, len(text) - limit))
    end = min(start + limit, len(text))
    first, last = raw_range(ends[place], len(text[:start].encode()), len(text[:end].encode()))
    head = "…" if start or place else ""
    tail = "…" if end < len(text) or place + 1 < len(texts) else ""
    return f"{head}{text[start:end]}{tail}", line.cut((before + first, before + last))
