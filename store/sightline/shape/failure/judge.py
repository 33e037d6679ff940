"""Judges single lines: which are failures, and of which sort and weight."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from sightline.light.named_tuple import NamedTuple
from sightline.shape.clean import clean_line, without_colour
from sightline.shape.failure.classes import CLASSES, STEMS, class_of, is_warning, kind_of
from sightline.shape.failure.prefilter import NUMBERS
from sightline.shape.failure.tool_rules import BlockRule, FailureSort, LatePattern, Rule
from sightline.shape.repeated_lines import Span

JUDGED_BYTES, JUDGED_END_BYTES = 3072, 1024
"""Bytes of a line that are judged, at its start and at its end, so that no pattern can run away.

Rules may have patterns that take the square of a line's length, such as ``([0-9]+) failed``: some milliseconds here.
"""

_LEFT_OUT = " … ".encode()  # joins the two ends of a long line, so that no word spans them
_BEFORE_BYTES = 40  # quoted of such a line, before the part that makes it a failure
_JUDGED_WHOLE = JUDGED_BYTES + len(_LEFT_OUT) + JUDGED_END_BYTES

TELLING_BYTES = 4
"""The bytes of a long line's telling part that must have been shown; no word for a failure is shorter."""

_HEADERS = 1024  # lines that are remembered as headers or none, of 5 KB at most
CACHED_LINES = 20_000  # judgements that are kept; a flood of errors repeats the same text with other numbers
CACHED_BYTES = 300  # of a line; longer ones rarely repeat

NAMED_LINES = 100
"""Lines, equal except for numbers, of which each is asked what it names; nobody is shown more names."""

CAUSE, NAME, EXCEPTION, LOCATED, FAILED, ECHO, EXIT, WORD, MINOR = range(9)
"""Weights of a failure line, the heaviest first: a rule's cause and name, the general classes, a rule's others."""

_OF_ROLE = {"cause": CAUSE, "name": NAME, "trace": EXCEPTION, "echo": ECHO, "minor": MINOR}
_OF_CLASS = (EXCEPTION, LOCATED, FAILED, EXIT, WORD)
assert len(_OF_CLASS) == len(CLASSES)


class LineVerdict(NamedTuple):
    """The judgement on a failure line.

    Attributes:
        rank: its weight, from CAUSE on.
        kind: equal for lines that say the same of different things.
        rule: the rule that matched; None for a general class.
        sort: the rule's failure, or block that starts here.
        name: what failed; empty if the line does not say.
        place: where it failed, such as ``src/x.py:12``; empty if the line does not say.
        about: equal for lines about the same file, or test; empty if the line does not say. Its numbers may be those
            of another such line.
    """

    rank: int
    kind: str
    rule: Rule | None = None
    sort: FailureSort | BlockRule | None = None
    name: str = ""
    place: str = ""
    about: str = ""


def judged_part(line: bytes) -> bytes:
    """Return the judged part of a raw line: all of it, or both ends of a long one."""
    if len(line) <= _JUDGED_WHOLE:
        return line
    return line[:JUDGED_BYTES] + _LEFT_OUT + line[-JUDGED_END_BYTES:]


