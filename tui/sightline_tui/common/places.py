"""Reads places in an output that a person types, and finds where a line of a stream stands in the viewer."""

import re
from contextlib import closing

from sightline.base.records import Buffer
from sightline.light.named_tuple import NamedTuple
from sightline.store import Reading
from sightline_tui.common.output_reader import OutputReader, open_reader


class FoundPlace(NamedTuple):
    """A line of an output.

    Attributes:
        buffer: name of the buffer.
        stream: ``out``, ``err``, ``part.N``, or ``all`` for both in order of arrival.
        line: number of the line there, from 1.
    """

    buffer: str
    stream: str
    line: int


def viewer_line(store: Reading, buffer: Buffer, hit: FoundPlace) -> int:
    """Return the number of a line among all lines of its buffer; the last number for a line past the end.

    Raises:
        SightlineError: raised by `Store.open`.
    """
    if hit.stream == "all":
        return hit.line
    with closing(open_reader(store, buffer)) as reading:
        return reading.number_at(hit.stream, reading.source(hit.stream).offset_of_line(hit.line))


def shown_number(store: Reading, buffer: Buffer, number: int, shown: OutputReader) -> int:
    """Return the number of a line if only one stream of its buffer is shown, or its bytes. Raises as `viewer_line`.

    Args:
        store: the store.
        buffer: the buffer.
        number: number of the line among all lines.
        shown: what is shown.
    """
    with closing(open_reader(store, buffer)) as reading:
        stream = next((stream for stream, _ in reading.lines(number, number, 1)), "")
        return shown.number_at(stream, reading.offsets(number)[stream]) if stream else number


_PLACE = r"\d{1,15}|\d{1,3}(?:\.\d{1,6})?\s*%|\$|0x[0-9a-fA-F]{1,12}"
_MEANT = re.compile(rf"\s*(?P<first>{_PLACE})\s*(?P<range>[,-]\s*(?:(?P<last>{_PLACE})\s*)?)?")


class LineRange(NamedTuple):
    """The lines that a text means.

    Attributes:
        first: number of the line, or of the first of a range.
        last: number of the last line of a range; 0 if it is not a range.
    """

    first: int
    last: int = 0


def is_place(text: str) -> bool:
    """Return whether a text is written like a place."""
    return _MEANT.fullmatch(text) is not None


def lines_meant(text: str, total: int, row_bytes: int = 0) -> LineRange | None:
    """Return the lines that a text means; None if it is no place.

    Args:
        text: ``42``, ``42,80`` or ``42-80``, ``50%``, ``$``, ``42,`` for "to the end"; for bytes ``0x2a0``.
        total: number of lines; a larger number means the last line.
        row_bytes: bytes of a row if bytes are shown; 0 for lines.
    """
    match = _MEANT.fullmatch(text)
    if not match:
        return None
    first = _line(match["first"], total, row_bytes)
    if not match["range"]:
        return None if first is None else LineRange(first)
    last = _line(match["last"] or "$", total, row_bytes)
    return None if first is None or last is None else LineRange(min(first, last), max(first, last))


def _line(place: str, total: int, row_bytes: int) -> int | None:
    if place == "$":
        line = total
    elif place.endswith("%"):
        line = round(total * min(float(place.rstrip("% ")), 100.0) / 100)
    elif place.startswith("0x"):
        if not row_bytes:
            return None
        line = int(place, 16) // row_bytes + 1
    else:
        line = int(place)
    return max(1, min(line, total))
