"""Escapes in the strings of JSON that has been found valid: where they end, and which stand for what can be read.

An escaped backslash or quote is hidden first, so that every quote left ends a string and every backslash left begins
an escape: one pass of the C library each, whatever the string, where a pattern would repeat a group for each escape.
"""

import re

_BACKSLASH, _QUOTE = b"\0\0", b"\0\1"  # control characters stand in no valid JSON; both are as long as what they hide
_HEX = rb"[0-9a-fA-F]"
_HALF = rb"\\(?:u" + _HEX + rb"{0,3})?"
_CUT_OFF = re.compile(_HALF + rb"\Z|\\u[dD][89abAB]" + _HEX + rb"{2}(?:" + _HALF + rb")?\Z")
_LONGEST_CUT_OFF = len(rb"\ud83d\ude0")
_ESCAPE = re.compile(rb"\\(?:u([dD][89abAB]..)\\u([dD][c-fC-F]..)|u(....)|(.))", re.DOTALL)


def hidden(data: bytes) -> bytes:
    """As long as the data, without escaped backslashes and quotes; the data may begin between any two units."""
    return data.replace(rb"\\", _BACKSLASH).replace(rb"\"", _QUOTE) if b"\\" in data else data


def revealed(data: bytes) -> bytes:
    """What was hidden, as it is written."""
    return data.replace(_BACKSLASH, rb"\\").replace(_QUOTE, rb"\"") if b"\0" in data else data


def whole_units(data: bytes) -> int:
    """How many bytes of a part of a string, hidden, are whole: no escape is cut off there, and no pair of two."""
    end = len(data)
    start = max(end - _LONGEST_CUT_OFF, 0)
    match = _CUT_OFF.search(data, start)
    return match.start() if match else end


def readable(data: bytes) -> bytes:
    """A string, or a part of it, hidden: as it is written, with printable characters for their escapes."""
    return revealed(_ESCAPE.sub(_character, data) if b"\\" in data else data)


def _character(match: re.Match[bytes]) -> bytes:
    high, low, code, char = match.groups()
    if char:
        return b"/" if char == b"/" else match[0]
    if code:
        text = chr(int(code, 16))
        return text.encode() if text.isprintable() and text not in '"\\' else match[0]
    text = chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    return text.encode() if text.isprintable() else match[0]
