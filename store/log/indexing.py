"""Views that were logged and not indexed, their writer having died in between: whoever finds them puts them there."""

import os
import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

from sightline.disk.errors import is_busy
from sightline.log import log
from sightline.log.entries import index_others
from sightline.log.views import Other, indexed_view, session_from, traced_of, with_shown
from sightline.store import Store


class _Tail(NamedTuple):
    """What stands in a session's file after what is known to be indexed, up to a byte of it."""

    entries: list[tuple[log.Place, dict[str, Any]]]
    end: int


def catch_up(store: Store, sessions: Iterable[str]) -> None:
    """Index what the audit files of some sessions hold beyond what is indexed of them.

    Their writers may be alive and about to do the same: what is there already stays as it is. Where the index is
    locked for long, lists do without.
    """
    try:
        with store.index.hurried():
            for session in sessions:
                _catch_up(store, session)
    except sqlite3.OperationalError as error:
        if not is_busy(error):
            raise


def _catch_up(store: Store, session: str) -> None:
    tail = _tail(store, session, store.index.indexed_bytes(session))
    if tail.end == store.index.indexed_bytes(session):
        return
    with store.index.transaction():
        for place, entry in tail.entries:
            try:
                _index(store, session, place, entry)
            except (KeyError, TypeError):
                continue  # changed from outside: the doctor says so
        store.index.set_log(session, max(tail.end, store.index.indexed_bytes(session)))


def _tail(store: Store, session: str, begin: int) -> _Tail:
    path = store.layout.audit_file(session)
    entries: list[tuple[log.Place, dict[str, Any]]] = []
    end = begin
    try:
        for place, entry in log.read_from(path, begin):
            entries.append((place, entry))
            end = place.offset + place.length
    except FileNotFoundError:
        pass
    except log.BrokenChain:  # changed from outside: the doctor says so, and nobody need read it again
        end = os.stat(path).st_size
    return _Tail(entries, end)


def _index(store: Store, session: str, place: log.Place, entry: dict[str, Any]) -> None:
    match entry.get("kind"):
        case "session":
            if store.index.session(session) is None and entry["session"]["name"] == session:
                store.index.put_session(session_from(entry))
        case "view":
            store.index.put_view(indexed_view(session, place, entry))
        case "shown":
            if known := store.index.view(session, entry["of"]):
                store.index.amend_view(with_shown(known.view, traced_of(entry)))
        case _:
            index_others(store, [Other(session, place.number, entry)])
