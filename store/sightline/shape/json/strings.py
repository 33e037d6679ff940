"""Reads strings of valid JSON, as bytes of any size: where their escapes end, and what they stand for.

Escaped backslashes and quotes are hidden first, so that every remaining quote ends a string and every remaining
backslash begins an escape. That takes one pass of the C library each; a pattern would repeat a group per escape.
"""

import re
from collections.abc import Iterable, Iterator

from sightline.light.json_text import loads
from sightline.shape.source import Source

_BACKSLASH, _QUOTE = b"\0\0", b"\0\1"  # valid JSON has no such control characters; both are as long as what they hide
_HEX = rb"[0-9a-fA-F]"
_HALF = rb"\\(?:u" + _HEX + rb"{0,3})?"
_CUT_OFF = re.compile(_HALF + rb"\Z|\\u[dD][89abAB]" + _HEX + rb"{2}(?:" + _HALF + rb")?\Z")
_LONGEST_CUT_OFF = len(rb"\ud83d\ude0")
_ESCAPE = re.compile(rb"\\(?:u([dD][89abAB]..)\\u([dD][c-fC-F]..)|u(....)|(.))", re.DOTALL)


def hidden(data: bytes) -> bytes:
    """Return the data in the same length without escaped backslashes and quotes; it may begin between any two units."""
    return data.replace(rb"\\", _BACKSLASH).replace(rb"\"", _QUOTE) if b"\\" in data else data


def revealed(data: bytes) -> bytes:
    """Return hidden data as it was written."""
    return data.replace(_BACKSLASH, rb"\\").replace(_QUOTE, rb"\"") if b"\0" in data else data


def whole_units(data: bytes) -> int:
    """Return how many bytes of a part of a string, hidden, are complete: no escape is cut there, and no pair of two."""
    end = len(data)
    start = max(end - _LONGEST_CUT_OFF, 0)
    match = _CUT_OFF.search(data, start)
    return match.start() if match else end


def readable(data: bytes) -> bytes:
    """Return a string, or a part of it, hidden, as written, with printable characters in place of their escapes."""
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
    """Yield the UTF-8 of a string in pieces; half a surrogate pair, and bytes that are not UTF-8, stay as written.

    Args:
        source: the JSON.
        start: offset of its opening quote.
        end: offset past its closing quote.
    """
    at, held = start + 1, b""
    while at < end - 1:
        data = held + source.read(at, min(_READ_BYTES, end - 1 - at))
        at += len(data) - len(held)
        cut = len(data) if at >= end - 1 else whole_units(hidden(data))
        held = data[cut:]
        yield _text(data[:cut])


def written_text(written: bytes) -> bytes:
    """Return the UTF-8 that a part of a string stands for, in which no escape is cut; see `string_text`."""
    return _text(written)


def text_size(chunks: Iterable[bytes], unit: str) -> int:
    """Return the size of a text in ``bytes`` of UTF-8, or ``utf-16`` code units; it never exceeds its bytes in JSON.

    Args:
        chunks: its UTF-8, in pieces that may end within a character.
        unit: ``bytes`` or ``utf-16``.
    """
    if unit == "bytes":
        return sum(map(len, chunks))
    return sum(len(data.translate(None, _CONTINUING)) + len(data.translate(None, _NOT_OF_PAIRS)) for data in chunks)


_CONTINUING = bytes(range(0x80, 0xC0))  # all bytes that can continue a character
_NOT_OF_PAIRS = bytes({*range(256)} - {*range(0xF0, 0xF8)})  # a character of four bytes is a surrogate pair


def _text(written: bytes) -> bytes:
    if b"\\" not in written:
        return written
    text: str = loads(b'"%s"' % written if written.isascii() else f'"{written.decode(errors="surrogateescape")}"')
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
    """Return a key whose UTF-8 was read as latin-1, fit for a line: cut if it is long, with spaces for line breaks."""
    text = _NOT_ASCII.sub(lambda match: _utf8(match[0]), text)
    text = " ".join(text.split())
    return text if len(text) <= _KEY_CHARACTERS else text[:_KEY_CHARACTERS] + "…"


_KEY_CHARACTERS = 60


def _utf8(text: str) -> str:
    try:
        return text.encode("latin-1").decode()
    except UnicodeDecodeError:
        return text  # it was spelled as an escape
