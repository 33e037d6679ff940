"""The verb read_output: pages of a buffer by lines or bytes, and what a running one has written since."""

import time
from typing import Any, NamedTuple

from sightline.errors import BadRange, BadRef, UsageError
from sightline.log.log_index import seen_lines
from sightline.log.views import Shows, parts_of, shown_of
from sightline.profile import DEFAULT
from sightline.refs import parse_lines
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.clean import clean_text
from sightline.shape.segments import Segment, join_segments
from sightline.store import Stream, Target
from sightline.verbs import late
from sightline.verbs.asker import Asker
from sightline.verbs.file_facts import telling_changes
from sightline.verbs.lines import open_lines, page_of
from sightline.verbs.reply import Reply, fitting, in_order
from sightline.verbs.search_output import search_reply, settled_reply

VERB = "read_output"
WAIT_SECONDS = 50.0  # no client waits much longer for a reply
_LOOK_SECONDS = 0.05
_STREAMS = ("out", "err", "all")


class Request(NamedTuple):
    """The arguments of read_output.

    Attributes:
        ref: the buffer, with or without a stream and a range.
        lines: ``"42-80"``, ``"42"`` or ``"42-"``.
        offset: byte at which the page begins.
        limit: bytes of the page; the profile's where it is None.
        search: a regular expression, literal where it does not compile.
        context: lines shown around each match.
        ignore_case: whether letters match in either case; as the profile has it where it is None.
        stream: ``out``, ``err`` or ``all``, instead of the ref's.
        wait: seconds to wait for new lines of a running buffer, or its end.
        path: a JSON path such as ``$.items[0].name``.
        schema: whether the skeleton of a JSON text is wanted.
    """

    ref: str
    lines: str = ""
    offset: int | None = None
    limit: int | None = None
    search: str = ""
    context: int = 0
    ignore_case: bool | None = None
    stream: str = ""
    wait: float | None = None
    path: str = ""
    schema: bool = False

    def logged(self) -> dict[str, Any]:
        """The arguments that were given, for the audit log."""
        given = self._asdict()
        return {name: given[name] for name in given if name == "ref" or given[name] != Request._field_defaults[name]}


def read_output(asking: Asker, request: Request) -> Reply:
    """Show part of a buffer.

    Raises:
        BadRef, UnknownRef, ExpiredRef, AmbiguousRef: the ref names nothing that can be shown.
        BadRange: lines or bytes that are not there; UsageError: arguments that do not go together.
        BadPath, NotFound: a path that is not supported, or leads nowhere.
    """
    _check(request)
    target = asking.resolve(request.ref)
    if request.stream:
        target = target._replace(stream=request.stream)
    reply = _shown(asking, target, request)
    if target.buffer.kind != "file":
        return reply
    return telling_changes(asking.store, reply, (target.buffer,))


def _shown(asking: Asker, target: Target, request: Request) -> Reply:
    """The part that is asked for."""
    if request.path or request.schema:
        return _json_part(asking, target, request)
    if request.lines:
        first, last = parse_lines(request.lines)
        target = target._replace(first=first, last=last)
    if request.search:
        return search_reply(
            asking,
            target,
            request.search,
            context=request.context,
            ignore_case=asking.profile.reading.ignore_case if request.ignore_case is None else request.ignore_case,
            verb=VERB,
            logged=request.logged(),
        )
    if request.wait is not None:
        return _follow(asking, target, request)
    if target.first:
        return _line_page(asking, target, request)
    if request.offset is None and asking.store.pretty_facts(target):
        return _line_page(asking, target._replace(first=1), request)
    return _byte_page(asking, target, request)


def _json_part(asking: Asker, target: Target, request: Request) -> Reply:
    from sightline.verbs.path_output import path_reply, schema_reply  # 15 ms, and most outputs are no JSON

    if target.first or target.stream == "all":
        raise BadRef(f"{request.ref}: a path leads into a whole stream", f"without the lines: {target.ref}")
    if request.schema:
        return schema_reply(asking, target, verb=VERB, logged=request.logged())
    limit = request.limit or asking.profile.reading.page_bytes
    return path_reply(asking, target, request.path, limit=limit, verb=VERB, logged=request.logged())


def _check(request: Request) -> None:
    if request.stream and request.stream not in _STREAMS:
        raise BadRef(f"no such stream: {request.stream!r}", f"it is one of {', '.join(_STREAMS)}")
    if request.lines and (request.offset is not None):
        raise UsageError("lines and offset do not go together", "page by lines, or by bytes")
    others = request.lines or request.search or request.offset is not None or request.wait is not None
    if (request.path or request.schema) and (others or (request.path and request.schema)):
        raise UsageError("a JSON path or the schema is asked for alone", "leave lines, offset, search and wait out")
    if request.limit is not None and request.limit < 1:
        raise UsageError(f"limit is {request.limit}", "it is a number of bytes from 1 on")
    if not 0 <= request.context <= 100:
        raise UsageError(f"context is {request.context}", "it is a number of lines from 0 to 100")


