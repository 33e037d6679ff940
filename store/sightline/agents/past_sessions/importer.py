"""Imports past sessions: makes a buffer and a view of each call in their transcripts, once.

A call is recognised by the ids that the log keeps, whatever became of its buffer, and whichever transcript contains
it. So a call that was imported, or recorded as it happened, is not imported again.
"""

import math
import re
import time
from collections.abc import Callable, Iterable

from sightline.agents.past_sessions.batches import MOST_WRITING, Calls, Ran, Writings
from sightline.agents.past_sessions.past_call import (
    KeptCall,
    buffer_of_command,
    is_of_another,
    named_call,
    of_cancelled,
)
from sightline.agents.past_sessions.usage_intake import UsageIntake, session_of
from sightline.base.errors import StoreFailed, UnsafeStore
from sightline.base.private_files import read_file, remove_folder, write_atomically
from sightline.base.records import LONG_ID, Buffer, Session
from sightline.capture.finished_output import list_finished
from sightline.harnesses.formats import TranscriptSource, open_reading, reading_order
from sightline.harnesses.tool_call import CallSession, ToolCall, timed_id, unique_id
from sightline.harnesses.transcript import (
    NotReadable,
    ToldEvent,
    ToldOrigin,
    ToldUsage,
    TranscriptItem,
    TranscriptReading,
    bounded_call,
    bounded_event,
    bounded_session,
)
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.past_views import SAME_SECONDS, LoggedCalls, Nameless, ViewRow, known_calls, log_past_views
from sightline.log.retention import enforce_limits
from sightline.log.session_events import (
    SaidWords,
    SessionEvent,
)
from sightline.log.session_history import write_events
from sightline.log.sessions import safe_name
from sightline.settings.config import Settings
from sightline.store import Layout, Store

QUIET_SECONDS = 60.0
"""A transcript that was not written to for this long is taken to be complete."""

ENDED_LATER = "it went on when it was imported"
"""Why an output is partial whose command has ended since, which an import adds."""

TOLD_TROUBLES = 1_000
"""Unreadable records whose places are reported; further ones are only counted."""

_LEDGER_FORMAT = 1
_KNOWN_SESSIONS = 100
BATCH_CALLS = 2048
_BATCH_BYTES = 16 << 20  # of half as much, an import took 4 % longer, as every batch has the system copy pages
_PROGRESS_BYTES = 1 << 20
SETTLE_BUFFERS = 2_000  # after this many the limits are enforced, so that the disk holds no more than they allow
_PLACE_BUFFERS = 50_000  # after this many the import stops until they are in order, whatever the limits say
_OWN = re.compile(r"(?:mcp_)?sightline_(?:run_command|read_file|read_output|query|list_outputs)")


class UnreadRecord(NamedTuple):
    """An unreadable record: its place (line 0 if there are no lines), and what is wrong."""

    path: str
    line: int
    text: str


class ImportCounts(NamedTuple):
    """The counts of an import.

    Attributes:
        transcripts: transcripts that were read.
        unchanged: transcripts that were imported before, and have not changed.
        foreign: files that are no transcripts of a known format.
        waiting: transcripts that are still being written, with calls that wait for their end.
        left_out: older transcripts that were not read, because the limits would not let their content stay.
        bytes: bytes that were read.
        calls: calls that were imported.
        partial: those of them, reads of files aside, whose whole output was not found anywhere.
        sessions: sessions with imported calls.
        known: calls that the store had already.
        own: calls of Sightline's own tools, which were logged when they were answered.
        off: calls in folders where nothing is to be captured.
        damaged: records that could not be read.
        unknown: records of sorts that are not known.
        evicted: buffers that the limits removed.
    """

    transcripts: int = 0
    unchanged: int = 0
    foreign: int = 0
    waiting: int = 0
    left_out: int = 0
    bytes: int = 0
    calls: int = 0
    partial: int = 0
    sessions: int = 0
    known: int = 0
    own: int = 0
    off: int = 0
    damaged: int = 0
    unknown: int = 0
    evicted: int = 0


