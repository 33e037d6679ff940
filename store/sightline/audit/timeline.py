"""Reads sessions call by call: what each call showed, how much for the first time, and what was seen by then."""

import math
from collections.abc import Iterable, Mapping, Sequence

from sightline.audit.accounting import Accounted, accounted, alone_of
from sightline.audit.buffer_coverage import contribution_of
from sightline.audit.coverage import Contribution, GradedLines, Share, contribution, joined, within
from sightline.audit.line_spans import NONE, Spans, common, size, spans_of, union
from sightline.audit.people_views import Onlookers
from sightline.base.errors import SightlineError
from sightline.base.records import TOOL_FAILED, Buffer, IndexedView, Shown, View
from sightline.base.refs import format_ref
from sightline.light.json_text import dumps
from sightline.light.named_tuple import NamedTuple
from sightline.log.call_names import name_of_view, use_of_view
from sightline.log.log_index import fill_index
from sightline.log.view_text import TextGone, view_text
from sightline.log.views import ref_of_shown
from sightline.store import Reading

BYTES_A_TOKEN = 4
"""An estimate of how many bytes of English and code today's tokenizers put into a token."""

UNANSWERED = 1 << 62
"""The number of a call without an answer, which comes after all others of its session."""

_LOOKS = ("read_output", "read_file", "list_outputs")
"""Verbs that run nothing, so the way in which their output ended is not their own failure."""


