"""Hides secrets in a stream as it comes; the result does not depend on how the stream is split.

A rule matches within a line, so a line is held back until its end. A line longer than LINE_BYTES is searched in
overlapping windows of that size: a secret that takes at most OVERLAP_BYTES with its name is found
wherever it lies.
"""

import re

from sightline.light.typing_names import Any
from sightline.redact import keys
from sightline.redact.rules import Match, SecretRules, Spans, across, load_rules, marker, spans_of, wide

LINE_BYTES = 1 << 16
OVERLAP_BYTES = 1 << 14
_BEHIND_BYTES = 1 << 10  # passed on already, for rules that look back

_LEAST_KEY_BYTES = 4  # fewer are not base64
_WIDE_LINE = re.compile(rb"(\0?)((?:[\t\r -~]\0)+[\t\r -~]?)")  # of UTF-16, as far as it stands between newlines


class StreamHider:
    """One stream.

    Attributes:
        count: number of secrets hidden so far.
    """

    def __init__(self, rules: SecretRules) -> None:
        self.count = 0
        self._rules = rules
        self._held = bytearray()  # the line that has no end yet
        self._passed = 0  # bytes at its beginning that were passed on
        self._look = 0  # the earliest of these that may be the name of a later secret
        self._in_key = False  # the line belongs to a private key
        self._key_goes_on = False  # the passed part of the line ends within a key whose lines were joined
        self._key_begun = False  # the passed part of the line has the beginning of a key without its end
        self._key_counted = False
        self._hides_keys = any(rule.name == keys.NAME for rule in rules.rules)

    def feed(self, data: bytes | memoryview) -> bytes:
        """Take the next bytes, and return what can be passed on."""
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
        """Return the last line if it has no end, because the stream has ended."""
        rest, self._held = bytes(self._held), bytearray()
        return self._last(rest) if rest else b""

    def _lines(self, text: bytes) -> bytes:
        in_key = self._in_key or self._key_begun or self._key_goes_on
        if not in_key and not self._rules.own and not (self._hides_keys and keys.may_begin(text)):
            begin, look = self._begin()
            return self._hidden(text, spans_of(self._rules.matches(text, begin, look), text), begin)
        done: list[bytes] = []
        for line in text[:-1].split(b"\n"):
            done += (self._last(self._windows(line, done)), b"\n")
        return b"".join(done)

    def _windows(self, line: bytes, done: list[bytes]) -> bytes:
        """Pass on the beginning of a long line, and keep the rest with what a rule may look back at."""
        while len(line) - self._passed >= LINE_BYTES:
            if self._in_key:
                window = line[:LINE_BYTES]
                end = keys.end(window)
                if end >= 0 or keys.part_of_line(window):
                    done.append(self._end_of_key(window[:end]) if end >= 0 else self._of_key(window))
                    line = line[end if end >= 0 else LINE_BYTES :]
                    continue
            begin, look = self._begin()
            window = line[: begin + LINE_BYTES]
            self._in_key = False
            matches = self._matches(window, begin, look)
            cut, may_name = _cut(matches, begin)
            self._key_goes_on = any(match.rule == keys.NAME and match.start < cut == match.end for match in matches)
            spans = spans_of((match for match in matches if match.start < cut), window)
            done.append(self._hidden(window[:cut], spans, begin))
            self._key_begun = self._begins_key(window[:cut])
            self._passed = min(cut, _BEHIND_BYTES)
            self._look = 0 if may_name else self._passed
            line = line[cut - self._passed :]
        return line

    def _begin(self) -> tuple[int, int]:
        """Return where the rest of a line begins, and the earliest byte for its name; at first, the line's start."""
        begin, self._passed = self._passed, 0
        look, self._look = self._look, 0
        return begin, look

    def _last(self, line: bytes) -> bytes:
        """Return a line, or the rest of it, without its secrets."""
        if self._in_key:
            return self._of_key(line)
        begin, look = self._begin()
        matches = self._matches(line, begin, look)
        self._in_key = self._begins_key(line)
        self._key_begun = self._key_counted = self._key_goes_on = False
        return self._hidden(line, spans_of(matches, line), begin)

    def _matches(self, part: bytes, begin: int, look: int) -> list[Match]:
        """Return the secrets of a part of a line, with one that continues from before."""
        matches = self._rules.matches(part, begin, look)
        if self._key_goes_on and (end := keys.end_of_body(part, begin)) > begin:
            matches.insert(0, Match(begin, begin, end, keys.NAME))
        return matches

    def _begins_key(self, part: bytes) -> bool:
        """Return whether the next line belongs to a private key, by this part of a line and what came before."""
        if not self._hides_keys:
            return False
        part = part.replace(b"\0", b"")  # of UTF-16
        begun = keys.begins(part)
        return (begun >= 0 or self._key_begun) and keys.end(part, max(begun, 0)) < 0

    def _of_key(self, line: bytes) -> bytes:
        """Return a line after a private key's beginning, hidden unless it cannot belong to the key."""
        if b"\0" in line and (parts := _WIDE_LINE.fullmatch(line)):
            hidden = self._of_key(parts[2].replace(b"\0", b""))
            return b"".join((parts[1], wide(hidden)[: 2 * len(hidden) - len(parts[2]) % 2]))
        end = keys.end(line)
        if end < 0 and (span := keys.part_of_line(line)):
            self.count += not self._key_counted
            self._key_counted = True
            return line[: span[0]] + marker(keys.NAME) + line[span[1] :]
        if end < 0 and keys.is_header(line):
            return line
        end = max(end, 0)
        return self._end_of_key(line[:end]) + self._last(line[end:])

    def _end_of_key(self, before: bytes) -> bytes:
        """Hide what stands before a key's end on the same line."""
        self._in_key = False
        text = before.rstrip(keys.CHARACTERS)
        if len(before) - len(text) < _LEAST_KEY_BYTES:
            return before
        self.count += not self._key_counted
        return text + marker(keys.NAME)

    def _hidden(self, line: bytes, spans: Spans, begin: int) -> bytes:
        if not spans:
            return line[begin:]
        self.count += len(spans)
        pieces: list[bytes] = []
        at = begin
        for start, end, name in spans:
            pieces += (line[at:start], marker(name, line[start:end]))
            at = end
        return b"".join((*pieces, line[at:]))


