"""The verb read_output: shows the view of a buffer, pages of it by lines or bytes, or what a running one has added."""

from sightline.base.errors import BadRange, BadRef, UsageError
from sightline.base.profile import DEFAULT
from sightline.base.records import joined_notes, stream_of
from sightline.base.refs import parse_lines, parse_ref
from sightline.light.late_imports import late_modules
from sightline.light.typing_names import TYPE_CHECKING, Any, Collection
from sightline.log.views import Shows, parts_of, shown_of
from sightline.shape.budgets import HARD_LIMIT_BYTES, budget_for
from sightline.shape.clean import clean_text
from sightline.shape.segments import Segment, join_segments
from sightline.store import Target
from sightline.verbs.arguments import (
    refuse_overlong,
)
from sightline.verbs.asker import Asker, is_pasteable
from sightline.verbs.command_view import command_reply, ending_of
from sightline.verbs.file_facts import telling_changes
from sightline.verbs.reply import Reply, fitting, in_order, settled_reply
from sightline.verbs.requests import STREAMS, ReadRequest

if TYPE_CHECKING:
    from sightline.store import StreamReader

with late_modules(globals()):
    from sightline.shape import (
        markers,  # 3 ms of patterns: few outputs are cut or partial
        variants,  # 2 ms, not for views of the default profile
        whole_body,  # 1 ms: no output, no body
    )
    from sightline.verbs import (
        file_view,  # 4 ms: most outputs are a command's
        following,  # 1 ms: few callers wait
        line_pieces,  # 1 ms, which views do not need
        path_output,  # 15 ms: most outputs are not JSON
        result_view,  # 20 ms: most outputs are a command's
        search_output,  # 5 ms, for the engines
    )

VERB = "read_output"


def read_output(asking: Asker, request: ReadRequest) -> Reply:
    """Show a buffer, as a view or in the part that is asked for.

    Raises:
        BadRef, UnknownRef, ExpiredRef, AmbiguousRef: the ref names nothing that can be shown.
        BadRange: the lines or bytes do not exist. UsageError: the arguments do not go together.
        BadPath, NotFound: the path is not supported, or leads to nothing.
    """
    refuse_overlong(request)
    if "…" in request.ref and request.alone and (path := markers.pasted_path(request.ref)):
        request = request._replace(path=path)
    _check(request)
    ref = asking.ref_of(request.ref)
    target = asking.resolve(ref)
    if request.stream:
        target = target._replace(stream=stream_of(target.buffer, request.stream))
    budget_for(request.verbosity or "auto", True, asking.profile.budgets)  # reports a wrong word
    try:
        reply = _shown(asking, target, request, named=bool(request.stream or parse_ref(ref).stream))
    except BadRange as error:
        if altered := asking.store.checked(target.buffer).altered:
            raise BadRange(error.message, f"{error.hint}; {altered}") from error
        raise
    if target.buffer.kind != "file":
        return reply
    return telling_changes(asking.store, reply, (target.buffer,))


def _shown(asking: Asker, target: Target, request: ReadRequest, *, named: bool) -> Reply:
    """Return the stream asked for; both streams of a command if none was named."""
    if request.path or request.schema:
        return _json_part(asking, target, request)
    if request.lines:
        first, last = parse_lines(request.lines)
        target = target._replace(first=first, last=last)
    if request.search:
        return search_output.search_reply(
            asking,
            target,
            request.search,
            context=request.context,
            ignore_case=asking.profile.reading.ignore_case if request.ignore_case is None else request.ignore_case,
            limit=request.limit,
            verb=VERB,
            logged=request.logged(),
        )
    if request.wait is not None or request.until:
        return _follow(asking, target, request, named=named)
    is_page = request.alone and asking.profile.reading.ref_alone == "page"
    is_part = target.stream == "all" or target.stream.startswith("part.")
    if request.verbosity or (request.alone and not is_page and not target.first and not (named and is_part)):
        return _view(asking, target, request, named=named)
    if target.first:
        return _line_page(asking, target, request)
    if request.offset is None and asking.store.pretty_facts(target):
        return _line_page(asking, target._replace(first=1), request)
    return _byte_page(asking, target, request)


def _json_part(asking: Asker, target: Target, request: ReadRequest) -> Reply:
    if target.first or target.stream == "all":
        raise BadRef(f"{request.ref}: a path needs the whole stream", f"without the lines: {target.ref}")
    if request.schema:
        return path_output.schema_reply(asking, target, verb=VERB, logged=request.logged())
    limit = request.limit or asking.profile.reading.page_bytes
    return path_output.path_reply(asking, target, request.path, limit=limit, verb=VERB, logged=request.logged())


