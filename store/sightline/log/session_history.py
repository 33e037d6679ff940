"""Reads what logs have beside views: what happened to each session's context, and what was said in it.

None of this is in the index, so the log is read, each time from where the last reading ended.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from weakref import WeakKeyDictionary

from sightline.base.errors import StoreFailed
from sightline.base.records import Session, known_fields
from sightline.base.sha256 import sha256_hex
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log import log, session_origins
from sightline.log.log_index import append_entry
from sightline.log.session_events import (
    COMPACTED,
    COMPACTING,
    EVENTS,
    HOOK,
    MESSAGE_CHARACTERS,
    SUBJECT,
    TRANSCRIPT,
    AgentMessage,
    ContextChange,
    Prompt,
    SessionEvent,
    SessionSubject,
    append_events,
)
from sightline.store import Reading, Store, cause_of

_ONE_COMPACTION_SECONDS = 300.0
"""The longest time between two reports of one compaction, because writing the summary takes minutes."""

_VIEW = b'"kind":"view"'  # in most lines, near their beginning; within a text there would be backslashes
_MARKS = (b'"kind":"context"', b'"kind":"message"', b'"kind":"prompt"', SUBJECT)


class SessionEvents(NamedTuple):
    """All events in a log.

    Attributes:
        changes: the changes of the context in order; several reports of one compaction are one.
        messages: the messages in order, each once.
        told_from: from when on everything that happened to the context is reported; None if it is not.
        prompts: the prompts in order, each once.
    """

    changes: tuple[ContextChange, ...] = ()
    messages: tuple[AgentMessage, ...] = ()
    told_from: float | None = None
    prompts: tuple[Prompt, ...] = ()


def write_events(store: Store, session: Session, events: Sequence[SessionEvent]) -> None:
    """Log those events of a transcript that a session's log does not have yet.

    Raises:
        StoreFailed: they could not be logged.
    """
    redaction = store.settings.redaction()
    try:
        append_events(
            store.root,
            session,
            unknown_events(store, session.name, events),
            hide=redaction.text if redaction else str,
            durable=store.settings.durable,
        )
    except OSError as error:
        what, hint = cause_of(error, store.root)
        raise StoreFailed(f"what was told of a session could not be logged: {what}", hint) from error


def write_origin(store: Store, session: Session, origin: session_origins.SessionOrigin) -> None:
    """Log and index the origin of a session, unless one is known.

    Raises:
        StoreFailed: it could not be logged.
    """
    if session.name not in store.index.origins():
        append_entry(store, session, session_origins.entry_of(origin))


def unknown_events(store: Reading, session: str, events: Sequence[SessionEvent]) -> list[SessionEvent]:
    """Return those events of a transcript that a session's log does not have yet."""
    known = _read(store, session)
    ids = {one.id for of_kind in (known.changes, known.messages, known.prompts) for one in of_kind}
    said = {_key(one) for of_kind in (known.messages, known.prompts) for one in of_kind}
    has_subject = known.has_subject
    found: list[SessionEvent] = []
    for event in events:
        if event.id and event.id in ids:
            continue
        if isinstance(event, SessionSubject):
            if has_subject:
                continue
            has_subject = True
        elif isinstance(event, AgentMessage | Prompt):
            if _key(event) in said:
                continue
            said.add(_key(event))
        elif event.whole and any(one.whole and one.time <= event.time for one in known.changes):
            continue
        ids.add(event.id)
        found.append(event)
    return found


_SAME_SECONDS = 60
_SAME_HOOK_SECONDS = 2  # between the hooks of a person and of a project for one event


