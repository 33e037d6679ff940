"""Follows a harness' own transcript of a running session, and logs the views of calls once it contains them.

Some harnesses tell a hook what a tool gave, and write only later what their model was shown. So a call waits
here, and its view is logged when the transcript has it: at the next event, or when somebody looks. Calls without an
event, such as those of a failed tool, are taken from there too, as an import would take them. What showed more of
a command that goes on waits for its end, because its lines are looked for in the whole output.

A session has one small file below the store's ``hooks``, which its reader holds locked. While calls wait, it also has
a name in ``hooks/waiting``, so that one listing of a mostly empty folder shows whether any do.
"""

import contextlib
import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator

from sightline.agents.past_sessions.past_call import (
    KeptCall,
    Recorded,
    buffer_of_command,
    is_of_another,
    keep_call,
    named_call,
    taken_of_use,
)
from sightline.base.errors import SightlineError
from sightline.base.private_files import make_folder, open_private, remove_file, write_all
from sightline.base.records import LONG_ID, Buffer, Session, Shown, known_fields, shown_from
from sightline.capture.finished_output import list_finished
from sightline.harnesses import find
from sightline.harnesses.tool_call import CallSession, ToolCall, timed_id
from sightline.harnesses.transcript import (
    SHAPE_ERRORS,
    LiveParser,
    NotReadable,
    ToldEvent,
    Transcript,
    bounded_call,
    bounded_event,
    load_object,
)
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.past_views import SAME_INSTANT, SAME_SECONDS, SLACK_SECONDS, LoggedCalls, known_calls, log_past_views
from sightline.log.session_events import SaidWords, SessionEvent
from sightline.log.session_history import write_events
from sightline.log.sessions import use_key
from sightline.settings.config import HOOKS
from sightline.store import Store

_ENDING = ".transcript"
_MOST_BYTES = 16 << 20  # read of a transcript at a time; earlier parts are for an import
_PATIENCE_SECONDS = 3600.0  # a harness may write nothing of a call until a parallel one has ended

Json = dict[str, Any]


class TranscriptPlace(NamedTuple):
    """A transcript, and its harness.

    Attributes:
        harness: name of the harness.
        title: its makers' name for it.
        path: path of the file.
        own: how names of our own tools begin, which log their views themselves.
    """

    harness: str
    title: str
    path: str
    own: tuple[str, ...] = ()


class WaitingCall(NamedTuple):
    """A recorded call whose view waits.

    Attributes:
        call: the call, with what is known of its shown text.
        buffer: name of its buffer; empty where none was made.
        shown: the lines of it that were shown, if the call itself says so.
        is_logged: whether the model was shown a text of ours instead, which is logged.
    """

    call: ToolCall
    buffer: str = ""
    shown: tuple[Shown, ...] = ()
    is_logged: bool = False


