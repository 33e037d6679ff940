"""Where a line of a stream stands in the viewer, which shows both streams in order of arrival, or all blocks."""

from typing import NamedTuple

from sightline.store.records import Buffer
from sightline.store.store import Store, Target


class Hit(NamedTuple):
    """A line of an output.

    Attributes:
        buffer: name of the buffer.
        stream: ``out``, ``err``, ``part.N``, or ``all`` for both in order of arrival.
        line: its number there, from 1.
    """

    buffer: str
    stream: str
    line: int


def viewer_line(store: Store, buffer: Buffer, hit: Hit) -> int:
    """The number that the viewer gives a line; the last one for any past the end. Raises as `Store.open`."""
    if hit.stream.startswith("part."):
        return _among_blocks(store, buffer, hit)
    if hit.stream == "all":
        return hit.line
    reader = store.open_merged(buffer)
    try:
        return reader.number_of(hit.stream, hit.line)
    finally:
        reader.close()


def _among_blocks(store: Store, buffer: Buffer, hit: Hit) -> int:
    before, wanted = 0, int(hit.stream.removeprefix("part."))
    blocks = sorted(int(stream.removeprefix("part.")) for stream in buffer.streams if stream.startswith("part."))
    for block in blocks:
        with store.open_text(Target(buffer, f"part.{block}")) as reader:
            if block == wanted:
                return before + hit.line
            before += reader.line_count
    return before
