"""The rules for secrets: well-known formats, which are data, and a person's own regular expressions."""

import re
import tomllib
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from importlib import resources
from itertools import groupby
from operator import itemgetter

from ahocorasick_rs import BytesAhoCorasick, Implementation

from sightline.light.named_tuple import NamedTuple
from sightline.redact import keys
from sightline.redact.escapes import Plain, without_escapes
from sightline.redact.values import LOOKS

Spans = list[tuple[int, int, bytes]]
"""The places to hide in a line, ascending and disjoint: (start, end, name of the rule)."""

_EDGE = (
    r"(?:(?<![0-9A-Za-z]%s)|(?<=%[0-9A-Fa-f]{2}%s)|(?<=\\[bfnrt]%s)|(?<=\\u00[0-9A-Fa-f]{2}%s)|"
    r"(?<=\x1b\[m%s)|(?<=[0-9]m%s))"
)
_PARTS = {
    # what follows a name, from its end to the value
    "<named-value>": r"""<valued>(?:(?:_?[Kk][Ee][Yy](?:_?[Bb][Aa][Ss][Ee])?|_[Bb][Aa][Ss][Ee]|-key)?)"""
    r"""(?:<is>|\\{0,7}["'][ \t]{0,8}value=\\{0,7}["'])(?=[^ \t-\r0-9=]{0,40}[0-9]|[A-Za-z]{16})"""
    r"""(?!arn:|(?<=[0-9*]:secret"""
    r""":))<no-stand-in>((?:[0-9]{1,16}\|)?[^ \t-\r"'`,;&<>(){}\[\]|\\=]{8,512}={0,2})(?![^ \t-\r"'`,;&"""
    r"""<>(){}\[\]|\\=]|[(\[=])""",
    # the beginning of a word in raw output, where a letter before it may end an escape sequence
    "<edge>": _EDGE.replace("%s", ""),
    # the beginning of such a word, which is found much faster than its edge
    "<eyJ>": "eyJ" + _EDGE.replace("%s", "eyJ"),
    # what may stand between a name and its value, in JSON within JSON, in XML and in tables, too
    "<is>": r"(?:(?:\\{0,7}[\"'`]|&quot;)?[ \t]{0,32}(?:=>|:=|=?&gt;|[:=>|])[ \t]{0,32}(?:\\{0,7}[\"'`]|&quot;){0,2})",
    # excludes a value that only describes what should stand there
    "<no-stand-in>": r"(?!(?i:(?:your|my|the|a|an|some|new|old|test|dummy|fake|sample|example|placeholder|access|api|"
    r"auth|bearer|basic|id|jwt|user|undefined|null|none|nil|true|false|required|missing|invalid|expired|empty|not|"
    r"scheme|realm|headers?|authentication|authorization|authenticated|authorized|credentials?|tokens?|keys?|secrets?|"
    r"passwords?|here|value|string|changeme|hidden)(?:[-_.]|(?![0-9A-Za-z._~+/=-]))){1,8}(?![0-9A-Za-z._~+/=-]))",
    # excludes a path of words, such as com/example/SessionToken
    "<no-path>": r"(?!/?[a-z]{0,30}(?:[A-Z][a-z]{1,30}){0,8}[0-9]{0,3}"
    r"(?:/[a-z]{0,30}(?:[A-Z][a-z]{1,30}){0,8}[0-9]{0,3}){1,40}(?![0-9A-Za-z/+=]))",
    # what a name's end and a value with a digit look like from afar; without it, most names take three times as long
    "<valued>": r"(?=[A-Za-z_\\\"'`&;-]{0,18}[ \t]{0,32}(?:value)?[=:|>;][=> \t]{0,33}"
    r"(?:[^ \t-\r0-9=]{0,48}[0-9]|[\\\"'`]{0,8}[A-Za-z]{16}))",
    "<key-body>": keys.BODY.decode(),
}

