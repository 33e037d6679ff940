"""Sessions call by call: what each was shown, how much of it for the first time, and what had been seen by then."""

import json
from collections.abc import Iterable, Mapping, Sequence

from sightline.audit.accounting import Accounted, accounted, alone_of
from sightline.audit.buffer_coverage import contribution_of
from sightline.audit.coverage import Contribution, Lines, contribution, joined, share_of, within
from sightline.audit.line_spans import NONE, Spans, common, size, spans_of, union
from sightline.audit.onlookers import Onlookers
from sightline.errors import SightlineError
from sightline.log.call_names import name_of_request
from sightline.log.log_index import fill_index
from sightline.log.view_text import TextGone, view_text
from sightline.log.views import ref_of_shown
from sightline.named_tuple import NamedTuple
from sightline.records import TOOL_FAILED, Buffer, IndexedView, Shown, View
from sightline.refs import format_ref
from sightline.store import Reading

BYTES_A_TOKEN = 4
"""What tokens are estimated by: about what English and code take with the tokenizers of today's models."""

UNANSWERED = 1 << 62
"""Where a call stands among those of its session that has no number yet."""

_LOOKS = ("read_output", "read_file", "list_outputs")
"""Verbs that run nothing: how what they look at ended is not how they did."""


class Call(NamedTuple):
    """One call, and what came of it.

    Attributes:
        indexed: its view.
        buffer: the first buffer that it concerns, as it is now; None where it concerns none, or that is gone.
        parts: what it adds to the coverage of each of its buffers, by name.
        new: lines that its session was shown for the first time.
        again: lines that its session had been shown before.
        unfiltered: what its command wrote before filters of its own, where that was kept.
        looks_on: whether a person looked at what an agent had captured: no agent saw what it shows.
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
        """What the log has of it."""
        return self.indexed.view

    @property
    def asked(self) -> str:
        """The command, the query, or what else it was about, in one line."""
        return asked_of(self.view)

    @property
    def failed(self) -> bool:
        """Whether it was an error, or what it ran did not end well; a search that finds nothing has not failed."""
        if self.view.failed or (self.view.verb == "tool" and self.buffer and TOOL_FAILED in self.buffer.note):
            return True
        if self.view.verb == "query":
            return bool(self.view.exit_code and self.view.exit_code > 1)
        runs = self.view.verb not in _LOOKS
        return runs and (bool(self.view.exit_code) or bool(self.buffer and self.buffer.failed))

    @property
    def failed_before_filter(self) -> bool:
        """Whether what went into its filters came of a command that failed, whatever the filters ended with."""
        return bool(self.unfiltered and self.unfiltered.failed)

    @property
    def ended_well(self) -> bool:
        """Whether all that it ran is known to have ended well; the code of filters tells nothing of what went in."""
        before = self.unfiltered is None or (self.unfiltered.exit_code == 0 and not self.unfiltered.failed)
        return self.view.exit_code == 0 and not self.failed and before

    @property
    def running(self) -> bool:
        """Whether what it ran goes on; it may not have been answered yet."""
        return bool(self.buffer and self.buffer.state == "running")

    @property
    def unanswered(self) -> bool:
        """Whether it ended without an answer, as when whoever was to give one was killed."""
        return not self.view.number and not self.running

    @property
    def partial(self) -> str:
        """Why its buffer is not the whole of what was written, and what is missing; empty where it is, or is gone."""
        return self.buffer.lost if self.buffer else ""

    @property
    def tokens(self) -> int:
        """About how many tokens the reply was: its bytes by BYTES_A_TOKEN."""
        return -(-self.view.bytes_shown // BYTES_A_TOKEN)

    @property
    def alone_bytes(self) -> int | None:
        """What its harness would have shown by itself; None where that is not known."""
        failed = bool(self.view.exit_code) or bool(self.buffer and self.buffer.failed)
        return alone_of(self.view, failed=failed)

    @property
    def lines(self) -> int:
        """Lines of buffers that stood in it, each once."""
        return self.new + self.again

    @property
    def cut_lines(self) -> int:
        """Lines of buffers of which only a part stood in it."""
        return sum(len(lines.cut) for part in self.parts.values() for lines in part.streams.values())

    @property
    def first_ref(self) -> str:
        """Where one finds in full what it was shown: the first lines of it, or its buffer; empty for none."""
        for name, part in self.parts.items():
            for stream, lines in part.streams.items():
                if there := lines.seen or spans_of((line, line) for line in lines.cut):
                    return ref_of_shown(Shown(name, stream, *there[0]))
        return format_ref(self.view.refs[0]) if self.view.refs else ""


class Totals(NamedTuple):
    """What some calls come to.

    Attributes:
        calls: how many they are.
        captured: buffers that their sessions captured, those that are gone not counted.
        captured_bytes: bytes of these.
        captured_lines: lines of these.
        seen_lines: how many of these lines stood in any of the calls.
        shown_bytes: bytes of all replies.
        tokens: about how many tokens all replies were: the sum of what each call says.
        saved_bytes: what of the captured bytes was not sent; less than nothing is none.
        cut: replies from which something was left out.
        lines: lines shown, those that were shown again as often as they were.
        again: lines that had been shown before to the same session.
        accounted: the calls of harnesses that are known to cut, beside what these would have shown by themselves.
        partial: buffers of the captured ones that hold only a part of what was written.
        seen_parts: what the lines come to of which only a part stood in any of the calls, in lines.
        unsure: buffers of the captured ones of which lines that count as seen may have been cut.
    """

    calls: int = 0
    captured: int = 0
    captured_bytes: int = 0
    captured_lines: int = 0
    seen_lines: int = 0
    shown_bytes: int = 0
    tokens: int = 0
    saved_bytes: int = 0
    cut: int = 0
    lines: int = 0
    again: int = 0
    accounted: Accounted = Accounted()
    partial: int = 0
    seen_parts: float = 0.0
    unsure: int = 0

    @property
    def share(self) -> float:
        """Seen of the captured lines, 0 to 1; of a line of which a part was seen, that part."""
        return share_of(self.seen_lines + self.seen_parts, self.captured_lines, partial=bool(self.partial))

    @property
    def at_most(self) -> bool:
        """Whether no more than this share was seen, and perhaps less."""
        return bool(self.partial or self.unsure)

    @property
    def again_ratio(self) -> float:
        """Re-read of all shown lines, 0 to 1."""
        return self.again / self.lines if self.lines else 0.0


def asked_of(view: View) -> str:
    """What a view was about, in one line: its command, its query, or whatever else names it."""
    return name_of_request(json.loads(view.request))


class Timeline:
    """The calls of a session, or of all, that can be followed as they come. One thread at a time may use it.

    Attributes:
        calls: as of the last `refresh`, oldest first.
    """

    def __init__(self, store: Reading, *, session: str | None = None, since: float = 0.0) -> None:
        """Prepare; nothing is read before `refresh`.

        Args:
            store: the store.
            session: name of a session; None for all.
            since: only calls from a time on, seconds since the epoch.
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
        """The last calls by themselves, oldest first, for a first look: what was seen before them is not known."""
        fill_index(self._store)
        self._buffers, self._unfiltered = {}, self._store.index.unfiltered()
        seen: _Seen = {}
        last = self._store.index.views(session=self._session, since=self._since, limit=count)
        return [self._call(indexed, seen) for indexed in reversed(last)]

    @property
    def behind(self) -> bool:
        """Whether the last `refresh` left calls to the next."""
        return self._behind

    def refresh(self, limit: int | None = None) -> int:
        """Take in what came since; the place of the first call that is new, or no longer what it was.

        That is the number of calls where nothing has changed.

        Args:
            limit: so many new ones at most; all by default.
        """
        fill_index(self._store)
        self._store.end_dead_captures()
        self._buffers, self._unfiltered = {}, self._store.index.unfiltered()
        newest = self._store.index.newest_view()
        if newest < self._newest:  # they were indexed anew
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
        """Commands and calls of tools of which nobody was shown anything: there from their start, ended or not."""
        return [
            Call(IndexedView(_unanswered_view(buffer), 0, 0), buffer, {}, 0, 0)
            for buffer in ([] if self._behind else self._store.index.unanswered())
            if self._session in (None, buffer.session) and buffer.created >= self._since
        ]

    def _refreshed(self, call: Call) -> Call:
        """The call; its buffer as it is now where it was still running."""
        if call.buffer is None or call.buffer.state != "running":
            return call
        return call._replace(buffer=self._store.index.buffer(call.buffer.name))

    def _calls(self, rows: Iterable[tuple[int, IndexedView]], seen: "_Seen") -> list[Call]:
        return [self._call(indexed, seen) for _, indexed in rows if indexed.view.time >= self._since]

    def _call(self, indexed: IndexedView, seen: "_Seen") -> Call:
        view = indexed.view
        buffers = {name: self._buffer(name) for name in view.refs}
        parts = {name: _part(self._store, name, buffer, indexed) for name, buffer in buffers.items()}
        new, again = _count(view, parts, seen)
        first = view.refs[0] if view.refs else ""
        unfiltered = self._unfiltered.get(first) if view.verb not in _LOOKS else None
        buffer = buffers.get(first)
        looks_on = bool(self._session is None and buffer and self._people.looks_on(view.session, buffer.session))
        before = self._buffer(unfiltered) if unfiltered else None
        return Call(indexed, buffer, parts, new, again, before, looks_on)

    def _buffer(self, name: str) -> Buffer | None:
        """A buffer's record, read once for all calls that are taken in at a time."""
        if name not in self._buffers:
            self._buffers[name] = self._store.index.buffer(name)
        return self._buffers[name]


