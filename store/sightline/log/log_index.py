"""Keeps the log's views, notes and sessions in the index, and answers questions from there.

The audit files are the truth. Before views are listed, gaps of the index are filled from them; these arise when the
index is made anew, or a writer dies between logging and indexing.
"""

import os
import time
from itertools import accumulate

from sightline import disk
from sightline.base.errors import BadRange, BadRef, SightlineError, StoreFailed
from sightline.base.records import IndexedView, Note, Session
from sightline.base.refs import parse_ref
from sightline.disk.errors import cause_of, is_busy
from sightline.disk.index import Index
from sightline.disk.sqlite import sqlite3
from sightline.light.late_imports import late_modules
from sightline.light.library import partial, suppress
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any, Callable, Iterable, Mapping
from sightline.log import log
from sightline.log.sessions import header_of, session_from
from sightline.log.views import Other, indexed_view, traced_of, with_shown
from sightline.store import Reading, Store, Target

with late_modules(globals()):
    from sightline.disk import request_rows  # as in `disk.index`

if TYPE_CHECKING:
    from sightline.disk.sorter import Sorter


class UnknownView(SightlineError):
    """No view has this id."""


def list_views(
    store: Reading, *, buffer: str | None = None, session: str | None = None, limit: int = -1
) -> list[IndexedView]:
    """Return views, newest first: all, or those of a buffer or a session.

    Gaps in the index are filled first.
    """
    fill_index(store, session)
    return store.index.views(buffer=buffer, session=session, limit=limit)


def fill_index(store: Reading, session: str | None = None) -> None:
    """Fill the index with what the audit files of one session, or all, have beyond it.

    There are gaps after the index was made anew, and after a writer died that had just logged a view.
    """
    if not isinstance(store, Store):
        return  # a store of another kind gets its rows elsewhere
    if store.index.views_stale():
        if not store.index.is_unfilled():  # else another process fills it, and buffers come first
            rebuild_views(store)
    elif not store.index.unwritable and (behind := _sessions_behind(store, session)):
        catch_up(store, behind)


def find_view(store: Reading, view_id: str) -> IndexedView:
    """Return a view by its id, ``SESSION:N``. Raises UnknownView."""
    fill_index(store)
    session, _, number = view_id.rpartition(":")
    found = store.index.view(session, int(number)) if number.isdigit() else None
    if found is None:
        raise UnknownView(f"there is no view {view_id!r}", "`sightline views` lists them")
    return found


def rebuild_views(store: Store) -> int:
    """Index all views and notes anew from the audit files, and order buffers by when they were shown.

    It returns the number of views.
    """
    return disk.with_sorter(partial(_index_anew, store))


def _index_anew(store: Store, found: "Sorter[tuple[float, IndexedView]]") -> int:
    """Read all logs before the transaction begins, so that other writers wait only while the index is filled."""
    others, sessions, requests = list[Other](), list[Session](), list[request_rows.RequestRow]()
    sizes: dict[str, int] = {}
    used: dict[str, float] = {}
    for session_name, sizes[session_name] in sorted(log.logged_sessions(store.layout.audit).items()):  # they may grow
        views = _read_views(store, session_name, sessions, requests, others)
        # If the clock was set back, a session's later views keep the time of its earlier ones.
        for when, indexed in zip(accumulate((one.view.time for one in views), max), views, strict=True):
            found.put(when, (when, indexed))
    with store.index.transaction():
        for name in sizes:
            store.index.forget_views(name)
            store.index.forget_notes(name)
        store.index.requests.forget()
        store.index.requests.put(requests)
        for session in sessions:
            store.index.put_session(session)
        for when, indexed in found:  # the list shows them in the order of indexing
            store.index.put_view(indexed)
            used |= dict.fromkeys(indexed.view.refs, when)
        if others:
            index_others(store.index, others)
        for name, size in sizes.items():
            store.index.set_log(name, size)
        if store.index.views_stale():
            for name, when in sorted(used.items(), key=lambda item: item[1]):
                store.index.touch_by_view(name, when)
            store.index.set_views_stale(False)
    return found.count