class Call(NamedTuple):
    """One call, and its effect.

    Attributes:
        indexed: its view.
        buffer: the first buffer that it is about, as it is now; None if there is none, or it is gone.
        parts: what it adds to the coverage of each of its buffers, by name.
        new: number of lines that its session was shown for the first time.
        again: number of lines that its session had been shown before.
        unfiltered: what its command wrote before its own filters, if that was kept.
        looks_on: whether a person looked at an agent's capture, so that no agent saw the lines.
    """

    indexed: IndexedView
    buffer: Buffer | None
    parts: Mapping[str, Contribution]
    new: int
    again: int
    unfiltered: Buffer | None = None
    looks_on: bool = False

    @property
    def view(self) -> View:
        """The view in the log."""
        return self.indexed.view

    @property
    def asked(self) -> str:
        """What was asked, in one line: the command, the query, or the like."""
        return name_of_view(self.view)

    @property
    def use(self) -> str:
        """Id by which its harness knows the use of the tool; empty if that is not known."""
        return use_of_view(self.view)

    @property
    def begun(self) -> float:
        """When it was asked, seconds since the epoch, as far as that is known; else when it was answered."""
        own = self.buffer if self.view.verb not in _LOOKS else None
        return min(self.view.time, own.created) if own and own.session == self.view.session else self.view.time

    @property
    def failed(self) -> bool:
        """Whether it was an error, or its command did not end well; a search without a match has not failed."""
        if self.buffer and self.buffer.answer and self.view.verb not in _LOOKS:
            return False  # also where the harness calls it an error
        if self.view.failed or (self.view.verb == "tool" and self.buffer and TOOL_FAILED in self.buffer.note):
            return True
        if self.view.verb == "tool" and self.buffer and self.buffer.kind == "cmd":
            return False  # it showed more of a command that another call ran
        if self.view.verb == "query":
            return bool(self.view.exit_code and self.view.exit_code > 1)
        if self.view.verb in _LOOKS:
            return False
        return bool(self.buffer and self.buffer.failed) or bool(self.view.exit_code)

    @property
    def failed_before_filter(self) -> bool:
        """Whether a command that went into filters failed, however the filters ended."""
        return bool(self.unfiltered and self.unfiltered.failed)

    @property
    def ended_well(self) -> bool:
        """Whether all that it ran is known to have ended well; the exit code of filters says nothing about the rest."""
        before = self.unfiltered is None or (self.unfiltered.exit_code == 0 and not self.unfiltered.failed)
        return self.view.exit_code == 0 and not self.failed and before

    @property
    def running(self) -> bool:
        """Whether its command is still running; it may have no answer yet."""
        return bool(self.buffer and self.buffer.state == "running")

    @property
    def unanswered(self) -> bool:
        """Whether it ended without an answer, for instance because its process was killed."""
        return not self.view.number and not self.running

    @property
    def partial(self) -> str:
        """Why its buffer is partial, and what is missing; empty if it is whole or gone."""
        return self.buffer.lost if self.buffer else ""

    @property
    def altered(self) -> str:
        """How the bytes of its buffer differ from those that were captured, as far as that is known."""
        return self.buffer.altered if self.buffer else ""

    @property
    def tokens(self) -> int:
        """About how many tokens the reply was: its bytes by BYTES_A_TOKEN."""
        return -(-self.view.bytes_shown // BYTES_A_TOKEN)

    @property
    def alone_bytes(self) -> int | None:
        """Bytes that its harness would have shown by itself; None if that is not known."""
        failed = bool(self.view.exit_code) or bool(self.buffer and self.buffer.failed)
        return alone_of(self.view, failed=failed)

    @property
    def lines(self) -> int:
        """Number of lines of buffers that it showed, each counted once."""
        return self.new + self.again

    @property
    def cut_lines(self) -> int:
        """Number of lines of buffers that it showed only in part."""
        return sum(len(lines.cut) for part in self.parts.values() for lines in part.streams.values())

    @property
    def first_ref(self) -> str:
        """Ref of the first lines that it showed, or of its buffer; empty for none."""
        for name, part in self.parts.items():
            for stream, lines in part.streams.items():
                if there := lines.seen or spans_of((line, line) for line in lines.cut):
                    return ref_of_shown(Shown(name, stream, *there[0]))
        return format_ref(self.view.refs[0]) if self.view.refs else ""


class CallTotals(NamedTuple):
    """The totals of some calls. How much of what was captured they have shown stands in the verdict.

    Attributes:
        calls: number of calls.
        captured: number of buffers that their sessions captured, without those that are gone.
        captured_bytes: bytes of these.
        shown_bytes: bytes of all replies.
        tokens: about how many tokens all replies were: the sum over the calls.
        saved_bytes: captured bytes that were not sent; 0 if more was sent.
        cut: number of replies from which something was left out.
        lines: number of lines shown; repeated ones count each time.
        again: number of lines that the same session had been shown before.
        accounted: calls of harnesses that are known to cut, compared with what these would have shown.
    """

    calls: int = 0
    captured: int = 0
    captured_bytes: int = 0
    shown_bytes: int = 0
    tokens: int = 0
    saved_bytes: int = 0
    cut: int = 0
    lines: int = 0
    again: int = 0
    accounted: Accounted = Accounted()

    @property
    def again_ratio(self) -> float:
        """Share of the shown lines that were shown again, 0 to 1."""
        return self.again / self.lines if self.lines else 0.0


class Timeline:
    """The calls of a session, or of all, which can be followed. Only one thread at a time may use it.

    Attributes:
        calls: the calls at the last `refresh`, oldest first.
    """

    def __init__(self, store: Reading, *, session: str | None = None, since: float = 0.0) -> None:
        """Prepare to read; nothing is read before `refresh`.

        Args:
            store: the store.
            session: name of a session; None for all.
            since: time of the first call, seconds since the epoch.
        """
        self._store = store
        self._session = session
        self._since = since
        self._start()

    def _start(self) -> None:
        self._behind = False
        self.calls: list[Call] = []
        self._settled: list[Call] = []
        self._after = self._newest = 0
        self._seen: _Seen = {}
        self._people = Onlookers(self._store)
        self._buffers: dict[str, Buffer | None] = {}
        self._unfiltered: dict[str, str] = {}

    def newest(self, count: int) -> list[Call]:
        """Return the last calls alone, oldest first, for a first look; what was seen before them is not known."""
        fill_index(self._store)
        self._buffers, self._unfiltered = {}, self._store.index.unfiltered()
        seen: _Seen = {}
        last = self._store.index.views(session=self._session, since=self._since, limit=count)
        return [self._call(indexed, seen) for indexed in reversed(last)]

    @property
    def behind(self) -> bool:
        """Whether the last `refresh` has left calls for the next one."""
        return self._behind

    def refresh(self, limit: int | None = None) -> int:
        """Take in new calls, and return the index of the first call that is new or has changed.

        If nothing has changed, that is the number of calls.

        Args:
            limit: most new calls to take in; all by default.
        """
        fill_index(self._store)
        self._store.end_dead_captures()
        self._buffers, self._unfiltered = {}, self._store.index.unfiltered()
        newest = self._store.index.newest_view()
        if newest < self._newest:  # views were indexed anew
            self._start()
        self._newest = newest
        before, self._settled = self.calls, [self._refreshed(call) for call in self._settled]
        most = -1 if limit is None else limit + TAIL_CALLS
        rows = self._store.index.views_after(self._after, session=self._session, limit=most)
        self._behind = len(rows) == most
        settling, tail = rows[:-TAIL_CALLS], rows[-TAIL_CALLS:]
        self._settled += self._calls(settling, self._seen)
        self._after = settling[-1][0] if settling else self._after
        last = self._calls(tail, dict(self._seen))
        self.calls = _ordered([*self._settled, *last, *self._unanswered()])
        same = (place for place, (old, new) in enumerate(zip(before, self.calls, strict=False)) if old != new)
        return next(same, min(len(before), len(self.calls)))

    def _unanswered(self) -> list[Call]:
        """Return commands and calls of tools without a reply yet, from their start on, ended or not."""
        return [
            Call(IndexedView(_unanswered_view(buffer), 0, 0), buffer, {}, 0, 0)
            for buffer in ([] if self._behind else self._store.index.unanswered(self._session))
            if buffer.created >= self._since
        ]

    def _refreshed(self, call: Call) -> Call:
        """Return the call with its buffer as it is now, if that was still running."""
        if call.buffer is None or call.buffer.state != "running":
            return call
        return call._replace(buffer=self._store.index.buffer(call.buffer.name))

    def _calls(self, rows: Sequence[tuple[int, IndexedView]], seen: "_Seen") -> list[Call]:
        wanted = {name for _, one in rows for name in one.view.refs if name not in self._buffers}
        self._buffers |= self._store.index.buffers(wanted)
        return [self._call(indexed, seen) for _, indexed in rows if indexed.view.time >= self._since]

    def _call(self, indexed: IndexedView, seen: "_Seen") -> Call:
        view = indexed.view
        buffers = {name: self._buffer(name) for name in view.refs}
        parts = {name: _part(self._store, name, buffer, indexed) for name, buffer in buffers.items()}
        new, again = count_lines(view, parts, seen)
        first = view.refs[0] if view.refs else ""
        unfiltered = self._unfiltered.get(first) if view.verb not in _LOOKS else None
        buffer = buffers.get(first)
        looks_on = bool(self._session is None and buffer and self._people.looks_on(view.session, buffer.session))
        before = self._buffer(unfiltered) if unfiltered else None
        return Call(indexed, buffer, parts, new, again, before, looks_on)

    def _buffer(self, name: str) -> Buffer | None:
        """Return a buffer's record, read once for all calls that are taken in together."""
        if name not in self._buffers:
            self._buffers[name] = self._store.index.buffer(name)
        return self._buffers[name]


_Seen = dict[tuple[str, str, str], Spans]
"""The lines shown so far, by session, buffer and stream."""

TAIL_CALLS = 64  # the last calls are read again each time, since their lines may have been found only now


def _ordered(calls: Iterable[Call]) -> list[Call]:
    """Order calls by time, whenever they were logged; those that will have a number come last."""

    def place(call: Call) -> tuple[float, int]:
        waits = not call.view.number and not call.unanswered
        return (math.inf if waits else call.view.time), call.view.number or UNANSWERED

    return sorted(calls, key=place)


def _unanswered_view(buffer: Buffer) -> View:
    """Return a stand-in for the view of a command, or a call of a tool, that has no answer, and so no number."""
    verb, asked = ("tool", "tool") if buffer.kind == "tool" else ("run_command", "command")
    return View(
        id=f"{buffer.session}:0",
        session=buffer.session,
        number=0,
        time=buffer.created,
        verb=verb,
        request=dumps({asked: buffer.command}),
        refs=(buffer.name,),
        shown=(),
        lines_shown=0,
        lines_total=0,
        bytes_shown=0,
        bytes_total=0,
        exit_code=None,
        truncated=False,
        text_sha256="",
    )


def calls_about(store: Reading, buffers: Mapping[str, Buffer], people: Onlookers) -> dict[str, list[Call]]:
    """Return the calls about some buffers, each by itself: by name, oldest first, with what they add to its coverage.

    What was seen before each is not counted, and a call has its buffer only if that is the first that it is about.

    Args:
        store: the store.
        buffers: the buffers by name, those that are gone included.
        people: knows who looks on.
    """
    found: dict[str, list[Call]] = {name: [] for name in buffers}
    for name, indexed in store.index.views_about(buffers):
        buffer = buffers[name]
        part = _part(store, name, buffer, indexed)
        own = buffer if indexed.view.refs[0] == name else None
        looks_on = people.looks_on(indexed.view.session, buffer.session)
        found[name].append(Call(indexed, own, {name: part}, 0, 0, None, looks_on))
    return found


def calls_of(store: Reading, *, session: str | None = None, since: float = 0.0) -> list[Call]:
    """Return the calls of a session, or of all, from a time on, oldest first; see `Timeline`."""
    timeline = Timeline(store, session=session, since=since)
    timeline.refresh()
    return timeline.calls


def _part(store: Reading, name: str, buffer: Buffer | None, indexed: IndexedView) -> Contribution:
    if buffer is None or buffer.state == "evicted":
        return contribution(indexed.view, name)
    return contribution_of(store, buffer, indexed)


def count_lines(view: View, parts: Mapping[str, Contribution], seen: _Seen) -> tuple[int, int]:
    """Return (lines new to the session, lines shown again), and update what the session has seen.

    Lines of a buffer that a command line names are counted in the command's own output.
    """
    new = again = 0
    for name, part in parts.items():
        counts = view.verb == "query" or name == view.refs[0]
        for stream, lines in part.streams.items():
            key = (view.session, name, stream)
            before = seen.get(key, NONE)
            known = size(common(before, lines.seen))
            again += known if counts else 0
            new += size(lines.seen) - known if counts else 0
            seen[key] = union(before, lines.seen)
    return new, again


def seen_after(calls: Sequence[Call], step: int) -> dict[str, dict[str, GradedLines]]:
    """Return the lines shown in the first calls, by grade, buffer and stream, without those to people who looked on."""
    found: dict[str, dict[str, list[GradedLines]]] = {}
    for call in calls[:step]:
        for name, part in ({} if call.looks_on else call.parts).items():
            for stream, lines in part.streams.items():
                found.setdefault(name, {}).setdefault(stream, []).append(lines)
    return {name: {stream: joined(parts) for stream, parts in streams.items()} for name, streams in found.items()}


class CallFilter(NamedTuple):
    """A filter of calls; an empty field excludes nothing.

    Attributes:
        verb: only calls of this verb.
        buffer: name of the only buffer.
        failed: whether the command must have failed.
        text: a text that must occur, in any case, in what was asked or shown.
    """

    verb: str = ""
    buffer: str = ""
    failed: bool = False
    text: str = ""


def filtered(store: Reading, calls: Iterable[Call], wanted: CallFilter) -> list[Call]:
    """Return the calls that a filter accepts."""
    return [call for call in calls if _is_wanted(store, call, wanted)]


def _is_wanted(store: Reading, call: Call, wanted: CallFilter) -> bool:
    view = call.view
    if wanted.verb and view.verb != wanted.verb:
        return False
    if wanted.buffer and wanted.buffer not in view.refs:
        return False
    if wanted.failed and not call.failed:
        return False
    return not wanted.text or _has_text(store, call, wanted.text.lower())


def _has_text(store: Reading, call: Call, text: str) -> bool:
    if text in call.view.request.lower() or text in call.asked.lower():
        return True
    try:
        return text in view_text(store, call.indexed).lower()
    except (TextGone, SightlineError):
        return False


def captured_by(store: Reading, sessions: Iterable[str], since: float = 0.0) -> list[Buffer]:
    """Return the buffers that sessions captured and that still exist, oldest first, from a time on.

    A call of a tool that ended without an answer has captured nothing.
    """
    store.end_dead_captures()  # so that a capture whose writer was killed counts as failed
    found = [buffer for name in dict.fromkeys(sessions) for buffer in store.index.of_session(name)]
    there = [store.with_progress(buffer) for buffer in found if buffer.state != "evicted" and buffer.created >= since]
    return sorted((buffer for buffer in there if not buffer.is_unanswered), key=lambda buffer: buffer.created)


def is_shown_whole(buffer: Buffer, calls: Sequence[Call]) -> bool:
    """Return whether some calls have shown each line of a buffer whole."""
    seen = seen_after(calls, len(calls)).get(buffer.name, {})
    there = ((seen[name], info.lines) for name, info in buffer.streams.items() if name in seen)
    return sum(size(within(lines, count).seen) for lines, count in there) >= buffer.lines


def share_seen(calls: Sequence[Call], captured: Sequence[Buffer]) -> Share:
    """Return how much of what was captured stood in some calls, which may be the first of a session."""
    seen = seen_after(calls, len(calls))
    unsure = {name for call in calls for name, part in call.parts.items() if part.unsure}
    there = (
        within(seen[one.name][name], info.lines)
        for one in captured
        for name, info in one.streams.items()
        if name in seen.get(one.name, ())
    )
    return Share(
        sum(lines.weight for lines in there),
        sum(buffer.lines for buffer in captured),
        any(buffer.is_partial for buffer in captured),
        any(buffer.name in unsure for buffer in captured),
    )


def totals_of(calls: Sequence[Call], captured: Sequence[Buffer]) -> CallTotals:
    """Sum up calls, and what their sessions captured."""
    captured_bytes = sum(buffer.bytes for buffer in captured)
    shown_bytes = sum(call.view.bytes_shown for call in calls)
    return CallTotals(
        calls=len(calls),
        captured=len(captured),
        captured_bytes=captured_bytes,
        shown_bytes=shown_bytes,
        tokens=sum(call.tokens for call in calls),
        saved_bytes=max(captured_bytes - shown_bytes, 0),
        cut=sum(call.view.truncated for call in calls),
        lines=sum(call.lines for call in calls),
        again=sum(call.again for call in calls),
        accounted=accounted((call.view.bytes_shown, call.alone_bytes) for call in calls),
    )
