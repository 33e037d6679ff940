"""The verb list_outputs: lists buffers, most recently used first, or those that match best."""

import sys
import time

from sightline.base.errors import UsageError
from sightline.base.project import Project, find_project, known_project, project_of
from sightline.base.records import Buffer, StreamInfo
from sightline.light.late_imports import late_modules
from sightline.light.typing_names import Any, Iterator, Sequence
from sightline.log.call_names import call_name, left_out_of_path
from sightline.log.views import Shows
from sightline.shape.segments import Segment
from sightline.shape.summary import human_bytes, human_seconds, one_line
from sightline.store import ListFacts, Narrowed, Narrowing, Reading
from sightline.verbs.arguments import refuse_overlong
from sightline.verbs.asker import Asker
from sightline.verbs.printable_text import printable
from sightline.verbs.reply import Reply, in_order, state_in_words
from sightline.verbs.requests import ListRequest

with late_modules(globals()):
    from sightline.audit import buffer_filter  # 30 ms: most lists are not narrowed
    from sightline.search import matcher  # most lists are not narrowed
    from sightline.verbs import earlier_calls  # 15 ms, which a person's list does not need

VERB = "list_outputs"
MOST_NARROWED = 10_000
"""Outputs that a fleet's database finds by words, the newest."""

_COMMAND_CHARACTERS = 100
_PAGE_BUFFERS = 1_000  # of which only what is matched is read


def list_outputs(asking: Asker, request: ListRequest) -> Reply:
    """List buffers, or the calls of a session, a line each. Raises UsageError for a limit below 1."""
    refuse_overlong(request)
    if request.mine:
        return _calls(asking, request)
    buffers, unsure = find_buffers_and_reach(asking.store, request)
    now = time.time()
    total = asking.store.index.totals().buffers
    fields: dict[str, Any] = {}
    is_narrowed = bool(request.match or request.session or request.project)
    if not buffers:
        fields["note"] = "nothing matches" if is_narrowed else "nothing has been captured yet"
    elif len(buffers) == request.limit < total and not is_narrowed:
        fields["note"] = f"the {request.limit} most recently used of {total:,}"
    if told := "; ".join(filter(None, (fields.get("note"), unsure))):
        fields["note"] = told
    ordered = in_order(fields)
    ordered.pop("exit_code", None)
    known = list[str]()
    if not asking.person:
        known = earlier_calls.known_of(asking, buffers)
    body = (Segment("".join(f"{row}\n" for row in rows(buffers, now, known))),) if buffers else ()
    return Reply(ordered, body, Shows(VERB, request.logged()), missing=bool(ordered))


def _calls(asking: Asker, request: ListRequest) -> Reply:
    if others := [name for name in ("match", "session", "project") if getattr(request, name)]:
        raise UsageError(
            f"mine and {others[0]} cannot be combined", "leave one out: mine lists what this session has asked"
        )
    if request.limit < 1:
        raise UsageError(f"limit cannot be {request.limit}", "give a number from 1 up")
    lines = earlier_calls.past_calls(asking, request.limit, time.time())
    fields = {} if lines else {"note": "this session has asked nothing yet"}
    body = (Segment("".join(f"{line}\n" for line in lines)),) if lines else ()
    return Reply(fields, body, Shows(VERB, request.logged()), missing=bool(fields))


def find_buffers(store: Reading, request: ListRequest) -> list[Buffer]:
    """Return the buffers that a request names, in order. Raises UsageError for a limit below 1."""
    return find_buffers_and_reach(store, request)[0]


def find_buffers_and_reach(store: Reading, request: ListRequest) -> tuple[list[Buffer], str]:
    """Return the buffers that a request names, in order, and words on where others were not looked for; mostly empty.

    Raises:
        UsageError: the limit is below 1.
    """
    if request.limit < 1:
        raise UsageError(f"limit cannot be {request.limit}", "give a number from 1 up")
    if not request.match and store.place is None:
        session, project = _scope(store, request)
        listed = store.listed(min(request.limit, sys.maxsize), session=session, project=project)
        return [item.buffer for item in listed], ""
    names, unsure = find_names(store, request)
    return records_of(store, names[: request.limit]), unsure


def records_of(store: Reading, names: Sequence[str]) -> list[Buffer]:
    """Return the records of buffers in this order, without those that were removed meanwhile."""
    known = store.index.buffers(names)
    return [store.with_progress(known[name]) for name in names if name in known]


def find_names(store: Reading, request: ListRequest, *, with_bytes: bool = False) -> tuple[list[str], str]:
    """Return the names of all buffers that match a request, whatever its limit, in order; and `_told` of the others.

    Args:
        store: the store.
        request: what to look for.
        with_bytes: whether to leave out those that have no bytes, or none any more.
    """
    narrowing, is_all = _narrowing(request)
    unsure = doubt = buffer_filter.doubtful(buffer_filter.parsed(request.match)) if ":" in request.match else ""
    if (found_there := store.narrowed(narrowing)) is not None:
        if is_all:
            named = [
                one.name for one in found_there.outputs if not with_bytes or (one.bytes and one.state != "evicted")
            ]
            return named, doubt
        unsure = "; ".join(filter(None, (doubt, _told(found_there, narrowing))))
        if request.match and (matching := _matching(store, request, with_bytes)):
            return matching, unsure
        store.bring_up_to_date()
    return _matching(store, request, with_bytes), unsure


