"""The verb list_outputs: lists buffers, most recently used first, or those that match best."""

import sys
import time

from sightline.base.errors import UsageError
from sightline.base.project import Project, find_project, known_project, project_of
from sightline.base.records import Buffer, StreamInfo
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Sequence
from sightline.log.call_names import call_name, left_out_of_path
from sightline.log.views import Shows
from sightline.shape.segments import Segment
from sightline.shape.summary import human_bytes, human_seconds, one_line
from sightline.store import Listed, Narrowing, Reading
from sightline.verbs import late, late_verbs
from sightline.verbs.argument_limits import refuse_overlong
from sightline.verbs.asker import Asker
from sightline.verbs.printable_text import printable
from sightline.verbs.reply import Reply, in_order, state_in_words

VERB = "list_outputs"
LIMIT = 20
MATCHED_BUFFERS = 10_000  # how far back a match is searched
_COMMAND_CHARACTERS = 100
PAGE_BUFFERS = 500


class ListRequest(NamedTuple):
    """The arguments of list_outputs.

    Attributes:
        match: words that command, ref or label must resemble, and filters of `sightline.audit.buffer_filter`.
        session: name of the session that captured them.
        limit: most buffers to list.
        project: a folder of the project in which they were captured.
        mine: whether to list the calls of the asking session instead, newest first.
    """

    match: str = ""
    session: str = ""
    limit: int = LIMIT
    project: str = ""
    mine: bool = False

    def logged(self) -> dict[str, Any]:
        """Return the given arguments, for the audit log."""
        return {name: value for name, value in self._asdict().items() if value != ListRequest._field_defaults[name]}


def list_outputs(asking: Asker, request: ListRequest) -> Reply:
    """List buffers, or the calls of a session, a line each. Raises UsageError for a limit below 1."""
    refuse_overlong(request._asdict())
    if request.mine:
        return _calls(asking, request)
    buffers = find_buffers(asking.store, request)
    now = time.time()
    total = asking.store.index.totals().buffers
    fields: dict[str, Any] = {}
    is_narrowed = bool(request.match or request.session or request.project)
    within = f"the {MATCHED_BUFFERS:,} used last" if request.match and total > MATCHED_BUFFERS else ""
    if not buffers and within:
        fields["note"] = f"nothing matches among {within}; {total - MATCHED_BUFFERS:,} were not looked at"
    elif not buffers:
        fields["note"] = (
            "nothing matches"
            if request.match or request.session or request.project
            else "nothing has been captured yet"
        )
    elif within and len(buffers) < request.limit:
        fields["note"] = f"looked for among {within} of {total:,}"
    elif len(buffers) == request.limit < total and not is_narrowed:
        fields["note"] = f"the {request.limit} most recently used of {total:,}"
    ordered = in_order(fields)
    ordered.pop("exit_code", None)
    known = list[str]()
    if not asking.person:
        known = late_verbs.known_of(asking, buffers)
    body = (Segment("".join(f"{row}\n" for row in rows(buffers, now, known))),) if buffers else ()
    return Reply(ordered, body, Shows(VERB, request.logged()), missing=bool(ordered))


def _calls(asking: Asker, request: ListRequest) -> Reply:
    if others := [name for name in ("match", "session", "project") if getattr(request, name)]:
        raise UsageError(
            f"mine and {others[0]} cannot be combined", "leave one out: mine lists what this session has asked"
        )
    if request.limit < 1:
        raise UsageError(f"limit cannot be {request.limit}", "give a number from 1 up")
    lines = late_verbs.past_calls(asking, request.limit, time.time())
    fields = {} if lines else {"note": "this session has asked nothing yet"}
    body = (Segment("".join(f"{line}\n" for line in lines)),) if lines else ()
    return Reply(fields, body, Shows(VERB, request.logged()), missing=bool(fields))


def find_buffers(store: Reading, request: ListRequest) -> list[Buffer]:
    """Return the buffers that a request names, in order. Raises UsageError for a limit below 1."""
    if request.limit < 1:
        raise UsageError(f"limit cannot be {request.limit}", "give a number from 1 up")
    session = request.session or None
    project = project_of(find_project(request.project), store.index.folders()) if request.project else None
    narrowing, is_all = _narrowing(request)
    if (found_there := store.narrowed(narrowing)) is not None:
        if is_all:
            return found_there
        if request.match and (matching := _matching(store, request.match, session, project, found_there)):
            return matching[: request.limit]
        store.bring_up_to_date()
    if not request.match:
        found = store.listed(min(request.limit, sys.maxsize), session=session, project=project)
        return [item.buffer for item in found]
    return _matching(store, request.match, session, project)[: request.limit]


def _narrowing(request: ListRequest) -> tuple[Narrowing, bool]:
    """Return the part of a request that a store can answer from its index, and whether that is all of it."""
    if not request.match:
        return Narrowing(limit=request.limit), not (request.session or request.project)
    found, is_all = late.narrowing(request.match)
    is_all = is_all and not (request.session or request.project)
    return found._replace(limit=request.limit if is_all else MATCHED_BUFFERS), is_all


def _matching(
    store: Reading, match: str, session: str | None, project: Project | None, among: Sequence[Buffer] | None = None
) -> list[Buffer]:
    """Return buffers that match, the best first, and of equal ones the last used; if few do, those that come close."""
    conditions, text = late.parsed(match)
    accepted = late.BufferFilter(store, conditions).accepted
    terms = late.terms_of(text)
    found: list[tuple[int, int, Buffer]] = []
    others: list[Buffer] = []
    before: int | None = None
    pages = MATCHED_BUFFERS // PAGE_BUFFERS
    for _ in range(pages if among is None else 1):
        if among is None:
            page = store.listed(PAGE_BUFFERS, before=before, session=session, project=project)
        else:
            page = [Listed(buffer, -place) for place, buffer in enumerate(among) if _is_in(buffer, session, project)]
        for buffer in accepted(item.buffer for item in page):
            rank = late.rank(terms, _title(buffer))
            if rank == late.NOT_AT_ALL:
                others.append(buffer)
            else:
                found.append((rank, len(found), buffer))
        if len(page) < PAGE_BUFFERS:
            break
        before = page[-1].used
    ranked = [buffer for *_, buffer in sorted(found, key=lambda row: row[:2])]
    if late.wants_guesses(terms, len(found)):
        ranked += [others[at] for _, at in late.close_titles(terms, [_title(buffer) for buffer in others])]
    return ranked


def _title(buffer: Buffer) -> str:
    return late.title_of(buffer.command, buffer.name, buffer.label, buffer.session)


def _is_in(buffer: Buffer, session: str | None, project: Project | None) -> bool:
    return session in (None, buffer.session) and (project is None or project.has(buffer))


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
