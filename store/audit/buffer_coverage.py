"""The coverage of the store's buffers: from the ranges that views record, and from their texts where these do not tell.

What was recognised in a text is kept in the index: it is looked for once a view. So is whether a view of an older
version, which did not tell whole lines from cut ones, may have cut any.
"""

import json
import re
from functools import partial

from sightline.audit.coverage import Contribution, Coverage, contribution, cover, recorded
from sightline.audit.line_spans import Spans
from sightline.audit.onlookers import Onlookers
from sightline.audit.recognition import How, how_made, match_lines
from sightline.errors import OfNewerVersion, SightlineError
from sightline.log.log import BrokenChain
from sightline.log.log_index import list_views
from sightline.log.view_text import TextGone, view_text
from sightline.records import Buffer, IndexedView, View
from sightline.shape.markers import CUTS
from sightline.store import Reading, Target

LARGE_BYTES = 64 << 20
"""From here on grep looks for lines: it does not know those that are coloured, and takes a fifth of the time."""

_MATCHED = "matched"
_MAY_HAVE_CUT = "may have cut"
_TRANSFORMING = ("query",)
"""Verbs whose answers are made of lines by programs. All others record what they show of their first buffer."""


def coverage_of(
    store: Reading,
    buffer: Buffer,
    *,
    session: str | None = None,
    until: View | None = None,
    onlookers: bool = False,
) -> Coverage:
    """A buffer's coverage as it is now: by what was shown to all, except to people who look on.

    Args:
        store: the store.
        buffer: its record, with its progress where it is running.
        session: only what one session was shown, whoever that is.
        until: only views up to this one; of those of the same moment, as an import may have, in the order of the log.
        onlookers: whether what people were shown counts, too, of an output that an agent captured.

    Raises:
        ExpiredRef, StoreFailed: its bytes are needed, and gone.
    """
    views = _views_of(store, buffer, session)
    if session is None and not onlookers:
        people = Onlookers(store)
        views = [one for one in views if not people.looks_on(one.view.session, buffer.session)]
    if until is not None:
        views = [one for one in views if _place(one.view) <= _place(until)]
    made = [contribution_of(store, buffer, indexed) for indexed in reversed(views)]
    totals = {name: info.lines for name, info in buffer.streams.items()}
    return cover(buffer.name, totals, made, partial=buffer.is_partial)


def _place(view: View) -> tuple[float, int]:
    return view.time, view.number


def _views_of(store: Reading, buffer: Buffer, session: str | None) -> list[IndexedView]:
    """The views that may show lines of a buffer, newest first: those of what was filtered from it, too."""
    found = list_views(store, buffer=buffer.name, session=session)
    if filtered := filtered_from(buffer):
        found += [
            one for one in list_views(store, buffer=filtered, session=session) if buffer.name not in one.view.refs
        ]
        found.sort(key=lambda one: one.view.time, reverse=True)
    return found


def filtered_from(buffer: Buffer) -> str:
    """The name of the command whose filters a buffer went into; empty for any other buffer."""
    return buffer.origin if buffer.kind == "cmd" else ""


def contribution_of(store: Reading, buffer: Buffer, indexed: IndexedView) -> Contribution:
    """What one view adds to a buffer's coverage."""
    view = indexed.view
    own = buffer.name in view.refs
    if own and (not is_transformed(view, buffer.name) or is_recorded(view, buffer.name)):
        return contribution(view, buffer.name, unsure=may_have_cut(store, buffer, indexed))
    matched = _matched(store, buffer, indexed)
    return contribution(view, buffer.name, matched)


def is_recorded(view: View, name: str) -> bool:
    """Whether a view records which lines of a buffer stood in it."""
    return any(one.buffer == name for one in (*view.shown, *view.matched)) or any(
        one.buffer == name for one in view.parts or ()
    )


