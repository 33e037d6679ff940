"""Puts the lines that a sample shows into a body: long strings windowed, markers where lines are left out."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sightline.shape import markers
from sightline.shape.clean import clean_line
from sightline.shape.json.escapes import hidden
from sightline.shape.segments import Segment, terminated
from sightline.shape.source import Line, Source

READ_LINE_BYTES = 1 << 20  # of a longer line it is not known whether it is one string
_HEAD = re.compile(rb'[ \t]*(?:"[^"]*"[ \t]*:[ \t]*)?"')
_REST = re.compile(rb'[^"]*("[ \t]*,?[ \t\r]*)')
_ESCAPE_BYTES = 6


class Gap(NamedTuple):
    """Lines that are left out, inclusive, and the line that says so."""

    first: int
    last: int
    marker: str


class Measure(NamedTuple):
    """How long a string may be.

    Attributes:
        size: bytes that are shown of it.
        head_percent: how much of these is its beginning.
    """

    size: int
    head_percent: int


class Written(NamedTuple):
    """A body of one stream.

    Attributes:
        segments: the text, in order.
        shown: lines that stand in it, wholly or in part.
        truncated: whether anything was left out.
    """

    segments: tuple[Segment, ...]
    shown: int
    truncated: bool


def write_lines(
    source: Source, gaps: Iterable[Gap], measure: Measure, room: int, moved: Mapping[int, str]
) -> Written | None:
    """All lines but those of the gaps.

    Args:
        source: the stream.
        gaps: what is left out, in order.
        measure: for long strings and lines.
        room: bytes that the body may take.
        moved: by line, the marker that stands for the whole of its string.

    Returns:
        The body, None where it takes more.
    """
    segments: list[Segment] = []
    shown, following, truncated = 0, 1, False
    for gap in (*gaps, Gap(source.line_count + 1, 0, "")):
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
    return Written(tuple(segments), shown, truncated)


def _add(segments: list[Segment], segment: Segment) -> None:
    """A line, made one with those before it where both are whole."""
    held = segments[-1] if segments else None
    if held and held.last and held.last + 1 == segment.first and not held.partial and not segment.partial:
        segments[-1] = held._replace(text=held.text + segment.text, last=segment.last)
    else:
        segments.append(segment)


def _segment(source: Source, line: Line, measure: Measure, moved: Mapping[int, str]) -> Segment:
    number = line.number
    start, end = _string_of(line) if line.length > measure.size or number in moved else (0, 0)
    if number in moved and end:
        text = clean_line(line.data[:start]) + moved[number] + clean_line(line.data[end:])
        cut = line.cut((0, start), (end, line.length))
    elif line.length <= measure.size or 0 < end - start <= measure.size:
        return Segment(clean_line(line.data) + "\n", source.ref, number, number)
    elif end:
        head, tail = ends(line.data[start:end], measure)
        marker = markers.window(source.ref, number, end - start - len(head) - len(tail))
        text = clean_line(line.data[:start] + head) + marker + clean_line(tail + line.data[end:])
        cut = line.cut((0, start + len(head)), (end - len(tail), line.length))
    else:
        head, tail = ends(line.data, measure)
        marker = markers.clipping(source.ref, number, line.length - len(head) - len(tail))
        text = clean_line(head) + marker + clean_line(tail)
        cut = line.cut((0, len(head)), (line.length - len(tail), line.length))
    return Segment(text + "\n", source.ref, number, number, True, (cut,))


def _string_of(line: Line) -> tuple[int, int]:
    """Where the one string of a line begins and ends, its quotes left out; zeros where it holds anything else."""
    if not line.whole:
        return 0, 0
    data = hidden(line.data)
    head = _HEAD.match(data)
    rest = _REST.fullmatch(data, head.end()) if head else None
    return (rest.start(), rest.start(1)) if rest else (0, 0)


def ends(data: bytes, measure: Measure) -> tuple[bytes, bytes]:
    """The beginning and the end of a text that is longer than a measure; no character and no escape is split."""
    size = measure.size * measure.head_percent // 100
    head = _without_part(data[: _escape_around(data, size)[0]])
    start = _escape_around(data, len(data) - (measure.size - size))[1]
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    return head, data[start:]


def _escape_around(data: bytes, place: int) -> tuple[int, int]:
    """Where the escape begins and ends that a place lies within; the place itself where it lies in none."""
    for start in range(max(place - _ESCAPE_BYTES + 1, 0), place):
        before = data[: start + 1]
        backslashes = len(before) - len(before.rstrip(b"\\"))
        end = start + (_ESCAPE_BYTES if data[start + 1 : start + 2] == b"u" else 2)
        if backslashes % 2 and end > place:
            return start, end
    return place, place


def _without_part(head: bytes) -> bytes:
    """Without the first bytes of a character that was cut off."""
    for back in range(1, min(4, len(head)) + 1):
        lead = head[-back]
        if lead & 0xC0 == 0x80:
            continue
        needs = 4 if lead >= 0xF0 else 3 if lead >= 0xE0 else 2 if lead >= 0xC0 else 1
        return head[:-back] if needs > back else head
    return head
