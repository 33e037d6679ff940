"""Writes JSON as lines: a member, element or bracket on each, indented by two spaces; deterministic, and of any size.

It works on tokens, where the scanner finds places: its input is known to be valid, and comes in pieces as read.
Numbers, the order of keys and repeated keys stay as they are written; only escapes of printable characters are
replaced by these characters, so that a search finds them.
"""

import re
from collections.abc import Generator, Iterable, Iterator

from sightline.shape.json.strings import hidden, readable, revealed, whole_units

INDENT_LEVELS = 64  # deeper lines are indented no further, since thousands of levels would make megabytes of spaces
_STEP_BYTES = 64  # grain of the answer to which part of a text stands in a part of its pretty form
LONG_STRING_BYTES = 1 << 16  # an unfinished string longer than this is passed on as it comes
_BOM = b"\xef\xbb\xbf"
_SPACE = rb"[ \t\n\r]*"
_TOKEN = re.compile(
    rb'"[^"]*(?:"(?:' + _SPACE + rb"[:,])?)?"
    rb"|[{\[:,]|[}\]](?:" + _SPACE + rb',)?|[^\s{}\[\],:"]+(?:' + _SPACE + rb",)?"
)
_WHOLE = re.compile(rb'"[^"]*".*|[{}\[\],:].*|[^"].*,', re.DOTALL)


def pretty(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pretty form of JSON that is known to be valid, in pieces, with a final newline.

    Args:
        chunks: the JSON, cut anywhere.
    """
    writer = _Writer()
    start = yield from _written(writer, chunks)
    yield writer.write(start if writer.is_new else b"", is_end=True) + b"\n"


def pretty_size(chunks: Iterable[bytes]) -> int:
    """Return the size of the pretty form of a JSON text's beginning, whatever follows it.

    Args:
        chunks: the beginning, cut anywhere.
    """
    writer = _Writer()
    return sum(map(len, _written(writer, chunks))) + len(writer.begun)


def _written(writer: "_Writer", chunks: Iterable[bytes]) -> Generator[bytes, None, bytes]:
    """Yield what a writer makes of chunks but for a byte order mark; return the bytes that it may begin with."""
    start = b""
    for chunk in chunks:
        if writer.is_new:
            start += chunk
            if len(start) < len(_BOM):
                continue
            chunk = start.removeprefix(_BOM)
        yield writer.write(chunk)
    return start


def raw_size(chunks: Iterable[bytes], room: int) -> int:
    """Return how many bytes of a JSON text stand, at least, in the first bytes of its pretty form.

    Args:
        chunks: the text, cut anywhere.
        room: number of those first bytes.
    """
    writer = _Writer()
    size = made = 0
    for chunk in chunks:
        for at in range(0, len(chunk), _STEP_BYTES):
            piece = chunk[at : at + _STEP_BYTES]
            made += len(writer.write(piece))
            if made + len(writer.begun) > room:
                return size
            size += len(piece)
    return size


class _Writer:
    def __init__(self) -> None:
        self.is_new = True
        self._held = b""  # the last token, while it may go on
        self._in_string = False  # and its beginning has been passed on
        self._depth = 0
        self._opened = False

    def write(self, data: bytes, *, is_end: bool = False) -> bytes:
        """Return the pretty form of the next bytes, as far as it is certain."""
        self.is_new = False
        data = self._held + data
        self._held = b""
        has_escapes = b"\\" in data
        data = hidden(data)
        out: list[bytes] = []
        if self._in_string:
            data = self._go_on(data, out)
        tokens = _TOKEN.findall(data)
        unended = b""
        if tokens and not is_end and not _WHOLE.fullmatch(tokens[-1]):
            unended = tokens.pop()
            if not unended.startswith(b'"') or len(unended) <= LONG_STRING_BYTES:
                self._held, unended = revealed(unended), b""
        self._write_tokens(tokens, out, has_escapes)
        if unended:
            if self._opened:
                self._opened = False
                out.append(_line(self._depth))
            self._in_string = True
            out.append(b'"')
            self._go_on(unended[1:], out)
        return b"".join(out)

    @property
    def begun(self) -> bytes:
        """Return the form of the unfinished token so far, which is not passed on yet."""
        if self._in_string or not self._held:
            return b""
        begun = _line(self._depth) if self._opened else b""
        if self._held.startswith(b'"'):
            text = hidden(self._held[1:])
            return begun + b'"' + readable(text[: whole_units(text)])
        return begun + self._held.rstrip(b", \t\n\r")

    def _go_on(self, data: bytes, out: list[bytes]) -> bytes:
        """Pass on more of a long string, hidden, and return what follows it."""
        end = data.find(_QUOTE)
        if end >= 0:
            self._in_string = False
            out.append(readable(data[:end]) + b'"')
            return data[end + 1 :]
        end = whole_units(data)
        out.append(readable(data[:end]))
        self._held = revealed(data[end:])
        return b""

    def _write_tokens(self, tokens: list[bytes], out: list[bytes], has_escapes: bool) -> None:
        add, depth, opened = out.append, self._depth, self._opened
        line = _line(depth)
        for token in tokens:
            char = token[0]
            if char in _OPENING:
                add(line + token if opened else token)
                depth += 1
                line = _line(depth)
                opened = True
                continue
            if char in _CLOSING:
                depth -= 1
                line = _line(depth)
                add(token[:1] if opened else line + token[:1])
            elif char == _QUOTE:
                end = token.rindex(b'"') + 1
                string = readable(token[:end]) if has_escapes else token[:end]
                add(line + string if opened else string)
            elif char not in _BETWEEN:
                word = token.rstrip(b", \t\n\r")
                add(line + word if opened else word)
            opened = False
            last = token[-1]
            if last == _COMMA:
                add(b",")
                add(line)
            elif last == _COLON:
                add(b": ")
        self._depth, self._opened = depth, opened


_OPENING, _CLOSING, _BETWEEN = frozenset(b"{["), frozenset(b"}]"), frozenset(b",:")
_QUOTE, _COMMA, _COLON = b'",:'


def _line(depth: int) -> bytes:
    return _LINES[min(depth, INDENT_LEVELS)]


_LINES = [b"\n" + b"  " * depth for depth in range(INDENT_LEVELS + 1)]
