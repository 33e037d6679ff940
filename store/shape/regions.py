"""Finds the lines of a failed command's output that look like errors, whatever the tool that wrote them.

A line is *judged* only where it holds one of a few literal stems, which are found without looking at lines at all; so a
large output that says little of errors is read at nearly the speed of searching it.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sightline.store.shape.clean import clean_line
from sightline.store.shape.source import Source

CONTEXT_LINES = 5
"""Lines shown on each side of what looks like an error."""

JUDGED_BYTES = 4096
"""How much of a line is judged: what reports an error says so early, and no pattern can run away on so little."""

KEPT_HITS = 10_000
"""Hits kept in detail at each end, for each class: more than a view can show. The count goes on regardless."""

SEEN_TEXTS = 10_000  # distinct error texts remembered to tell repeats; later ones all count as new
SEEN_CHARS = 200


class ErrorClass(NamedTuple):
    """One way in which lines look like errors.

    Attributes:
        name: what it is called.
        pattern: is found in the cleaned text of such a line.
    """

    name: str
    pattern: re.Pattern[str]


class Classes(NamedTuple):
    """What counts as an error line.

    Attributes:
        stems: lower-case literals; a line without any of them is not judged.
        ordered: the classes, most specific first; a line belongs to the first that matches.
    """

    stems: tuple[bytes, ...]
    ordered: tuple[ErrorClass, ...]


class Hit(NamedTuple):
    """Neighbouring error lines of one class.

    Attributes:
        first: first line, 1-based.
        last: last line, inclusive.
        rank: place of the class among the ordered ones: 0 is the most specific.
        repeat: whether these lines say what an earlier hit said.
    """

    first: int
    last: int
    rank: int
    repeat: bool = False


class Hits(NamedTuple):
    """What a scan found.

    Attributes:
        total: error lines in the whole stream.
        kept: hits in the order of lines; all of them but for KEPT_HITS.
    """

    total: int
    kept: tuple[Hit, ...]


_LOCATION = r"(?:\.\w{1,10}(?::\d+|\(\d+)|\b[Mm]akefile:\d+|\bline \d+)"

SEARCH = "error|fail|exception|panic|traceback|fatal|assert"
"""A search that lists most of what the general classes find, for whoever wants to see the rest."""

GENERAL = Classes(
    stems=(
        b"error",
        b"fail",
        b"exception",
        b"panic",
        b"traceback",
        b"fatal",
        b"assert",
        b"exit",
        b"core dumped",
        b"segmentation",
        b"killed",
        b"denied",
        b"not found",
        b"no such",
        b"not ok",
        b"\xe2\x9c",  # begins the crosses, and the ticks that the patterns sort out
    ),
    ordered=(
        ErrorClass(
            "exception",
            re.compile(
                r"^E\s{2,}\S|\b\w+(?:Error|Exception)\b(?:\s\[\w+\])?(?::|$)|\bException in thread\b"
                r"|\bAssertion\b.*\bfailed\b|\bassertion failed\b|\bpanicked at\b"
            ),
        ),
        ErrorClass(
            "located",
            re.compile(rf"\berror(?:\[\w+\]|\sTS\d+)|^(?=.*{_LOCATION})(?=.*\b(?:[Ee]rror|ERROR|[Ff]atal)\b)"),
        ),
        ErrorClass(
            "failed",
            re.compile(
                r"\bTraceback \(|\bpanic:|\bFAIL(?:ED|URES?|S)?\b|\b[Ff]atal\b|\bFATAL\b|\bnot ok\b|[✕✖✗✘]"
                r"|\bSegmentation fault\b|\bcore dumped\b|\b[Ee]rror:|\bERROR\b|\bcommand not found\b"
                r"|\bNo such file or directory\b|\b[Pp]ermission denied\b"
            ),
        ),
        ErrorClass(
            "exit",
            re.compile(
                r"\bexit(?:ed|ing)?(?: with)?(?: (?:code|status|value))?[:= ]+-?[1-9]|\b[Nn]on-zero exit\b"
                r"|\*\*\* .*\bError \d|\bKilled\b"
            ),
        ),
        ErrorClass(
            "word",
            re.compile(
                r"\b(?:errors?|fail(?:ed|s|ures?|ing)|exceptions?|panic(?:ked)?|(?:access|permission) denied"
                r"|not found|no such|killed)\b",
                re.IGNORECASE,
            ),
        ),
    ),
)
"""What looks like an error where no rule knows the tool."""

_NONE_OF_THEM = re.compile(
    r"\b(?:0|no|zero|without(?: any)?) (?:\w+ )?(?:errors?|failures?|failed|exceptions?)\b"
    r"|\b(?:errors|failures|failed|exceptions)\s?[:=]\s?0\b(?!\.)",
    re.IGNORECASE,
)


def judge(data: bytes, classes: Classes = GENERAL) -> int:
    """The rank of the class that a raw line, or the first JUDGED_BYTES of it, belongs to; -1 for none."""
    data = data[:JUDGED_BYTES]
    lowered = data.lower()
    if not any(stem in lowered for stem in classes.stems):
        return -1
    return _judge_text(clean_line(data), classes)


def find_errors(source: Source, classes: Classes = GENERAL) -> Hits:
    """Every error line of a stream, in one pass by blocks."""
    collector = _Collector(len(classes.ordered))
    for first, block in source.blocks():
        for number, start, end in _candidates(first, block, classes.stems):
            data = block[start : min(end, start + JUDGED_BYTES)]
            text = clean_line(data)
            rank = _judge_text(text, classes)
            if rank >= 0:
                collector.add(number, rank, text.strip()[:SEEN_CHARS])
    return collector.hits()


def with_context(hit: Hit, line_count: int, margin: int = CONTEXT_LINES) -> tuple[int, int]:
    """The lines around a hit, as far as the stream has them."""
    return max(1, hit.first - margin), min(line_count, hit.last + margin)


def most_specific_first(hits: Iterable[Hit]) -> list[Hit]:
    """In the order in which a view should show them: what was not yet said, then by class, then as they come."""
    return sorted(hits, key=lambda hit: (hit.repeat, hit.rank, hit.first))


def _judge_text(text: str, classes: Classes) -> int:
    rank = _first_match(text, classes)
    if rank >= 0 and _NONE_OF_THEM.search(text):
        return _first_match(_NONE_OF_THEM.sub("", text), classes)
    return rank


def _first_match(text: str, classes: Classes) -> int:
    for rank, error_class in enumerate(classes.ordered):
        if error_class.pattern.search(text):
            return rank
    return -1


def _candidates(first: int, block: bytes, stems: Sequence[bytes]) -> Iterator[tuple[int, int, int]]:
    """(number, start, end) of the lines of a block that hold a stem, in their order."""
    lowered = block.lower()
    ends: dict[int, int] = {}
    for stem in stems:
        position = lowered.find(stem)
        while position >= 0:
            start = block.rfind(b"\n", 0, position) + 1
            end = block.find(b"\n", position)
            end = len(block) if end < 0 else end
            if position + len(stem) <= start + JUDGED_BYTES:
                ends[start] = end
            position = lowered.find(stem, end)
    number, counted = first, 0
    for start in sorted(ends):
        number += block.count(b"\n", counted, start)
        counted = start
        yield number, start, ends[start]


class _Collector:
    """Joins error lines to hits, and keeps the first and the last of each class."""

    def __init__(self, classes: int) -> None:
        self._total = 0
        self._early: list[list[Hit]] = [[] for _ in range(classes)]
        self._late: list[deque[Hit]] = [deque(maxlen=KEPT_HITS) for _ in range(classes)]
        self._seen: set[str] = set()
        self._open: Hit | None = None

    def add(self, number: int, rank: int, text: str) -> None:
        self._total += 1
        repeat = text in self._seen
        if not repeat and len(self._seen) < SEEN_TEXTS:
            self._seen.add(text)
        hit = self._open
        if hit and hit.last + 1 == number and hit.rank == rank and hit.repeat == repeat:
            self._open = Hit(hit.first, number, rank, repeat)
            return
        self._close()
        self._open = Hit(number, number, rank, repeat)

    def hits(self) -> Hits:
        self._close()
        self._open = None
        kept = [hit for hits in (*self._early, *self._late) for hit in hits]
        return Hits(self._total, tuple(sorted(kept)))

    def _close(self) -> None:
        if not self._open:
            return
        early = self._early[self._open.rank]
        (early if len(early) < KEPT_HITS else self._late[self._open.rank]).append(self._open)