def _read_views(
    store: Store, session: str, sessions: list[Session], requests: "list[request_rows.RequestRow]", others: list[Other]
) -> list[IndexedView]:
    """Return the views of a session's file, as far as it can be read; its other entries go into the three lists."""
    views: dict[int, IndexedView] = {}
    with suppress(FileNotFoundError):
        for place, entry in log.read_all(store.layout.audit_file(session)):
            with suppress(KeyError, TypeError, ValueError):  # an entry of another form was changed from outside
                if entry.get("kind") == "session":
                    if entry["session"]["name"] == session:  # the name becomes a path
                        sessions.append(session_from(entry))
                elif entry.get("kind") == "view":
                    views[place.number] = indexed_view(session, place, entry)
                elif entry.get("kind") == "shown" and (found := views.get(entry["of"])):
                    views[found.view.number] = found._replace(view=with_shown(found.view, traced_of(entry)))
                elif entry.get("kind") == "usage":
                    requests.append(request_rows.row_of_entry(session, entry))
                else:
                    others.append(Other(session, place.number, entry))
    return list(views.values())


def seen_lines(store: Reading, session: Session, target: Target) -> int:
    """Return the last line of a stream that a session has been shown; 0 for none."""
    return max(
        (
            shown.last
            for indexed in list_views(store, buffer=target.buffer.name, session=session.name)
            for shown in (*indexed.view.shown, *indexed.view.matched)
            if shown.buffer == target.buffer.name and shown.stream == target.stream
        ),
        default=0,
    )


COMPARED_SECONDS = 2.0
"""The shortest time between two comparisons of all files by one process."""


def _sessions_behind(store: Store, session: str | None = None) -> list[str]:
    """Return the sessions whose file has more than is indexed; a session that is given is compared each time."""
    if session is not None:
        try:
            size = os.stat(store.layout.audit_file(session)).st_size
        except FileNotFoundError:
            return []
        return [session] if size > store.index.indexed_bytes(session) else []
    now = time.monotonic()
    if now < store.index.compared + COMPARED_SECONDS:
        return []
    store.index.compared = now
    known = store.index.logs()
    return [name for name, size in log.logged_sessions(store.layout.audit).items() if size > known.get(name, 0)]


_INDEXED = ("session", "view", "shown", "note", "send", "sent", "titled", "about", "removed", "usage", "origin")
"""The kinds of entry that are indexed; what an agent said is read in the log itself."""


class _Tail(NamedTuple):
    """What is to be indexed of a session's file after the indexed part, the byte up to which it goes, and its time.

    Of views it lacks the texts, which may be many megabytes.
    """

    entries: list[tuple[log.LinePlace, dict[str, Any]]]
    end: int
    newest: float


def catch_up(store: Store, sessions: Iterable[str]) -> None:
    """Index what the audit files of some sessions have beyond the indexed part.

    Their writers may be about to do the same, so what is there stays as it is. If the index is locked for long, lists
    do without.
    """
    try:
        with store.index.hurried():
            tails = {name: _tail(store, name, store.index.indexed_bytes(name)) for name in sessions}
            for name, tail in sorted(tails.items(), key=lambda item: item[1].newest):  # lists show them in this order
                _catch_up(store, name, tail)
    except sqlite3.OperationalError as error:
        if not is_busy(error):
            raise


def _catch_up(store: Store, session: str, tail: _Tail) -> None:
    if tail.end == store.index.indexed_bytes(session):
        return
    with store.index.transaction():
        for place, entry in tail.entries:
            with suppress(KeyError, TypeError, ValueError):  # as in `_read_views`
                _index_entry(store, session, place, entry)
        store.index.set_log(session, max(tail.end, store.index.indexed_bytes(session)))


def _tail(store: Store, session: str, begin: int) -> _Tail:
    path = store.layout.audit_file(session)
    entries: list[tuple[log.LinePlace, dict[str, Any]]] = []
    end, newest = begin, 0.0
    with suppress(FileNotFoundError):
        for place, entry in log.read_from(path, begin):
            end = place.offset + place.length
            if isinstance(when := entry.get("time"), int | float):
                newest = max(newest, when)
            if (kind := entry.get("kind")) in _INDEXED:
                left_out = "text" if kind == "view" else None
                entries.append((place, {name: value for name, value in entry.items() if name != left_out}))
    return _Tail(entries, end, newest)


