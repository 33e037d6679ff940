"""What is taken for a secret: well-known formats, as data, and a person's own regular expressions."""

import re
import tomllib
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from importlib import resources
from operator import itemgetter

from ahocorasick_rs import BytesAhoCorasick, Implementation

from sightline.named_tuple import NamedTuple
from sightline.redact import keys
from sightline.redact.escapes import Plain, without_escapes

Spans = list[tuple[int, int, bytes]]
"""Places in a line that are hidden, in order and apart from each other: (start, end, name of the rule)."""

_EDGE = r"(?:(?<![0-9A-Za-z]%s)|(?<=\\[bfnrt]%s)|(?<=\\u00[0-9A-Fa-f]{2}%s)|(?<=\x1b\[m%s)|(?<=[0-9]m%s))"
_PARTS = {
    # where a word begins in raw output: a letter before it may be the end of an escape
    "<edge>": _EDGE.replace("%s", ""),
    # a word that begins there, which is far sooner found than its edge
    "<eyJ>": "eyJ" + _EDGE.replace("%s", "eyJ"),
    # between a name and its value: also in JSON within JSON, in XML and in tables
    "<is>": r"(?:\\{0,7}[\"'`])?[ \t]{0,32}(?:=>|:=|[:=>|])[ \t]{0,32}(?:\\{0,7}[\"'`])?",
    # no value that only says what should stand there
    "<no-stand-in>": r"(?!(?i:(?:your|my|the|a|an|some|new|old|test|dummy|fake|sample|example|placeholder|access|api|"
    r"auth|bearer|basic|id|jwt|user|undefined|null|none|nil|true|false|required|missing|invalid|expired|empty|not|"
    r"scheme|realm|headers?|authentication|authorization|authenticated|authorized|credentials?|tokens?|keys?|secrets?|"
    r"passwords?|here|value|string|changeme|hidden)(?:[-_.]|(?![0-9A-Za-z._~+/=-]))){1,8}(?![0-9A-Za-z._~+/=-]))",
    # no path of words, such as com/example/SessionToken
    "<no-path>": r"(?!/?[a-z]{0,30}(?:[A-Z][a-z]{1,30}){0,8}[0-9]{0,3}"
    r"(?:/[a-z]{0,30}(?:[A-Z][a-z]{1,30}){0,8}[0-9]{0,3}){1,40}(?![0-9A-Za-z/+=]))",
    "<key-body>": keys.BODY.decode(),
}

_AT_EDGE = "<edge>"
_EDGE_HERE = re.compile(_PARTS[_AT_EDGE].encode())
# Where a word stands once in so many bytes or oftener, its pattern is sought sooner than tried at each of the words:
# 0.5 to 10 ns a byte, and 0.3 µs each (the patterns of tokens.toml, CPython 3.11).
_FREQUENT_BYTES = 128
_FREQUENT_LEAST_BYTES = 4096  # of a text: a shorter one does not tell what is frequent
_MARKER = re.compile(rb"\[redacted: [ 0-9a-z-]{1,40}\]")


