"""Views of the past: what transcripts say that agents were shown, logged in batches with the times that they had."""

import contextlib
import time
from collections.abc import Iterable, Sequence
from typing import Any

from sightline.disk.errors import cause_of
from sightline.disk.meta import read_meta
from sightline.disk.view_index import ViewRow as ViewRow
from sightline.errors import SightlineError, StoreFailed
from sightline.log import log
from sightline.log.log import Encoded
from sightline.log.sessions import header_of, session_from
from sightline.log.views import Shows, indexed_view, logged_fields
from sightline.named_tuple import NamedTuple
from sightline.records import Buffer, IndexedView, Session
from sightline.store import Store


class PastView(NamedTuple):
    """A view that a transcript tells of, made ready for the log and the index: only its place there is missing.

    Attributes:
        entry: for the log.
        row: for the index.
    """

    entry: Encoded
    row: ViewRow


def past_view(store: Store, session: str, when: float, shows: Shows, text: str, buffers: Sequence[Buffer]) -> PastView:
    """Make a view ready.

    Args:
        store: where it is to be kept.
        session: whose view it is.
        when: it was shown, seconds since the epoch.
        shows: what it is about.
        text: its exact text.
        buffers: what it is about.
    """
    sealed = {one.name: {stream: info.sha256 for stream, info in one.streams.items()} for one in buffers}
    text = redaction.text(text) if (redaction := store.redaction()) else text
    fields = logged_fields(store, when, shows, text)
    entry = Encoded.of({"kind": "view", **fields, "sealed": sealed, "text": [text]})
    return PastView(entry, ViewRow.of_fields(session, fields))


def log_past_views(store: Store, session: Session, views: Sequence[PastView]) -> list[ViewRow]:
    """Log views, at least one; their rows, which are to be indexed, the session too where the first is its number 1.

    Raises:
        StoreFailed: they could not be logged; none of them is then.
    """
    path, entries = store.layout.audit_file(session.name), [view.entry for view in views]
    try:
        places = log.append_all(path, header_of(session), entries, durable=store.settings.durable)
    except OSError as error:
        what, hint = cause_of(error, store.root)
        raise StoreFailed(f"past views could not be logged: {what}", hint) from error
    return [view.row.at(*place) for view, place in zip(views, places, strict=True)]


_SAME_SECONDS = 60.0
"""A call as it was recorded and as a transcript tells it are at most so far apart where they are the same."""


class Nameless(NamedTuple):
    """A call that was recorded as it happened, of which the harness told no id, as Gemini CLI's hooks.

    Attributes:
        tool: the tool's name.
        what: the command line, or the file's path; empty for any other tool.
        time: when it was shown, seconds since the epoch.
    """

    tool: str
    what: str
    time: float


class Known(NamedTuple):
    """What the log of a session knows.

    Attributes:
        imported: ids of calls that were imported.
        uses: the model's ids of uses of tools; those that were logged as they happened among them.
        nameless: calls that have neither, and were not yet taken for one of a transcript.
    """

    imported: set[str]
    uses: set[str]
    nameless: list[Nameless]

    def takes_nameless(self, call: Nameless) -> bool:
        """Whether a call without an id can be this one; it is no other one then."""
        same = [one for one in self.nameless if one[:2] == call[:2] and abs(one.time - call.time) <= _SAME_SECONDS]
        if same:
            self.nameless.remove(min(same, key=lambda one: abs(one.time - call.time)))
        return bool(same)


def known_calls(store: Store, sessions: Iterable[str]) -> Known:
    """The calls that sessions' logs have, whatever became of their buffers.

    Those that were logged and not indexed, an import having ended between the two, are indexed now.
    """
    known = Known(set(), set(), [])
    for name in sessions:
        indexed = store.index.artifacts(name)
        lost: list[IndexedView] = []
        try:
            for place, entry in log.read_all(store.layout.audit_file(name)):
                request = entry.get("request")
                if isinstance(request, dict):
                    _note(known.imported, request.get("imported"), "id")
                    _note(known.uses, request.get("caller"), "tool_use")
                    if (nameless := _nameless(request, entry.get("time"))) is not None:
                        known.nameless.append(nameless)
                    imported = request.get("imported")
                    if isinstance(imported, dict) and imported.get("id") not in indexed:
                        lost.append(indexed_view(name, place, entry))
        except (FileNotFoundError, SightlineError, KeyError, TypeError):
            pass  # none yet; or changed from outside, as the doctor says
        if lost:
            _index_lost(store, name, lost)
    return known


def _index_lost(store: Store, session: str, views: Sequence[IndexedView]) -> None:
    """Index views that are in a session's log, and the buffers that they tell of."""
    buffers = []
    for name in dict.fromkeys(name for one in views for name in one.view.refs):
        with contextlib.suppress(OSError, ValueError, SightlineError):  # it was removed
            buffers.append(read_meta(store.layout, name)._replace(accessed=time.time()))  # as of any that is imported
    if not buffers:
        return
    _, header = next(log.read_all(store.layout.audit_file(session)))
    with store.index.transaction():
        if store.index.session(session) is None:
            store.index.put_session(session_from(header))
        store.index.add_buffers(buffers)
        for view in views:
            store.index.put_view(view)  # whoever lists views may just have found it


def _note(found: set[str], fields: object, name: str) -> None:
    if isinstance(fields, dict) and isinstance(value := fields.get(name), str):
        found.add(value)


def _nameless(request: dict[str, Any], time: object) -> Nameless | None:
    """The call that a request of a harness' hook tells of; None for one with an id, and for any other request."""
    tool, caller = request.get("tool"), request.get("caller")
    if not isinstance(tool, str) or not isinstance(time, float) or "imported" in request:
        return None
    if not isinstance(caller, dict) or "tool_use" in caller or "harness_session" not in caller:
        return None
    return Nameless(tool, str(request.get("command", request.get("path", ""))), time)
