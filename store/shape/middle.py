"""Cuts one stream's text in its middle: so many bytes from either end, and a marker that counts those between."""

from collections.abc import Iterator
from typing import NamedTuple

from sightline.profile import Cut
from sightline.shape.clean import clean_line
from sightline.shape.line_cut import cut_at_ends
from sightline.shape.runs import text_bytes
from sightline.shape.segments import Segment, join_segments, terminated
from sightline.shape.source import LINE_LIMIT, CutLine, Line, Source

WHOLE_BYTES = 1 << 20
"""Raw bytes above which a stream is taken not to clean away to what a body holds."""

_BACK_LINES = 256  # lines read at once from the end


class Part(NamedTuple):
    """What stands of one stream in a body.

    Attributes:
        segments: the text, in order.
        shown: lines that stand in it, wholly or in part.
        truncated: whether anything was left out, even where every line stands in it.
    """

    segments: tuple[Segment, ...]
    shown: int
    truncated: bool = False


def split_bytes(text: str, head_bytes: int, tail_bytes: int) -> tuple[str, str]:
    """The first and the last so many bytes of a text as UTF-8, without the characters that the cuts split.

    >>> split_bytes("a€b", 2, 3)
    ('a', 'b')
    """
    data = text.encode()
    head = data[:head_bytes].decode("utf-8", "ignore")
    tail = data[max(len(data) - tail_bytes, 0) :].decode("utf-8", "ignore")
    return head, tail


def whole_part(source: Source, room: int) -> Part | None:
    """All of a stream, cleaned; None where it takes more than there is room."""
    if source.byte_count > WHOLE_BYTES:
        return None
    texts = []
    left = room + (not terminated(source))
    for line in source.lines(1, source.line_count):
        texts.append(clean_line(line.data) + "\n")
        left -= text_bytes(texts[-1])
        if left < 0 or not line.whole:
            return None
    text = "".join(texts)
    text = text if terminated(source) else text[:-1]
    return Part((_range(source, text, 1, source.line_count),) if source.line_count else (), source.line_count)


def cut_middle(source: Source, room: int, cut: Cut) -> Part:
    """The two ends of a stream that is larger than the room there is.

    Args:
        source: the stream.
        room: bytes of the part.
        cut: the shares and the marker, whose count is of the stream's raw bytes, less those that are shown.
    """
    inner = room - cut.marker_bytes
    if inner <= 0:
        marker, _ = split_bytes(_marker(cut, source.byte_count).strip("\n"), max(room, 0), 0)
        return Part((Segment(marker),), 0, True)
    head = _Head(source, inner * cut.head_percent // 100)
    if head.last == source.line_count:
        return Part(head.segments, head.shown)
    tail = _Tail(source, inner - inner * cut.head_percent // 100, head)
    shown = text_bytes(join_segments((*head.segments, *tail.segments)))
    marker = _marker(cut, max(source.byte_count - shown, 0))
    return Part((*head.segments, Segment(marker), *tail.segments), head.shown + tail.shown, True)


def _marker(cut: Cut, count: int) -> str:
    return cut.bytes_marker.replace("{count}", str(count))


class _Head:
    """The first bytes of a stream's text.

    Attributes:
        segments: the text.
        last: the last line that stands whole in it, 0 for none.
        part: what stands of the line after that one, if anything does.
        shown: lines that stand in it, wholly or in part.
    """

    def __init__(self, source: Source, room: int) -> None:
        count, ended = source.line_count, terminated(source)
        self.last = 0
        self.part = ""
        cut: CutLine | None = None
        texts = []
        for line in source.lines(1, count, max(LINE_LIMIT, 2 * room)):
            text = _ends_of(line)[0] + ("\n" if ended or line.number < count else "")
            if text_bytes(text) > room or not line.whole:
                self.part, _ = split_bytes(text, room, 0)
                cut = cut_at_ends(line, self.part.removesuffix("\n"), "")
                break
            texts.append(text)
            room -= text_bytes(text)
            self.last = line.number
        whole = [_range(source, "".join(texts), 1, self.last)] if texts else []
        rest = [_partial(source, self.part, cut)] if self.part and cut else []
        self.segments = (*whole, *rest)
        self.shown = self.last + bool(self.part)


class _Tail:
    """The last bytes of a stream's text, of lines that do not stand whole in its head; attributes as of ``_Head``."""

    def __init__(self, source: Source, room: int, head: _Head) -> None:
        count, ended = source.line_count, terminated(source)
        part = ""
        cut: CutLine | None = None
        first = count + 1
        texts: list[str] = []
        for line in _backward(source, head.last + 1, max(LINE_LIMIT, 2 * room)):
            text = _ends_of(line)[1] + ("\n" if ended or line.number < count else "")
            in_head = head.part if line.number == head.last + 1 else ""
            if in_head or not line.whole or text_bytes(text) > room:
                left = text_bytes(text) - (text_bytes(in_head) if line.whole else 0)
                _, part = split_bytes(text, 0, min(room, left))
                cut = cut_at_ends(line, "", part.removesuffix("\n"))
                break
            texts.append(text)
            room -= text_bytes(text)
            first = line.number
        whole = [_range(source, "".join(reversed(texts)), first, count)] if texts else []
        shared = bool(head.part) and first == head.last + 2  # a line whose two ends stand on either side is one line
        rest = [_partial(source, part, cut)] if part and cut else []
        self.segments = (*rest, *whole)
        self.shown = count - first + 1 + (bool(part) and not shared)


def _ends_of(line: Line) -> tuple[str, str]:
    """The cleaned text of a line, twice; of one that was not read whole, of its first and of its last half."""
    if line.whole:
        text = clean_line(line.data)
        return text, text
    half = len(line.data) // 2
    return clean_line(line.data[:half]), clean_line(line.data[half:])


def _backward(source: Source, first: int, limit: int) -> Iterator[Line]:
    last = source.line_count
    while last >= first:
        start = max(first, last - _BACK_LINES + 1)
        yield from reversed(list(source.lines(start, last, limit)))
        last = start - 1


def _range(source: Source, text: str, first: int, last: int) -> Segment:
    return Segment(text, source.ref, first, last) if source.ref else Segment(text)


def _partial(source: Source, text: str, cut: CutLine) -> Segment:
    return Segment(text, source.ref, cut.line, cut.line, True, (cut,)) if source.ref else Segment(text)
