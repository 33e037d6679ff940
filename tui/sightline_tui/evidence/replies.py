"""Reads the replies in which an output was shown, and finds which of its lines a line of a reply is."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.coverage import Contribution
from sightline.audit.line_spans import NONE, Spans, holds, size
from sightline.base.records import Buffer, View
from sightline.light.named_tuple import NamedTuple
from sightline.log.log_index import find_view
from sightline.log.view_text import view_text
from sightline.shape.clean import clean_line
from sightline.store import Reading, Target
from sightline_tui.common.sessions import session_name

_READ_LINES = 50_000  # lines of the output among which the line behind a line of a reply is searched
_NUMBERED = re.compile(r"\s*(?:@[\w.]+:)?(\d+)(?:[:\-\t→│|]| +)\s?(.*)")
_REQUEST_WORDS = ("pipeline", "command", "search", "match", "lines", "path")


class ShowingReply(NamedTuple):
    """One reply that showed the output.

    Attributes:
        view: its record.
        who: title or name of the session that got it.
        lines: the output's lines that stand in it, by stream.
        asked: the lines from which it was made, but which it does not show.
    """

    view: View
    who: str
    lines: Mapping[str, Spans]
    asked: Mapping[str, Spans]

    @property
    def line_count(self) -> int:
        """Number of the output's lines that stand in it."""
        return sum(size(spans) for spans in self.lines.values())

    @property
    def asked_count(self) -> int:
        """Number of the output's lines from which it was made, but which it does not show."""
        return sum(size(spans) for spans in self.asked.values())

    @property
    def start(self) -> tuple[str, int] | None:
        """(stream, line) of the first of its lines; None if it shows none."""
        return next(((stream, spans[0][0]) for stream, spans in self.lines.items() if spans), None)

    @property
    def request(self) -> str:
        """What was asked: the query, the command line, or the place; empty if the verb says it all."""
        try:
            fields = json.loads(self.view.request)
        except ValueError:
            return ""
        value = next((fields[name] for name in _REQUEST_WORDS if fields.get(name)), "")
        return " ".join(str(value).split())


def read_replies(store: Reading, buffer: Buffer, session: str = "") -> list[ShowingReply]:
    """Return the replies about a buffer, oldest first; with a session, those to it alone. Raises as `gather`."""
    coverage = coverage_of(store, store.with_progress(buffer), session=session or None, onlookers=True)
    names = {name: session_name(store, name) for name in coverage.sessions}
    return [_reply(one, names[one.view.session]) for one in coverage.contributions]


def _reply(part: Contribution, who: str) -> ShowingReply:
    lines = {stream: one.seen for stream, one in part.streams.items() if one.seen}
    asked = {stream: one.asked for stream, one in part.streams.items() if one.asked}
    return ShowingReply(part.view, who, lines, asked)


def text_of(store: Reading, reply: ShowingReply) -> str:
    """Return the exact text of a reply. Raises TextGone if it is no longer there."""
    return view_text(store, find_view(store, reply.view.id))


def line_behind(
    store: Reading, buffer: Buffer, reply: ShowingReply, text: Sequence[str], at: int
) -> tuple[str, int] | None:
    """Return the (stream, line) of the output that a line of a reply is; None if that cannot be told.

    Args:
        store: the store.
        buffer: the buffer.
        reply: one of its replies.
        text: lines of the reply.
        at: index of the line among them, from 0.

    Raises:
        SightlineError: the buffer's bytes are gone.
    """
    if numbered := _NUMBERED.fullmatch(text[at]):
        for stream, spans in reply.lines.items():
            number = int(numbered[1])
            if (
                holds(spans, number)
                and numbered[2] in dict(_lines_of(store, buffer, stream, ((number, number),))).values()
            ):
                return stream, number
    wanted = _bare(text[at])
    nth = Counter(_bare(line) for line in text[: at + 1])[wanted]
    found = None
    for stream, spans in reply.lines.items():
        for number, line in _lines_of(store, buffer, stream, spans):
            if _bare(line) == wanted:
                found, nth = (stream, number), nth - 1
                if not nth:
                    return found
    return found


def _bare(line: str) -> str:
    return line.rstrip()


def _lines_of(store: Reading, buffer: Buffer, stream: str, spans: Spans) -> Iterator[tuple[int, str]]:
    left = _READ_LINES
    with store.open_text(Target(buffer, stream)) as source:
        for first, last in spans or NONE:
            for line in source.lines(first, min(last, first + left - 1)):
                yield line.number, clean_line(line.data)
            left -= last - first + 1
            if left <= 0:
                return