_AT_EDGE, _WORDS = "<edge>", "<words>"
_EDGE_HERE = re.compile(_PARTS[_AT_EDGE].encode())
# If a word is at least this frequent, its rule is searched by its pattern instead of tried at each of its words:
# the pattern costs 0.5 to 10 ns a byte, a try 0.3 µs (the patterns of tokens.toml, CPython 3.11).
_FREQUENT_BYTES = 128
_FREQUENT_LEAST_BYTES = 4096  # a shorter text does not show what is frequent
_STILL_FREQUENT_BYTES = 8192  # of a text: counting in 64 KiB takes a fifth of the time of its search
_LONGEST_BEFORE = 8  # bytes: no word of `unless` is longer
_NEAR_BYTES = 512  # so far before it, in the same line, the word stands that a rule wants behind it
_MARKER = re.compile(rb"\[redacted: [ 0-9a-z-]{1,40}\]")


def _any_of(words: Sequence[str]) -> str:
    """Return a pattern for any of some words, in order, that reads what several begin with only once."""
    branches = []
    for first, group in groupby(words, itemgetter(slice(1))):
        rests = [word[1:] for word in group]
        longer = _any_of([rest for rest in rests if rest]) if any(rests) else ""
        branches.append(re.escape(first) + (f"(?:{longer})?" if longer and "" in rests else longer))
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


