"""Logs in batches the views that transcripts report, with the times that they had."""

import contextlib
import math
import time
from collections.abc import Iterable, Sequence

from sightline.base.errors import SightlineError, StoreFailed
from sightline.base.records import LONG_ID, Buffer, IndexedView, Session
from sightline.disk.errors import cause_of
from sightline.disk.log_rows import ViewRow as ViewRow
from sightline.disk.meta import read_meta
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log import log
from sightline.log.log import Encoded
from sightline.log.sessions import header_of, session_from
from sightline.log.views import Shows, indexed_view, logged_fields
from sightline.store import Store


class PastView(NamedTuple):
    """A view from a transcript, prepared for the log and the index; only its place in the log is missing.

    Attributes:
        entry: entry for the log.
        row: row for the index.
    """

    entry: Encoded
    row: ViewRow


def past_view(store: Store, session: str, when: float, shows: Shows, text: str, buffers: Sequence[Buffer]) -> PastView:
    """Prepare a view.

    Args:
        store: the store that will have it.
        session: name of the session that was shown it.
        when: it was shown, seconds since the epoch.
        shows: what it is about.
        text: its exact text.
        buffers: the buffers that it is about.
    """
    sealed = {one.name: {stream: info.sha256 for stream, info in one.streams.items()} for one in buffers}
    text = redaction.text(text) if (redaction := store.settings.redaction()) else text
    fields = logged_fields(store, when, shows, text)
    entry = Encoded.of({"kind": "view", **fields, "sealed": sealed, "text": [text]})
    return PastView(entry, ViewRow.of_fields(session, fields))


def log_past_views(store: Store, session: Session, views: Sequence[PastView]) -> list[ViewRow]:
    """Log at least one view, and return the rows to index, with the session if the first view is its number 1.

    Raises:
        StoreFailed: no view could be logged.
    """
    path, entries = store.layout.audit_file(session.name), [view.entry for view in views]
    try:
        places = log.append_all(path, header_of(session), entries, durable=store.settings.durable)
    except OSError as error:
        what, hint = cause_of(error, store.root)
        raise StoreFailed(f"past views could not be logged: {what}", hint) from error
    return [view.row.at(*place) for view, place in zip(views, places, strict=True)]


SAME_SECONDS = 60.0
"""The longest time between a recorded call and the same call in a transcript."""

SLACK_SECONDS = 1.0
"""How much later than a call was made a transcript may say that it was."""

SAME_INSTANT = 0.001
"""The longest time between a call that was imported and the same call in a transcript."""


class Nameless(NamedTuple):
    """What a recorded call is known by without an id, which Gemini CLI's hooks do not have, or with a short one.

    Attributes:
        tool: name of the tool.
        what: the command line, or the path of a file; empty for other tools.
        time: when it was shown, seconds since the epoch.
    """

    tool: str
    what: str
    time: float


class LoggedCalls(NamedTuple):
    """The calls that the log of a session has.

    Attributes:
        imported: ids of calls that were imported.
        uses: the model's ids of tool uses, with those that were logged as they happened.
        nameless: calls without either id that no call of a transcript has matched yet.
        shown: calls that were logged as they happened, by short ids of tool uses, which a model's server may give to
            several; without those that a call of a transcript has matched.
        taken: calls that were imported, likewise, with all.
        copied: calls that were imported from a copy of the session's history, likewise; their times may be those of the
            copying.
    """

    imported: set[str]
    uses: set[str]
    nameless: list[Nameless]
    shown: dict[str, list[Nameless]]
    taken: dict[str, list[Nameless]]
    copied: dict[str, list[Nameless]]

    def has_copy_of(self, use: str, call: Nameless) -> bool:
        """Return whether a call that stands in a copy of the session's history is in its log."""
        if len(use) >= LONG_ID:
            return use in self.uses
        return any(is_alike(one, call) for of in (self.shown, self.taken, self.copied) for one in of.get(use, ()))

    def takes_copied(self, use: str, call: Nameless) -> bool:
        """Return whether a call was imported from a copy of the session's history; if so, that is used up."""
        found = next((one for one in self.copied.get(use, ()) if is_alike(one, call)), None)
        if found:
            self.copied[use].remove(found)
        return found is not None

    def takes_shown(self, use: str, call: Nameless, asked: float, within: float = SAME_SECONDS) -> bool:
        """Return whether a call that was logged as it happened can be this one; if so, it is used up.

        Args:
            use: the model's id of the tool use, a short one.
            call: the call.
            asked: when it was made; what was shown before is of an earlier call with its id.
            within: seconds that it may have been logged later than a transcript says; infinite if that has no times.
        """
        since, until = asked - SLACK_SECONDS if within < math.inf else -math.inf, call.time + within
        same = [one for one in self.shown.get(use, ()) if is_alike(one, call) and since <= one.time <= until]
        if same:
            self.shown[use].remove(min(same, key=lambda one: abs(one.time - call.time)))
        return bool(same)

    def was_taken(self, use: str, call: Nameless) -> bool:
        """Return whether a call that was imported, with a short id of its tool use, is this one."""
        return any(is_alike(one, call) and abs(one.time - call.time) <= SAME_INSTANT for one in self.taken.get(use, ()))

    def takes_nameless(self, call: Nameless) -> bool:
        """Return whether a call without an id can be this one; if so, it is used up."""
        same = [one for one in self.nameless if one[:2] == call[:2] and abs(one.time - call.time) <= SAME_SECONDS]
        if same:
            self.nameless.remove(min(same, key=lambda one: abs(one.time - call.time)))
        return bool(same)


