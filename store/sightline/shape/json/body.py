"""Puts what a sample shows into a body: whole lines of the text, or its one line written out as pretty JSON.

Long strings are cut in the middle, and markers stand where something is left out.
"""

import re
from collections.abc import Iterable, Mapping

from sightline.light.named_tuple import NamedTuple
from sightline.shape import markers
from sightline.shape.clean import clean_line
from sightline.shape.json.path import path_of_key
from sightline.shape.json.sampling import Detail
from sightline.shape.json.strings import hidden, string_text, written_text
from sightline.shape.json.tree import Node, children_end, children_shown
from sightline.shape.segments import Segment, terminated
from sightline.shape.source import CutLine, Line, Source

READ_LINE_BYTES = 1 << 20  # a longer line may or may not be one string
_HEAD = re.compile(rb'[ \t]*(?:"[^"]*"[ \t]*:[ \t]*)?"')
_REST = re.compile(rb'[^"]*("[ \t]*(?:[,\r][ \t\r]*)?)')
_LAST_QUOTE = re.compile(rb'"[ \t]*(?:[,\r][ \t\r]*)?\Z')
_ESCAPE_BYTES = 6
_KEY_BYTES = 1 << 16  # behind a longer key nobody looks for the string
_AFTER_BYTES = 64  # a comma and white space may follow a string on its line


class LeftOut(NamedTuple):
    """Left-out lines, inclusive, and the line that says so."""

    first: int
    last: int
    marker: str


class Measure(NamedTuple):
    """The length allowed for strings.

    Attributes:
        size: number of bytes shown of a string.
        head_percent: share of its beginning in these.
    """

    size: int
    head_percent: int


class MovedString(NamedTuple):
    """A string that is a stream of its own.

    Attributes:
        ref: that stream.
        size: its bytes.
        description: what the JSON that it holds is; empty where it holds none.
        ends: whether its two ends are shown where it stood, too.
    """

    ref: str
    size: int
    description: str = ""
    ends: bool = True


class Body(NamedTuple):
    """A body of one stream.

    Attributes:
        segments: the text, in order.
        shown: number of lines that stand in it, whole or in part.
        truncated: whether anything was left out.
    """

    segments: tuple[Segment, ...]
    shown: int
    truncated: bool


def write_lines(
    source: Source, gaps: Iterable[LeftOut], measure: Measure, room: int, moved: Mapping[int, MovedString]
) -> Body | None:
    """Make a body of all lines except those in the gaps.

    Args:
        source: the stream.
        gaps: the left-out lines, in order.
        measure: the length allowed for strings and lines.
        room: most bytes of the body.
        moved: strings that are streams of their own, by line.

    Returns:
        The body; None if it takes more than the room.
    """
    segments: list[Segment] = []
    shown, following, truncated = 0, 1, False
    for gap in (*gaps, LeftOut(source.line_count + 1, 0, "")):
        for line in source.lines(following, gap.first - 1, READ_LINE_BYTES):
            segment = _segment(source, line, measure, moved)
            room -= len(segment.text.encode())
            if room < 0:
                return None
            truncated |= segment.partial
            _add(segments, segment)
            shown += 1
        if gap.marker:
            truncated = True
            segments.append(Segment(gap.marker + "\n"))
            room -= len(gap.marker.encode()) + 1
        following = gap.last + 1
    if room < 0:
        return None
    if segments and segments[-1].ref and not terminated(source):
        segments[-1] = segments[-1]._replace(text=segments[-1].text[:-1])
    if not source.ref:
        segments = [Segment(segment.text) for segment in segments]
    return Body(tuple(segments), shown, truncated)


def _add(segments: list[Segment], segment: Segment) -> None:
    """Add a line, joined with those before it if all are whole."""
    held = segments[-1] if segments else None
    if held and held.last and held.last + 1 == segment.first and not held.partial and not segment.partial:
        segments[-1] = held._replace(text=held.text + segment.text, last=segment.last)
    else:
        segments.append(segment)


