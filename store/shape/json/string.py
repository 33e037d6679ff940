"""The text that a JSON string stands for, of any size."""

import json
from collections.abc import Iterable, Iterator

from sightline.shape.json.escapes import hidden, whole_units
from sightline.shape.source import Source

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
