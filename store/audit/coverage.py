"""Coverage: which lines of a buffer have stood in some view, as a pure function of the buffer's size and the views.

Three grades. *Exact*: the engine knows that the lines stood there, in their own words, folded or in part. *Matched*: a
pipeline came between, and what it gave reads as these lines do. *Asked about*: lines that went into an answer which
does not hold them (``wc -l``, ``awk '{print $1}'``); they do not count as seen.
"""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from sightline.store.audit.spans import NONE, Spans, common, minus, size, spans_of, union
from sightline.store.records import Shown, View

NOT_ALL = 0.999_999
"""The largest share that is told of a partial buffer: something of it stood in no view, since nobody has it."""


class Lines(NamedTuple):
    """Lines of one stream by grade, each line in the best grade that it has.

    Attributes:
        exact: lines known to have been shown.
        matched: lines recognised in what was shown.
        asked: lines that an answer was made of, without showing them.
    """

    exact: Spans = NONE
    matched: Spans = NONE
    asked: Spans = NONE

    @property
    def seen(self) -> Spans:
        """Lines that count as seen: exact and matched."""
        return union(self.exact, self.matched)


NO_LINES = Lines()


class Contribution(NamedTuple):
    """What one view adds to the coverage of one buffer.

    Attributes:
        view: the view.
        streams: its lines, by stream.
    """

    view: View
    streams: Mapping[str, Lines]


class StreamCoverage(NamedTuple):
    """One stream's coverage.

    Attributes:
        total: lines that the stream has.
        lines: its lines by grade.
        partial: whether the buffer holds only a part of what was written.
    """

    total: int
    lines: Lines
    partial: bool = False

    @property
    def seen(self) -> Spans:
        """Lines that stood in some view."""
        return self.lines.seen

    @property
    def unseen(self) -> Spans:
        """Lines that stood in none."""
        return minus(((1, self.total),), self.seen) if self.total else NONE

    @property
    def seen_lines(self) -> int:
        """How many lines stood in some view."""
        return size(self.seen)

    @property
    def share(self) -> float:
        """Seen of all lines, as of `Coverage`."""
        return share_of(self.seen_lines, self.total, partial=self.partial)

    @property
    def at_most(self) -> bool:
        """Whether no more than this share was seen, and perhaps less."""
        return self.partial


class Coverage(NamedTuple):
    """A buffer's coverage.

    Attributes:
        buffer: its name.
        streams: by name, every stream that the buffer has.
        contributions: what it is made of, oldest view first.
        partial: whether the buffer holds only a part of what was written.
    """

    buffer: str
    streams: Mapping[str, StreamCoverage]
    contributions: tuple[Contribution, ...]
    partial: bool = False

    @property
    def total(self) -> int:
        """Lines of all streams."""
        return sum(stream.total for stream in self.streams.values())

    @property
    def seen_lines(self) -> int:
        """Lines of all streams that stood in some view."""
        return sum(stream.seen_lines for stream in self.streams.values())

    @property
    def share(self) -> float:
        """Seen of all lines, from 0 to 1; 1 for a whole buffer without lines, of which nothing can be missed."""
        return share_of(self.seen_lines, self.total, partial=self.partial)

    @property
    def at_most(self) -> bool:
        """Whether no more than this share was seen, and perhaps less."""
        return self.partial

    @property
    def sessions(self) -> tuple[str, ...]:
        """Who contributed, in the order in which they first did."""
        return tuple(dict.fromkeys(one.view.session for one in self.contributions))

    def of_session(self, session: str) -> "Coverage":
        """The part that one session's views make up."""
        mine = [one for one in self.contributions if one.view.session == session]
        totals = {name: stream.total for name, stream in self.streams.items()}
        return cover(self.buffer, totals, mine, partial=self.partial)


def recorded(shown: Iterable[Shown], buffer: str) -> dict[str, Spans]:
    """The lines of one buffer among the ranges that a view records, by stream."""
    found: dict[str, list[tuple[int, int]]] = {}
    for one in shown:
        if one.buffer == buffer:
            found.setdefault(one.stream, []).append((one.first, one.last))
    return {stream: spans_of(pairs) for stream, pairs in found.items()}


def contribution(view: View, buffer: str, matched: Mapping[str, Spans] | None = None) -> Contribution:
    """What a view adds to a buffer's coverage.

    Args:
        view: the view, with the ranges that the engine recorded.
        buffer: name of the buffer.
        matched: lines recognised in its text, by stream; by default those that were when it was logged.
    """
    exact, asked = recorded(view.shown, buffer), recorded(view.asked, buffer)
    matched = recorded(view.matched, buffer) if matched is None else matched
    streams = dict.fromkeys((*exact, *matched, *asked))
    return Contribution(
        view,
        {name: graded(exact.get(name, NONE), matched.get(name, NONE), asked.get(name, NONE)) for name in streams},
    )


def graded(exact: Spans, matched: Spans, asked: Spans) -> Lines:
    """Lines by grade, each in the best that it has."""
    matched = minus(matched, exact)
    return Lines(exact, matched, minus(minus(asked, exact), matched))


def cover(
    buffer: str, totals: Mapping[str, int], contributions: Iterable[Contribution], *, partial: bool = False
) -> Coverage:
    """The coverage that some views make up.

    Args:
        buffer: name of the buffer.
        totals: lines of each stream as it is now: what a view says of lines beyond is left out.
        contributions: the views, oldest first.
        partial: whether the buffer holds only a part of what was written.
    """
    made = tuple(contributions)
    streams = {}
    for name, total in totals.items():
        parts = [lines for one in made if (lines := one.streams.get(name))]
        there: Spans = ((1, total),) if total else NONE
        grades = (union(*(getattr(lines, grade) for lines in parts)) for grade in Lines._fields)
        streams[name] = StreamCoverage(total, graded(*(common(grade, there) for grade in grades)), partial)
    return Coverage(buffer, streams, made, partial)


def share_of(seen: float, total: int, *, partial: bool) -> float:
    """Seen of all lines, 0 to 1; of none all was seen, of what is partial never all."""
    share = seen / total if total else 1.0
    return min(share, NOT_ALL) if partial else share


class Told(Protocol):
    """What has a share that can be told: how much was seen of a buffer, a stream, or all of them."""

    @property
    def share(self) -> float:
        """From 0 to 1."""

    @property
    def at_most(self) -> bool:
        """Whether no more than this share was seen, and perhaps less."""


def told_share(told: Told, digits: int = 1) -> str:
    """How much was seen, in words: ``97 %``, or ``at most 97 %`` where it may be less."""
    if not told.at_most or not told.share:
        return percent(told.share, digits)
    up = math.ceil(round(told.share * 10 ** (digits + 2), 6)) / 10**digits
    return "less than 100 %" if up == 100 and told.share < 1 else f"at most {up:.{digits}f} %".replace(".0 %", " %")


def percent(share: float, digits: int = 1) -> str:
    """A share of 0 to 1 in percent, to so many digits; never 0 % or 100 % where it is only close to that."""
    least = 10.0**-digits
    if 0 < share * 100 < least:
        return f"< {least:g} %"
    if 100 - least < share * 100 < 100:
        return f"> {100 - least:g} %"
    return f"{share * 100:.{digits}f} %".replace(".0 %", " %")
