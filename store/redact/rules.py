"""What is taken for a secret: well-known formats, as data, and a person's own regular expressions."""

import re
from collections import deque
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import NamedTuple

Spans = list[tuple[int, int, bytes]]
"""Places in a line that are hidden, in order and apart from each other: (start, end, name of the rule)."""

_EDGE = r"(?:(?<![0-9A-Za-z])|(?<=\\[bfnrt])|(?<=\\u00[0-9A-Fa-f]{2})|(?<=\x1b\[m)|(?<=[0-9]m))"
"""Where a word begins in raw output: a letter before it may be the end of an escape."""

_MARKER = re.compile(rb"\[redacted: [ 0-9a-z-]{1,40}\]")


class Rule(NamedTuple):
    """One kind of secret.

    Attributes:
        name: what stands in the place of what it hides.
        pattern: found within a line; where it has a group, only that is hidden.
        words: literals of which each match has one; none where that is not known.
    """

    name: bytes
    pattern: re.Pattern[bytes]
    words: tuple[bytes, ...] = ()


class Match(NamedTuple):
    """A secret in a line.

    Attributes:
        named: where it, or what it is told by, begins.
        start: where it begins itself, end where it ends.
        rule: name of the rule.
    """

    named: int
    start: int
    end: int
    rule: bytes


class Rules:
    """The rules that are on."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self._always = [rule for rule in self.rules if not rule.words]
        self._by_word: dict[bytes, list[Rule]] = {}
        for rule in self.rules:
            for word in rule.words:
                self._by_word.setdefault(word, []).append(rule)
        words = b"|".join(re.escape(word) for word in sorted(self._by_word, key=len, reverse=True))
        self._glance = re.compile(words) if words else None
        self._words = re.compile(b"(?=(" + words + b"))")  # at each place, since words may overlap

    def can_match(self, text: bytes) -> bool:
        """Whether there may be a match; False is sure."""
        return bool(self._always) or (self._glance is not None and self._glance.search(text) is not None)

    def _possible(self, line: bytes) -> Iterable[Rule]:
        """The rules that may match: of most lines none, of nearly all others one."""
        if self._glance is None or not self._glance.search(line):
            return self._always
        found = {rule.name: rule for word in set(self._words.findall(line)) for rule in self._by_word[word]}
        return [*self._always, *found.values()]

    def matches(self, line: bytes, begin: int = 0, look: int = 0) -> list[Match]:
        """The secrets of a line from a byte on, in order of where they are named.

        Args:
            line: the line.
            begin: what stands before was passed on.
            look: where names are looked for from.
        """
        return sorted(
            Match(max(min(match.start(), start), begin), max(start, begin), end, rule.name)
            for rule in self._possible(line)
            for match in rule.pattern.finditer(line, look)
            for start, end in (match.span(1 if rule.pattern.groups else 0),)  # it may look back at its group
            if max(start, begin) < end
        )


def spans_of(matches: Iterable[Match], line: bytes) -> Spans:
    """What is to be hidden of a line. What was hidden before stays as it is."""
    joined: Spans = []
    for start, end, name in sorted((match.start, match.end, match.rule) for match in matches):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end), joined[-1][2])
        else:
            joined.append((start, end, name))
    return _without_markers(joined, line) if joined and b"[redacted: " in line else joined


def across(matches: Iterable[Match], edge: int) -> tuple[int, int] | None:
    """From where to where an edge cannot be cut at: in a secret, its name, or others that overlap these."""
    begin = end = -1
    for match in matches:
        if match.named >= end:
            if match.named >= edge:
                break
            begin = match.named
        end = max(end, match.end)
    return (begin, end) if end > edge else None


def _without_markers(spans: Spans, line: bytes) -> Spans:
    left: Spans = []
    markers = deque(match.span() for match in _MARKER.finditer(line))
    for start, end, name in spans:
        while markers and markers[0][0] < end:
            if markers[0][1] > start:
                if start < markers[0][0]:
                    left.append((start, markers[0][0], name))
                start = markers[0][1]
            if markers[0][1] > end:
                break  # the next one may begin in it, too
            markers.popleft()
        if start < end:
            left.append((start, end, name))
    return left


def marker(name: bytes) -> bytes:
    """What stands in the place of a secret; as it is in JSON, too."""
    return b"[redacted: " + name + b"]"


@cache
def load_rules(known: bool, patterns: tuple[str, ...]) -> Rules:
    """The rules: the well-known formats, and regular expressions of a person's, which `check_pattern` has passed."""
    rules = list(_known()) if known else []
    rules += [Rule(b"pattern %d" % number, _compiled(pattern)) for number, pattern in enumerate(patterns, start=1)]
    return Rules(rules)


def _known() -> list[Rule]:
    import tomllib

    data = tomllib.loads(resources.files(__package__).joinpath("tokens.toml").read_text(encoding="utf-8"))
    return [
        Rule(name.encode(), _compiled(rule["match"].replace("<edge>", _EDGE)), tuple(map(str.encode, rule["words"])))
        for name, rule in data.items()
    ]


def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


def check_pattern(pattern: str) -> str:
    """What is wrong with a person's regular expression; empty if nothing is."""
    try:
        compiled = _compiled(pattern)
    except (re.error, UnicodeEncodeError) as error:
        return f"no regular expression: {error}"
    return "it matches nothing at all, so it would be everywhere" if compiled.search(b"") else ""