class LiveTranscript:
    """A session's transcript, and the calls that wait for it. `opened` makes it, and holds it locked.

    Attributes:
        is_readable: whether it could be read the last time.
    """

    def __init__(self, store: Store, session: Session, place: TranscriptPlace, state: Json) -> None:
        self._store = store
        self._session = session
        self._place = place
        self._position = int(state.get("position", -1))  # earlier bytes need not be read again
        self._waiting = [_waiting_from(one) for one in state.get("waiting", ())]
        self._parser: LiveParser | None = None
        self._known: LoggedCalls | None = None
        self._kept: list[KeptCall] = []
        self._told: list[SessionEvent] = []
        self._later: list[ToolCall] = []
        self._ran: dict[str, Buffer] = {}  # buffers of commands that were taken from the transcript now, by their uses
        self._holds = False
        self._stays = False
        self.is_readable = True

    @property
    def state(self) -> Json:
        """Return what is kept until it is opened again."""
        return {
            "session": self._session._asdict(),
            "place": self._place._asdict(),
            "position": self._position,
            "waiting": [{**one._asdict(), "call": _told(self._hidden(one.call))} for one in self._waiting],
            "holds": self._holds,
        }

    def _hidden(self, call: ToolCall) -> ToolCall:
        """Return a call without its secrets, if the settings hide them."""
        told = self._store.settings.redaction()
        if told is None:
            return call
        shown, arguments = tuple(map(told.text, call.shown)), told.value(call.arguments)
        return call._replace(command=told.text(call.command), arguments=arguments, shown=shown)

    def take_in(self, but: str = "") -> ToolCall | None:
        """Log the views that the transcript has by now.

        While a lost index is made anew, it does not tell which calls are known. Then all of it waits.

        Args:
            but: id of a tool use that is just being recorded; its call is returned.

        Returns:
            That call if it has ended; its shown text may not be known yet.

        Raises:
            StoreFailed: the store cannot keep it; the transcript is read again the next time.
        """
        held: ToolCall | None = None
        self._stays = self._store.index.is_unfilled()
        try:
            for call in self._calls():
                settled: ToolCall | None = call
                if but and call.use == but and not any(one.call.use == but for one in self._waiting):
                    held, settled = call, held  # an earlier call may have had the same id
                if settled is None or self._stays:
                    continue
                if but and settled.of == but:
                    self._later.append(settled)  # the buffer of its command is made next
                else:
                    self._settle(settled)
            if held and self._parser and self._parser.asks(but):
                if not self._stays:
                    self._settle(held)  # likewise
                held = None
            if held is None and but and self._parser:
                held = self._parser.ended(but)
            if self._stays:
                return self._held_back(held)
            patient_since = time.time() - _PATIENCE_SECONDS
            self._holds = self._settle_held(patient_since)
            self._give_up(f"{self._place.title} has not written down what it showed", patient_since)
        except NotReadable:
            self.is_readable = self._holds = False
            if self._stays:
                return self._held_back(None)
            self._give_up(f"the transcript of {self._place.title} cannot be read", time.time())
        self._record()
        self._log_events()
        return held

    def _held_back(self, held: ToolCall | None) -> ToolCall | None:
        """Have all but one call read again by whoever looks next."""
        self._told, self._holds = [], True
        return held

    def _settle_held(self, before: float) -> bool:
        """Log what showed more of commands that go on, as far as these are sealed; return whether any still waits.

        Args:
            before: what was shown until then waits no longer; it gets a buffer of its own.
        """
        waits = False
        for call in self._parser.held if self._parser else ():
            if call.answered <= before or self._buffer_of(call):
                self._settle(call)
            else:
                waits = True
        return waits

    def _log_events(self) -> None:
        """Log what happened to the context, and what the agent said, as far as settings allow it."""
        told, self._told = self._told, []
        settings = self._store.settings
        if not settings.captures(self._session.cwd):
            return
        if not settings.evidence.messages:
            told = [one for one in told if not isinstance(one, SaidWords)]
        if told:
            write_events(self._store, self._session, told)

    def has(self, use: str, command: str = "", since: float = 0.0) -> bool:
        """Return whether a call, with its buffer, was taken from the transcript before the harness told a hook.

        Args:
            use: the id of its use; a short one may be that of an earlier call, too.
            command: the command line, if it ran one.
            since: when a hook before it wrote it down, if one did.
        """
        if not use:
            return False
        found = taken_of_use(self._store, self._session.name, self._session.harness_id, use)
        if found is None or found.session != self._session.name:
            return False
        is_now = time.time() - found.accessed < SAME_SECONDS and found.created > since - SLACK_SECONDS
        return len(use) >= LONG_ID or (is_now and found.command == (command or found.command))

    def add(self, waiting: WaitingCall, *, is_told: bool) -> None:
        """Let the view of a recorded call wait, or log it if its shown text is known."""
        self._waiting.append(waiting)
        later, self._later = self._later, []
        for call in (*((waiting.call,) if is_told else ()), *later):
            self._settle(call)
        self._record()

    def _calls(self) -> Iterator[ToolCall]:
        """Yield the calls that came into the transcript since the last reading. Raises NotReadable."""
        harness = find(self._place.harness)
        if harness is None:
            raise NotReadable(f"no harness {self._place.harness!r} is known")
        reader = harness.transcripts()
        transcript = Transcript(self._place.path)
        try:
            written, size = transcript.status.st_mtime, transcript.status.st_size
            parser: LiveParser = reader.Parser(self._place.path, written)
            self._parser = parser
            header = next(transcript.lines(), None)
            if header and isinstance(record := load_object(header), dict):
                list(parser.feed(record, header.number))
            if self._position < 0:
                self._position = _last_turn(transcript, reader.TURN)
            self._position = min(max(self._position, size - _MOST_BYTES), size)
            transcript.start_at(self._position)
            for line in transcript.lines():
                if isinstance(record := load_object(line), dict):
                    with contextlib.suppress(*SHAPE_ERRORS):  # an import reports what it cannot read
                        for one in parser.feed(record, line.number):
                            if isinstance(one, ToolCall):
                                yield bounded_call(one, written)
                            elif isinstance(one, ToldEvent):
                                self._told.append(bounded_event(one, written))
                if parser.is_idle and not self._stays:
                    self._position = transcript.position
        finally:
            transcript.close()

    def _settle(self, call: ToolCall) -> None:
        """Log the view of a call, and make buffers of what was not recorded."""
        waiting = {one.id: found for one in (call, *call.inner) if (found := self._take_waiting(one))}
        own = waiting.get(call.id)
        if call.tool.startswith(self._place.own) or (own and own.is_logged):
            return
        if call.id in waiting:
            if self._known:  # it may be read again
                self._known.taken.setdefault(call.use, []).append(named_call(self._store, call))
        elif (new := self._new(call)) and self._store.settings.captures(call.cwd):
            call = new
        else:
            return
        recorded: dict[str, Recorded] = {}
        for one in (call, *call.inner):
            name = waiting[one.id].buffer if one.id in waiting else None
            buffer = self._buffer_of_hook(one) if name is None else self._store.index.buffer(name)
            if buffer and buffer.state != "evicted" and buffer.exit_code is None and one.exit_code is not None:
                buffer = self._store.amend(buffer.name, exit_code=one.exit_code)
            if buffer or name is not None:
                recorded[one.id] = Recorded(buffer, waiting[one.id].shown if one.id in waiting else ())
        kept = keep_call(self._store, call, self._session, recorded, self._buffer_of(call))
        self._kept.append(kept)
        if call.kind == "cmd" and call.use and kept.buffers and call.id not in recorded:
            self._ran[call.use] = kept.buffers[0]

    def _buffer_of_hook(self, call: ToolCall) -> Buffer | None:
        """Return the buffer that a hook made of a call; an older one is of an earlier call with its id."""
        found = self._store.index.of_artifact(use_key(self._session.name, call.use))
        is_older = found and len(call.use) < LONG_ID and found.created < call.asked - SAME_INSTANT
        return None if is_older else found

    def _buffer_of(self, call: ToolCall) -> Buffer | None:
        """Return the sealed buffer of the command of which a call shows more; None if there is none yet."""
        return self._ran.get(call.of) or buffer_of_command(self._store, call, self._session.name)

    def _take_waiting(self, call: ToolCall) -> WaitingCall | None:
        """Return what waited for this call, and remove it."""
        key = _key(self._hidden(call))
        for place, one in enumerate(self._waiting):
            same = one.call.use == call.use if one.call.use else _key(self._hidden(one.call)) == key
            if same:
                return self._waiting.pop(place)
        return None

    def _new(self, call: ToolCall) -> ToolCall | None:
        """Return a call with an id of its own; None if the log has it, or the store its output."""
        if self._known is None:
            self._known = known_calls(self._store, (self._session.name,))
            self._known.imported.update(self._store.index.artifacts(self._session.name))
        known, named = self._known, named_call(self._store, call)
        if call.use and len(call.use) < LONG_ID:  # a model's server may give it again
            if known.was_taken(call.use, named) or known.takes_shown(call.use, named, call.asked):
                return None
            known.taken.setdefault(call.use, []).append(named)
            made = self._store.of_artifact(call.id)
            if call.id in known.imported and (not made or is_of_another(self._store, call, named, SAME_INSTANT)):
                call = call._replace(id=timed_id(call))
        elif call.use in known.uses:
            return None
        if call.id in known.imported:
            return None
        known.imported.add(call.id)
        return None if known.takes_nameless(named) else call

    def _give_up(self, why: str, before: float) -> None:
        """Log what is known of calls recorded before a time, because nothing more will come."""
        for one in [one for one in self._waiting if one.call.answered <= before]:
            self._settle(one.call._replace(unknown=why))

    def _record(self) -> None:
        """Log and index what was settled."""
        kept, self._kept = self._kept, []
        buffers = [buffer for made in kept for buffer in made.buffers]
        views = [made.view for made in kept if made.view]
        if not kept:
            return
        store = self._store
        rows = log_past_views(store, self._session, views) if views else []
        with store.index.hurried(), store.index.transaction():
            list_finished(store, buffers)
            if rows and rows[0].number == 1:
                store.index.put_session(self._session)
            for row in rows:
                store.index.put_row(row)