class Judge:
    """Judges lines by the rules of tools, then by the general classes."""

    def __init__(
        self,
        rules: Sequence[Rule] = (),
        prefix: re.Pattern[str] | None = None,
        disbelieved: Mapping[tuple[str, int], frozenset[str]] = MappingProxyType({}),
        *,
        strict: bool = False,
    ) -> None:
        """Take the rules of the output's tools, the prefix of a log's lines, and what is not believed of the rules.

        The latter says by a rule's name and a weight of which failures alone, by the last parts of their names, lines
        of that rule and weight are believed; all others are judged by the general classes. With ``strict``, warnings
        are failures, too.
        """
        self.rules = tuple(rules)
        self.prefix = prefix
        self._disbelieved = disbelieved
        self._sorts: list[tuple[Rule, FailureSort | BlockRule]] = [
            (rule, one) for rule in rules for one in _sorts(rule)
        ]
        self._advice = [rule.advice for rule in rules if rule.advice]
        self._quiet = [rule.quiet for rule in rules if rule.quiet] + self._advice
        self._cached: dict[bytes, LineVerdict | None] = {}
        self._named: Counter[bytes] = Counter()
        self._headers: dict[tuple[LatePattern, bytes], bool] = {}
        self.strict = strict
        self.stems = (*STEMS, b"warn") if strict else STEMS
        self.literals, self._masked = _literals(tuple(literal for _, sort in self._sorts for literal in sort.has))

    def text(self, data: bytes) -> str:
        """Return the judged text of a raw line: cleaned, without the log's prefix."""
        text = clean_line(judged_part(data))
        found = self.prefix.match(text) if self.prefix else None
        return text[found.end() :] if found else text

    def is_header(self, under: LatePattern, data: bytes) -> bool:
        """Return whether a raw line matches a pattern; of the same lines, many failures below ask that."""
        key = under, judged_part(data)
        if key not in self._headers:
            if len(self._headers) >= _HEADERS:
                self._headers.clear()
            self._headers[key] = under.search(self.text(key[1])) is not None
        return self._headers[key]

    def verdict(self, data: bytes) -> LineVerdict | None:
        """Judge a raw line, or its judged part; None if it is no failure.

        A flood of errors repeats the same text with other numbers, so that one judgement holds for all of them, except
        for what a rule finds named in the line; that is searched in the first ones only.
        """
        data = judged_part(without_colour(data))
        key = data.translate(NUMBERS)
        try:
            return self._cached[key]
        except KeyError:
            pass
        verdict = None
        if any(literal in key for literal in self._masked):
            verdict, varies = self._by_rules(text := self.text(data))
            if verdict and verdict.rank == MINOR and self.strict and is_warning(text):
                verdict = None
            if verdict and verdict.rule and (verdict.rule.name, verdict.rank) in self._disbelieved:
                believed = self._disbelieved[verdict.rule.name, verdict.rank]
                return verdict if last_part(verdict.name) in (*believed, "") else self._by_class(data)
            verdict = verdict or self._by_class(data)
        else:
            verdict, varies = self._by_class(key), False
        if len(key) <= CACHED_BYTES and len(self._cached) < CACHED_LINES:
            if not varies:
                self._cached[key] = verdict
            elif verdict and len(self._named) < CACHED_LINES:
                self._named[key] += 1
                if self._named[key] > NAMED_LINES:
                    self._cached[key] = verdict._replace(name="", place="")
        return verdict

    def telling_bytes(self, data: bytes, length: int = 0) -> Span | None:
        """Return which bytes of a raw line make it a failure, (first, last) from 1; None if it is no failure.

        A given length is the line's, and the data may then be its two ends alone.
        """
        part = judged_part(data)
        if self.verdict(part) is None:
            return None
        short, long = 0, len(part)  # with the short length it is no failure yet, with the long one it is
        while long - short > 1:
            middle = (short + long) // 2
            if self.verdict(part[:middle]) is None:
                short = middle
            else:
                long = middle
        first = max(1, long - TELLING_BYTES + 1)
        length = length or len(data)
        if len(part) == length or long <= JUDGED_BYTES:
            return first, long
        begin = length - JUDGED_END_BYTES + 1
        last = max(begin, length - len(part) + long)
        return max(begin, last - TELLING_BYTES + 1), last

    def telling_text(self, data: bytes) -> str:
        """Return the judged text of a raw line; if its end makes it a failure, from shortly before that on."""
        span = self.telling_bytes(data) if len(data) > _JUDGED_WHOLE else None
        if span is None or span[0] <= JUDGED_BYTES:
            return self.text(data)
        return "… " + clean_line(data[max(0, span[0] - _BEFORE_BYTES) :])

    def _by_rules(self, text: str) -> tuple[LineVerdict | None, bool]:
        """Judge a line by the rules, causes first; and return whether that names something of this line alone."""
        best: LineVerdict | None = None
        varies = False
        for rule, sort in self._sorts:
            if best and (best.rank <= _OF_ROLE[sort.role] or (best.rank == MINOR and best.rule is rule)):
                continue  # a line that a rule calls minor is never its cause
            for literal in sort.has:
                if literal in text:
                    found = (sort.start if isinstance(sort, BlockRule) else sort.line).search(text)
                    if found:
                        best = _by_rule(rule, sort, found, text)
                        varies = any(found.groupdict().values())
                    break
            if best and best.rank == CAUSE:
                break
        return best, varies

    def is_advice(self, text: str) -> bool:
        """Return whether a line, from `text`, is advice that a tool gives after any failure."""
        return any(advice.search(text) for advice in self._advice)

    def _by_class(self, data: bytes) -> LineVerdict | None:
        lowered = data.lower()
        if not any(stem in lowered for stem in self.stems):
            return None
        text = self.text(data)
        warns = self.strict and is_warning(text)
        if not warns and any(quiet.search(text) for quiet in self._quiet):
            return None
        place = class_of(text)
        rank = _OF_CLASS[place] if place >= 0 else FAILED if warns else None
        return LineVerdict(rank, kind_of(text), about=_about(text)) if rank is not None else None


def _sorts(rule: Rule) -> tuple[FailureSort | BlockRule, ...]:
    return (*rule.failures, *rule.blocks)


def _by_rule(rule: Rule, sort: FailureSort | BlockRule, found: re.Match[str], text: str) -> LineVerdict:
    kind = found.groupdict("").get("kind")
    name, place = name_and_place(found)
    about = place.partition(":")[0] or name or _about(text)
    kind = f"{rule.name}:{kind}" if kind else kind_of(text)
    return LineVerdict(_OF_ROLE[sort.role], kind, rule, sort, name, place, about)


_FILE = re.compile(r"((?<![\w.@+~/-])[\w.@+~/-]*\w\.[A-Za-z]\w{0,7})(?::\d|\(\d|\", line \d)")
_FILE_CHARS = 300  # of a line in which a file is searched


def _about(text: str) -> str:
    """Return the file that a line is about; empty if it names none with a line number."""
    found = _FILE.search(text[:_FILE_CHARS])
    return found[1] if found else ""


def name_and_place(found: re.Match[str]) -> tuple[str, str]:
    """Return what failed and where, such as ``src/x.py:12``, from the groups of a match; each empty if not said."""
    groups = found.groupdict("")
    return groups.get("name", "").strip(), ":".join(filter(None, (groups.get("file"), groups.get("line"))))


_PARTS = re.compile(r"::|\.| > | › |/")


def last_part(name: str) -> str:
    """Return the name of a test within its file and class."""
    return _PARTS.split(name.strip())[-1]


@lru_cache(maxsize=64)  # sets of tools; it takes longer than to judge a short output
def _literals(of_rules: tuple[str, ...]) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Return (literals that no stem would find as well; all of them with masked numbers), each without longer ones."""
    literals = {literal.encode() for literal in of_rules}
    unstemmed = {one for one in literals if not any(stem in one.lower() for stem in STEMS)}
    return tuple(sorted(_shortest(unstemmed))), tuple(_shortest({one.translate(NUMBERS) for one in literals}))


def _shortest(literals: Collection[bytes]) -> Iterator[bytes]:
    """Yield the literals that no shorter one would find as well."""
    return (one for one in literals if not any(other != one and other in one for other in literals))
