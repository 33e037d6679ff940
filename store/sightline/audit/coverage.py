"""Coverage: which lines of a buffer have stood in some view, as a pure function of the buffer's size and the views.

There are three grades. *Exact*: the line is known to have stood there in its own words, folded or in part. *Matched*: a
pipeline came between, and its answer has a line that reads the same. *Asked about*: the line went into an answer that
does not show it (``wc -l``, ``awk '{print $1}'``), so it does not count as seen. A line that views showed in part
counts by that part, in bytes, and is whole once they have shown all of it.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from sightline.audit.line_spans import NONE, Span, Spans, common, holds, minus, size, spans_of, union, written
from sightline.base.records import LinePart, Shown, View
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Protocol

NOT_ALL = 0.999_999
"""The largest share for a partial buffer, of which something stood in no view, because nobody has it."""


GRADES = ("exact", "matched", "asked")


class PartSeen(NamedTuple):
    """A line of which a part stood in some view.

    Attributes:
        length: bytes of the line, without its newline.
        seen: the bytes that stood there, from 1.
        matched: whether some of them were only recognised.
    """

    length: int
    seen: Spans
    matched: bool = False

    @property
    def share(self) -> float:
        """Share of its bytes that were seen, 0 to 1."""
        return size(self.seen) / self.length

    @property
    def is_whole(self) -> bool:
        """Whether all of its bytes were seen."""
        return self.seen == ((1, self.length),)


NO_CUTS: Mapping[int, PartSeen] = MappingProxyType({})


class GradedLines(NamedTuple):
    """Lines of one stream by grade, each in the best grade that it has.

    Attributes:
        exact: lines known to have been shown.
        matched: lines recognised in what was shown.
        asked: lines from which an answer was made that does not show them.
        cut: lines of which only a part was shown, by number; none of them is exact or matched.
    """

    exact: Spans = NONE
    matched: Spans = NONE
    asked: Spans = NONE
    cut: Mapping[int, PartSeen] = NO_CUTS

    @property
    def seen(self) -> Spans:
        """Lines that were seen whole: exact and matched."""
        return union(self.exact, self.matched)

    @property
    def weight(self) -> float:
        """Number of lines that were seen; a cut line counts by its part."""
        return size(self.seen) + sum(one.share for one in self.cut.values())

    def by_grade(self) -> Iterator[tuple[str, Spans]]:
        """Yield (grade, lines) from the best grade on."""
        return ((grade, getattr(self, grade)) for grade in GRADES)


NO_LINES = GradedLines()


class Contribution(NamedTuple):
    """What one view adds to the coverage of one buffer.

    Attributes:
        view: the view.
        streams: the buffer's lines in it, by stream.
        unsure: whether its whole lines may have been cut, since an older version, which did not record that, logged it.
    """

    view: View
    streams: Mapping[str, GradedLines]
    unsure: bool = False


class StreamCoverage(NamedTuple):
    """The coverage of one stream.

    Attributes:
        total: number of the stream's lines.
        lines: the seen lines, by grade.
        partial: whether the buffer holds only a part of what was written.
        unsure: whether a line that counts as seen may have been cut.
    """

    total: int
    lines: GradedLines
    partial: bool = False
    unsure: bool = False

    @property
    def seen(self) -> Spans:
        """Lines that stood in some view, whole."""
        return self.lines.seen

    @property
    def unseen(self) -> Spans:
        """Lines that stood in no view, or only in part."""
        return minus(((1, self.total),), self.seen) if self.total else NONE

    @property
    def cut(self) -> Spans:
        """Lines of which only a part stood in any view."""
        return spans_of((line, line) for line in self.lines.cut)

    @property
    def never(self) -> Spans:
        """Lines of which nothing stood in any view."""
        return minus(self.unseen, self.cut)

    @property
    def seen_lines(self) -> int:
        """Number of lines that stood in some view, whole."""
        return size(self.seen)

    @property
    def share(self) -> float:
        """Share of the lines that were seen, as for `Coverage`."""
        return share_of(self.lines.weight, self.total, partial=self.partial)

    @property
    def at_most(self) -> bool:
        """Whether the share is an upper bound, because less may have been seen."""
        return self.partial or self.unsure

    def shows(self, line: int, span: Span | None = None) -> bool:
        """Return whether a line, or this span of its bytes, stood in a view."""
        if holds(self.seen, line):
            return True
        cut = self.lines.cut.get(line)
        return bool(cut and span and common(cut.seen, (span,)) == (span,))


class Coverage(NamedTuple):
    """The coverage of a buffer.

    Attributes:
        buffer: name of the buffer.
        streams: coverage of each stream, by name.
        contributions: the views that it is made from, oldest first.
        partial: whether the buffer holds only a part of what was written.
    """

    buffer: str
    streams: Mapping[str, StreamCoverage]
    contributions: tuple[Contribution, ...]
    partial: bool = False

    @property
    def total(self) -> int:
        """Number of lines of all streams."""
        return sum(stream.total for stream in self.streams.values())

    @property
    def seen_lines(self) -> int:
        """Number of lines that stood in some view, whole."""
        return sum(stream.seen_lines for stream in self.streams.values())

    @property
    def cut_lines(self) -> int:
        """Number of lines of which only a part stood in any view."""
        return sum(len(stream.lines.cut) for stream in self.streams.values())

    @property
    def share(self) -> float:
        """Share of the lines that were seen, 0 to 1; 1 for a whole buffer without lines, since nothing is missed.

        A cut line counts by its part.
        """
        return share_of(self.weight, self.total, partial=self.partial)

    @property
    def weight(self) -> float:
        """Number of lines that were seen; a cut line counts by its part."""
        return sum(stream.lines.weight for stream in self.streams.values())

    @property
    def at_most(self) -> bool:
        """Whether the share is an upper bound, because less may have been seen."""
        return self.partial or any(stream.unsure for stream in self.streams.values())

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions that contributed, in the order in which they first did."""
        return tuple(dict.fromkeys(one.view.session for one in self.contributions))

    def of_session(self, session: str) -> "Coverage":
        """Return the coverage from one session's views alone."""
        mine = [one for one in self.contributions if one.view.session == session]
        totals = {name: stream.total for name, stream in self.streams.items()}
        return cover(self.buffer, totals, mine, partial=self.partial)


