"""Where a line of a stream stands in the viewer, which shows both streams in order of arrival, or all blocks."""

from typing import NamedTuple

from sightline.records import Buffer
from sightline.store import Store
from sightline.tui.common.reading import Reading, open_reading


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
    """The number that a line has among all that its buffer has; the last one for any past the end.

    Raises:
        SightlineError: as `Store.open`.
    """
    if hit.stream == "all":
        return hit.line
    reading = open_reading(store, buffer)
    try:
        return reading.number_at(hit.stream, reading.source(hit.stream).offset_of_line(hit.line))
    finally:
        reading.close()


def shown_number(store: Store, buffer: Buffer, number: int, shown: Reading) -> int:
    """The number of a line where only one stream of its buffer is shown, or its bytes. Raises as `viewer_line`.

    Args:
        store: the store.
        buffer: the buffer.
        number: of the line among all.
        shown: what is shown.
    """
    reading = open_reading(store, buffer)
    try:
        stream = next((stream for stream, _ in reading.lines(number, number, 1)), "")
        return shown.number_at(stream, reading.offsets(number)[stream]) if stream else number
    finally:
        reading.close()