def _index_entry(store: Store, session: str, place: log.LinePlace, entry: dict[str, Any]) -> None:
    match entry.get("kind"):
        case "session":
            if store.index.session(session) is None and entry["session"]["name"] == session:
                store.index.put_session(session_from(entry))
        case "view":
            store.index.put_view(indexed_view(session, place, entry))
        case "shown":
            if known := store.index.view(session, entry["of"]):
                store.index.amend_view(with_shown(known.view, traced_of(entry)))
        case "usage":
            store.index.requests.put([request_rows.row_of_entry(session, entry)])
        case _:
            index_others(store.index, [Other(session, place.number, entry)])


def append_entry(store: Store, session: Session, entry: dict[str, Any]) -> int:
    """Append an entry that is not a view to a session's file, index it, and return its number.

    Raises:
        StoreFailed: the entry could not be logged.
    """
    path = store.layout.audit_file(session.name)
    try:
        place = log.append(path, header_of(session), entry, durable=store.settings.durable)
        with store.index.transaction():
            # Others may have read the log first, and changed the session.
            if place.number == 1 and store.index.session(session.name) is None:
                store.index.put_session(session)
            _index_other(store.index, Other(session.name, place.number, entry))
            store.index.advance(session.name, *place)
    except Exception as error:  # a full disk can raise OSError or an error of SQLite
        what, hint = cause_of(error, store.root)
        raise StoreFailed(f"this could not be logged: {what}", hint) from error
    return place.number


def index_others(index: Index, others: Iterable[Other]) -> None:
    """Index entries that are not views, of any sessions; an entry that was changed from outside is left out."""
    for other in sorted(others, key=lambda one: float(one.entry.get("time", 0.0))):
        with suppress(KeyError, BadRef, BadRange):  # it was changed from outside
            _index_other(index, other)


def _index_other(index: Index, other: Other) -> None:
    """Index an entry. To repeat that changes nothing, even if later entries of other files were indexed meanwhile."""
    entry = other.entry
    match entry.get("kind"):
        case "note":
            note_id = f"{other.session}:{other.number}"
            note = Note(note_id, other.session, entry["time"], entry["ref"], entry.get("text"))
            if known := index.note(note_id):
                note = note._replace(to=known.to, sent=known.sent, sent_to=known.sent_to)
            _put_note(index, note)
        case "send":
            if (written := index.note(entry["note"])) and written.sent < entry["time"]:
                if entry["to"]:  # the note was sent, perhaps again; otherwise it was taken back
                    written = written._replace(sent=0.0, sent_to="")
                _put_note(index, written._replace(to=entry["to"]))
        case "sent":
            if written := index.note(entry["note"]):
                _put_note(index, written._replace(sent=entry["time"], sent_to=other.session))
        case "titled":
            if session := index.session(other.session):
                index.put_session(session._replace(title=entry["title"]))
        case "about":  # a person's own title is kept
            if (session := index.session(other.session)) and not session.title and entry.get("text"):
                index.put_session(session._replace(title=entry["text"]))
        case "origin":
            index.put_origin(other.session, entry)
        case "removed":
            if session := index.session(other.session):
                index.put_session(session._replace(removed=entry["time"]))


def _put_note(index: Index, note: Note) -> None:
    index.put_note(note, parse_ref(note.ref).name)


def last_known(store: Reading) -> Mapping[str, int]:
    """Return the last known view's number by session; ask for it before reading logs, which may grow."""
    fill_index(store)
    return store.index.last_entries()


def verify_log(
    store: Reading, session: str, last: int, take: Callable[[log.LinePlace, dict[str, Any]], None] | None = None
) -> int:
    """Check a session's log, and return its number of lines, 0 if nothing was ever logged.

    Args:
        store: the store.
        session: name of the session.
        last: number of its last known view; 0 for none.
        take: see `log.verify_lines`.

    Raises:
        BrokenChain: the log was changed, its newest lines were cut off, or all of it is gone.
    """
    try:
        with store.open_log(session) as file:
            lines = log.verify_lines(file, f"{session}.jsonl", take)
    except FileNotFoundError:
        lines = 0
    if last and not lines:
        raise log.BrokenChain(f"the log of session {session} is gone", "it was removed from outside")
    if last and lines <= last:
        raise log.BrokenChain(
            f"the log of session {session} ends before its view {last}", "its end was cut off from outside"
        )
    return lines