class ImportLedger:
    """Remembers by path which transcripts were imported in their present state, so that the next run can skip them.

    It is a file under the root that may be removed, because the log knows every call that was imported.
    """

    def __init__(self, layout: Layout, *, durable: bool = False) -> None:
        """Read the file; an unreadable one counts as empty, and one of a newer version is left unchanged."""
        self._path = layout.imports
        self._durable = durable
        self._known: dict[str, Any] = {}
        self._changed = False
        self._is_newer = False
        try:
            data = loads(read_file(self._path))
        except (OSError, ValueError, UnsafeStore):
            return
        version = data.get("format") if isinstance(data, dict) else None
        self._is_newer = isinstance(version, int) and version > _LEDGER_FORMAT
        if isinstance(data, dict) and version == _LEDGER_FORMAT and isinstance(data.get("files"), dict):
            self._known = data["files"]

    def has(self, source: TranscriptSource) -> bool:
        """Return whether a transcript was imported, with its requests, and has not changed since."""
        known = self._known.get(source.path)
        return isinstance(known, dict) and known.get("stamp") == list(source.stamp) and known.get("usage") is True

    def silent(self, source: TranscriptSource) -> set[str]:
        """Return ids of calls without any view, because their transcripts do not say what was shown of them."""
        known = self._known.get(source.path)
        return set(known.get("silent", ())) if isinstance(known, dict) else set()

    def put(self, source: TranscriptSource, silent: set[str]) -> None:
        """Note that a transcript was imported in its present state."""
        told = {"silent": sorted(silent)} if silent else {}
        self._known[source.path] = {"stamp": list(source.stamp), "usage": True, **told}  # 0.3.0 read no usage
        self._changed = True

    def save(self) -> None:
        """Write the file if it has changed. Raises OSError."""
        if self._changed and not self._is_newer:
            data = dumps({"format": _LEDGER_FORMAT, "files": self._known}, ensure_ascii=False)
            write_atomically(self._path, data.encode(errors="surrogateescape"), durable=self._durable)
            self._changed = False