def _line_page(asking: Asker, target: Target, request: Request, more: dict[str, Any] | None = None) -> Reply:
    with open_lines(asking.store, target, asking.profile) as lines:
        total = lines.line_count
        if target.first > total:
            raise BadRange(
                f"{target.ref} has {total:,} lines; there is no line {target.first:,}",
                f"lines 1-{total} are there" if total else "it is empty",
            )
        last = min(target.last or total, total)
        unended = lines.unended
        fields: dict[str, Any] = {
            "output_id": target.ref,
            "lines": f"{target.first}-{last}",
            "total_lines": total,
            "total_bytes": lines.byte_count,
            **_state(target),
            **(more or {}),
        }
        page = fitting(
            fields,
            min(request.limit or asking.profile.reading.page_bytes, HARD_LIMIT_BYTES),
            lambda limit: page_of(lines, target.first, last, limit),
            lambda page: page.text,
            asking.room,
        )
    fields["lines"] = f"{target.first}-{page.last}"
    cut = page.last < last
    if cut:
        fields["truncated"] = True
        fields["next"] = asking.calls(VERB, ref=target.ref, lines=f"{page.last + 1}-{last}")
    if page.clipped:
        fields |= clipping_fields(asking, page.clipped)
        cut = True
    if note := _note(target):
        fields["note"] = note
    missing = cut or bool(more) or target.buffer.state != "sealed"
    return settled_reply(_reply(fields, page.segments, target, request, total, missing=missing), target, unended)


def clipping_fields(asking: Asker, line: Segment) -> dict[str, Any]:
    """What a reply says of a line that was cut in its middle, and the call that reads it by bytes."""
    target = asking.store.resolve(line.ref)
    if asking.store.pretty_facts(target):  # its lines are not those of the bytes
        return {"truncated": True, "hint": f"line {line.first} is larger than a page; a JSON path leads to its value"}
    with asking.store.open(target) as source:
        start = source.offset_of_line(line.first)
    by_bytes = asking.calls(VERB, ref=target.ref, offset=start)
    return {"truncated": True, "hint": f"line {line.first} is larger than a page; its bytes: {by_bytes}"}


def _byte_page(asking: Asker, target: Target, request: Request) -> Reply:
    if target.stream == "all":
        if request.offset is not None:
            raise UsageError(
                "bytes of both streams have no order of their own", "page .out or .err by bytes, or .all by lines"
            )
        if target.buffer.lines:
            return _line_page(asking, target._replace(first=1), request)
    offset = request.offset or 0
    with asking.store.open(target) as source:
        size, total = source.byte_count, source.line_count
        if not 0 <= offset <= size:
            raise BadRange(
                f"offset {offset:,} lies outside {target.ref}, which has {size:,} bytes", f"0 to {size} are valid"
            )
        fields: dict[str, Any] = {"output_id": target.ref, "total_lines": total, "total_bytes": size, **_state(target)}
        start = _character_start(source, offset)
        unended = () if source.ends_with_newline else ((target.stream, total),)
        end, body = fitting(
            fields,
            min(request.limit or asking.profile.reading.page_bytes, HARD_LIMIT_BYTES),
            lambda limit: _bytes_from(source, start, limit, asking.profile.cleaning.views),
            lambda page: join_segments(page[1]),
            asking.room,
        )
    fields["bytes"] = [start, end]
    if end < size:
        fields |= {"truncated": True, "next_offset": end, "next": asking.calls(VERB, ref=target.ref, offset=end)}
    notes = [_note(target), f"offset moved back to {start}, the start of a character" if start != offset else ""]
    if note := "; ".join(filter(None, notes)):
        fields["note"] = note
    missing = end < size or bool(note) or target.buffer.state != "sealed"
    reply = _reply(fields, body, target, request, total, missing=missing)
    if asking.store.pretty_facts(target) is None:
        return settled_reply(reply, target, unended)
    # Its lines are not those of the bytes; which they are, is worked out when the page is out.
    from sightline.verbs.path_output import pretty_lines

    return reply._replace(
        shows=reply.shows._replace(shown=(), parts=()),
        find_shown=lambda: pretty_lines(asking.store, target, start, end),
    )