def recorded(shown: Iterable[Shown], buffer: str) -> dict[str, Spans]:
    """Return the lines of one buffer among the ranges that a view records, by stream."""
    found: dict[str, list[tuple[int, int]]] = {}
    for one in shown:
        if one.buffer == buffer:
            found.setdefault(one.stream, []).append((one.first, one.last))
    return {stream: spans_of(pairs) for stream, pairs in found.items()}


def recorded_cuts(parts: Iterable[LinePart], buffer: str) -> dict[str, dict[int, PartSeen]]:
    """Return the lines of one buffer that a view records as cut, by stream."""
    found: dict[str, dict[int, PartSeen]] = {}
    for one in parts:
        if one.buffer == buffer and one.length > 0:
            seen = common(spans_of(one.seen), ((1, one.length),))
            cuts = found.setdefault(one.stream, {})
            cuts[one.line] = _with(cuts.get(one.line), PartSeen(one.length, seen, one.matched))
    return found


def _with(one: PartSeen | None, other: PartSeen) -> PartSeen:
    if one is None:
        return other
    length = max(one.length, other.length)  # while it was captured, the line may have grown
    return PartSeen(length, union(one.seen, other.seen), one.matched or other.matched)


def contribution(
    view: View, buffer: str, matched: Mapping[str, Spans] | None = None, *, unsure: bool = False
) -> Contribution:
    """Work out what a view adds to a buffer's coverage.

    Args:
        view: the view, with its recorded ranges.
        buffer: name of the buffer.
        matched: lines recognised in its text, by stream; by default those that were recognised when it was logged.
        unsure: whether any of its lines may have been cut.
    """
    exact, asked = recorded(view.shown, buffer), recorded(view.asked, buffer)
    matched = recorded(view.matched, buffer) if matched is None else matched
    cuts = recorded_cuts(view.parts or (), buffer)
    streams = {
        name: graded(exact.get(name, NONE), matched.get(name, NONE), asked.get(name, NONE), cuts.get(name, NO_CUTS))
        for name in dict.fromkeys((*exact, *matched, *asked, *cuts))
    }
    return Contribution(view, streams, unsure)


def graded(exact: Spans, matched: Spans, asked: Spans, cut: Mapping[int, PartSeen] = NO_CUTS) -> GradedLines:
    """Sort lines into their best grades; a cut line of which all parts were shown is whole."""
    if cut:
        done = [(line, one.matched) for line, one in cut.items() if one.is_whole]
        exact = union(exact, spans_of((line, line) for line, recognised in done if not recognised))
        matched = union(matched, spans_of((line, line) for line, recognised in done if recognised))
        cut = {line: one for line, one in cut.items() if not (holds(exact, line) or holds(matched, line))}
        asked = minus(asked, spans_of((line, line) for line in cut))
    matched = minus(matched, exact)
    return GradedLines(exact, matched, minus(minus(asked, exact), matched), cut)