class SecretRule:
    """One kind of secret.

    Attributes:
        name: name of the rule, which replaces what it hides.
        pattern: searched within a line; if it has a group, only that is hidden.
        words: literals, one of which each match contains; none if no such literals are known.
        begins: whether each match begins with one of them.
    """

    def __init__(
        self,
        name: bytes,
        pattern: str,
        words: tuple[bytes, ...] = (),
        *,
        begins: bool = False,
        looks: str = "",
        behind: str = "",
        unless: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.words = words
        self.begins = begins
        self._looks = LOOKS[looks] if looks else None
        self._behind = behind.encode()
        self._unless = tuple(map(str.encode, unless))
        self._is_word = pattern.startswith(_WORDS)
        self._of_one: dict[tuple[bytes, ...], re.Pattern[bytes]] = {}
        self._at_edge = begins and pattern.startswith(_AT_EDGE)
        self._pattern = pattern.removeprefix(_AT_EDGE) if self._at_edge else pattern

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """The compiled pattern, made when a text first has one of its words; few of many are ever needed."""
        return self._compiled(self.words)

    def _compiled(self, words: tuple[bytes, ...]) -> re.Pattern[bytes]:
        pattern = self._pattern
        if words:
            any_word = _any_of(sorted(map(bytes.decode, words), reverse=True))  # lower case comes more often
            for name, part in ((_WORDS, any_word), *_PARTS.items()):
                pattern = pattern.replace(name, part)
        return re.compile(pattern.encode())

    def _pattern_for(self, text: bytes) -> re.Pattern[bytes]:
        """Return a pattern for the words in a text: that for a single one is searched several times as fast."""
        if not self._is_word:
            return self.pattern
        there = tuple(word for word in self.words if word in text)
        if len(there) != 1:
            return self.pattern
        if there not in self._of_one:
            self._of_one[there] = self._compiled(there)
        return self._of_one[there]

    def is_frequent(self, text: bytes) -> bool:
        """Return whether a text begins with so many of its words that searching is faster than trying each."""
        size = min(len(text), _STILL_FREQUENT_BYTES)
        return any(text.count(word, 0, size) * _FREQUENT_BYTES > size for word in self.words)

    def lines(self, text: bytes, start: int, end: int) -> Iterator[re.Match[bytes]]:
        """Yield the matches in a part of a text."""
        return (match for match in self.pattern.finditer(text, start, end) if self._looks_right(match))

    def search(self, text: bytes, look: int) -> Iterator[re.Match[bytes]]:
        """Yield the matches, without looking at each word."""
        if not self.begins:
            yield from self.lines(text, look, len(text))
            return
        pattern = self._pattern_for(text)
        while match := pattern.search(text, look):
            begins = (self._is_word or text.startswith(self.words, match.start())) and self.holds(match)
            if begins:
                yield match
            look = match.end() if begins else match.start() + 1

    def holds(self, match: re.Match[bytes]) -> bool:
        """Return whether a match of the pattern stands where the rule allows it, and looks like a secret."""
        text, at = match.string, match.start()
        if self._at_edge and _EDGE_HERE.match(text, at) is None:
            return False
        if self._unless and text[max(0, at - _LONGEST_BEFORE) : at].endswith(self._unless):
            return False
        if self._behind and self._behind not in text[max(text.rfind(b"\n", 0, at) + 1, at - _NEAR_BYTES) : at]:
            return False
        return self._looks_right(match)

    def _looks_right(self, match: re.Match[bytes]) -> bool:
        return self._looks is None or self._looks(match[self.pattern.groups and 1])


_WIDE = re.compile(rb"(?:[\t\n\r -~]\0){4,}[\t\n\r -~]?")


class Match(NamedTuple):
    """A secret in a line.

    Attributes:
        named: where it, or its name, begins.
        start: where the secret begins; end is where it ends.
        rule: name of the rule.
    """

    named: int
    start: int
    end: int
    rule: bytes


class SecretRules:
    """The rules that are in force."""

    def __init__(self, rules: Iterable[SecretRule]) -> None:
        self.rules = tuple(rules)
        self.own = [rule for rule in self.rules if not rule.words]
        """Rules that are searched in every line, each by itself."""
        self._plan = _Plan.without((), self.rules)

    def matches(self, text: bytes, begin: int = 0, look: int = 0) -> list[Match]:
        """Return the secrets of a text from a byte on, in the order of their names' places.

        Args:
            text: a line; without rules of a person's own, any number of lines.
            begin: first byte that was not passed on.
            look: first byte at which a name may stand.
        """
        found = list(self._found(text, look))
        if plain := without_escapes(text):
            found += self._joined(plain, look)
        if b"\0" in text:
            found += self._wide(text, look)
        return sorted(
            Match(max(min(named, start), begin), max(start, begin), end, rule)
            for named, start, end, rule in found
            if max(start, begin) < end
        )

    def _joined(self, plain: Plain, look: int) -> Iterator[tuple[int, int, int, bytes]]:
        """Yield secrets that show only once escape codes are taken out."""
        for named, start, end, rule in self._found(plain.text, 0):
            if start < end and (origin := plain.origin(min(named, start))) >= look:
                yield (origin, *plain.span(start, end), rule)

    def _wide(self, text: bytes, look: int) -> Iterator[tuple[int, int, int, bytes]]:
        """Yield the secrets of what is ASCII in UTF-16, of either byte order and wherever it stands."""
        for run in _WIDE.finditer(text, look):
            for named, start, end, rule in self.matches(run[0][::2]):
                at = run.start()
                yield at + 2 * named, at + 2 * start, min(at + 2 * end, run.end()), rule

    def _found(self, text: bytes, look: int) -> Iterator[tuple[int, int, int, bytes]]:
        plan = self._plan_for(text)
        for rule in plan.frequent:
            for match in rule.search(text, look):
                yield _match(rule, match)
        hits = plan.words.find_matches_as_indexes(text, overlapping=True)
        hits.sort(key=itemgetter(1))  # they are sorted by their ends
        if len(hits) * _FREQUENT_BYTES > len(text) >= _FREQUENT_LEAST_BYTES:
            self._learn(plan, text, hits)
        ended: dict[bytes, int] = {}
        for at, start, _ in hits:
            rule = plan.rule_of[at]
            if start < look or (ended and start < ended.get(rule.name, 0)):
                continue
            if rule.begins:
                found = rule.pattern.match(text, start)
                if found and rule.holds(found):  # in this order, as most words begin no match
                    ended[rule.name] = found.end()
                    yield _match(rule, found)
                continue
            line_start = max(text.rfind(b"\n", 0, start) + 1, look)
            line_end = text.find(b"\n", start)
            ended[rule.name] = line_end = len(text) if line_end < 0 else line_end
            for match in rule.lines(text, line_start, line_end):
                yield _match(rule, match)
        for rule in self.own:
            for match in rule.pattern.finditer(text, look):
                yield _match(rule, match)

    def _plan_for(self, text: bytes) -> "_Plan":
        """Return the plan for a text: that of the text before, without rules whose words are no longer frequent."""
        plan = self._plan
        frequent = tuple(rule for rule in plan.frequent if rule.is_frequent(text))
        if frequent != plan.frequent:
            self._plan = plan = _Plan.without(frequent, self.rules)
        return plan

    def _learn(self, plan: "_Plan", text: bytes, hits: list[tuple[int, int, int]]) -> None:
        """Search rules whose words are frequent in this text by their patterns, from the next text on."""
        counts = Counter(map(itemgetter(0), hits))  # of words, as `Rule.is_frequent` counts them
        often = {plan.rule_of[at]: None for at, count in counts.items() if count * _FREQUENT_BYTES > len(text)}
        if often:
            self._plan = _Plan.without((*plan.frequent, *often), self.rules)


class _Plan(NamedTuple):
    """A plan for searching a text; the result is the same with any plan.

    Attributes:
        frequent: rules that are searched by their patterns.
        words: finds the words of all other rules.
        rule_of: the rule of each of these words.
    """

    frequent: tuple[SecretRule, ...]
    words: BytesAhoCorasick
    rule_of: list[SecretRule]

    @classmethod
    def without(cls, frequent: tuple[SecretRule, ...], rules: Iterable[SecretRule]) -> "_Plan":
        """Return a plan that does not search the words of the frequent rules."""
        worded = [(rule, word) for rule in rules if rule not in frequent for word in rule.words]
        words = BytesAhoCorasick([word for _, word in worded], implementation=Implementation.DFA)
        return cls(frequent, words, [rule for rule, _ in worded])


def _match(rule: SecretRule, match: re.Match[bytes]) -> tuple[int, int, int, bytes]:
    start, end = match.span(1 if rule.pattern.groups else 0)  # its group may stand before its own beginning
    return match.start(), start, end, rule.name


def spans_of(matches: Iterable[Match], line: bytes) -> Spans:
    """Return the places to hide in a line. What was hidden before stays as it is."""
    joined: Spans = []
    for start, end, name in sorted((match.start, match.end, match.rule) for match in matches):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end), joined[-1][2])
        else:
            joined.append((start, end, name))
    return _without_markers(joined, line) if joined and b"[redacted: " in line else joined