@contextlib.contextmanager
def opened(store: Store, session: Session, place: TranscriptPlace) -> Iterator[LiveTranscript]:
    """Open and hold a session's transcript; other readers wait.

    Raises:
        OSError, UnsafeStore: its file cannot be written.
    """
    fd = _lock(store.root, session.name)
    try:
        state = _state(fd)
        if state.get("place", {}).get("path") not in (None, place.path):  # the session continues in another file
            state = {**state, "position": -1}
        live = LiveTranscript(store, session, place, state)
        yield live
        _save(store.root, session.name, fd, live.state)
    finally:
        os.close(fd)


def begin(root: str, session: Session, place: TranscriptPlace) -> None:
    """Skip, at a session's start, what is in its transcript already. Raises OSError, UnsafeStore."""
    fd = _lock(root, session.name)
    try:
        if not _state(fd):
            size = os.stat(place.path).st_size if os.path.exists(place.path) else 0
            fields: Json = {"session": session._asdict(), "place": place._asdict(), "position": size, "waiting": []}
            _save(root, session.name, fd, fields)
    finally:
        os.close(fd)


def catch_up(store: Store) -> None:
    """Log the views that wait, as far as transcripts have them, for somebody who is about to look.

    If the store cannot be written to, or a hook is doing this, nothing is done.
    """
    names = store.layout.waiting_sessions()
    for name in names if names and not store.index.unwritable else ():
        try:
            fd = _lock(store.root, name, fcntl.LOCK_NB)
        except (OSError, SightlineError):
            continue
        try:
            state = _state(fd)
            session = Session(**known_fields(Session, state["session"]))
            place = TranscriptPlace(**known_fields(TranscriptPlace, state["place"]))
            live = LiveTranscript(store, session, place._replace(own=tuple(place.own)), state)
            live.take_in()
            _save(store.root, name, fd, live.state)
        except (OSError, SightlineError, sqlite3.Error, KeyError, TypeError):
            continue  # it is tried again, and a failing hook reports it
        finally:
            os.close(fd)


