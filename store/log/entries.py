"""What the log holds beside views, put into the index: notes, what was sent of them, names and ends of sessions."""

from collections.abc import Iterable
from typing import Any

from sightline.disk.errors import cause_of
from sightline.errors import StoreFailed
from sightline.log import log
from sightline.log.views import Other, header_of
from sightline.records import Note, Session
from sightline.refs import parse_ref
from sightline.store import Store


def append_entry(store: Store, session: Session, entry: dict[str, Any]) -> int:
    """Log something that is no view in a session's file, and index it; its number there.

    Raises:
        StoreFailed: it could not be logged.
    """
    path = store.layout.audit_file(session.name)
    try:
        place = log.append(path, header_of(session), entry, durable=store.settings.durable)
        with store.index.transaction():
            if place.number == 1:
                store.index.put_session(session)
            _index(store, Other(session.name, place.number, entry))
            store.index.advance(session.name, *place)
    except Exception as error:  # disk full speaks through OSError and SQLite alike
        what, hint = cause_of(error, store.root)
        raise StoreFailed(f"this could not be logged: {what}", hint) from error
    return place.number


def index_others(store: Store, others: Iterable[Other]) -> None:
    """Index entries that are no views, of any number of sessions; one that was changed from outside is left out."""
    for other in sorted(others, key=lambda one: float(one.entry.get("time", 0.0))):
        try:
            _index(store, other)
        except (KeyError, TypeError):
            continue


def _index(store: Store, other: Other) -> None:
    """Put an entry into the index; once more is as once, even where later ones of other files are there already."""
    entry = other.entry
    match entry.get("kind"):
        case "note":
            note_id = f"{other.session}:{other.number}"
            note = Note(note_id, other.session, entry["time"], entry["ref"], entry.get("text"))
            if known := store.index.note(note_id):
                note = note._replace(to=known.to, sent=known.sent, sent_to=known.sent_to)
            _put(store, note)
        case "send":
            if (written := store.index.note(entry["note"])) and written.sent < entry["time"]:
                if entry["to"]:  # once more, where it was sent before; else it was taken back
                    written = written._replace(sent=0.0, sent_to="")
                _put(store, written._replace(to=entry["to"]))
        case "sent":
            if written := store.index.note(entry["note"]):
                _put(store, written._replace(sent=entry["time"], sent_to=other.session))
        case "titled":
            if session := store.index.session(other.session):
                store.index.put_session(session._replace(title=entry["title"]))
        case "removed":
            if session := store.index.session(other.session):
                store.index.put_session(session._replace(removed=entry["time"]))


def _put(store: Store, note: Note) -> None:
    store.index.put_note(note, parse_ref(note.ref).name)
