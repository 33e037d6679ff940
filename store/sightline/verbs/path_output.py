"""The JSON parts of read_output: the value at a path, the skeleton of a text, the lines of a page of bytes."""

from collections.abc import Iterator

from sightline.base.errors import UsageError
from sightline.base.profile import Sampling
from sightline.base.records import LinePart, Shown
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.views import Shows, Traced, parts_of, shown_of
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.clean import clean_text
from sightline.shape.json.path import FoundValue, find, parse_path
from sightline.shape.json.pretty import pretty, raw_size
from sightline.shape.json.sample import line_numbers
from sightline.shape.json.scanner import NotJson, Scanner
from sightline.shape.json.schema import describe, skeleton
from sightline.shape.json.strings import string_text
from sightline.shape.json.trailing_lines import before_trailing
from sightline.shape.json.tree import read_document
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import Segment, join_segments
from sightline.shape.source import Source
from sightline.store import Reading, StreamReader, Target
from sightline.verbs.asker import Asker
from sightline.verbs.reply import Reply, fitting, in_order

_READ_BYTES = 1 << 16
_DESCRIBED_BYTES = 1 << 20  # for a larger value, only the type is given
_NEXT_LINES = 200


def path_reply(asking: Asker, target: Target, path: str, *, limit: int, verb: str, logged: dict[str, Any]) -> Reply:
    """Return the value at a path: a string as its text, anything else as indented JSON.

    Raises:
        BadPath: the path is not supported. NotFound: it leads to nothing. UsageError: the stream is not JSON.
    """
    steps = parse_path(path)
    with asking.store.open_text(target) as source:
        try:
            _check(source)
            found = find(source, steps)
        except NotJson:
            raise UsageError(f"{target.ref} is not JSON", "page it by lines, or search it") from None
        lines = line_numbers(source, (found.start, max(found.end - 1, found.start)))
        first, last = lines[found.start], lines[max(found.end - 1, found.start)]
        fields: dict[str, Any] = {
            "output_id": target.ref,
            "lines": f"{first}-{last}",
            "total_lines": source.line_count,
            "total_bytes": target.buffer.stream(target.stream).bytes,
            "description": _description(source, found, asking.profile.results),
        }
        text = fitting(
            fields,
            min(limit, HARD_LIMIT_BYTES),
            lambda room: _text(source, found, room),
            lambda text: text.body,
            asking.room,
        )
        total = source.line_count
        span = source.line_span(found.start, max(text.end, found.start + 1))
    segment = Segment(text.body, target.ref, span.first, span.last, True, span.cuts)
    if not text.is_whole:
        fields["truncated"] = True
        if last > first:  # its lines count as those of the stream
            following = min(first + text.lines, last)
            fields["lines"] = f"{first}-{following - 1}"
            end = min(last, following + _NEXT_LINES - 1)
            fields["next"] = asking.calls(verb, ref=target.ref, lines=f"{following}-{end}")
        else:
            fields["next"] = asking.calls(verb, ref=target.ref, offset=_raw_start(asking, target, path))
    return _reply(fields, (segment,) if text.body else (), target, verb, logged, total)


def _check(source: Source) -> None:
    """Raise NotJson if the text cannot be JSON, and UsageError if it is several values."""
    scanner = Scanner(source)
    end = scanner.space(scanner.value_end(scanner.start()))
    if end < scanner.size and (head := before_trailing(source)) and end >= head.byte_count:
        return  # what follows is text
    if end < scanner.size:
        if read_document(source, Sampling()) is None:
            raise NotJson(end)
        raise UsageError(
            f"{source.ref} has a JSON value on each line, and a path needs a single value",
            "page it by lines, or use jq in a query",
        )


def _description(source: Source, found: FoundValue, sampling: Sampling) -> str:
    if found.end - found.start > _DESCRIBED_BYTES:
        return found.kind if found.taken is None else f"last {found.taken} items"
    data = source.read(found.start, found.end - found.start)
    value = BytesSource(data if found.taken is None else b"[" + data + b"]")
    return describe(read_document(value, sampling), value, sampling)


class _Text(NamedTuple):
    """A value as text.

    Attributes:
        body: the text of the value.
        is_whole: whether that is all of the value.
        lines: number of its lines.
        end: offset in the stream where its part ends; if that is not known exactly, an earlier one.
    """

    body: str
    is_whole: bool
    lines: int
    end: int


