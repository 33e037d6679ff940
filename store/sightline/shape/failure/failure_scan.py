"""Finds every failure line of a stream in one pass by blocks, counts all, and keeps those that a view may want to show;
also names what failed, as the tools do.

A large output with few errors is read almost as fast as it is searched for a few literals.
"""

from collections import deque
from collections.abc import Callable, Iterable

from sightline.light.named_tuple import NamedTuple
from sightline.shape.failure.judge import (
    CAUSE,
    ECHO,
    EXCEPTION,
    LOCATED,
    MINOR,
    NAME,
    Judge,
    LineVerdict,
    judged_part,
    last_part,
)
from sightline.shape.failure.prefilter import Prefilter
from sightline.shape.failure.tool_rules import Rule
from sightline.shape.source import Source

KINDS = 4096
"""Kinds of failure that are told apart; all further ones count as one more."""

FIRST_OF_KIND, LAST_OF_KIND = 64, 8
"""Hits of one kind that are kept, more than any view has room for. All are counted."""

ABOUTS = 256
"""Files, or tests, for which the first hit of a kind is kept, however many came before it."""

KEPT_SPANS = 20_000
"""Runs of failure lines whose numbers are kept, from the first on, more than a marker can list."""


class FailureHit(NamedTuple):
    """One failure line.

    Attributes:
        line: number of the line, from 1.
        nth: number of lines of its kind before it.
        verdict: the judgement on it.
    """

    line: int
    nth: int
    verdict: LineVerdict


class Failures(NamedTuple):
    """The result of a scan.

    Attributes:
        total: number of failure lines in the stream.
        spans: their numbers, (first, last), neighbours joined, for the first KEPT_SPANS runs.
        hits: the kept hits, by line.
        rare: numbers of lines whose shape, numbers aside, is rare, as far as that is known.
    """

    total: int
    spans: tuple[tuple[int, int], ...]
    hits: tuple[FailureHit, ...]
    rare: tuple[int, ...] = ()

    @property
    def files(self) -> int:
        """Number of files named in hits with a place and without another name."""
        placed = (hit.verdict for hit in self.hits if hit.verdict.rank <= LOCATED and not hit.verdict.name)
        return len({verdict.about for verdict in placed if "." in verdict.about})


def find_failures(
    source: Source,
    judge: Judge,
    *,
    first_of_kind: int | None = None,
    counts: Callable[[LineVerdict, bytes], bool] | None = None,
) -> Failures:
    """Find every failure line of a stream.

    Args:
        source: the stream.
        judge: judges its lines.
        first_of_kind: most hits of one kind to keep from the beginning; None for FIRST_OF_KIND.
        counts: returns whether a line that looks like a failure is one; None if every such line is.
    """
    collector = _Collector(FIRST_OF_KIND if first_of_kind is None else first_of_kind)
    verdict_of = judge.verdict
    prefilter = Prefilter(judge.stems, judge.literals)
    for number, line in prefilter.lines(source.blocks()):
        verdict = verdict_of(judged_part(line))
        if verdict is not None and (counts is None or counts(verdict, line)):
            collector.add(number, verdict)
    return collector.failures()._replace(rare=tuple(place for place, _ in (prefilter.rare or {}).values()))


class _Kind:
    """The lines of one kind, with the number of lines of that kind before each."""

    __slots__ = ("_abouts", "_first", "count", "early", "late")

    def __init__(self, first: int) -> None:
        self.count = 0
        self._abouts: set[str] = set()
        self._first = first
        self.early: list[FailureHit] = []
        self.late: deque[tuple[int, int, LineVerdict]] = deque(maxlen=LAST_OF_KIND)

    def add(self, number: int, verdict: LineVerdict) -> None:
        is_new = verdict.about not in self._abouts and len(self._abouts) < ABOUTS
        if is_new:
            self._abouts.add(verdict.about)
        if self.count < self._first or is_new:
            self.early.append(FailureHit(number, self.count, verdict))
        else:
            self.late.append((number, self.count, verdict))
        self.count += 1


class _Collector:
    def __init__(self, first_of_kind: int) -> None:
        self._first_of_kind = first_of_kind
        self._total = 0
        self._kinds: dict[tuple[int, str], _Kind] = {}
        self._spans: list[tuple[int, int]] = []
        self._first = self._last = 0

    def add(self, number: int, verdict: LineVerdict) -> None:
        self._total += 1
        if number != self._last + 1 or not self._first:
            self._end_span()
            self._first = number
        self._last = number
        name = verdict[:2]
        kind = self._kinds.get(name)
        if kind is None:
            if len(self._kinds) >= KINDS:
                name = (verdict.rank, "")
            kind = self._kinds.setdefault(name, _Kind(self._first_of_kind))
        kind.add(number, verdict)

    def failures(self) -> Failures:
        self._end_span()
        hits = [
            hit for kind in self._kinds.values() for hit in (*kind.early, *(FailureHit(*late) for late in kind.late))
        ]
        return Failures(self._total, tuple(self._spans), tuple(sorted(hits, key=_line)))

    def _end_span(self) -> None:
        if self._first and len(self._spans) < KEPT_SPANS:
            self._spans.append((self._first, self._last))


def _line(hit: FailureHit) -> int:
    return hit.line


class NamedFailure(NamedTuple):
    """Something that failed.

    Attributes:
        rule: the tool that says so.
        name: its name, such as a test's; empty if only the place is known.
        place: its place, such as ``src/x.py:12``; empty if it is not known.
    """

    rule: Rule
    name: str
    place: str

    @property
    def text(self) -> str:
        """Name and place together, as far as they are known."""
        if not self.name or self.place.startswith(self.name):
            return self.place
        return f"{self.name} ({self.place})" if self.place and self.place not in self.name else self.name


def named(hits: Iterable[FailureHit]) -> list[NamedFailure]:
    """Return what hits name, each once: for each tool what it lists as failed, else the causes, else the rest."""
    of_rule: dict[str, list[FailureHit]] = {}
    for hit in hits:
        if hit.verdict.rule and (hit.verdict.name or hit.verdict.place):
            of_rule.setdefault(hit.verdict.rule.name, []).append(hit)
    return [one for told in of_rule.values() for one in _of_tool(told)]


_RANKS = (NAME, CAUSE, EXCEPTION, MINOR, ECHO)


def _of_tool(hits: list[FailureHit]) -> list[NamedFailure]:
    rank = min((hit.verdict.rank for hit in hits), key=_RANKS.index)
    places = {last_part(hit.verdict.name): hit.verdict.place for hit in reversed(hits) if hit.verdict.name}
    found: dict[str, NamedFailure] = {}
    for hit in hits:
        verdict = hit.verdict
        if verdict.rank == rank and verdict.rule:
            place = verdict.place or places.get(last_part(verdict.name), "")
            found.setdefault(verdict.name or place, NamedFailure(verdict.rule, verdict.name, place))
    parents = {name.rpartition("/")[0] for name, one in found.items() if one.rule.groups}
    return [one for name, one in found.items() if name not in parents]
