"""Makes the body of a short output that needs neither cuts nor folds: every line of it, cleaned.

Most outputs are like that; for others, ``cut`` is loaded.
"""

import itertools

from sightline.shape.clean import MOVES_UP, clean_line
from sightline.shape.segments import Segment, Shaped
from sightline.shape.source import LINE_LIMIT, Source

STDERR = "[stderr]"
"""The line between the two streams of a body."""

SEPARATOR = Segment(STDERR + "\n")


def whole(out: Source, err: Source, room: int) -> Shaped | None:
    """Return the body if all of it fits, and no line repeats or overwrites one before it; else None."""
    if out.byte_count + err.byte_count + len(SEPARATOR.text) > room:
        return None
    segments: list[Segment] = []
    for source in (out, err):
        if not source.byte_count:
            continue
        segment = _plain(source)
        if segment is None:
            return None
        if source is err:
            if segments and not segments[-1].text.endswith("\n"):
                segments.append(Segment("\n"))
            segments.append(SEPARATOR)
        segments.append(segment)
    size = sum(len(segment.text.encode()) for segment in segments)
    if size > room:
        return None
    return Shaped(tuple(segments), out.line_count, out.line_count, err.line_count, err.line_count, truncated=False)


def _plain(source: Source) -> Segment | None:
    data = source.read(0, source.byte_count)
    if b"\x1b" in data and MOVES_UP.search(data):
        return None
    ended = data.endswith(b"\n")
    raw = data[:-1].split(b"\n") if ended else data.split(b"\n")
    if max(map(len, raw)) > LINE_LIMIT:
        return None
    lines = [clean_line(line) for line in raw]
    if any(one == other for one, other in itertools.pairwise(lines)):
        return None
    ref = source.ref
    text = "\n".join(lines) + ("\n" if ended else "")
    return Segment(text, ref, 1, len(lines)) if ref else Segment(text)