def _text(source: Source, found: FoundValue, room: int) -> _Text:
    """Return the value as text, as far as there is room."""
    is_string = found.kind == "string" and found.taken is None
    chunks = string_text(source, found.start, found.end) if is_string else pretty(_written(source, found))
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > room:
            break
    if len(data) <= room:
        text = clean_text(bytes(data))
        return _Text(text, True, 1 if is_string else text.count("\n"), found.end)
    cut = data.rfind(b"\n", 0, room) + 1 or room
    while cut and data[cut] & 0xC0 == 0x80:
        cut -= 1
    text = clean_text(bytes(data[:cut]))
    if is_string:  # JSON is no shorter than the text
        return _Text(text, False, 1, min(found.start + 1 + cut, found.end))
    end = found.start + raw_size(_written(source, found), cut) - (found.taken is not None)
    return _Text(text, False, max(text.count("\n"), 1), max(end, found.start))


def _written(source: Source, found: FoundValue) -> Iterator[bytes]:
    if found.taken is not None:
        yield b"["
    for at in range(found.start, found.end, _READ_BYTES):
        yield source.read(at, min(_READ_BYTES, found.end - at))
    if found.taken is not None:
        yield b"]"


def _raw_start(asking: Asker, target: Target, path: str) -> int:
    """Return the value's offset in the stream's own bytes."""
    with asking.store.open(target) as source:
        return find(source, parse_path(path)).start


def schema_reply(asking: Asker, target: Target, *, verb: str, logged: dict[str, Any]) -> Reply:
    """Return the recursive skeleton of a JSON text. Raises UsageError if it is not JSON."""
    sampling = asking.profile.results
    with asking.store.open_text(target) as source:
        total = source.line_count
        text_of_json: Source | None = source
        document = read_document(source, sampling)
        if document is None and (text_of_json := before_trailing(source)):
            document = read_document(text_of_json, sampling)
        made = skeleton(text_of_json) if document and text_of_json else None
        if document is None or made is None or text_of_json is None:
            raise UsageError(f"{target.ref} is not JSON", "page it by lines, or search it")
        description = describe(document, text_of_json, sampling)
    text = clean_text(made.encode()) + "\n"
    fields: dict[str, Any] = {"output_id": target.ref, "description": description}
    body = fitting(fields, HARD_LIMIT_BYTES, lambda room: _head(text, room), join_segments, asking.room)
    if join_segments(body) != text:
        fields["truncated"] = True
    return _reply(fields, body, target, verb, logged, total)


def _head(text: str, room: int) -> tuple[Segment, ...]:
    data = text.encode()
    if len(data) <= room:
        return (Segment(text),)
    return (Segment(data[: data.rfind(b"\n", 0, room) + 1].decode()),)


def _reply(
    fields: dict[str, Any], body: tuple[Segment, ...], target: Target, verb: str, logged: dict[str, Any], total: int
) -> Reply:
    ordered = in_order(fields)
    shows = Shows(
        verb=verb,
        request=logged,
        refs=(target.buffer.name,),
        shown=shown_of(body),
        lines_total=total,
        bytes_total=target.buffer.bytes,
        truncated="truncated" in ordered,
        parts=parts_of(body),
    )
    return Reply(ordered, body, shows, missing="truncated" in ordered)


_MOST_PRETTY_BYTES = 64 << 20
"""Beyond this, lines are not worked out: it would take seconds, for pages that nobody reads."""


def pretty_lines(store: Reading, target: Target, start: int, end: int) -> Traced:
    """Return the lines that the bytes from start to before end stand for, and those that they show in part."""
    facts = store.pretty_facts(target)
    if facts is None or end > _MOST_PRETTY_BYTES or start >= end:
        return Traced()
    with store.open(target) as source:
        is_end = end == source.byte_count
        first, last = (facts.beginning_size(_chunks(source, place)) for place in (start, end))
    with store.open_text(target) as made:
        last = made.byte_count if is_end else min(last, made.byte_count)
        if first >= last:
            return Traced()
        lines = made.line_span(first, last)
    name, stream = target.buffer.name, target.stream
    cut = {one.line for one in lines.cuts}
    whole = (lines.first + (lines.first in cut), lines.last - (lines.last in cut))
    return Traced(
        shown=(Shown(name, stream, *whole),) if whole[0] <= whole[1] else (),
        parts=tuple(LinePart(name, stream, *one) for one in lines.cuts),
    )


def _chunks(source: StreamReader, end: int) -> Iterator[bytes]:
    for at in range(0, end, _READ_BYTES):
        yield source.read(at, min(_READ_BYTES, end - at))
