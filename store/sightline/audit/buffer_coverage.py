"""Works out the coverage of buffers, from the ranges that views record and, where these are missing, from their texts.

What was recognised in a view's text is kept in the index, so each text is searched once. So is whether a view of an
older version, which did not tell cut lines from whole ones, may have cut any.
"""

import re
from collections.abc import Iterable
from functools import partial

from sightline.audit.coverage import Contribution, Coverage, contribution, cover, recorded
from sightline.audit.line_spans import Spans
from sightline.audit.people_views import Onlookers
from sightline.audit.quoted_lines import How, how_made, match_lines
from sightline.audit.quoting_views import quoting_contributions
from sightline.base.errors import OfNewerVersion, SightlineError
from sightline.base.records import Buffer, IndexedView, View
from sightline.light.json_text import dumps, loads
from sightline.log.log import BrokenChain
from sightline.log.log_index import list_views
from sightline.log.view_text import TextGone, view_text
from sightline.shape.markers import CUTS
from sightline.store import Reading, Target

LARGE_BYTES = 64 << 20
"""From this size on grep searches the lines. It misses coloured ones, but takes a fifth of the time."""

_MATCHED = "matched"
_MAY_HAVE_CUT = "may have cut"
_TRANSFORMING = ("query",)
"""Verbs whose answers programs make from lines. All others record what they show of their first buffer."""


def coverage_of(
    store: Reading,
    buffer: Buffer,
    *,
    session: str | None = None,
    until: View | None = None,
    onlookers: bool = False,
) -> Coverage:
    """Work out a buffer's coverage as of now, by what all sessions were shown, except people who only looked on.

    Args:
        store: the store.
        buffer: the buffer's record, with its progress if it is running.
        session: the only session whose views count, even if it is a person's.
        until: the last view that counts; views of the same time, as from an import, follow the order of the log.
        onlookers: whether views count that people had of an output that an agent captured.

    Raises:
        ExpiredRef, StoreFailed: bytes are needed that are gone.
    """
    views = _views_of(store, buffer, session)
    if session is None and not onlookers:
        people = Onlookers(store)
        views = [one for one in views if not people.looks_on(one.view.session, buffer.session)]
    if until is not None:
        views = [one for one in views if _place(one.view) <= _place(until)]
    made = [contribution_of(store, buffer, indexed) for indexed in reversed(views)]
    made += [
        one
        for one in quoting_contributions(store, buffer, session)
        if until is None or _place(one.view) <= _place(until)
    ]
    totals = {name: info.lines for name, info in buffer.streams.items()}
    return cover(buffer.name, totals, made, partial=buffer.is_partial)


def first_unseen(store: Reading, names: Iterable[str]) -> Buffer | None:
    """Return the first of some buffers with a line that stood in no view; None if all was seen."""
    for name in names:
        buffer = store.index.buffer(name)
        if buffer is None or buffer.state == "evicted" or not buffer.lines:
            continue
        try:
            coverage = coverage_of(store, buffer)
        except SightlineError:
            continue  # it was removed meanwhile
        if coverage.total and coverage.share < 1:
            return buffer
    return None


def _place(view: View) -> tuple[float, int]:
    return view.time, view.number


def _views_of(store: Reading, buffer: Buffer, session: str | None) -> list[IndexedView]:
    """Return the views that may show lines of a buffer, newest first, with those of what was filtered from it."""
    found = list_views(store, buffer=buffer.name, session=session)
    if filtered := filtered_from(buffer):
        found += [
            one for one in list_views(store, buffer=filtered, session=session) if buffer.name not in one.view.refs
        ]
        found.sort(key=lambda one: one.view.time, reverse=True)
    return found


def filtered_from(buffer: Buffer) -> str:
    """Return the name of the command into whose filters a buffer went; empty for any other buffer."""
    return buffer.origin if buffer.kind == "cmd" else ""


def contribution_of(store: Reading, buffer: Buffer, indexed: IndexedView) -> Contribution:
    """Work out what one view adds to a buffer's coverage."""
    view = indexed.view
    own = buffer.name in view.refs
    if own and (not is_transformed(view, buffer.name) or is_recorded(view, buffer.name)):
        return contribution(view, buffer.name, unsure=may_have_cut(store, buffer, indexed))
    matched = _matched(store, buffer, indexed)
    return contribution(view, buffer.name, matched)


