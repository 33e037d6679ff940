"""Makes any text safe for a screen: what a terminal would obey, hide or reorder becomes something to read.

No output, command, label or name reaches the terminal in another way.
"""

import re

from sightline.light.named_tuple import NamedTuple
from sightline.shape.invisible_characters import HIDING, JOINING

_C0_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}
_UNSEEN = (
    "\x00-\x1f\x7f-\x9f"  # C0, DEL and C1: what terminals obey
    f"{HIDING}\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f"
    "\u2028\u2029"  # line and paragraph separators
    "\ud800-\udfff"  # surrogates, which cannot be written
)
_HIDDEN = re.compile(f"(?!{JOINING})[{_UNSEEN}]")
"""What is shown as a mark. Joiners between letters count, too, although `invisible` keeps them for emoji."""

_EMOJI_STYLE = re.compile("(?<![\ufe00-\ufe0f])[\ufe0e\ufe0f]")
"""A lone variation selector asks for the emoji or text form; it is dropped, as terminals disagree on its width."""

_ESCAPED_BYTES = range(0xDC80, 0xDD00)  # how "surrogateescape" writes bytes that are not UTF-8

TAB_STOP = 8
_LONE_CONTROLS = re.compile(rb"[\x00-\x06\x0b\x0c\x0e-\x17\x19\x1c-\x1f\x7f]")
"""Control characters outside escape sequences."""


class TextPiece(NamedTuple):
    """A run of text, and whether it is a mark for something that cannot be shown as itself."""

    text: str
    marked: bool


def visible(text: str) -> str:
    """Write one line of text with marks for controls and unseen characters: ``␛``, ``‹U+202E›``."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(_picture, _EMOJI_STYLE.sub("", text))


def title(text: str) -> str:
    """Write a command, label or name as one line: as `visible` does, with ``↵`` for line breaks and spaces for tabs."""
    if text.isascii() and text.isprintable():
        return text
    return visible(text.strip().replace("\r\n", "\n").replace("\n", "↵").replace("\t", " "))


def pieces(text: str) -> list[TextPiece]:
    """Split text as `visible` writes it, so that its marks can be coloured. Tabs are left to the caller."""
    if text.isascii() and text.isprintable():
        return [TextPiece(text, False)] if text else []
    text = _EMOJI_STYLE.sub("", text)
    found, position = list[TextPiece](), 0
    for match in _HIDDEN.finditer(text):
        if match[0] == "\t":
            continue
        if match.start() > position:
            found.append(TextPiece(text[position : match.start()], False))
        found.append(TextPiece(_picture(match), True))
        position = match.end()
    if position < len(text):
        found.append(TextPiece(text[position:], False))
    return found


def lone_controls_shown(data: bytes) -> bytes:
    """Replace stray control characters (NUL, form feed …) of a raw line by pictures, so that cleaning keeps them."""
    if not _LONE_CONTROLS.search(data):
        return data
    return _LONE_CONTROLS.sub(lambda match: _C0_PICTURES[match[0][0]].encode(), data)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code in _ESCAPED_BYTES:
        return f"‹x{code - 0xDC00:02X}›"
    return _C0_PICTURES.get(code) or f"‹U+{code:04X}›"