def _cut(matches: list[Match], begin: int) -> tuple[int, bool]:
    """Return where the passed part of a window ends, and whether text before that may name what follows.

    The cut is not within a secret, its name, or secrets that overlap these, but before them all; if nothing would be
    passed on then, it is after them.
    """
    edge = begin + LINE_BYTES - OVERLAP_BYTES
    uncut = across(matches, edge)
    if uncut is None:
        return edge, False
    return (uncut[1], True) if uncut[0] <= begin else (uncut[0], False)


class Redaction:
    """The streams of one capture."""

    def __init__(self, rules: SecretRules) -> None:
        self._rules = rules
        self._streams: dict[str, StreamHider] = {}
        self._in_texts = 0

    @property
    def count(self) -> int:
        """Number of secrets hidden so far."""
        return self._in_texts + sum(stream.count for stream in self._streams.values())

    def feed(self, stream: str, data: bytes | memoryview) -> bytes:
        """Take the next bytes of a stream, and return what can be passed on; held bytes come with later ones."""
        return self._streams.setdefault(stream, StreamHider(self._rules)).feed(data)

    def finish(self) -> dict[str, bytes]:
        """Return what was held back of each stream, because no more will come."""
        return {name: stream.finish() for name, stream in self._streams.items()}

    def text(self, text: str) -> str:
        """Hide the secrets of a whole text, such as a command."""
        hider = StreamHider(self._rules)
        data = text.encode(errors="surrogatepass")
        hidden = hider.feed(data) + hider.finish()
        self._in_texts += hider.count
        return text if not hider.count else _decoded(hidden)

    def value(self, value: Any) -> Any:
        """Hide the secrets in all texts of a request's value, names included; tuples become lists."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return self._members(value)
        return [self.value(one) for one in value] if isinstance(value, list | tuple) else value

    def _members(self, members: dict[Any, Any]) -> dict[Any, Any]:
        hidden: dict[Any, Any] = {}
        for name, value in members.items():
            clean = self.value(value)
            if isinstance(name, str) and isinstance(clean, str):
                told = self.text(f"{name}={clean}")  # a secret may be recognised by its name alone
                clean = told[len(name) + 1 :] if told.startswith(f"{name}=") else clean
            shown = unique = self.text(name) if isinstance(name, str) else name
            number = 1
            while unique in hidden:
                number += 1
                unique = f"{shown} {number}"
            hidden[unique] = clean
        return hidden


def redaction_by(known: bool, patterns: tuple[str, ...]) -> Redaction:
    """Return what hides secrets by the rules that `load_rules` returns for these."""
    return Redaction(load_rules(known, patterns))


def _decoded(data: bytes) -> str:
    try:
        return data.decode(errors="surrogatepass")
    except UnicodeDecodeError:  # a person's pattern has matched a part of a character
        return data.decode(errors="replace")