class Importer:
    """One import: call `run`, or `take_in` for each transcript and then `settle`.

    Attributes:
        counts: counts so far.
        troubles: the first unreadable records.
    """

    def __init__(self, store: Store, *, progress: Callable[[int], None] = lambda _: None) -> None:
        """Prepare to import.

        Args:
            store: the store that keeps everything.
            progress: called with the number of bytes read since its last call.
        """
        self.counts = ImportCounts()
        self.troubles: list[UnreadRecord] = []
        self._store = store
        self._progress = progress
        self._ledger = ImportLedger(store.layout, durable=store.settings.durable)
        self._known: dict[str, LoggedCalls] = {}
        self._sessions: dict[str, Session] = {}
        self._met: dict[CallSession, Session] = {}
        self._touched: set[str] = set()
        self._batch: list[tuple[ToolCall, Session]] = []
        self._waiting: set[str] = set()  # ids of the calls in the batch
        self._batch_bytes = 0
        self._writings = Writings(store)
        self._read_whole: list[
            tuple[TranscriptSource, set[str]]
        ] = []  # transcripts with calls that are not all kept yet
        self._placed: dict[str, float] = {}
        self._logged: set[str] = set()  # buffers of the batch being recorded, once the log has them
        self._silent: set[str] = set()
        self._untold: dict[str, list[Buffer]] = {}  # for `of_cancelled`, while one transcript is read
        self._diverged: set[str] = set()  # paths of transcripts that go beyond the history that they repeat
        self._growing: set[str] = set()  # paths of transcripts with calls that wait
        self._first: dict[str, dict[str, tuple[str, float]]] = {}  # id and time of the first call, by path and use
        self._told: dict[str, list[SessionEvent]] = {}  # by session; logged after the views that they follow
        self._usage = UsageIntake(store, self._session)  # logged likewise

    @property
    def limits(self) -> Settings:
        """The store's settings, whose limits say what may stay."""
        return self._store.settings

    def run(self, sources: Iterable[TranscriptSource]) -> ImportCounts:
        """Import transcripts in `reading_order`.

        Raises:
            StoreFailed: the store cannot keep them; earlier imports stay.
        """
        ordered = reading_order(sources)
        try:
            for at, source in enumerate(ordered):
                if self.is_known(source):
                    self._count(unchanged=1)
                    self._progress(source.size)
                elif (reading := self.open(source)) is not None:
                    try:
                        self.take_in(source, reading, ended=time.time() - source.written > QUIET_SECONDS)
                    finally:
                        reading.close()
                        self._first.pop(source.path, None)
                    if self._must_settle() and not self.settle():
                        self._count(left_out=len(ordered) - at - 1)
                        break
        finally:
            self.settle()
        return self.counts

    @property
    def _unsettled(self) -> int:
        """Number of calls whose buffers exist, or soon will, and that were not checked against the limits."""
        return len(self._placed) + len(self._batch) + self._writings.calls

    def _must_settle(self) -> bool:
        """Return whether the limits may remove some; otherwise this can wait, because ordering takes long.

        None is removed for its age, which counts from its last use, and that is its import.
        """
        if self._unsettled < min(SETTLE_BUFFERS, self.limits.max_buffers):
            return False
        totals = self._store.index.totals()
        return (
            self._unsettled >= _PLACE_BUFFERS
            or totals.buffers + self._unsettled - len(self._placed) > self.limits.max_buffers
            or totals.bytes > self.limits.max_bytes
        )

    def is_known(self, source: TranscriptSource) -> bool:
        """Return whether a transcript was imported in its present state."""
        return self._ledger.has(source)

    def open(self, source: TranscriptSource) -> TranscriptReading | None:
        """Open a reading of a transcript; None for any other or unreadable file, which is counted."""
        try:
            reading = open_reading(source)
        except NotReadable as error:
            self._tell(source, 0, error.message)
            self._count(damaged=1)
            return None
        if reading is None:
            self._count(foreign=1)
        return reading

    def take_in(self, source: TranscriptSource, reading: TranscriptReading, *, ended: bool) -> None:
        """Import what a reading yields now.

        Args:
            source: the transcript.
            reading: the reading of it.
            ended: whether nobody writes it any more, so that waiting calls are taken as they are.

        Raises:
            StoreFailed: the store cannot keep it.
        """
        self._silent, self._untold = self._ledger.silent(source), {}
        self._count(transcripts=1)
        self._take_all(source, reading, reading.advance())
        if ended or _is_of_the_past(reading):
            self._take_all(source, reading, reading.finish())
            ended = True
        (self._growing.discard if ended or not reading.waiting else self._growing.add)(source.path)
        self.counts = self.counts._replace(waiting=len(self._growing))
        if source.path not in self._growing:
            self._read_whole.append((source, self._silent))
        if len(self._known) > _KNOWN_SESSIONS:  # what their logs know is read again when it is needed
            self._keep_all()
            self._known.clear()
            self._sessions.clear()
            self._met.clear()

    def _take_all(self, source: TranscriptSource, reading: TranscriptReading, items: Iterable[TranscriptItem]) -> None:
        at = reading.position  # a generator reads nothing before it is asked
        for item in items:
            self._take(source, item)
            if reading.position - at >= _PROGRESS_BYTES:
                self._read(reading.position - at)
                at = reading.position
        self._read(reading.position - at)

    def _read(self, size: int) -> None:
        self._count(bytes=size)
        self._progress(size)

    def _take(self, source: TranscriptSource, event: TranscriptItem) -> None:
        if isinstance(event, ToldEvent):
            self._take_event(source, event)
            return
        if isinstance(event, ToldOrigin):
            self._usage.take_origin(source, event)
            return
        if isinstance(event, ToldUsage):
            self._usage.take(source, event)
            return
        if not isinstance(event, ToolCall):
            self._count(**{"unknown" if event.unknown else "damaged": 1})
            self._tell(source, event.line, event.text)
            return
        event = bounded_call(event, source.written)
        if event.origins and self._is_of_origin(source, event):
            self._count(known=1)
            return
        session = self._session(event.session, source.written)
        known = self._known[session.name]
        first_id, first_asked = self._first.setdefault(source.path, {}).setdefault(event.use, (event.id, event.asked))
        is_other = event.id != first_id  # than the first call with this id of a use, as the transcript itself says
        if event.use and len(event.use) < LONG_ID:
            event, is_used = self._told_apart(event, known, is_other=is_other, is_again=event.asked != first_asked)
        else:
            is_used = event.use in known.uses and not is_other
        is_known = event.id in known.imported or is_used or event.id in self._silent
        if is_known or known.takes_nameless(Nameless(event.tool, event.command, event.answered)):
            known.imported.add(event.id)
            self._count(known=1)
            if event.ended and event.exit_code is not None:
                self._amend(event)
        elif _OWN.fullmatch(event.tool):
            self._count(own=1)
        elif not self._usage.may_capture(event.cwd):
            self._count(off=1)
        elif self._is_kept(event.id):
            self._count(known=1)  # it belongs to the session from which this one was forked
        else:
            event = of_cancelled(self._store, event, session.name, self._untold)
            inner = tuple(one for one in event.inner if one.id not in known.imported and one.use not in known.uses)
            for one in (event, *inner):
                known.imported.add(one.id)
                if one.use and (one is event or len(one.use) >= LONG_ID):  # programs of later turns may number alike
                    known.uses.add(one.use)
                self._batch_bytes += sum(len(part.content) for part in one.parts if isinstance(part.content, bytes))
                self._batch_bytes += sum(map(len, one.shown))
            if not event.shown:
                self._silent.add(event.id)
            self._waiting.add(event.id)
            self._batch.append((event._replace(inner=inner) if event.inner else event, session))
            if len(self._batch) >= BATCH_CALLS or self._batch_bytes >= _BATCH_BYTES:
                self._flush()

    def _amend(self, call: ToolCall) -> None:
        """Add the exit code of a command that went on when it was imported; what it wrote since is not kept."""
        buffer = self._store.of_artifact(call.id)
        if buffer and buffer.state == "sealed" and buffer.is_partial and buffer.exit_code is None:
            self._store.amend(buffer.name, exit_code=call.exit_code, partial=ENDED_LATER)

    def _told_apart(
        self, call: ToolCall, known: LoggedCalls, *, is_other: bool, is_again: bool
    ) -> tuple[ToolCall, bool]:
        """Return a call with an id of its own, and whether the log has it by the id of its use.

        Some models' servers number calls from 0 in each turn, so an earlier call may have had that id.

        Args:
            call: the call.
            known: what the log of its session has.
            is_other: whether its transcript has another call with that id, and tells both apart.
            is_again: whether it has one that was made at another time.
        """
        store, named = self._store, named_call(self._store, call)
        has_times = not call.session.started == call.asked == call.answered
        within = SAME_SECONDS if has_times else math.inf
        is_used = not is_other and known.was_taken(call.use, named)
        is_used = is_used or known.takes_shown(call.use, named, call.asked, within)
        is_used = is_used or (not call.is_copy and known.takes_copied(call.use, named))
        if not is_used:
            (known.copied if call.is_copy else known.taken).setdefault(call.use, []).append(named)
            is_again = is_again or (call.id in known.imported and is_of_another(store, call, named, within))
            if is_again and call.id == unique_id(call.session.id, call.use):
                call = call._replace(id=timed_id(call))
        return call, is_used

    def _is_of_origin(self, source: TranscriptSource, call: ToolCall) -> bool:
        """Return whether a call is in the log of a session with whose history its own transcript begins.

        Short ids count from 1 in each session, so those mean the same only until the first that differs.
        """
        if len(call.use) < LONG_ID and source.path in self._diverged:
            return False
        named = named_call(self._store, call)
        if any(self._known_of(call.session.harness, one).has_copy_of(call.use, named) for one in call.origins):
            return True
        self._diverged.add(source.path)
        return False

    def _known_of(self, harness: str, session: str) -> LoggedCalls:
        """Return what the log has of a session of which this import may have no transcript."""
        name = safe_name(f"{harness}-{session}")
        if name not in self._known:
            self._known[name] = known_calls(self._store, {name, safe_name(session)})
        return self._known[name]

    def _take_event(self, source: TranscriptSource, event: ToldEvent) -> None:
        if isinstance(event.what, SaidWords) and not self.limits.evidence.messages:
            return
        if self._usage.may_capture(event.session.cwd):
            session = self._session(event.session, source.written)
            self._told.setdefault(session.name, []).append(bounded_event(event, source.written))

    def _log_events(self) -> None:
        """Log what transcripts say of sessions apart from calls."""
        told, self._told = self._told, {}
        for name, events in told.items():
            write_events(self._store, self._sessions[name], events)
        self._usage.log()

    def _session(self, past: CallSession, written: float) -> Session:
        """Return the session's record, and at its first use read what its log knows."""
        if past in self._met:
            return self._met[past]
        met, past = past, bounded_session(past, written)
        made = session_of(past)
        name, session = made.name, self._sessions.get(made.name)
        if session is None:
            session = self._sessions[name] = made
            if past.agent:
                self._keep_all()  # earlier imports of the session must be in its log
            own = safe_name(f"{past.harness}-{past.id}")
            self._known[name] = known_calls(self._store, {name, own, safe_name(past.id)})
            self._known[name].imported.update(self._store.index.artifacts(name))
        self._met[met] = session
        return session

    def _is_kept(self, call: str) -> bool:
        """Return whether a call is being kept or about to be; the index knows those that are kept."""
        return call in self._waiting or call in self._writings

    def _flush(self) -> None:
        """Start writing the calls of the batch that no other session has, and record the batches before it."""
        kept = self._store.index.known_artifacts(self._waiting) if self._waiting else set()
        batch = [(call, session) for call, session in self._batch if call.id not in kept]
        self._count(known=len(self._batch) - len(batch))
        self._batch, self._batch_bytes = [], 0
        self._waiting.clear()
        if batch:
            if not self._unsettled:
                self._store.index.expect_many()
            self._writings.begin(batch, self._ran_before(batch))
        while len(self._writings) > MOST_WRITING - 1:
            self._record_first()

    def _ran_before(self, batch: Calls) -> Ran:
        """Return the commands, of earlier batches or recorded by hooks, of which calls of a batch show more."""
        more = [(call, session) for call, session in batch if call.of]
        while any(unique_id(call.session.id, call.of) in self._writings for call, _ in more):
            self._record_first()
        found = {(session.name, call.of): buffer_of_command(self._store, call, session.name) for call, session in more}
        return {key: buffer for key, buffer in found.items() if buffer}

    def _keep_all(self) -> None:
        """Keep all calls that were read, and so their transcripts."""
        self._flush()
        while self._writings:
            self._record_first()
        self._log_events()
        read, self._read_whole = self._read_whole, []
        for source, silent in read:
            self._ledger.put(source, silent)

    def _record_first(self) -> None:
        """Log and index the first batch that is being written, once its buffers are on disk."""
        kept, error = self._writings.first()
        try:
            if error is not None:
                raise error
            self._record(kept)
        except BaseException:  # what the log does not know must not stay, or count as read
            self._batch, self._read_whole = [], []
            self._waiting.clear()
            self._remove(kept)
            while self._writings:
                self._remove(self._writings.first().calls)
            raise

    def _remove(self, kept: list[KeptCall]) -> None:
        """Remove buffers that neither the log nor the index knows."""
        for buffer in (buffer for made in kept for buffer in made.buffers):
            if buffer.name not in self._logged and self._store.index.buffer(buffer.name) is None:
                remove_folder(self._store.layout.folder(buffer.name))

    def _record(self, kept: list[KeptCall]) -> None:
        """Log and index a batch; if one session's log cannot be written, the calls before it."""
        store, of_session = self._store, dict[str, list[KeptCall]]()
        for made in kept:
            of_session.setdefault(made.session.name, []).append(made)
        buffers, rows, begun, failure = list[Buffer](), list[ViewRow](), list[Session](), None
        self._logged.clear()
        for name, calls in of_session.items():
            own: list[ViewRow] = []
            if views := [made.view for made in calls if made.view]:
                try:
                    own = log_past_views(store, self._sessions[name], views)
                except StoreFailed as error:
                    failure = error
                    break
                self._logged.update(ref for row in own for ref in row.refs)
                begun += [self._sessions[name]] if own[0].number == 1 else []
            rows += own
            buffers += [buffer for made in calls for buffer in made.buffers]
            self._touched.add(name)
        with store.index.transaction():  # one transaction, so that each page is written once
            for session in begun:
                store.index.put_session(session)
            list_finished(store, buffers)
            store.index.put_views(rows)
        self._placed.update((buffer.name, buffer.ended or buffer.created) for buffer in buffers)
        self._count(
            calls=sum(made.calls for made in kept),
            partial=sum(buffer.is_partial and buffer.kind != "file" for buffer in buffers),
        )
        self.counts = self.counts._replace(sessions=len(self._touched))
        if failure:
            raise failure

    def settle(self) -> bool:
        """Put what was imported into the order of use, and remove what is over the limits.

        Returns:
            Whether any of it was kept; if not, older transcripts need not be read.
        """
        self._keep_all()
        placed, self._placed = self._placed, {}
        if placed:
            self._store.index.place(placed)
        gone = set(enforce_limits(self._store).evicted) if self._store.limits.over() else set()
        self._count(evicted=len(gone))
        self._ledger.save()
        return not placed or bool(placed.keys() - gone)

    def _count(self, **more: int) -> None:
        self.counts = self.counts._replace(**{name: getattr(self.counts, name) + value for name, value in more.items()})

    def _tell(self, source: TranscriptSource, line: int, text: str) -> None:
        if len(self.troubles) < TOLD_TROUBLES:
            self.troubles.append(UnreadRecord(source.path, line, text))


def _is_of_the_past(reading: TranscriptReading) -> bool:
    """Return whether nobody writes a transcript that has just come, because its newest record is old: a copy."""
    newest: float = getattr(reading, "newest", 0.0)  # a plugin of 0.2 has none
    return bool(newest) and time.time() - newest > QUIET_SECONDS