def at_its_time(view: str, nanoseconds: int) -> str:
    """Return what a view is known by beyond its store, where another session may have its name.

    Args:
        view: id of the view.
        nanoseconds: when it was shown, since the epoch.
    """
    return f"{view}@{nanoseconds // 1000}"


def known_calls(store: Store, sessions: Iterable[str]) -> LoggedCalls:
    """Return the calls that sessions' logs have, whether or not their buffers still exist.

    Calls that were logged but not indexed, because an import ended in between, are indexed now.
    """
    known = LoggedCalls(set(), set(), [], {}, {}, {})
    for name in sessions:
        indexed = store.index.artifacts(name)
        lost: list[IndexedView] = []
        try:
            for place, entry in log.read_all(store.layout.audit_file(name)):
                request, shown = entry.get("request"), entry.get("time")
                if isinstance(request, dict) and entry.get("kind") != "usage":
                    if isinstance(shown, float):
                        known.imported.add(at_its_time(f"{name}:{entry.get('n')}", int(shown * 1e6) * 1000))
                    _note(known.imported, request.get("imported"), "id")
                    _note(known.uses, request.get("caller"), "tool_use")
                    for use in _noted(request.get("caller"), "tool_use"):
                        if isinstance(shown, float) and len(use) < LONG_ID:
                            about = request.get("imported")
                            is_copy = isinstance(about, dict) and about.get("copy") is True
                            calls = known.copied if is_copy else known.taken if about else known.shown
                            calls.setdefault(use, []).append(_named(request, shown))
                    if (nameless := _nameless(request, shown)) is not None:
                        known.nameless.append(nameless)
                    imported = request.get("imported")
                    if isinstance(imported, dict) and imported.get("id") not in indexed:
                        lost.append(indexed_view(name, place, entry))
        except (FileNotFoundError, SightlineError, KeyError, TypeError):
            pass  # there is no log yet; or it was changed from outside, which the doctor reports
        if lost:
            _index_lost(store, name, lost)
    return known


def _index_lost(store: Store, session: str, views: Sequence[IndexedView]) -> None:
    """Index views that are in a session's log, and the buffers that they are about."""
    buffers = []
    for name in dict.fromkeys(name for one in views for name in one.view.refs):
        with contextlib.suppress(OSError, ValueError, SightlineError):  # the buffer was removed
            buffers.append(read_meta(store.layout, name)._replace(accessed=time.time()))  # as for any import
    if not buffers:
        return
    _, header = next(log.read_all(store.layout.audit_file(session)))
    with store.index.transaction():
        if store.index.session(session) is None and header.get("kind") == "session":
            store.index.put_session(session_from(header))
        store.index.add_buffers(buffers)
        for view in views:
            store.index.put_view(view)  # another process may have indexed it


def _note(found: set[str], fields: object, name: str) -> None:
    found.update(_noted(fields, name))


def _noted(fields: object, name: str) -> tuple[str, ...]:
    value = fields.get(name) if isinstance(fields, dict) else None
    return (value,) if isinstance(value, str) else ()


def _nameless(request: dict[str, Any], time: object) -> Nameless | None:
    """Return the call in a request of a harness' hook; None for a call with an id, and for any other request."""
    tool, caller = request.get("tool"), request.get("caller")
    if not isinstance(tool, str) or not isinstance(time, float) or "imported" in request:
        return None
    if not isinstance(caller, dict) or "tool_use" in caller or "harness_session" not in caller:
        return None
    return _named(request, time)


def _named(request: dict[str, Any], time: float) -> Nameless:
    return Nameless(str(request.get("tool", "")), str(request.get("command", request.get("path", ""))), time)


def is_alike(one: Nameless, other: Nameless) -> bool:
    """Return whether two calls with one id ran the same; harnesses have several names for what runs commands."""
    if one.what and other.what:
        return one.what == other.what
    return not (one.tool and other.tool) or one.tool == other.tool