def across(matches: Iterable[Match], edge: int) -> tuple[int, int] | None:
    """Return the range in which an edge must not cut: a secret, its name, and others that overlap these."""
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
                break  # the next one may also begin in it
            markers.popleft()
        if start < end:
            left.append((start, end, name))
    return left


def marker(name: bytes, secret: bytes = b"") -> bytes:
    """Return what replaces a secret; it is the same within JSON, and UTF-16 in UTF-16."""
    text = b"[redacted: " + name + b"]"
    return text if secret[1:2] != b"\0" else wide(text)[: 2 * len(text) - len(secret) % 2]


def wide(text: bytes) -> bytes:
    """Return ASCII as UTF-16, little-endian."""
    return text.decode("latin-1").encode("utf-16-le")


@cache
def load_rules(known: bool, patterns: tuple[str, ...]) -> SecretRules:
    """Return the rules: well-known formats, and a person's regular expressions, which `check_pattern` has accepted."""
    rules = list(_known()) if known else []
    rules += [SecretRule(b"pattern %d" % number, pattern) for number, pattern in enumerate(patterns, start=1)]
    return SecretRules(rules)


def _known() -> Iterator[SecretRule]:
    data = tomllib.loads(resources.files(__package__).joinpath("tokens.toml").read_text(encoding="utf-8"))
    for name, rule in data.items():
        begins = "begins" in rule
        yield SecretRule(
            name.encode(),
            rule["begins" if begins else "has"],
            tuple(map(str.encode, rule["words"])),
            begins=begins,
            looks=rule.get("looks", ""),
            behind=rule.get("behind", ""),
            unless=rule.get("unless", ()),
        )


def check_pattern(pattern: str) -> str:
    """Return what is wrong with a person's regular expression; empty if nothing is."""
    try:
        compiled = re.compile(pattern.encode())
    except (re.error, UnicodeEncodeError) as error:
        return f"no regular expression: {error}"
    return "it matches nothing at all, so it would be everywhere" if compiled.search(b"") else ""
