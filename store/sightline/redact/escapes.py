"""Takes the escape codes of colours out of a text, and maps its bytes back to the original."""

import re
from bisect import bisect_right

from sightline.light.named_tuple import NamedTuple

_ESCAPE = re.compile(
    rb"(?:\x1b|\\{1,4}(?:u001[bB]|x1[bB]|033|e))"  # as itself, and as JSON and programs spell it
    rb"(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\([AB0]|\][^\x07\x1b\\\n]{0,512}(?:\x07|\x1b\\))"
)
_SPELLED = (b"\\u001b", b"\\u001B", b"\\x1b", b"\\x1B", b"\\033[", b"\\e[")


class Plain(NamedTuple):
    """A text without its escape codes.

    Attributes:
        text: the remaining text.
        places: where in it codes were taken out.
        taken: number of bytes taken out up to and at each of these.
    """

    text: bytes
    places: list[int]
    taken: list[int]

    def origin(self, at: int) -> int:
        """Return where a byte of the text stands in the original."""
        index = bisect_right(self.places, at)
        return at + (self.taken[index - 1] if index else 0)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the text, which is not empty, stands in the original."""
        return self.origin(start), self.origin(end - 1) + 1


def without_escapes(text: bytes) -> Plain | None:
    """Return the text without escape codes; None if it has none."""
    if b"\x1b" not in text and (b"\\" not in text or not any(sign in text for sign in _SPELLED)):
        return None
    pieces, places, taken = list[bytes](), list[int](), list[int]()
    at = out = 0
    for match in _ESCAPE.finditer(text):
        start, end = match.span()
        pieces.append(text[at:start])
        out += start - at
        if places and places[-1] == out:
            taken[-1] = end - out
        else:
            places.append(out)
            taken.append(end - out)
        at = end
    return Plain(b"".join((*pieces, text[at:])), places, taken) if places else None