def _bytes_from(source: Stream, start: int, limit: int, cleaning: str) -> tuple[int, tuple[Segment, ...]]:
    """Where a page ends, and its body."""
    end = _page_end(source, start, min(start + limit, source.byte_count))
    if start >= end:
        return end, ()
    data = source.read(start, end - start)
    text = clean_text(data) if cleaning == DEFAULT.cleaning.views else late.text_of(data, cleaning)
    lines = source.line_span(start, end)
    if lines.first > lines.last:
        return end, (Segment(text),)
    whole = start == source.offset_of_line(lines.first) and end == source.offset_of_line(lines.last + 1)
    return end, (Segment(text, source.ref, lines.first, lines.last, not whole, lines.cuts),)


def _character_start(source: Stream, offset: int) -> int:
    """The offset, or the start of the character that it stands in."""
    if offset >= source.byte_count:
        return offset
    around = source.read(max(0, offset - 3), min(offset, 3) + 1)
    at = len(around) - 1
    while at > 0 and around[at] & 0xC0 == 0x80:
        at -= 1
    start = offset - (len(around) - 1 - at)
    try:
        source.read(start, offset - start).decode()
    except UnicodeDecodeError:
        return start if around[at] >= 0xC2 else offset  # bytes that are no text are cut anywhere
    return offset


def _page_end(source: Stream, start: int, end: int) -> int:
    """The end of a page, moved back where it would split a character; forward where nothing else would be left."""
    moved = _character_start(source, end)
    if moved > start:
        return moved
    for wider in range(end, min(end + 4, source.byte_count) + 1):
        if _character_start(source, wider) == wider:
            return wider
    return end


def _follow(asking: Asker, target: Target, request: Request) -> Reply:
    """Lines after those that the session has seen, once there are any or the capture has ended."""
    if target.stream not in ("out", "err", "all"):
        raise UsageError("only a command's streams can be followed", "read it by lines or bytes")
    seen = _seen(asking, target)
    deadline = time.monotonic() + min(max(request.wait or 0.0, 0.0), WAIT_SECONDS)
    while True:
        target = target._replace(buffer=asking.store.resolve(target.buffer.ref).buffer)
        running = target.buffer.state == "running"
        with open_lines(asking.store, target) as lines:
            total = lines.line_count - (len(lines.unended) if running else 0)
        if total > seen or not running or time.monotonic() >= deadline or (asking.cancel and asking.cancel.cancelled):
            break
        time.sleep(_LOOK_SECONDS)
    more = {"next": asking.calls(VERB, ref=target.ref, wait=20)} if running else {}
    if total > seen:
        return _line_page(asking, target._replace(first=seen + 1, last=total), request, more or None)
    fields = {
        "output_id": target.ref,
        "total_lines": total,
        "total_bytes": target.buffer.bytes,
        **_state(target),
        **more,
    }
    fields["note"] = "no new lines" + ("" if running else "; it has ended")
    return _reply(fields, (), target, request, total, missing=True)


def _seen(asking: Asker, target: Target) -> int:
    """How many lines the session has been shown, from the first on."""
    store, session = asking.store, asking.session
    if target.stream != "all":
        return seen_lines(store, session, target)
    seen = {Target(target.buffer, name).ref: Target(target.buffer, name) for name in ("out", "err")}
    last = {ref: seen_lines(store, session, stream) for ref, stream in seen.items()}
    with open_lines(store, target) as lines:
        before = 0
        for ref, line in lines.numbered(1, sum(last.values())):
            if line.number > last[ref]:
                break
            before += 1
    return before


def _state(target: Target) -> dict[str, Any]:
    buffer = target.buffer
    if buffer.state == "running":
        return {"status": "running"}
    fields: dict[str, Any] = {"status": "interrupted"} if buffer.state == "interrupted" else {}
    if buffer.kind == "cmd":
        fields |= {"exit_code": buffer.exit_code, "timed_out": buffer.timed_out or None}
    return fields


def _note(target: Target) -> str:
    """What a reader must know: that it is empty where another stream is not."""
    if target.stream not in ("out", "err") or target.buffer.stream(target.stream).bytes:
        return ""
    others = [
        f"{Target(target.buffer, name).ref} has {info.lines:,} lines" for name, info in target.buffer.streams.items()
    ]
    return f"{target.stream} is empty" + (f"; {', '.join(others)}" if others else "")


def _reply(
    fields: dict[str, Any],
    body: tuple[Segment, ...],
    target: Target,
    request: Request,
    total: int,
    *,
    missing: bool,
) -> Reply:
    has_code = "exit_code" in fields
    ordered = in_order(fields)
    if not has_code:
        ordered.pop("exit_code", None)
    shows = Shows(
        verb=VERB,
        request=request.logged(),
        refs=(target.buffer.name,),
        shown=shown_of(body),
        lines_total=total,
        bytes_total=target.buffer.bytes,
        truncated="truncated" in ordered,
        parts=parts_of(body),
    )
    return Reply(ordered, body, shows, missing=missing)