def joined(parts: Iterable[GradedLines]) -> GradedLines:
    """Join the lines of several views of one stream; the parts of a cut line are joined, too."""
    several = list(parts)
    cuts: dict[int, PartSeen] = {}
    for lines in several:
        for line, one in lines.cut.items():
            cuts[line] = _with(cuts.get(line), one)
    exact, matched, asked = (union(*(getattr(lines, grade) for lines in several)) for grade in GRADES)
    return graded(exact, matched, asked, cuts)


def within(lines: GradedLines, total: int) -> GradedLines:
    """Return those of some lines that a stream has."""
    there: Spans = ((1, total),) if total else NONE
    cut = {line: one for line, one in lines.cut.items() if line <= total} if lines.cut else lines.cut
    return GradedLines(common(lines.exact, there), common(lines.matched, there), common(lines.asked, there), cut)


def cover(
    buffer: str, totals: Mapping[str, int], contributions: Iterable[Contribution], *, partial: bool = False
) -> Coverage:
    """Work out the coverage from some views.

    Args:
        buffer: name of the buffer.
        totals: present number of lines of each stream; later lines of a view are dropped.
        contributions: the views, oldest first.
        partial: whether the buffer holds only a part of what was written.
    """
    made = tuple(contributions)
    streams = {}
    for name, total in totals.items():
        lines = within(joined(one.streams[name] for one in made if name in one.streams), total)
        unsure = False
        if any(one.unsure for one in made):
            sure = joined(one.streams[name] for one in made if name in one.streams and not one.unsure)
            unsure = bool(minus(lines.seen, sure.seen))
        streams[name] = StreamCoverage(total, lines, partial, unsure)
    return Coverage(buffer, streams, made, partial)


def share_of(seen: float, total: int, *, partial: bool) -> float:
    """Return the share of the lines that were seen, 0 to 1; 1 if there are none, and below 1 for a partial buffer."""
    share = seen / total if total else 1.0
    if share >= 1 and seen < total:  # it was rounded up
        share = math.nextafter(1, 0)
    return min(share, NOT_ALL) if partial else share


def rounded(share: float) -> float:
    """Round a share to six digits for JSON; 0 and 1 only if it is exactly that."""
    return min(max(round(share, 6), 1e-6), NOT_ALL) if 0 < share < 1 else share


def cut_data(lines: GradedLines) -> dict[str, Any]:
    """Encode cut lines for JSON: by number, how many bytes each has, and which were seen."""
    return {str(line): {"bytes": one.length, "seen": written(one.seen)} for line, one in sorted(lines.cut.items())}


class Share(NamedTuple):
    """How much of a buffer, or of several, was seen.

    Attributes:
        seen: number of lines that stood in some view; a cut line counts by its part.
        total: number of lines.
        partial: whether a buffer holds only a part of what was written.
        unsure: whether lines that count as seen may have been cut.
    """

    seen: float
    total: int
    partial: bool = False
    unsure: bool = False

    @property
    def share(self) -> float:
        """The share, 0 to 1; 1 for a whole buffer without lines."""
        return share_of(self.seen, self.total, partial=self.partial)

    @property
    def at_most(self) -> bool:
        """Whether the share is an upper bound, because less may have been seen."""
        return self.partial or self.unsure


class HasShare(Protocol):
    """Anything with a share of seen lines: a buffer, a stream, or several."""

    @property
    def share(self) -> float:
        """The share, 0 to 1."""

    @property
    def at_most(self) -> bool:
        """Whether the share is an upper bound, because less may have been seen."""


def told_share(told: HasShare, digits: int = 1) -> str:
    """Write the share in words: ``97 %``, or ``at most 97 %`` if less may have been seen."""
    return most(told.share, digits) if told.at_most and told.share else percent(told.share, digits)


def most(share: float, digits: int = 1) -> str:
    """Write a share that is an upper bound: ``at most 97 %``, rounded up, or ``less than 100 %``."""
    up = math.ceil(round(share * 10 ** (digits + 2), 6)) / 10**digits
    return "less than 100 %" if up == 100 and share < 1 else f"at most {up:.{digits}f} %".replace(".0 %", " %")


def percent(share: float, digits: int = 1) -> str:
    """Write a share of 0 to 1 in percent, with this many digits; 0 % and 100 % only if it is exactly that."""
    least = 10.0**-digits
    if 0 < share * 100 < least:
        return f"< {least:g} %"
    if 100 - least < share * 100 < 100:
        return f"> {100 - least:g} %"
    return f"{share * 100:.{digits}f} %".replace(".0 %", " %")