def _segment(source: Source, line: Line, measure: Measure, moved: Mapping[int, MovedString]) -> Segment:
    number, data, string = line.number, line.data, moved.get(line.number)
    if line.length <= measure.size and not string:
        return _whole_line(source, line)
    start, end = _ends_of_long_string(data) if string and not line.whole else _string_of(line)
    if 0 < end - start <= measure.size and not string:
        return _whole_line(source, line)
    between, following = (data[start:end], data[end:]) if end else (data, b"")
    head, tail = _ends_of(between, measure, string)
    saved = line.length - len(data) + len(between) - len(head) - len(tail)
    string = string if end else None
    elided = (string.size if string else len(written_text(between))) - _text_bytes(head, tail) if end else saved
    marker = _marker(source.ref, number, elided, measure, string, is_string=bool(end), alone=not head)
    if saved < len(marker.encode()) + markers.SAVED_BYTES:
        return _whole_line(source, line)
    before, after = data[:start] + head, tail + following
    cut = line.cut((0, len(before)), (line.length - len(after), line.length))
    text = clean_line(before) + marker + clean_line(after)
    return Segment(text + "\n", source.ref, number, number, True, (cut,))


def _text_bytes(*parts: bytes) -> int:
    """Return the bytes of text that parts of a string stand for: its escapes are how JSON writes it, not its text."""
    return sum(len(written_text(part)) for part in parts)


def _whole_line(source: Source, line: Line) -> Segment:
    return Segment(clean_line(line.data) + "\n", source.ref, line.number, line.number)


def _ends_of(data: bytes, measure: Measure, string: MovedString | None) -> tuple[bytes, bytes]:
    """Return the shown ends of a string; none for a stream of its own if they take less than its marker."""
    if string and not (string.ends and measure.size >= len(markers.moved(string.ref, string.size).encode())):
        return b"", b""
    return ends(data, measure)


def _marker(
    ref: str,
    number: int,
    elided: int,
    measure: Measure,
    string: MovedString | None,
    *,
    is_string: bool,
    alone: bool,
    path: str = "",
) -> str:
    """Return the marker between the ends of a value, or in place of all of it.

    Args:
        ref: the stream that it stands in.
        number: its line there.
        elided: its bytes that are left out; of a string, those of its text.
        measure: how much its ends take.
        string: the stream of its own that it is, if it is one; it is described where that takes no more room than its
            ends do.
        is_string: whether it is a string.
        alone: whether its ends are left out, too.
        path: its JSON path, if it has no line of its own.
    """
    if not string:
        return markers.window(ref, number, elided, path) if is_string else markers.clipping(ref, number, elided)
    if alone and string.ends:
        return markers.moved(string.ref, string.size)
    described = not string.ends or len(string.description.encode()) <= measure.size
    return markers.moved(string.ref, elided, string.description if described else "")


def _ends_of_long_string(data: bytes) -> tuple[int, int]:
    """Return where the only string of a long line begins and ends, without quotes, judged by the line's two ends."""
    head, last = _HEAD.match(hidden(data[:_KEY_BYTES])), _LAST_QUOTE.search(data[-_AFTER_BYTES:])
    return (head.end(), len(data) - len(data[-_AFTER_BYTES:]) + last.start()) if head and last else (0, 0)


def _string_of(line: Line) -> tuple[int, int]:
    """Return where the only string of a line begins and ends, without quotes; zeros if the line has anything else."""
    if not line.whole:
        return 0, 0
    data = hidden(line.data)
    head = _HEAD.match(data)
    rest = _REST.fullmatch(data, head.end()) if head else None
    return (rest.start(), rest.start(1)) if rest else (0, 0)


def ends(data: bytes, measure: Measure) -> tuple[bytes, bytes]:
    """Return the beginning and the end of a text that is longer than allowed; no character and no escape is split."""
    size = measure.size * measure.head_percent // 100
    head = _without_part(data[: _escape_around(data, size)[0]])
    start = _escape_around(data, len(data) - (measure.size - size))[1]
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    return head, data[start:]