def is_recorded(view: View, name: str) -> bool:
    """Return whether a view records which lines of a buffer it showed."""
    return any(one.buffer == name for one in (*view.shown, *view.matched)) or any(
        one.buffer == name for one in view.parts or ()
    )


def may_have_cut(store: Reading, buffer: Buffer, indexed: IndexedView) -> bool:
    """Return whether recorded lines may have been cut, because neither the record nor the text excludes that."""
    view = indexed.view
    if view.parts is not None or not (claimed := recorded(view.shown, buffer.name)):
        return False
    key = f"{_MAY_HAVE_CUT} {view.id}"
    kept = store.index.derived(buffer.name, key)
    if kept is None:
        kept = dumps(_leaves_open(store, buffer, indexed, claimed))
        if buffer.state != "running":
            store.index.put_derived(buffer.name, key, kept)
    return bool(loads(kept))


def _leaves_open(store: Reading, buffer: Buffer, indexed: IndexedView, claimed: dict[str, Spans]) -> bool:
    """Return whether a text is shorter than its recorded lines, or says that it was cut, or is gone."""
    try:
        if indexed.view.bytes_shown < _bytes_of(store, buffer, claimed):
            return True
        request = loads(indexed.view.request)
        into_lines = "ref" in request and any(name in request for name in _INTO_LINES)
        return into_lines or bool(re.search(CUTS, view_text(store, indexed)))
    except SightlineError:
        return True


def _bytes_of(store: Reading, buffer: Buffer, lines: dict[str, Spans]) -> int:
    """Return the bytes of some lines, without their newlines."""
    size = 0
    for name, spans in lines.items():
        with store.open_text(Target(buffer, name)) as source:
            size += sum(source.offset_of_line(last + 1) - source.offset_of_line(first) - 1 for first, last in spans)
    return size


_INTO_LINES = ("offset", "limit", "path")
"""Arguments that lead to a byte or a value inside a line, which may then be shown in part."""


def is_transformed(view: View, name: str) -> bool:
    """Return whether programs came between a buffer and a view, so that its lines must be recognised in the text.

    A query always has programs; and a command line's programs read the buffers that it names.
    """
    return view.verb in _TRANSFORMING or name != view.refs[0]


def _matched(store: Reading, buffer: Buffer, indexed: IndexedView) -> dict[str, Spans]:
    """Return the lines of a buffer that are recognised in a view's text, by stream; they are found once, and kept."""
    key = f"{_MATCHED} {indexed.view.id}"
    kept = store.index.derived(buffer.name, key)
    if kept is None:
        kept = dumps(_recognised(store, buffer, indexed))
        store.index.put_derived(buffer.name, key, kept)
    return {stream: tuple((first, last) for first, last in spans) for stream, spans in loads(kept).items()}


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
        if (
            among
            and not buffer.is_altered(name)
            and (spans := _in_stream(store, Target(buffer, name), text, among, how))
        ):
            found[name] = spans
    return found


def _in_stream(store: Reading, target: Target, text: list[str], among: Spans, how: How) -> Spans:
    try:
        with store.open_text(target) as source:
            find = None
            if source.byte_count >= LARGE_BYTES and len(among) == 1:
                from sightline.search.line_search import can_find, find_lines  # only a large buffer needs it

                find = partial(find_lines, store.local_copy(target)) if can_find() else None
            return match_lines(text, source, among, how, find)
    except SightlineError:
        return ()  # the bytes are gone, so nothing can be recognised


def command_of(view: View) -> str:
    """Return what made the answer of a view: its query, or its command line."""
    request = loads(view.request)
    for name in ("pipeline", "command"):
        if text := request.get(name):
            return str(text)
    return "diff" if "diff" in request else ""


def body_of(text: str) -> str:
    """Return a reply's text without what its door put around it; for a JSON object, the text of its streams."""
    if text.startswith("{"):
        try:
            data = loads(text)
        except ValueError:
            return text
        if isinstance(data, dict) and isinstance(data.get("stdout"), str):
            return f"{data['stdout']}\n{data.get('stderr') or ''}"
    return text