def _told(found: Narrowed, wanted: Narrowing) -> str:
    """Say which outputs were not compared with a filter's text; empty if all were."""
    if not found.compared:
        return ""
    older = "older ones are found by words of their commands" if wanted.words else "older ones are left out"
    return f"the text was compared with the newest {found.compared:,} outputs; {older}; narrow it by host or age"


def _narrowing(request: ListRequest) -> tuple[Narrowing, bool]:
    """Return the part of a request that a store can answer from its index, and whether that is all of it."""
    if not request.match:
        return Narrowing(limit=request.limit), not (request.session or request.project)
    found, is_all = buffer_filter.narrowing(request.match)
    is_all = is_all and not (request.session or request.project)
    if is_all and not found.text:
        return found._replace(limit=request.limit), True
    return found._replace(limit=MOST_NARROWED, best=request.limit if is_all else 0), False


def _matching(store: Reading, request: ListRequest, with_bytes: bool) -> list[str]:
    """Return names of buffers that match, the best first, and of equal ones the last used; if few do, similar ones."""
    conditions, text, _ = buffer_filter.parsed(request.match)
    accepted: frozenset[str] | None = None
    if conditions:
        wanted = buffer_filter.BufferFilter(store, conditions)
        wanted.judge_all()
        accepted = frozenset(wanted.names())
    title_of = matcher.title_of  # looked up once for 100,000 titles
    names, titles = list[str](), list[str]()
    for one in _facts(store, request):
        if (accepted is None or one.name in accepted) and not (with_bytes and not _has_bytes(one)):
            names.append(one.name)
            titles.append(title_of(one.command, one.name, one.label, one.session))
    return [names[at] for at in matcher.ranked(matcher.terms_of(text), titles)]


def _has_bytes(one: ListFacts) -> bool:
    return one.state == "running" or (one.bytes > 0 and one.state != "evicted")


def _facts(store: Reading, request: ListRequest) -> Iterator[ListFacts]:
    """Yield what is known of each buffer of a session and a project, the last used first."""
    session, project = _scope(store, request)
    before: int | None = None
    while True:
        page = store.index.list_facts(
            _PAGE_BUFFERS, before=before, characters=matcher.TITLE_CHARACTERS, project=project
        )
        yield from (one for one in page if session in (None, one.session))
        if len(page) < _PAGE_BUFFERS:
            return
        before = page[-1].used


def _scope(store: Reading, request: ListRequest) -> tuple[str | None, Project | None]:
    project = project_of(find_project(request.project), store.index.folders()) if request.project else None
    return request.session or None, project


def rows(buffers: list[Buffer], now: float, known: Sequence[str] = ()) -> list[str]:
    """Return a line for each buffer, in columns; ``known`` is what else to say of each."""
    table = [_row(buffer, now) for buffer in buffers]
    if known:
        table = [(*row[:2], told, *row[2:]) for row, told in zip(table, known, strict=True)]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]) - 1)] if table else []
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in table
    ]


def _row(buffer: Buffer, now: float) -> tuple[str, ...]:
    command = named_in(buffer, _COMMAND_CHARACTERS)
    lines = f"{buffer.lines:,} line{'' if buffer.lines == 1 else 's'}"
    age = human_seconds(max(now - buffer.created, 0)) + " ago"
    name = f"{command}  [{buffer.label}]" if buffer.label else command
    return buffer.ref, state_in_words(buffer), lines, human_bytes(buffer.bytes), age, printable(name)


def named_in(buffer: Buffer, characters: int) -> str:
    """Return what to call a buffer, cut to this length: a path at its beginning, anything else at its end."""
    name = call_name(buffer)
    if buffer.kind == "file" and (start := left_out_of_path(name, characters)):
        return f"…{name[start:]}"
    return one_line(name, characters)


def as_data(buffer: Buffer) -> dict[str, Any]:
    """Encode a buffer for ``list --json``; times are seconds since the epoch."""
    return {
        "ref": buffer.ref,
        "kind": buffer.kind,
        "state": buffer.shown_state,
        "command": buffer.command,
        "title": call_name(buffer),
        "cwd": buffer.cwd,
        "exit_code": buffer.exit_code,
        "signal": buffer.signal,
        "timed_out": buffer.timed_out,
        "created": buffer.created,
        "ended": buffer.ended,
        "accessed": buffer.accessed,
        "out": _stream(buffer.stream("out")),
        "err": _stream(buffer.stream("err")),
        "streams": {name: _stream(info) for name, info in buffer.streams.items()},
        "pinned": buffer.pinned,
        "label": buffer.label,
        "note": buffer.note,
        "partial": buffer.partial or None,
        "altered": buffer.altered or None,
        "gaps": [gap._asdict() for gap in buffer.gaps],
        "session": buffer.session,
        "project": buffer.project or known_project(buffer.cwd) or None,
    }


def _stream(info: StreamInfo) -> dict[str, Any]:
    return {"lines": info.lines, "bytes": info.bytes, "sha256": info.sha256 or None}