def _escape_around(data: bytes, place: int) -> tuple[int, int]:
    """Return where the escape around a place begins and ends; the place itself if there is none."""
    for start in range(max(place - _ESCAPE_BYTES + 1, 0), place):
        before = data[: start + 1]
        backslashes = len(before) - len(before.rstrip(b"\\"))
        end = start + (_ESCAPE_BYTES if data[start + 1 : start + 2] == b"u" else 2)
        if backslashes % 2 and end > place:
            return start, end
    return place, place


def _without_part(head: bytes) -> bytes:
    """Return the bytes without the beginning of a character that was cut."""
    for back in range(1, min(4, len(head)) + 1):
        lead = head[-back]
        if lead & 0xC0 == 0x80:
            continue
        needs = 4 if lead >= 0xF0 else 3 if lead >= 0xE0 else 2 if lead >= 0xC0 else 1
        return head[:-back] if needs > back else head
    return head


INDENT = "  "
_BRACKETS = {"object": "{}", "array": "[]"}


def write_line(
    source: Source,
    root: Node,
    detail: Detail,
    measure: Measure,
    number: int,
    room: int,
    moved: Mapping[int, MovedString],
) -> Body | None:
    """Write out a value on several lines; None if it takes more than the room.

    Args:
        source: the text.
        root: the value.
        detail: what is shown of it.
        measure: the length allowed for strings.
        number: the line of the text on which it stands.
        room: bytes of the body.
        moved: strings that are streams of their own, by offset.
    """
    writer = _Writer(source, detail, measure, number, room, moved)
    try:
        writer.write(root, 1, "", "", "$")
    except _Full:
        return None
    return Body(tuple(writer.cut_segments(root)), source.line_count, True)


def rest_marker(ref: str, number: int, node: Node, shown: int, path: str = "") -> str:
    """Return the marker for a container's later children; empty if it would save nothing, so that they are shown.

    The marker names the path that opens them: of an array, the last elements; of an object, all of it.
    """
    if shown == node.total:
        return ""
    noun = "key" if node.kind == "object" else "item"
    left = node.total - shown
    opened = f"{path}[-{left}:]" if path and noun == "item" and shown else path
    marker = markers.sample(ref, number, number, left, noun, more=bool(shown), path=opened)
    saves = node.end - children_end(node, shown) > len(marker.encode()) + 1
    return marker if saves or (shown and len(node.children) < node.total) else ""


class _Full(Exception):
    """There is no more room."""


