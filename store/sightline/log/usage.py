"""Logs which tokens each request to a model took, as transcripts state it: every request once, with what is not known.

These are entries of the log like views. Their numbers can be blanked; their ids stay, so that an import knows them.
"""

from sightline.base.errors import StoreFailed
from sightline.base.records import Session
from sightline.base.request_usage import RequestUsage
from sightline.disk.errors import cause_of
from sightline.disk.request_rows import row_of_entry
from sightline.disk.sqlite import sqlite3
from sightline.light.typing_names import Any, Sequence
from sightline.log import log
from sightline.log.log import Encoded
from sightline.log.log_index import catch_up
from sightline.log.sessions import header_of
from sightline.store import Store


def write_usage(store: Store, session: Session, requests: Sequence[RequestUsage]) -> None:
    """Log and index requests of a session, apart from those that are known.

    Args:
        store: the store.
        session: their session.
        requests: the requests, each once.

    Raises:
        StoreFailed: they could not be logged.
    """
    try:
        known = store.index.requests.known([one.id for one in requests])
        new = [one for one in requests if one.id not in known or one.fullness > known[one.id]]
        if not new:
            return
        catch_up(store, [session.name])
        path = store.layout.audit_file(session.name)
        entries = [*map(entry_of, new)]
        places = log.append_all(path, header_of(session), [*map(Encoded.of, entries)], durable=store.settings.durable)
        with store.index.transaction():
            if places[0].number == 1:
                store.index.put_session(session)
            store.index.requests.put([row_of_entry(session.name, one) for one in entries])
            first, last = places[0], places[-1]
            size = last.offset + last.length - first.offset
            store.index.advance(session.name, first.number, first.offset, size)
    except (OSError, sqlite3.Error) as error:
        what, hint = cause_of(error, store.root)
        raise StoreFailed(f"the usage of a session could not be logged: {what}", hint) from error


def entry_of(usage: RequestUsage) -> dict[str, Any]:
    """Encode a request for the log; what stands in ``request`` can be blanked."""
    fields = usage._asdict()
    numbers = {name: value for name, value in fields.items() if name not in _OUTSIDE and value not in (None, "", ())}
    return {"kind": "usage", "time": usage.time, "id": usage.id, "request": {"model": usage.model, **numbers}}


_OUTSIDE = ("id", "time", "copies")
