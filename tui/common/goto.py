"""Where "go to" leads: reads what a person types there."""

import re
from typing import NamedTuple

_PLACE = r"\d{1,15}|\d{1,3}(?:\.\d{1,6})?\s*%|\$|0x[0-9a-fA-F]{1,12}"
_MEANT = re.compile(rf"\s*(?P<first>{_PLACE})\s*(?P<range>[,-]\s*(?P<last>{_PLACE})?\s*)?")


class Meant(NamedTuple):
    """Lines that a text means.

    Attributes:
        first: the line, or the first of a range.
        last: the last of the range, 0 where it is no range.
    """

    first: int
    last: int = 0


def is_place(text: str) -> bool:
    """Whether a text is written as a place is."""
    return _MEANT.fullmatch(text) is not None


def lines_meant(text: str, total: int, row_bytes: int = 0) -> Meant | None:
    """The lines that a text means, None where it means none.

    Args:
        text: ``42``, ``42,80`` or ``42-80``, ``50%``, ``$``, ``42,`` for "to the end"; in bytes ``0x2a0``.
        total: lines of the output; a larger number means the last line.
        row_bytes: bytes of a row where bytes are shown, 0 where lines are.
    """
    match = _MEANT.fullmatch(text)
    if not match:
        return None
    first = _line(match["first"], total, row_bytes)
    if not match["range"]:
        return None if first is None else Meant(first)
    last = _line(match["last"] or "$", total, row_bytes)
    return None if first is None or last is None else Meant(min(first, last), max(first, last))


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
