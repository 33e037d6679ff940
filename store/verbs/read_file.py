"""The verb read_file: a file, captured as an immutable version, shown whole, in part or as a view."""

import os
from typing import Any, NamedTuple

from sightline.capture.file import capture_file, open_exactly, open_regular
from sightline.errors import BadRange, StoreFailed, UsageError
from sightline.log.views import Shows, parts_of, shown_of
from sightline.records import Buffer, joined_notes
from sightline.shape.budgets import HARD_LIMIT_BYTES, budget_for
from sightline.shape.memory import BytesSource
from sightline.shape.segments import Segment, join_segments, uncut
from sightline.store import Target
from sightline.verbs.asker import Asker
from sightline.verbs.file_facts import file_fields
from sightline.verbs.lines import beyond, open_lines, page_of
from sightline.verbs.read_output import VERB as READ_OUTPUT
from sightline.verbs.read_output import clipping_fields
from sightline.verbs.reply import Reply, fitting, in_order
from sightline.verbs.short_output import clean, cut_to_lines_only, short_body
from sightline.verbs.structured_view import shape_output
from sightline.verbs.unkept_view import unkept_file

VERB = "read_file"
_NEXT_LINES = 200
_SNIFFED_BYTES = 8192


class Request(NamedTuple):
    """The arguments of read_file.

    Attributes:
        path: the file.
        start_line: first line wanted, 1-based; 0 for all of it.
        end_line: last line, inclusive; 0 for the end, or as many lines as the profile's window has.
        exact: whether the path was judged as it stands, so that no symbolic link may be followed any more.
    """

    path: str
    start_line: int = 0
    end_line: int = 0
    exact: bool = False

    def logged(self) -> dict[str, Any]:
        """The arguments that were given, for the audit log."""
        return {name: value for name, value in self._asdict().items() if value and name != "exact"}


def read_file(asking: Asker, request: Request) -> Reply:
    """Show a file.

    Raises:
        FileNotReadable: there is no such file, or it cannot be read.
        BadRange: lines that are not there.
    """
    path = os.path.abspath(os.path.expanduser(request.path))
    if request.start_line < 0 or (request.end_line and request.end_line < max(request.start_line, 1)):
        raise BadRange(
            f"no such range of lines: {request.start_line}-{request.end_line}", "lines count from 1, inclusive"
        )
    if not asking.store.settings.captures(os.path.dirname(path)):
        raise UsageError("nothing is kept of this folder (capture = off)", "read the file with another tool")
    window = asking.profile.reading.window_lines if request.start_line and not request.end_line else 0
    last = request.start_line + window - 1 if window else request.end_line
    try:
        buffer = capture_file(asking.store, path, asking.session.name, exact=request.exact)
    except StoreFailed as error:
        fd = open_exactly(path) if request.exact else open_regular(path)
        return unkept_file(asking.store, fd, path, request.start_line, last, error, verb=VERB, request=request.logged())
    target = Target(buffer, "out", request.start_line or (1 if request.end_line else 0), last)
    if _is_binary(asking, target):
        return _binary(asking, target, request)
    return _part(asking, target, request) if target.first else _whole(asking, target, request)


def _is_binary(asking: Asker, target: Target) -> bool:
    with asking.store.open(target) as source:
        return b"\0" in source.read(0, _SNIFFED_BYTES)


def _binary(asking: Asker, target: Target, request: Request) -> Reply:
    buffer = target.buffer
    fields = _fields(buffer) | {
        "note": joined_notes(buffer.note, "a binary file: its bytes are kept and not shown"),
        "next": asking.calls("query", pipeline=f"xxd -l 256 {buffer.ref}"),
    }
    return _reply(fields, (), buffer, request, missing=True)


def _part(asking: Asker, target: Target, request: Request) -> Reply:
    with open_lines(asking.store, target, asking.profile) as lines:
        total = lines.line_count
        if target.first > max(total, 1):
            raise beyond(request.path, target.first, total)
        last = min(target.last or total, total)
        fields = _fields(target.buffer)
        page = fitting(
            fields,
            asking.profile.reading.page_bytes,
            lambda limit: page_of(lines, target.first, last, limit),
            lambda page: page.text,
            asking.room,
        )
    fields["lines"] = f"{target.first}-{page.last}"
    cut = page.last < last
    if cut:
        fields |= {
            "truncated": True,
            "next": asking.calls(READ_OUTPUT, ref=target.ref, lines=f"{page.last + 1}-{last}"),
        }
    if page.clipped:
        fields |= clipping_fields(asking, page.clipped)
        cut = True
    return _reply(fields, page.segments, target.buffer, request, missing=cut)


def _whole(asking: Asker, target: Target, request: Request) -> Reply:
    buffer, profile, nothing = target.buffer, asking.profile, BytesSource(b"")
    budget = budget_for("normal", True, profile.budgets)
    with asking.store.open(target) as raw:
        source = clean(raw, profile)
        fields = _fields(buffer)
        own = budget if profile.short.measure == "budget" else None
        if short := short_body(profile, fields, source, nothing, own, asking.room):
            return _reply({}, short.segments, buffer, request, missing=False)
        few = cut_to_lines_only(profile, source, nothing)
        made = fitting(
            fields,
            HARD_LIMIT_BYTES,
            lambda limit: shape_output(profile, source, nothing, budget=budget, failed=False, short=few, limit=limit),
            lambda made: join_segments(made.shaped.segments),
            asking.room,
        )
    shaped = made.shaped
    fields |= {"description": made.description or None, "truncated": shaped.truncated or None, "stdout_shown": None}
    fields["lines"] = f"{shaped.out_shown} of {shaped.out_total}"
    if shaped.truncated:
        is_part = made.path and shaped.out_total == 1  # a line is no way to its parts
        lines = _first_gap(shaped.segments, shaped.out_total)
        where = {"path": made.path} if is_part else {"lines": lines}
        fields["next"] = asking.calls(READ_OUTPUT, ref=target.ref, **where)
        fields |= file_fields(asking.store, buffer, profile) if profile.files.shown else {}
    return _reply(fields, shaped.segments, buffer, request, missing=shaped.truncated)


def _first_gap(segments: tuple[Segment, ...], total: int) -> str:
    following = 1
    for segment in uncut(segments):
        if segment.ref:
            if segment.first > following:
                return f"{following}-{min(segment.first - 1, following + _NEXT_LINES - 1)}"
            following = segment.last + 1
    return f"{min(following, total)}-{min(total, following + _NEXT_LINES - 1)}"


def _fields(buffer: Buffer) -> dict[str, Any]:
    info = buffer.stream("out")
    return {"file_id": buffer.ref, "total_lines": info.lines, "total_bytes": info.bytes, "note": buffer.note or None}


def _reply(
    fields: dict[str, Any], body: tuple[Segment, ...], buffer: Buffer, request: Request, *, missing: bool
) -> Reply:
    ordered = in_order(fields)
    ordered.pop("exit_code", None)
    shows = Shows(
        verb=VERB,
        request=request.logged(),
        refs=(buffer.name,),
        shown=shown_of(body),
        lines_total=buffer.lines,
        bytes_total=buffer.bytes,
        truncated="truncated" in ordered,
        parts=parts_of(body),
    )
    return Reply(ordered, body, shows, missing=missing or bool(buffer.note))
