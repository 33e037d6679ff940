"""A glance at a stream: enough of it to see whose output it is, without reading a large one whole."""

import re
from collections.abc import Iterator

from sightline.shape.clean import clean_line, without_colour
from sightline.shape.source import Source

WHOLE_BYTES = 1 << 18
"""A stream up to this size is looked at whole; of a larger one its ends and some windows between them."""

HEAD_BYTES, TAIL_BYTES = 1 << 16, 1 << 17
WINDOWS = 24
WINDOW_BYTES = 1 << 12

SEARCHED_BYTES = 1 << 23
"""Up to here the windows are where failure is spoken of, which costs reading the stream; beyond, evenly spaced."""

SAMPLED_LINES = 150
_WORDS = (b"FAIL", b"rror")
_LINE_END = re.compile(rb"\r+\n")


def glance(source: Source) -> bytes:
    """Parts of a stream, without colours, with newlines alone between lines."""
    data = without_colour(b"\n".join(_parts(source)))
    return _LINE_END.sub(b"\n", data) if b"\r\n" in data else data


def sampled_lines(data: bytes) -> Iterator[str]:
    """Some cleaned lines from all over a text."""
    lines = data.split(b"\n")
    step = max(1, len(lines) // SAMPLED_LINES)
    for line in lines[::step]:
        yield clean_line(line[:400])


def _parts(source: Source) -> Iterator[bytes]:
    size = source.byte_count
    if size <= WHOLE_BYTES:
        yield source.read(0, size)
        return
    yield source.read(0, HEAD_BYTES)
    yield from _windows(source, HEAD_BYTES, size - TAIL_BYTES)
    yield source.read(size - TAIL_BYTES, TAIL_BYTES)


def _windows(source: Source, start: int, end: int) -> Iterator[bytes]:
    if end - start > SEARCHED_BYTES:
        step = (end - start) // WINDOWS
        for at in range(start, start + WINDOWS * step, step):
            yield source.read(at, WINDOW_BYTES)
        return
    data = source.read(start, end - start)
    at = found = 0
    while found < WINDOWS and at < len(data):
        places = [place for word in _WORDS if (place := data.find(word, at)) >= 0]
        if not places:
            return
        at = max(min(places) - WINDOW_BYTES // 2, at)
        yield data[at : at + WINDOW_BYTES]
        at += WINDOW_BYTES
        found += 1