_TOGETHER = ({"lines", "search"}, {"wait", "verbosity"})
_INSTEAD = {
    ("lines", "offset"): "page by lines, or by bytes",
    ("search", "wait"): "to wait for a line that matches, give until",
    ("lines", "wait"): "follow it with wait, then page by lines",
}
_NEEDS = {
    "context": "it is of a search",
    "ignore_case": "it is of a search",
    "limit": "it is of a page, a search or a path",
}


def _ways(request: ReadRequest) -> dict[str, bool]:
    """Return each way to ask, and whether it is used."""
    return {
        "lines": bool(request.lines),
        "offset": request.offset is not None,
        "search": bool(request.search),
        "wait": request.wait is not None or bool(request.until),
        "path": bool(request.path),
        "schema": request.schema,
        "verbosity": bool(request.verbosity),
    }


def _qualifiers(request: ReadRequest, ways: Collection[str]) -> dict[str, tuple[bool, bool]]:
    """Return arguments that only some ways have, each with whether it is given, and whether it applies."""
    return {
        "context": (bool(request.context), "search" in ways),
        "ignore_case": (request.ignore_case is False, "search" in ways),
        "limit": (request.limit is not None, not {"schema", "verbosity"} & set(ways)),
    }


def _check(request: ReadRequest) -> None:
    if request.stream and request.stream not in STREAMS:
        raise BadRef(f"no such stream: {request.stream!r}", f"it is one of {', '.join(STREAMS)}")
    ways = {name: value for name, value in _ways(request).items() if value}
    if len(ways) > 1 and set(ways) not in _TOGETHER:
        first, second = list(ways)[:2]
        raise UsageError(
            f"{first} and {second} cannot be combined", _INSTEAD.get((first, second), "ask for one of them")
        )
    for name, (given, needed) in _qualifiers(request, ways).items():
        if given and not needed:
            raise UsageError(f"{name} says nothing of {' and '.join(ways) or 'a ref alone'}", _NEEDS[name])
    if request.limit is not None and request.limit < 1:
        raise UsageError(f"limit cannot be {request.limit}", "give a number of bytes from 1 up")
    if not 0 <= request.context <= 100:
        raise UsageError(f"context cannot be {request.context}", "give a number of lines from 0 to 100")


def _line_page(asking: Asker, target: Target, request: ReadRequest, more: dict[str, Any] | None = None) -> Reply:
    with line_pieces.open_lines(asking.store, target, asking.profile) as lines:
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
            lambda limit: line_pieces.page_of(lines, target.first, last, limit),
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
    return settled_reply(_reply(fields, page.segments, target, request, total, missing=missing), target.buffer, unended)


def clipping_fields(asking: Asker, line: Segment) -> dict[str, Any]:
    """Return the fields about a line that was cut in its middle, with the call that reads it by bytes."""
    target = asking.store.resolve(line.ref)
    facts = asking.store.pretty_facts(target)
    if facts and facts.is_json:  # its lines are not those of the bytes
        return {"truncated": True, "hint": f"line {line.first} is larger than a page; a JSON path leads to its value"}
    with asking.store.open(target) as source:
        start = source.offset_of_line(line.first)
    by_bytes = asking.calls(VERB, ref=target.ref, offset=start)
    return {"truncated": True, "hint": f"line {line.first} is larger than a page; its bytes: {by_bytes}"}


