"""Strings of JSON that has been found valid, as bytes of any size: where their escapes end, and what they stand for.

An escaped backslash or quote is hidden first, so that every quote left ends a string and every backslash left begins
an escape: one pass of the C library each, whatever the string, where a pattern would repeat a group for each escape.
"""

import json
import re
from collections.abc import Iterable, Iterator

from sightline.shape.source import Source

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


_READ_BYTES = 1 << 20


def string_text(source: Source, start: int, end: int) -> Iterator[bytes]:
    """The UTF-8 of a string in pieces; half a surrogate pair, and bytes that are no UTF-8, stay as they are written.

    Args:
        source: the JSON.
        start: offset of its opening quote.
        end: past its closing quote.
    """
    at, held = start + 1, b""
    while at < end - 1:
        data = held + source.read(at, min(_READ_BYTES, end - 1 - at))
        at += len(data) - len(held)
        cut = len(data) if at >= end - 1 else whole_units(hidden(data))
        held = data[cut:]
        yield _text(data[:cut])


def text_size(chunks: Iterable[bytes], unit: str) -> int:
    """The size of a text: ``bytes`` of its UTF-8, or ``utf-16`` code units; never more than it has bytes as JSON.

    Args:
        chunks: its UTF-8, in pieces that may end within a character.
        unit: which of the two.
    """
    if unit == "bytes":
        return sum(map(len, chunks))
    return sum(len(data.translate(None, _CONTINUING)) + len(data.translate(None, _NOT_OF_PAIRS)) for data in chunks)


_CONTINUING = bytes(range(0x80, 0xC0))  # all bytes of a character but its first
_NOT_OF_PAIRS = bytes({*range(256)} - {*range(0xF0, 0xF8)})  # a character of four bytes is a surrogate pair


def _text(written: bytes) -> bytes:
    if b"\\" not in written:
        return written
    text: str = json.loads(b'"%s"' % written if written.isascii() else f'"{written.decode(errors="surrogateescape")}"')
    return b"".join(map(_encoded, text)) if not _is_plain(text) else text.encode()


def _is_plain(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _encoded(char: str) -> bytes:
    if "\udc80" <= char <= "\udcff":
        return char.encode(errors="surrogateescape")
    return char.encode(errors="backslashreplace")


_NOT_ASCII = re.compile(r"[\x80-\xff]+")


def read_key(text: str) -> str:
    """A key whose UTF-8 was read as latin-1, fit for a line: long ones are cut, breaks are spaces."""
    text = _NOT_ASCII.sub(lambda match: _utf8(match[0]), text)
    text = " ".join(text.split())
    return text if len(text) <= _KEY_CHARACTERS else text[:_KEY_CHARACTERS] + "…"


_KEY_CHARACTERS = 60


def _utf8(text: str) -> str:
    try:
        return text.encode("latin-1").decode()
    except UnicodeDecodeError:
        return text  # it was spelled as an escape
