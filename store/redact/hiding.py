"""Hides secrets in a stream while it comes: however it is split, the same bytes come out.

A rule is found within a line, so what is kept back is the line that has no end yet. A longer line than LINE_BYTES is
looked at in windows of that size, which overlap: a secret of up to OVERLAP_BYTES is found wherever it lies.
"""

import re
from typing import Any

from sightline.store.redact.rules import Rules, Spans, marker

LINE_BYTES = 1 << 16
OVERLAP_BYTES = 1 << 14
_BEHIND_BYTES = 1 << 10  # that were passed on, and a rule may look back at

_PRIVATE_KEY = b"private-key"
_KEY_BEGINS = re.compile(rb"-----BEGIN [0-9A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = b"-----END "
_KEY_LINE = re.compile(
    rb"(?:[^\s:]{1,200}:)?(?:\s{0,16}[0-9]{1,9}[\t :|-])?[^0-9A-Za-z+/=]{0,16}"  # what grep, nl or an indent put before
    rb"([0-9A-Za-z+/=]+)"
    rb"(?:\\+[nr]){0,2}[\s\"',;+\\)]{0,8}"
)
_KEY_HEADER = re.compile(rb".{0,200}\b(?:Proc-Type|DEK-Info|Version|Comment|Hash): .{0,200}|\W{0,16}", re.DOTALL)


class StreamHider:
    """One stream.

    Attributes:
        count: secrets hidden so far.
    """

    def __init__(self, rules: Rules) -> None:
        self.count = 0
        self._rules = rules
        self._held = bytearray()  # of the line that has no end yet
        self._passed = 0  # bytes at the beginning of that which were passed on
        self._in_key = False
        self._key_counted = False
        self._hides_keys = any(rule.name == _PRIVATE_KEY for rule in rules.rules)

    def feed(self, data: bytes | memoryview) -> bytes:
        """Take the next bytes; what can be passed on."""
        before = len(self._held)
        self._held += data
        end = self._held.rfind(b"\n", before) + 1
        if not end and len(self._held) - self._passed < LINE_BYTES:
            return b""
        whole, rest = bytes(self._held[:end]), bytes(self._held[end:])
        done = [self._lines(whole)] if whole else []
        rest = self._windows(rest, done)
        self._held = bytearray(rest)
        return b"".join(done)

    def finish(self) -> bytes:
        """The stream has ended: the last line, where it has no end."""
        rest, self._held = bytes(self._held), bytearray()
        return self._last(rest) if rest else b""

    def _lines(self, text: bytes) -> bytes:
        if not self._in_key and not self._rules.can_match(text):
            begin, self._passed = self._passed, 0
            return text[begin:]
        done: list[bytes] = []
        for line in text[:-1].split(b"\n"):
            done += (self._last(self._windows(line, done)), b"\n")
        return b"".join(done)

    def _windows(self, line: bytes, done: list[bytes]) -> bytes:
        """Pass the beginning of a long line on; the rest of it, and before that what a rule may look back at."""
        while len(line) - self._passed >= LINE_BYTES:
            begin = self._passed
            window = line[: begin + LINE_BYTES]
            self._in_key = False
            spans, cut = self._cut(window, begin)
            done.append(self._hidden(window[:cut], spans, begin))
            self._passed = min(cut, _BEHIND_BYTES)
            line = line[cut - self._passed :]
        return line

    def _cut(self, window: bytes, begin: int) -> tuple[Spans, int]:
        """What is hidden of the part of a window that is passed on, and where that ends.

        Not between a secret and what it is told by; nor may what is hidden beside it take that along.
        """
        found, edge = self._rules.spans(window, begin), len(window) - OVERLAP_BYTES
        while True:
            across = self._rules.begin_across(window, begin, edge)
            edge = across if across > begin else edge
            spans = [span for span in found if span[0] < edge]
            cut = max(edge, spans[-1][1] if spans else 0)
            if cut == edge or spans[-1][0] <= begin or self._rules.begin_across(window, begin, cut) == cut:
                return spans, cut
            edge = spans[-1][0]

    def _last(self, line: bytes) -> bytes:
        """A line, or what is left of it."""
        begin, self._passed = self._passed, 0
        if self._in_key:
            return self._of_key(line)
        if not self._rules.can_match(line):
            return line[begin:]
        begins = _KEY_BEGINS.search(line, begin) if self._hides_keys else None
        self._in_key = begins is not None and _KEY_ENDS not in line[begins.end() :]
        self._key_counted = False
        return self._hidden(line, self._rules.spans(line, begin), begin)

    def _of_key(self, line: bytes) -> bytes:
        """A line after that with which a private key begins, until one that cannot be of the key."""
        if match := _KEY_LINE.fullmatch(line):
            self.count += not self._key_counted
            self._key_counted = True
            return line[: match.start(1)] + marker(_PRIVATE_KEY) + line[match.end(1) :]
        if _KEY_HEADER.fullmatch(line):
            return line
        self._in_key = False
        return self._last(line)

    def _hidden(self, line: bytes, spans: Spans, begin: int) -> bytes:
        if not spans:
            return line[begin:]
        self.count += len(spans)
        pieces: list[bytes] = []
        at = begin
        for start, end, name in spans:
            pieces += (line[at:start], marker(name))
            at = end
        return b"".join((*pieces, line[at:]))


class Redaction:
    """The streams of one capture."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._streams: dict[str, StreamHider] = {}
        self._in_texts = 0

    @property
    def count(self) -> int:
        """Secrets hidden so far."""
        return self._in_texts + sum(stream.count for stream in self._streams.values())

    def feed(self, stream: str, data: bytes | memoryview) -> bytes:
        """Take the next bytes of a stream; what can be passed on: what is kept back comes with what follows it."""
        return self._streams.setdefault(stream, StreamHider(self._rules)).feed(data)

    def finish(self) -> dict[str, bytes]:
        """No more will come of the streams so far: what was kept back of each."""
        return {name: stream.finish() for name, stream in self._streams.items()}

    def text(self, text: str) -> str:
        """A whole text of its own, such as a command."""
        hider = StreamHider(self._rules)
        data = text.encode(errors="surrogatepass")
        hidden = hider.feed(data) + hider.finish()
        self._in_texts += hider.count
        return text if not hider.count else _decoded(hidden)

    def value(self, value: Any) -> Any:
        """A request's value, of any depth: its texts hidden, and tuples as lists."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {name: self.value(one) for name, one in value.items()}
        return [self.value(one) for one in value] if isinstance(value, list | tuple) else value


def _decoded(data: bytes) -> str:
    try:
        return data.decode(errors="surrogatepass")
    except UnicodeDecodeError:  # a person's pattern has matched a part of a character
        return data.decode(errors="replace")