def _byte_page(asking: Asker, target: Target, request: ReadRequest) -> Reply:
    if target.stream == "all":
        if request.offset is not None:
            raise UsageError(
                "the bytes of two streams have no common order", "page .out or .err by bytes, or .all by lines"
            )
        if target.buffer.lines:
            return _line_page(asking, target._replace(first=1), request)
    offset = request.offset or 0
    with asking.store.open(target) as source:
        size, total = source.byte_count, source.line_count
        if not 0 <= offset <= size:
            raise BadRange(
                f"offset {offset:,} lies outside {target.ref}, which has {size:,} bytes",
                f"give an offset from 0 to {size}",
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
        return settled_reply(reply, target.buffer, unended)
    # Its lines are not those of the bytes, and are worked out after the page is sent.
    return reply._replace(
        shows=reply.shows._replace(shown=(), parts=()),
        find_shown=lambda: path_output.pretty_lines(asking.store, target, start, end),
    )


def _bytes_from(source: "StreamReader", start: int, limit: int, cleaning: str) -> tuple[int, tuple[Segment, ...]]:
    """Return where a page ends, and its body."""
    end = _page_end(source, start, min(start + limit, source.byte_count))
    if start >= end:
        return end, ()
    data = source.read(start, end - start)
    text = clean_text(data) if cleaning == DEFAULT.cleaning.views else variants.text_of(data, cleaning)
    lines = source.line_span(start, end)
    if lines.first > lines.last:
        return end, (Segment(text),)
    whole = start == source.offset_of_line(lines.first) and end == source.offset_of_line(lines.last + 1)
    return end, (Segment(text, source.ref, lines.first, lines.last, not whole, lines.cuts),)


def _character_start(source: "StreamReader", offset: int) -> int:
    """Return the offset, or the start of the character around it."""
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
        return start if around[at] >= 0xC2 else offset  # bytes that are not text are cut anywhere
    return offset


def _page_end(source: "StreamReader", start: int, end: int) -> int:
    """Return the end of a page, moved back so that no character is split, or forward if nothing would be left."""
    moved = _character_start(source, end)
    if moved > start:
        return moved
    for wider in range(end, min(end + 4, source.byte_count) + 1):
        if _character_start(source, wider) == wider:
            return wider
    return end


def _follow(asking: Asker, target: Target, request: ReadRequest, *, named: bool) -> Reply:
    """Show what has come since the session's last look; after the end, the view as if it had been waited for."""
    arrived = following.wait_for(asking, target, request.wait, request.until, either=not named)
    target = arrived.target
    shows_views = asking.profile.reading.ref_alone == "view"
    if not arrived.running and shows_views:
        return _view(asking, target, request, named=named)
    more: dict[str, Any] = {}
    if arrived.running:
        repeated = request.until and not arrived.match and is_pasteable(request.until)
        again = {"until": request.until} if repeated else {}
        more["next"] = asking.calls(VERB, ref=target.ref, wait=20, **again)
    if arrived.match:
        before = ", and had been shown to you" if arrived.match <= arrived.seen else ""
        more["note"] = f"line {arrived.match:,} matches{before}"
    elif request.until:
        more["note"] = "no line matches yet"
    first, last = arrived.seen + 1, arrived.total
    if arrived.match and arrived.match < first:
        first = last = arrived.match
    elif arrived.match:
        first = max(first, arrived.match - _LINES_BEFORE_MATCH)
    if first <= last:
        window = target._replace(first=first, last=last)
        if not shows_views or request.limit:
            return _line_page(asking, window, request, more)
        page = _line_page(asking, window, request._replace(limit=asking.profile.short.limit_bytes), more)
        cut = "truncated" in page.fields and not arrived.match
        return _view(asking, target, request, named=named, **more) if cut else page
    fields = {
        "output_id": target.ref,
        "total_lines": arrived.total,
        "total_bytes": target.buffer.bytes,
        **_state(target),
        **more,
    }
    ended = "" if arrived.running else "; it has ended"
    fields["note"] = joined_notes(more.get("note", ""), f"no new lines{ended}")
    return _reply(fields, (), target, request, arrived.total, missing=True)


_LINES_BEFORE_MATCH = 20  # lines before the match, if more are new


def _view(asking: Asker, target: Target, request: ReadRequest, *, named: bool, **more: Any) -> Reply:
    """Return the view of an output, or of its only named stream, as the capturing verb gave it."""
    buffer, verbosity, logged = target.buffer, request.verbosity or "auto", request.logged()
    if buffer.kind == "file":
        return _asked(file_view.file_reply(asking, target, file_view.Called(VERB, logged), verbosity))
    if buffer.kind == "tool":
        failed = bool(buffer.exit_code)
        return _asked(
            result_view.result_reply(asking, buffer, verb=VERB, request=logged, verbosity=verbosity, failed=failed)
        )
    only = target.stream if named and target.stream != "all" else ""
    note = "; ".join(filter(None, (more.pop("note", ""), _note(target) if only else ""))) or None
    reply = command_reply(
        asking, buffer, ending_of(buffer), verbosity=verbosity, verb=VERB, request=logged, only=only, note=note, **more
    )
    if only == "err":  # nothing stands before it
        reply = reply._replace(body=tuple(segment for segment in reply.body if segment != whole_body.SEPARATOR))
    return _asked(reply)


def _asked(reply: Reply) -> Reply:
    """Return the view for a caller who asks again: the call succeeded, however the command ended."""
    return reply._replace(exit_code=0)


def _state(target: Target) -> dict[str, Any]:
    buffer = target.buffer
    if buffer.state == "running":
        return {"status": "running"}
    fields: dict[str, Any] = {"status": "interrupted"} if buffer.state == "interrupted" else {}
    if buffer.kind == "cmd":
        fields |= {"exit_code": buffer.exit_code, "timed_out": buffer.timed_out or None}
    return fields


def _note(target: Target) -> str:
    """Return a note if the stream is empty and another one is not."""
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
    request: ReadRequest,
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
        records=(target.buffer,),
        shown=shown_of(body),
        lines_total=total,
        bytes_total=target.buffer.bytes,
        truncated="truncated" in ordered,
        parts=parts_of(body),
    )
    return Reply(ordered, body, shows, missing=missing)