class Rule:
    """One kind of secret.

    Attributes:
        name: what stands in the place of what it hides.
        pattern: found within a line; where it has a group, only that is hidden.
        words: literals of which each match has one; none where that is not known.
        begins: whether each match begins with one of them.
    """

    def __init__(self, name: bytes, pattern: str, words: tuple[bytes, ...] = (), *, begins: bool = False) -> None:
        self.name = name
        self.words = words
        self.begins = begins
        self._at_edge = begins and pattern.startswith(_AT_EDGE)
        self._pattern = pattern.removeprefix(_AT_EDGE) if self._at_edge else pattern

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """Made when a text first has one of its words: few of many are ever needed."""
        pattern = self._pattern
        if self.words:
            words = f"(?:{'|'.join(re.escape(word.decode()) for word in self.words)})"
            for name, part in (("<words>", words), *_PARTS.items()):
                pattern = pattern.replace(name, part)
        return re.compile(pattern.encode())

    def is_frequent(self, text: bytes) -> bool:
        """Whether a text has its words so often that the pattern is faster sought in it than tried at each of them."""
        return self.begins and any(text.count(word) * _FREQUENT_BYTES > len(text) for word in self.words)

    def match_at(self, text: bytes, at: int) -> re.Match[bytes] | None:
        """The match that begins at one of the words."""
        match = self.pattern.match(text, at)
        return match if match and self._may_begin(text, at) else None  # in this order: most words begin nothing

    def search(self, text: bytes, look: int) -> Iterator[re.Match[bytes]]:
        """The same matches as those that begin at its words, without a look at each of the words."""
        while match := self.pattern.search(text, look):
            begins = text.startswith(self.words, match.start()) and self._may_begin(text, match.start())
            if begins:
                yield match
            look = match.end() if begins else match.start() + 1

    def _may_begin(self, text: bytes, at: int) -> bool:
        """Whether what the pattern matches at a place stands where it has to."""
        return not self._at_edge or _EDGE_HERE.match(text, at) is not None


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
        self.own = [rule for rule in self.rules if not rule.words]
        """Those that are looked for in every line, each by itself."""
        self._plan = _Plan.without((), self.rules)

    def matches(self, text: bytes, begin: int = 0, look: int = 0) -> list[Match]:
        """The secrets of a text from a byte on, in order of where they are named.

        Args:
            text: a line; where no rule is a person's own, any number of lines.
            begin: what stands before was passed on.
            look: where names are looked for from.
        """
        found = list(self._found(text, look))
        if plain := without_escapes(text):
            found += self._joined(plain, look)
        return sorted(
            Match(max(min(named, start), begin), max(start, begin), end, rule)
            for named, start, end, rule in found
            if max(start, begin) < end
        )

    def _joined(self, plain: Plain, look: int) -> Iterator[Match]:
        """What shows once escape codes are taken out."""
        for named, start, end, rule in self._found(plain.text, 0):
            if start < end and (origin := plain.origin(min(named, start))) >= look:
                yield Match(origin, *plain.span(start, end), rule)

    def _found(self, text: bytes, look: int) -> Iterator[Match]:
        plan = self._plan_for(text)
        for rule in plan.frequent:
            for match in rule.search(text, look):
                yield _match(rule, match)
        hits = plan.words.find_matches_as_indexes(text, overlapping=True)
        hits.sort(key=itemgetter(1))  # they came by their ends
        if len(hits) * _FREQUENT_BYTES > len(text) >= _FREQUENT_LEAST_BYTES:
            self._learn(plan, text, hits)
        ended: dict[bytes, int] = {}
        for at, start, _ in hits:
            rule = plan.rule_of[at]
            if start < look or (ended and start < ended.get(rule.name, 0)):
                continue
            if rule.begins:
                if found := rule.match_at(text, start):
                    ended[rule.name] = found.end()
                    yield _match(rule, found)
                continue
            line_start = max(text.rfind(b"\n", 0, start) + 1, look)
            line_end = text.find(b"\n", start)
            ended[rule.name] = line_end = len(text) if line_end < 0 else line_end
            for match in rule.pattern.finditer(text, line_start, line_end):
                yield _match(rule, match)
        for rule in self.own:
            for match in rule.pattern.finditer(text, look):
                yield _match(rule, match)

    def _plan_for(self, text: bytes) -> "_Plan":
        """How a text is gone through: as the one before it, but for the rules whose words are no longer frequent."""
        plan = self._plan
        frequent = tuple(rule for rule in plan.frequent if rule.is_frequent(text))
        if frequent != plan.frequent:
            self._plan = plan = _Plan.without(frequent, self.rules)
        return plan

    def _learn(self, plan: "_Plan", text: bytes, hits: list[tuple[int, int, int]]) -> None:
        """Seek from the next text on by their patterns the rules whose words are frequent in this one."""
        frequent = [rule for rule in {plan.rule_of[at] for at, _, _ in hits} if rule.is_frequent(text)]
        if frequent:
            self._plan = _Plan.without((*plan.frequent, *frequent), self.rules)


class _Plan(NamedTuple):
    """How a text is gone through; whichever is taken, the same is found.

    Attributes:
        frequent: rules that are sought by their patterns.
        words: finds the words of all the others.
        rule_of: whose each of these words is.
    """

    frequent: tuple[Rule, ...]
    words: BytesAhoCorasick
    rule_of: list[Rule]

    @classmethod
    def without(cls, frequent: tuple[Rule, ...], rules: Iterable[Rule]) -> "_Plan":
        """One in which the words of the frequent rules are not looked for."""
        worded = [(rule, word) for rule in rules if rule not in frequent for word in rule.words]
        words = BytesAhoCorasick([word for _, word in worded], implementation=Implementation.DFA)
        return cls(frequent, words, [rule for rule, _ in worded])


def _match(rule: Rule, match: re.Match[bytes]) -> Match:
    start, end = match.span(1 if rule.pattern.groups else 0)  # it may look back at its group
    return Match(match.start(), start, end, rule.name)


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
    rules += [Rule(b"pattern %d" % number, pattern) for number, pattern in enumerate(patterns, start=1)]
    return Rules(rules)


def _known() -> Iterator[Rule]:
    data = tomllib.loads(resources.files(__package__).joinpath("tokens.toml").read_text(encoding="utf-8"))
    for name, rule in data.items():
        begins = "begins" in rule
        yield Rule(
            name.encode(), rule["begins" if begins else "has"], tuple(map(str.encode, rule["words"])), begins=begins
        )


def check_pattern(pattern: str) -> str:
    """What is wrong with a person's regular expression; empty if nothing is."""
    try:
        compiled = re.compile(pattern.encode())
    except (re.error, UnicodeEncodeError) as error:
        return f"no regular expression: {error}"
    return "it matches nothing at all, so it would be everywhere" if compiled.search(b"") else ""