class _Writer:
    def __init__(
        self,
        source: Source,
        detail: Detail,
        measure: Measure,
        number: int,
        room: int,
        moved: Mapping[int, MovedString],
    ) -> None:
        self.segments: list[Segment] = []
        self._source = source
        self._detail = detail
        self._measure = measure
        self._number = number
        self._room = room
        self._moved = moved
        self._seen: list[tuple[int, int]] = []  # bytes of the stream that stand in the body, from and to

    def cut_segments(self, root: Node) -> list[Segment]:
        """Return what was written, with each piece knowing which part of the line it shows."""
        start = self._start_of_line(root)
        source = self._source
        end = source.byte_count - (source.read(source.byte_count - 1, 1) == b"\n")
        if self._number < source.line_count:
            end = start + next(iter(source.lines(self._number, self._number, 0))).cut().length
        # The white space around the value goes with its brackets.
        ranges = [(start if at == root.start else at, end if to == root.end else to) for at, to in self._seen]
        seen = tuple((at - start + 1, to - start) for at, to in ranges)
        cut = CutLine(self._number, end - start, seen)
        return [segment._replace(cuts=(cut,)) if segment.ref else segment for segment in self.segments]

    def _start_of_line(self, root: Node) -> int:
        """Return where the value's line begins, above which there may be lines of white space."""
        before = self._source.read(0, root.start) if self._number > 1 else b""
        return before.rfind(b"\n") + 1

    def write(self, node: Node, depth: int, name: str, comma: str, path: str) -> None:
        """Write a value, whose path is empty if it cannot be written without quotes, on lines of its own."""
        indent = INDENT * (depth - 1) + name
        if not node.total:
            self._show(node.key, node.start)
            self._add(f"{indent}{self._scalar(node, path)}{comma}")
            return
        shown = children_shown(node, depth, self._detail)
        marker = rest_marker(self._source.ref, self._number, node, shown, path)
        if not marker:
            if not shown:
                self._show(node.key, node.end)
                self._add(f"{indent}{clean_line(self._source.read(node.start, node.end - node.start))}{comma}")
                return
            shown = node.total
        brackets = _BRACKETS[node.kind]
        self._show(node.key, node.start + 1)
        self._add(indent + brackets[0])
        following = node.start + 1
        for place, child in enumerate(node.children[:shown], 1):
            self._show(following, child.key)  # the comma after it
            comma_after = "," if place < node.total else ""
            self.write(child, depth + 1, self._name(child), comma_after, self._path(node, child, place - 1, path))
            following = child.end
        if marker:
            self._add(marker, is_marker=True)
        else:
            self._show(following, node.end - 1)
        self._show(node.end - 1, node.end)
        self._add(INDENT * (depth - 1) + brackets[1] + comma)

    def _path(self, node: Node, child: Node, place: int, path: str) -> str:
        if not path or node.kind == "array":
            return path and f"{path}[{place}]"
        segment = path_of_key(self._source.read(child.key, child.start - child.key).rstrip(b" \t\r\n:"))
        return segment and path + segment

    def _name(self, node: Node) -> str:
        if node.key == node.start:
            return ""
        key = self._source.read(node.key, node.start - node.key)
        return clean_line(key.rstrip(b" \t\r:")) + ": "

    def _scalar(self, node: Node, path: str) -> str:
        size = node.end - node.start
        read = self._source.read
        if node.is_container:
            self._show(node.start, node.end)
            return _BRACKETS[node.kind]
        string = self._moved.get(node.start)
        if size - 2 <= self._measure.size and not string:
            return self._whole(node)
        quote = int(node.kind == "string")
        near = 2 * self._measure.size
        inner = size - 2 * quote
        data = read(node.start + quote, inner) if inner < 2 * near else self._two_ends(node, near, quote)
        head, tail = _ends_of(data, self._measure, string)
        saved = inner - len(head) - len(tail)
        elided = self._text_bytes(node, string) - _text_bytes(head, tail) if quote else saved
        marker = _marker(
            self._source.ref,
            self._number,
            elided,
            self._measure,
            string,
            is_string=bool(quote),
            alone=not head,
            path=path,
        )
        if saved < len(marker.encode()) + markers.SAVED_BYTES:
            return self._whole(node)
        self._show(node.start, node.start + quote + len(head))
        self._show(node.end - quote - len(tail), node.end)
        mark = '"' * quote
        return f"{mark}{clean_line(head)}{marker}{clean_line(tail)}{mark}"

    def _text_bytes(self, node: Node, string: MovedString | None) -> int:
        return string.size if string else sum(map(len, string_text(self._source, node.start, node.end)))

    def _whole(self, node: Node) -> str:
        self._show(node.start, node.end)
        return clean_line(self._source.read(node.start, node.end - node.start))

    def _two_ends(self, node: Node, near: int, quote: int) -> bytes:
        """Return a value's beginning and end, a little more than is shown of them."""
        return self._source.read(node.start + quote, near) + self._source.read(node.end - quote - near, near)

    def _show(self, start: int, end: int) -> None:
        """Note that some bytes of the stream stand in the body; they come in order."""
        if self._seen and self._seen[-1][1] == start:
            self._seen[-1] = (self._seen[-1][0], end)
        elif start < end:
            self._seen.append((start, end))

    def _add(self, text: str, *, is_marker: bool = False) -> None:
        self._room -= len(text.encode()) + 1
        if self._room < 0:
            raise _Full
        ref = "" if is_marker else self._source.ref
        last = self.segments[-1] if self.segments else None
        if last and ref and last.ref:
            self.segments[-1] = last._replace(text=f"{last.text}{text}\n")
        else:
            self.segments.append(Segment(text + "\n", ref, *((self._number, self._number, True) if ref else ())))
