"""Which lines of a JSON block's pretty form some of its bytes stand for."""

from collections.abc import Iterator

from sightline.log.views import Traced
from sightline.records import LinePart, Shown
from sightline.shape.json.pretty import pretty_size
from sightline.store import Reading, Stream, Target

MOST_BYTES = 64 << 20
"""Further in nothing is worked out: it would take seconds, for a page that nobody pages on from."""

_READ_BYTES = 1 << 16


def pretty_lines(store: Reading, target: Target, start: int, end: int) -> Traced:
    """The lines that the bytes from start to before end stand for, and those of which they are a part."""
    if end > MOST_BYTES or start >= end:
        return Traced()
    with store.open(target) as source:
        is_end = end == source.byte_count
        first, last = (pretty_size(_chunks(source, place)) for place in (start, end))
    with store.open_text(target) as made:
        last = made.byte_count if is_end else min(last, made.byte_count)
        if first >= last:
            return Traced()
        lines = made.line_span(first, last)
    name, stream = target.buffer.name, target.stream
    cut = {one.line for one in lines.cuts}
    whole = (lines.first + (lines.first in cut), lines.last - (lines.last in cut))
    return Traced(
        shown=(Shown(name, stream, *whole),) if whole[0] <= whole[1] else (),
        parts=tuple(LinePart(name, stream, *one) for one in lines.cuts),
    )


def _chunks(source: Stream, end: int) -> Iterator[bytes]:
    for at in range(0, end, _READ_BYTES):
        yield source.read(at, min(_READ_BYTES, end - at))