_Seen = dict[tuple[str, str, str], Spans]
"""What was shown so far, by session, buffer and stream."""

TAIL_CALLS = 64  # the last calls are read anew each time: which lines they showed may have been found since


def _ordered(calls: Iterable[Call]) -> list[Call]:
    """Calls by their times; those of one session as they are numbered, though some were logged late.

    What runs will have the next number; what ended without an answer never has one.
    """
    latest: dict[str, float] = {}
    keyed = []
    for call in sorted(calls, key=lambda one: one.view.number or UNANSWERED):
        when = call.view.time if call.unanswered else max(latest.get(call.view.session, 0.0), call.view.time)
        if call.view.number:
            latest[call.view.session] = when
        keyed.append((when, call))
    return [call for _, call in sorted(keyed, key=lambda one: one[0])]


def _unanswered_view(buffer: Buffer) -> View:
    """What stands for the view of a command, or a call of a tool, that has not been answered; its number is none."""
    verb, asked = ("tool", "tool") if buffer.kind == "tool" else ("run_command", "command")
    return View(
        id=f"{buffer.session}:0",
        session=buffer.session,
        number=0,
        time=buffer.created,
        verb=verb,
        request=json.dumps({asked: buffer.command}),
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


def calls_of(store: Reading, *, session: str | None = None, since: float = 0.0) -> list[Call]:
    """The calls of a session, or of all, from a time on, oldest first; see `Timeline`."""
    timeline = Timeline(store, session=session, since=since)
    timeline.refresh()
    return timeline.calls


def _part(store: Reading, name: str, buffer: Buffer | None, indexed: IndexedView) -> Contribution:
    if buffer is None or buffer.state == "evicted":
        return contribution(indexed.view, name)
    return contribution_of(store, buffer, indexed)


def _count(view: View, parts: Mapping[str, Contribution], seen: _Seen) -> tuple[int, int]:
    """(lines new to a session, lines shown again); what it has seen is brought up to date.

    Lines of a buffer that a command line names stand in the command's own output, and count there.
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


def seen_after(calls: Sequence[Call], step: int) -> dict[str, dict[str, Lines]]:
    """What had been shown after so many calls: lines by grade, by buffer and stream; not to people who looked on."""
    found: dict[str, dict[str, list[Lines]]] = {}
    for call in calls[:step]:
        for name, part in ({} if call.looks_on else call.parts).items():
            for stream, lines in part.streams.items():
                found.setdefault(name, {}).setdefault(stream, []).append(lines)
    return {name: {stream: joined(parts) for stream, parts in streams.items()} for name, streams in found.items()}


class Wanted(NamedTuple):
    """Which calls are wanted; each empty field leaves out none.

    Attributes:
        verb: only calls of this verb.
        buffer: only those that concern this buffer, by name.
        failed: only those whose command failed.
        text: only those that hold this text, in any case, in what was asked or shown.
    """

    verb: str = ""
    buffer: str = ""
    failed: bool = False
    text: str = ""


def filtered(store: Reading, calls: Iterable[Call], wanted: Wanted) -> list[Call]:
    """The calls that are wanted."""
    return [call for call in calls if _is_wanted(store, call, wanted)]


def _is_wanted(store: Reading, call: Call, wanted: Wanted) -> bool:
    view = call.view
    if wanted.verb and view.verb != wanted.verb:
        return False
    if wanted.buffer and wanted.buffer not in view.refs:
        return False
    if wanted.failed and not call.failed:
        return False
    return not wanted.text or _has_text(store, call, wanted.text.lower())


def _has_text(store: Reading, call: Call, text: str) -> bool:
    if text in call.view.request.lower():
        return True
    try:
        return text in view_text(store, call.indexed).lower()
    except (TextGone, SightlineError):
        return False


def captured_by(store: Reading, sessions: Iterable[str], since: float = 0.0) -> list[Buffer]:
    """The buffers that sessions captured and that are there, oldest first; only those made from a time on.

    Of a call of a tool that ended without an answer nothing was captured.
    """
    store.end_dead_captures()  # one whose writer was killed has failed
    found = [buffer for name in dict.fromkeys(sessions) for buffer in store.index.of_session(name)]
    there = [store.with_progress(buffer) for buffer in found if buffer.state != "evicted" and buffer.created >= since]
    return sorted((buffer for buffer in there if not buffer.is_unanswered), key=lambda buffer: buffer.created)


def unknowable(store: Reading, calls: Sequence[Call], sessions: Iterable[str], since: float = 0.0) -> list[str]:
    """The outputs that went before all of them was shown, by name: what was overlooked in them, nobody can tell.

    Args:
        store: the store.
        calls: what was shown.
        sessions: names of those that captured.
        since: only outputs from a time on, seconds since the epoch.
    """
    names = dict.fromkeys(sessions)
    gone = {
        one.name: _lines_of(one)
        for name in names
        for one in store.index.of_session(name)
        if one.state == "evicted" and one.kind != "file" and one.created >= since
    }
    asked = dict.fromkeys(name for call in calls for name in call.view.refs if not name.startswith("file_"))
    for name in asked:  # of those that a person removed, the index knows nothing any more
        left = store.tombstone(name) if name not in gone and store.index.buffer(name) is None else None
        if left and left.get("session") in names and left["created"] >= since:
            gone[name] = {stream: info["lines"] for stream, info in left["streams"].items()}
    seen = seen_after(calls, len(calls)) if gone else {}
    return [name for name, lines in gone.items() if _seen_of(lines, seen.get(name, {})) < sum(lines.values())]


def _lines_of(buffer: Buffer) -> dict[str, int]:
    return {name: info.lines for name, info in buffer.streams.items()}


def _seen_of(lines: Mapping[str, int], seen: Mapping[str, Lines]) -> int:
    """How many of the lines that streams have are among those that were seen of them, whole."""
    return sum(size(within(seen[name], count).seen) for name, count in lines.items() if name in seen)


def _seen_parts_of(buffer: Buffer, seen: Mapping[str, Lines]) -> float:
    """What the lines of a buffer come to of which only a part was seen, in lines."""
    there = (within(seen[name], info.lines) for name, info in buffer.streams.items() if name in seen)
    return sum(one.share for lines in there for one in lines.cut.values())


def _unsure_of(calls: Iterable[Call], captured: Sequence[Buffer]) -> int:
    """Of how many buffers a call counts lines as seen that may have been cut."""
    unsure = {name for call in calls for name, part in call.parts.items() if part.unsure}
    return sum(buffer.name in unsure for buffer in captured)


def totals_of(calls: Sequence[Call], captured: Sequence[Buffer]) -> Totals:
    """What calls come to, beside what their sessions captured."""
    seen = seen_after(calls, len(calls))
    captured_bytes = sum(buffer.bytes for buffer in captured)
    shown_bytes = sum(call.view.bytes_shown for call in calls)
    return Totals(
        calls=len(calls),
        captured=len(captured),
        captured_bytes=captured_bytes,
        captured_lines=sum(buffer.lines for buffer in captured),
        seen_lines=sum(_seen_of(_lines_of(buffer), seen.get(buffer.name, {})) for buffer in captured),
        shown_bytes=shown_bytes,
        tokens=sum(call.tokens for call in calls),
        saved_bytes=max(captured_bytes - shown_bytes, 0),
        cut=sum(call.view.truncated for call in calls),
        lines=sum(call.lines for call in calls),
        again=sum(call.again for call in calls),
        accounted=accounted((call.view.bytes_shown, call.alone_bytes) for call in calls),
        partial=sum(buffer.is_partial for buffer in captured),
        seen_parts=sum(_seen_parts_of(buffer, seen.get(buffer.name, {})) for buffer in captured),
        unsure=_unsure_of(calls, captured),
    )