def _key(message: AgentMessage | Prompt) -> tuple[str, int, type]:
    """Return what identifies a message or a prompt: its words, and the minute in which they were said."""
    text = (message.text or "").strip()[:MESSAGE_CHARACTERS]
    return sha256_hex(text.encode(errors="surrogatepass"))[:16], int(message.time // _SAME_SECONDS), type(message)


def events_of(store: Reading, session: str) -> SessionEvents:
    """Return the events in a session's log; none if it has no log, or one that cannot be read."""
    found = _read(store, session)
    changes = tuple(_merged(sorted(found.changes, key=lambda one: one.time)))
    return SessionEvents(
        changes,
        tuple(_once(sorted(found.messages, key=lambda one: one.time))),
        min((one.time for one in changes if one.whole), default=None),
        tuple(_once(sorted(found.prompts, key=lambda one: one.time))),
    )


def _once(said: Iterable[Any]) -> Iterator[Any]:
    """Yield messages or prompts, those that both a hook and a transcript report only once."""
    last: dict[str | None, AgentMessage | Prompt] = {}
    for one in said:
        before = last.get(one.text)
        apart = _SAME_SECONDS if before and before.told != one.told else _SAME_HOOK_SECONDS
        if before and one.text and one.time - before.time <= apart:
            continue
        last[one.text] = one
        yield one


def _merged(changes: Iterable[ContextChange]) -> list[ContextChange]:
    """Merge several entries for one compaction; one that only began stays as it is."""
    made: list[ContextChange] = []
    for one in changes:
        before = made[-1] if made else None
        if before and one.event in (COMPACTING, COMPACTED) and _is_same_compaction(before, one):
            made[-1] = _joined(before, one)
        else:
            made.append(one)
    return made


def _is_same_compaction(before: ContextChange, one: ContextChange) -> bool:
    if before.event not in (COMPACTING, COMPACTED) or one.time - before.time > _ONE_COMPACTION_SECONDS:
        return False
    if one.event == COMPACTING:  # a hook reports each before it happens
        return before.event == COMPACTED and before.told == TRANSCRIPT and one.told == HOOK
    return not (before.id and one.id)


def _joined(before: ContextChange, one: ContextChange) -> ContextChange:
    told = {
        name: getattr(before, name) if getattr(before, name) not in (None, "") else getattr(one, name)
        for name in ("trigger", "before", "after", "summary", "kept", "lost", "id")
    }
    return before._replace(
        event=COMPACTED,
        time=one.time if before.event == COMPACTING else before.time,
        told=HOOK if HOOK in (before.told, one.told) else TRANSCRIPT,
        whole=before.whole or one.whole,
        **told,
    )


# reading


class _Found:
    """What was read of one log, up to some byte."""

    def __init__(self) -> None:
        self.end = 0
        self.last = b""
        self.changes: list[ContextChange] = []
        self.messages: list[AgentMessage] = []
        self.prompts: list[Prompt] = []
        self.has_subject = False


_FOUND: "WeakKeyDictionary[Reading, dict[str, _Found]]" = WeakKeyDictionary()
_LOCK = threading.Lock()


def _read(store: Reading, session: str) -> _Found:
    with _LOCK:
        known = _FOUND.setdefault(store, {})
        found = known.setdefault(session, _Found())
        try:
            with store.open_events(session) as file:
                if found.end:  # blanking replaces the file of a log
                    file.seek(max(0, found.end - len(found.last)))
                    if file.read(len(found.last)) != found.last:
                        found = known[session] = _Found()
                        file.seek(0)
                for _, line in log.lines_of(file):
                    if not line.endswith(b"\n"):
                        break
                    found.end += len(line)
                    found.last = line[-_TAIL_BYTES:]
                    if _VIEW not in line and any(mark in line for mark in _MARKS):
                        _take(found, line)
        except FileNotFoundError:
            known[session] = _Found()
        return found


_TAIL_BYTES = 120  # of a line: they contain its hash


def _take(found: _Found, line: bytes) -> None:
    try:
        entry = log.entry_of(line)
        number = entry["n"]
        match entry.get("kind"):
            case "context":
                summary = entry.get("text", "") if "text" in entry else ""
                fields = known_fields(ContextChange, entry)
                uses = {
                    name: tuple(map(str, fields[name])) for name in ("kept", "lost") if fields.get(name) is not None
                }
                change = ContextChange(**{**fields, **uses, "summary": summary, "number": number})
                if change.event in EVENTS:
                    found.changes.append(change)
            case "about":
                found.has_subject = True
            case "message":
                fields = known_fields(AgentMessage, entry)
                found.messages.append(AgentMessage(**{**fields, "text": entry.get("text"), "number": number}))
            case "prompt":
                fields = known_fields(Prompt, entry)
                found.prompts.append(Prompt(**{**fields, "text": entry.get("text"), "number": number}))
    except (log.BrokenChain, TypeError, KeyError):
        return  # changed from outside, which the doctor reports
