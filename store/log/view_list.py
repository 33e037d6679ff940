"""Views as they are listed and found: by the index, which is filled from the audit files where it lacks some."""

import os
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

from sightline.errors import SightlineError
from sightline.log import log
from sightline.log.comparing import sessions_behind
from sightline.log.views import Other, indexed_view, session_from, traced_of, with_shown
from sightline.records import IndexedView, Session
from sightline.store import Reading, Store, Target

if TYPE_CHECKING:
    from sightline.disk.sorter import Sorter


class UnknownView(SightlineError):
    """No view has this id."""


def list_views(
    store: Reading, *, buffer: str | None = None, session: str | None = None, since: float = 0.0, limit: int = -1
) -> list[IndexedView]:
    """Views, newest first: all, those of a buffer or a session, or those from a time on (seconds since the epoch).

    An index that lacks some is filled first.
    """
    fill_index(store, session)
    return store.index.views(buffer=buffer, session=session, since=since, limit=limit)


def fill_index(store: Reading, session: str | None = None) -> None:
    """See to it that the index knows what the audit files hold: that of one session, or all.

    An index made anew does not, nor one whose writer died after it had logged a view.
    """
    if not isinstance(store, Store):
        return  # another kind has its rows from elsewhere
    if store.index.views_stale():
        rebuild_views(store)
    elif not store.index.unwritable and (behind := sessions_behind(store, session)):
        from sightline.log.indexing import catch_up  # few ever need it

        catch_up(store, behind)


def find_view(store: Reading, view_id: str) -> IndexedView:
    """A view by its id, ``SESSION:N``. Raises UnknownView."""
    fill_index(store)
    session, _, number = view_id.rpartition(":")
    found = store.index.view(session, int(number)) if number.isdigit() else None
    if found is None:
        raise UnknownView(f"there is no view {view_id!r}", "`sightline views` lists them")
    return found


def rebuild_views(store: Store) -> int:
    """Index all views and notes anew from the audit files, and put buffers into the order that these were shown in.

    How many views there are.
    """
    from sightline.disk.sorter import with_sorter  # with what only this needs: looking at the list starts faster

    with store.index.transaction():
        return with_sorter(partial(_index_anew, store))


def _index_anew(store: Store, found: "Sorter[tuple[float, IndexedView]]") -> int:
    others: list[Other] = []
    sizes: dict[str, int] = {}
    used: dict[str, float] = {}
    for file in sorted(os.listdir(store.layout.audit)):
        session_name, dot, ending = file.rpartition(".")
        if ending == "jsonl" and dot:
            store.index.forget_views(session_name)
            store.index.forget_notes(session_name)
            sizes[session_name] = os.stat(os.path.join(store.layout.audit, file)).st_size  # it may grow meanwhile
            views = _read_views(store, session_name, others)
            # A clock that was set back must not make what a session asked last its first.
            for when, indexed in zip(accumulate((one.view.time for one in views), max), views, strict=True):
                found.put(when, (when, indexed))
    for when, indexed in found:  # the list goes by the order in which they are put
        store.index.put_view(indexed)
        used |= dict.fromkeys(indexed.view.refs, when)
    if others:
        from sightline.log.entries import index_others  # few logs have any

        index_others(store, others)
    for name, size in sizes.items():
        store.index.set_log(name, size)
    if store.index.views_stale():
        for name, when in sorted(used.items(), key=lambda item: item[1]):
            store.index.touch(name, when)
        store.index.set_views_stale(False)
    return found.count


def _read_views(store: Store, session: str, others: list[Other]) -> list[IndexedView]:
    """The views of a session's file, as far as it can be read; its session is put into the index."""
    views: dict[int, IndexedView] = {}
    try:
        for place, entry in log.read_all(store.layout.audit_file(session)):
            if entry.get("kind") == "session":
                if entry["session"]["name"] != session:  # a name becomes a path
                    raise log.BrokenChain(f"the log of {session} says that it is another's")
                store.index.put_session(session_from(entry))
            elif entry.get("kind") == "view":
                views[place.number] = indexed_view(session, place, entry)
            elif entry.get("kind") == "shown" and (found := views.get(entry["of"])):
                views[found.view.number] = found._replace(view=with_shown(found.view, traced_of(entry)))
            else:
                others.append(Other(session, place.number, entry))
    except (log.BrokenChain, KeyError, TypeError):
        pass  # changed from outside: the doctor says so
    return list(views.values())


def seen_lines(store: Reading, session: Session, target: Target) -> int:
    """The last line of a stream that a session has been shown, 0 for none."""
    return max(
        (
            shown.last
            for indexed in list_views(store, buffer=target.buffer.name, session=session.name)
            for shown in (*indexed.view.shown, *indexed.view.matched)
            if shown.buffer == target.buffer.name and shown.stream == target.stream
        ),
        default=0,
    )