def may_have_cut(store: Reading, buffer: Buffer, indexed: IndexedView) -> bool:
    """Whether lines that a view records of a buffer may have been cut: it does not tell, nor does its text."""
    view = indexed.view
    if view.parts is not None or not (claimed := recorded(view.shown, buffer.name)):
        return False
    key = f"{_MAY_HAVE_CUT} {view.id}"
    kept = store.index.derived(buffer.name, key)
    if kept is None:
        kept = json.dumps(_leaves_open(store, buffer, indexed, claimed))
        if buffer.state != "running":
            store.index.put_derived(buffer.name, key, kept)
    return bool(json.loads(kept))


def _leaves_open(store: Reading, buffer: Buffer, indexed: IndexedView, claimed: dict[str, Spans]) -> bool:
    """Whether a text is shorter than the lines that it should hold, or says itself that it cuts; or is gone."""
    try:
        if indexed.view.bytes_shown < _bytes_of(store, buffer, claimed):
            return True
        request = json.loads(indexed.view.request)
        into_lines = "ref" in request and any(name in request for name in _INTO_LINES)
        return into_lines or bool(re.search(CUTS, view_text(store, indexed)))
    except SightlineError:
        return True


def _bytes_of(store: Reading, buffer: Buffer, lines: dict[str, Spans]) -> int:
    """How many bytes some lines are, their newlines left out."""
    size = 0
    for name, spans in lines.items():
        with store.open_text(Target(buffer, name)) as source:
            size += sum(source.offset_of_line(last + 1) - source.offset_of_line(first) - 1 for first, last in spans)
    return size


_INTO_LINES = ("offset", "limit", "path")
"""Arguments that lead to a byte of an output, or to a value in it: a line there is shown from its middle, or to it."""


def is_transformed(view: View, name: str) -> bool:
    """Whether programs came between a buffer and a view of it, so that its lines must be recognised in the text.

    A query's always did; and the buffers that a command line names were read by its programs.
    """
    return view.verb in _TRANSFORMING or name != view.refs[0]


def _matched(store: Reading, buffer: Buffer, indexed: IndexedView) -> dict[str, Spans]:
    """The lines of a buffer that are recognised in a view's text, by stream; found once."""
    key = f"{_MATCHED} {indexed.view.id}"
    kept = store.index.derived(buffer.name, key)
    if kept is None:
        kept = json.dumps(_recognised(store, buffer, indexed))
        store.index.put_derived(buffer.name, key, kept)
    return {stream: tuple((first, last) for first, last in spans) for stream, spans in json.loads(kept).items()}


def _recognised(store: Reading, buffer: Buffer, indexed: IndexedView) -> dict[str, Spans]:
    how = how_made(command_of(indexed.view))
    if not how.lines or not indexed.view.bytes_shown:
        return {}
    try:
        text = body_of(view_text(store, indexed)).split("\n")
    except (TextGone, BrokenChain, OfNewerVersion):
        return {}
    asked = recorded(indexed.view.asked, buffer.name)
    found = {}
    for name, info in buffer.streams.items():
        among: Spans = asked.get(name, ()) if asked else ((1, info.lines),)
        if among and (spans := _in_stream(store, Target(buffer, name), text, among, how)):
            found[name] = spans
    return found


def _in_stream(store: Reading, target: Target, text: list[str], among: Spans, how: How) -> Spans:
    try:
        with store.open_text(target) as source:
            find = None
            if source.byte_count >= LARGE_BYTES and len(among) == 1:
                from sightline.search.line_search import can_find, find_lines  # only what is large pays for it

                find = partial(find_lines, store.local_copy(target)) if can_find() else None
            return match_lines(text, source, among, how, find)
    except SightlineError:
        return ()  # its bytes are gone: nothing can be recognised in them any more


def command_of(view: View) -> str:
    """What made the answer of a view: its query, or its command line."""
    request = json.loads(view.request)
    for name in ("pipeline", "command"):
        if text := request.get(name):
            return str(text)
    return "diff" if "diff" in request else ""


def body_of(text: str) -> str:
    """The text of a reply without what its door put around it: of one JSON object its streams."""
    if text.startswith("{"):
        try:
            data = json.loads(text)
        except ValueError:
            return text
        if isinstance(data, dict) and isinstance(data.get("stdout"), str):
            return f"{data['stdout']}\n{data.get('stderr') or ''}"
    return text
