"""Lists the sessions of a store: who asked, what each captured, and who read whose captures."""

import time

from sightline.base.errors import SightlineError, UsageError
from sightline.base.records import Buffer, Session, SessionCounts
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Iterable, Sequence
from sightline.log.log_index import append_entry, fill_index
from sightline.log.sessions import SHELL, session_title
from sightline.store import Reading, Store

TITLE_CHARACTERS = 80


class UnknownSession(SightlineError):
    """No session has this name."""

    exit_code = 2


class SessionFacts(NamedTuple):
    """A session, and what it did.

    Attributes:
        session: its record.
        counts: number of its calls and captures.
        read: (captor, buffers): whose buffers it was shown, and how many of each.
        read_by: (reader, buffers): who was shown its buffers, and how many.
    """

    session: Session
    counts: SessionCounts
    read: tuple[tuple[str, int], ...] = ()
    read_by: tuple[tuple[str, int], ...] = ()

    @property
    def name(self) -> str:
        """Its title or name; see `session_title`."""
        return session_title(self.session)

    @property
    def is_removed(self) -> bool:
        """Whether a person removed it, and it has asked nothing since."""
        return bool(self.session.removed) and self.counts.last <= self.session.removed


def list_sessions(store: Reading, others: Iterable[str] = ()) -> list[SessionFacts]:
    """Return all sessions, the one that asked last first, with removed ones.

    Args:
        store: the store.
        others: names of sessions that count although they made no call.
    """
    fill_index(store)
    counts = store.index.session_counts()
    readings: dict[tuple[str, str], int] = {}
    for reader, captor, _ in store.index.readings():
        readings[reader, captor] = readings.get((reader, captor), 0) + 1
    known, silent = {session.name: session for session in store.index.sessions()}, set(others)
    for name in counts.keys() - known.keys():  # it captured something, and was shown nothing
        known[name] = Session(name, "", "", "", "", counts[name].first)
    facts = [
        SessionFacts(
            session,
            counts.get(name, SessionCounts(0, session.started, session.started)),
            tuple(sorted((captor, count) for (reader, captor), count in readings.items() if reader == name)),
            tuple(sorted((reader, count) for (reader, captor), count in readings.items() if captor == name)),
        )
        for name, session in known.items()
        if name in counts or name in silent or session.harness in ("", SHELL) or session.title or session.removed
    ]  # others have merely begun
    return sorted(facts, key=lambda one: one.counts.last, reverse=True)


class CapturedBuffer(NamedTuple):
    """A buffer that a session captured, and the names of other sessions that were shown it."""

    buffer: Buffer
    readers: tuple[str, ...]


class Belongings(NamedTuple):
    """What a session captured, and what it was shown of others' captures: (captor, name of the buffer)."""

    captured: tuple[CapturedBuffer, ...]
    read: tuple[tuple[str, str], ...]


def belongings_of(store: Reading, session: str) -> Belongings:
    """Return the buffers of a session, oldest first, evicted ones too, with their readers; and what it read."""
    readers: dict[str, list[str]] = {}
    read = []
    for reader, captor, name in store.index.readings(session):
        if captor == session:
            readers.setdefault(name, []).append(reader)
        else:
            read.append((captor, name))
    captured = (CapturedBuffer(one, tuple(readers.get(one.name, ()))) for one in store.index.of_session(session))
    return Belongings(tuple(captured), tuple(read))


def find_session(store: Reading, text: str) -> SessionFacts:
    """Return the session that a name, a title, or the unique beginning of one means.

    Those that made no call, such as a helper of which only the requests are known, are looked for after the others.

    Raises:
        UnknownSession: there is none, or several begin so.
    """
    if not (close := _meant(list_sessions(store), text)):
        close = _meant(list_sessions(store, (one.name for one in store.index.sessions())), text)
    if len(close) == 1:
        return close[0]
    if close:
        raise UnknownSession(f"several sessions begin with {text!r}: {_names(close)}", "write more of the name")
    raise UnknownSession(f"there is no session {text!r}", "`sightline sessions` lists them")


def _meant(sessions: Sequence[SessionFacts], text: str) -> Sequence[SessionFacts]:
    """Return the first session with this name or title; if there is none, all whose name or title begins so."""
    if not text:
        return ()
    called = [((one.session.name, one.session.title), one) for one in sessions]
    exact = [one for names, one in called if text in names]
    return exact[:1] or [one for names, one in called if any(name.startswith(text) for name in names)]


def _names(sessions: Sequence[SessionFacts]) -> str:
    return ", ".join(one.session.name for one in sessions[:5]) + (" …" if len(sessions) > 5 else "")


def rename_session(store: Store, session: Session, title: str) -> Session:
    """Give a session a title; its name in the log and in the ids of views stays.

    Raises:
        UsageError: the title is empty or too long, or another session has it.
        StoreFailed: it could not be logged.
    """
    title = " ".join(title.split())
    if not title or len(title) > TITLE_CHARACTERS or not title.isprintable():
        raise UsageError(
            f"{title[:TITLE_CHARACTERS]!r} cannot be a name", f"give one line of 1 to {TITLE_CHARACTERS} characters"
        )
    for other in list_sessions(store):
        if other.session.name != session.name and title in (other.session.name, other.session.title):
            raise UsageError(
                f"{title!r} is the name of another session", f"choose another: {other.session.name} has this one"
            )
    append_entry(store, session, {"kind": "titled", "time": time.time(), "title": title})
    return session._replace(title=title)