def _lock(root: str, session: str, how: int = 0) -> int:
    """Lock a session's file."""
    make_folder(os.path.join(root, HOOKS))
    fd = open_private(os.path.join(root, HOOKS, session + _ENDING), os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | how)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _state(fd: int) -> Json:
    """Return the content of the file; nothing if it is new or damaged."""
    try:
        found = loads(os.pread(fd, os.fstat(fd).st_size, 0).partition(b"\n")[0])
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _save(root: str, session: str, fd: int, state: Json) -> None:
    folder = os.path.join(root, HOOKS, "waiting")
    mark = os.path.join(folder, session)
    waits = bool(state["waiting"] or state.get("holds"))
    if waits and not os.path.exists(mark):
        make_folder(folder)
        os.close(open_private(mark, os.O_WRONLY | os.O_CREAT))
    data = dumps(state).encode() + b"\n"
    os.lseek(fd, 0, os.SEEK_SET)
    write_all(fd, data)
    os.ftruncate(fd, len(data))
    if not waits:
        remove_file(mark)


def _last_turn(transcript: Transcript, turn: bytes) -> int:
    """Return where the last turn begins; the end if that is not known."""
    size = transcript.status.st_size
    tail = transcript.tail(_MOST_BYTES)
    found = tail.rfind(turn) if turn else -1
    return size - len(tail) + tail.rfind(b"\n", 0, found) + 1 if found >= 0 else size


def _key(call: ToolCall) -> tuple[str, str]:
    """Return what identifies a call without an id: the tool and its arguments."""
    return call.tool, dumps(call.arguments, sort_keys=True)


def _told(call: ToolCall) -> Json:
    """Encode a waiting call; its output is in its buffer."""
    fields = call._replace(parts=(), inner=())._asdict()
    return {**fields, "session": call.session._asdict()}


def _waiting_from(fields: Json) -> WaitingCall:
    told = known_fields(ToolCall, fields["call"])
    session = CallSession(**known_fields(CallSession, told["session"]))
    call = ToolCall(
        **{**told, "session": session, "shown": tuple(told["shown"]), "parts": (), "inner": (), "origins": ()}
    )
    shown = tuple(map(shown_from, fields.get("shown", ())))
    return WaitingCall(call, str(fields.get("buffer", "")), shown, bool(fields.get("is_logged")))
