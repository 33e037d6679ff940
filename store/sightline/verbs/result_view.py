"""Makes what an agent is shown of a tool's result: all of a short one, else a sample with a ref to the whole."""

import contextlib
from collections.abc import Collection, Iterator, Mapping

from sightline.base.profile import Sampling
from sightline.base.records import Buffer
from sightline.capture.result import JSON_MIME, TEXT_MIME, Field, fields_of, key_of, number_of
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any
from sightline.log.views import Shows, parts_of, shown_of
from sightline.shape import markers
from sightline.shape.budgets import HARD_LIMIT_BYTES, budget_for
from sightline.shape.clean import clean_text
from sightline.shape.cut import shape
from sightline.shape.json.body import MovedString
from sightline.shape.json.result import Structured, looks_like_json, shape_result
from sightline.shape.json.sample import sample
from sightline.shape.json.schema import TEXT, describe
from sightline.shape.json.tree import Document, read_document
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import Segment, Shaped, join_segments, shown_ranges
from sightline.shape.source import Source
from sightline.shape.table import describe_text
from sightline.store import Reading, Target
from sightline.verbs.asker import Asker
from sightline.verbs.file_facts import file_fields
from sightline.verbs.head_line import fitted_head, head_bytes, with_paid_head
from sightline.verbs.reply import Reply, fitting, in_order, serialised_bytes

if TYPE_CHECKING:
    from sightline.store import StreamReader

_NEXT_LINES = 200
_SNIFFED_BYTES = 4096
_OPEN_STREAMS = 32


class _Part(NamedTuple):
    """A block as it is shown.

    Attributes:
        ref: its stream.
        made: its body.
        field: stream of the first of its fields that has one; empty if none has.
    """

    ref: str
    made: Structured
    field: str = ""


def result_reply(
    asking: Asker,
    buffer: Buffer,
    *,
    verb: str,
    request: dict[str, Any],
    verbosity: str = "auto",
    failed: bool = False,
    blocks: Collection[int] | None = None,
    always_ref: bool = False,
) -> Reply:
    """Make the reply for a result's buffer.

    Args:
        asking: who asks.
        buffer: the buffer's record.
        verb: the verb.
        request: its arguments.
        verbosity: ``auto``, which is ``normal`` here, or a mode.
        failed: whether the tool reported an error, so that its explanation comes first.
        blocks: numbers of the blocks to show; all by default.
        always_ref: whether even a short result gets a ref.
    """
    sampling = asking.profile.results
    moved = fields_of(buffer)
    own = {field.stream for field in moved}
    streams = sorted((stream for stream in buffer.streams if stream not in own), key=number_of)
    if blocks is not None:
        streams = [stream for stream in streams if number_of(stream) in blocks]
    note = {"note": buffer.note} if buffer.note else {}
    budgets = asking.profile.budgets
    budget = budget_for("normal" if verbosity == "auto" else verbosity, exit_ok=True, budgets=budgets)
    if not always_ref and (short := _short(asking, buffer, streams, note, verbosity)) is not None:
        return _reply(note, short, buffer, verb, request, truncated=False)
    total_bytes = sum(buffer.stream(stream).bytes for stream in streams)  # a field is also part of its block
    if failed:  # an explanation may stand in a field, so fields are cut here, too
        streams += [field.stream for field in moved if f"part.{field.block}" in streams]
    fields: dict[str, Any] = {"output_id": buffer.ref, "total_bytes": total_bytes, **note}

    def made_for(body: int | None) -> list[_Part]:
        def make(limit: int) -> list[_Part]:
            left = min(limit, HARD_LIMIT_BYTES if body is None else body)
            parts = []
            for place, stream in enumerate(streams):
                room = left // (len(streams) - place)
                with sources.of(stream) as source:
                    part = _part(asking, source, Target(buffer, stream), moved, room, body is None, sampling, failed)
                left -= len(join_segments(part.made.shaped.segments).encode()) + _SEPARATOR_BYTES * (len(streams) > 1)
                parts.append(part)
            return parts

        return fitting(fields | files, HARD_LIMIT_BYTES, make, text, asking.room)

    def text(parts: list[_Part]) -> str:
        return join_segments(_body(parts))

    def headed(parts: list[_Part]) -> dict[str, Any]:
        truncated = any(part.made.shaped.truncated for part in parts)
        shown = sum(part.made.shaped.out_shown for part in parts)
        total = sum(part.made.shaped.out_total for part in parts)
        full = in_order(
            fields
            | {
                "truncated": truncated or None,
                "lines": f"{shown} of {total}",
                "description": "; ".join(part.made.description for part in parts),
                "next": next((call for part in parts if (call := _next(asking, part))), None),
                **(files if truncated else {}),
            }
        )
        return full if paid is None else fitted_head(full, paid, failed=failed, summary=str)

    paid = budget if budgets.measure == "reply" else None
    files = file_fields(asking.store, buffer, asking.profile) if asking.profile.files.shown else {}
    with contextlib.ExitStack() as opened:
        sources = _Sources(asking.store, buffer, opened)
        parts = made_for(budget)
        above = headed(parts)
        if paid is not None and above.get("truncated"):
            parts, above = with_paid_head(paid, head_bytes(above), made_for, text, headed)
    return _reply(above, _body(parts), buffer, verb, request, truncated=bool(above.get("truncated")))


_SEPARATOR_BYTES = 12


class _Sources:
    """The streams of a result. Some stay open, since each try of a view reads them, and finds their lines anew else."""

    def __init__(self, store: Reading, buffer: Buffer, opened: contextlib.ExitStack) -> None:
        self._store = store
        self._buffer = buffer
        self._opened = opened
        self._kept: dict[str, StreamReader] = {}

    @contextlib.contextmanager
    def of(self, stream: str) -> "Iterator[StreamReader]":
        """Open a stream."""
        if stream not in self._kept:
            source = self._store.open_text(Target(self._buffer, stream))
            if len(self._kept) >= _OPEN_STREAMS:
                with source:
                    yield source
                return
            self._kept[stream] = self._opened.enter_context(source)
        yield self._kept[stream]


def _short(
    asking: Asker, buffer: Buffer, streams: list[str], fields: dict[str, Any], verbosity: str
) -> tuple[Segment, ...] | None:
    """Return all of it unchanged if the reply is short; None if it is not, or the result is not text."""
    limit = asking.profile.short.limit_bytes
    if buffer.bytes > limit or any(_is_binary(buffer, stream) for stream in streams):
        return None
    body: list[Segment] = []
    for stream in streams:
        if body:
            ended = "" if body[-1].text.endswith("\n") else "\n"
            body.append(Segment(f"{ended}{markers.part(number_of(stream))}\n"))
        with asking.store.open(Target(buffer, stream)) as source:
            text = clean_text(source.read(0, source.byte_count))
            is_plain = asking.store.pretty_facts(Target(buffer, stream)) is None
            body.append(Segment(text, source.ref, 1, buffer.stream(stream).lines, partial=not is_plain))
    text = join_segments(body)
    budget = None if verbosity == "auto" else budget_for(verbosity, exit_ok=True, budgets=asking.profile.budgets)
    is_over = budget is not None and len(text.encode()) > budget
    size = serialised_bytes(fields, text)
    is_over = is_over or size > limit or asking.room.excess(size, text.count("\n")) > 1
    return None if is_over else tuple(body)


def _is_binary(buffer: Buffer, stream: str) -> bool:
    mime = buffer.stream(stream).mime  # empty if the capture broke off
    return bool(mime) and not mime.startswith((TEXT_MIME, JSON_MIME))


def _part(
    asking: Asker,
    source: "StreamReader",
    target: Target,
    moved: list[Field],
    room: int,
    everything: bool,
    sampling: Sampling,
    failed: bool,
) -> _Part:
    info = target.buffer.stream(target.stream)
    if _is_binary(target.buffer, target.stream):
        segment = Segment(markers.binary(target.ref, info.bytes, info.mime or "application/octet-stream") + "\n")
        return _Part(target.ref, Structured(Shaped((segment,), 0, 0, 0, 0, truncated=True), info.mime))
    mine = [field for field in moved if f"part.{field.block}" == target.stream]
    if mine:
        field = Target(target.buffer, mine[0].stream).ref
        return _Part(target.ref, _with_fields(asking.store, target, source, mine, room, sampling), field)
    budget = None if everything else room
    made = shape_result(source, budget=budget, failed=failed, limit=room, sampling=sampling)
    if made:
        return _Part(target.ref, made)
    shaped = shape(source, BytesSource(b""), budget=budget, failed=failed, limit=room)
    is_json = asking.store.pretty_facts(target) is not None
    description = (
        describe(read_document(source, sampling), source, sampling) if is_json else describe_text(source) or TEXT
    )
    return _Part(target.ref, Structured(shaped, description))


def _with_fields(
    store: Reading, target: Target, source: Source, fields: list[Field], room: int, sampling: Sampling
) -> Structured:
    """Make a sample in which fields that are streams have their refs between their ends."""
    document = read_document(source, sampling)
    assert document  # it was an object when it was captured
    made = sample(document, source, room, sampling, _moved(store, target.buffer, document, source, fields, sampling))
    body = made.body
    shaped = Shaped(body.segments, body.shown, source.line_count, 0, 0, body.truncated)
    return Structured(shaped, describe(document, source, sampling), made.path)


def _moved(
    store: Reading, buffer: Buffer, document: Document, source: Source, fields: list[Field], sampling: Sampling
) -> Mapping[int, MovedString]:
    """Return the fields, by the offsets of their strings."""
    found: dict[int, MovedString] = {}
    waiting = list(fields)
    for node in document.root.children:
        if not waiting:
            break
        size = buffer.stream(waiting[0].stream).bytes
        if node.kind == "string" and node.end - node.start - 2 >= size and key_of(source, node) == waiting[0].name:
            own = Target(buffer, waiting.pop(0).stream)
            description = _description(store, own, sampling) or ("" if sampling.field_ends else TEXT)
            found[node.start] = MovedString(own.ref, size, description, sampling.field_ends)
    return found


def _description(store: Reading, field: Target, sampling: Sampling) -> str:
    """What the JSON in a field is; empty where it holds none."""
    with store.open(field) as source:
        if not looks_like_json(source.read(0, _SNIFFED_BYTES)):
            return ""
        document = read_document(source, sampling)
        return describe(document, source, sampling) if document else ""


def _body(parts: list[_Part]) -> tuple[Segment, ...]:
    if len(parts) == 1:
        return parts[0].made.shaped.segments
    body: list[Segment] = []
    for part in parts:
        ended = "\n" if body and not body[-1].text.endswith("\n") else ""
        body += [Segment(f"{ended}{markers.part(int(part.ref.rpartition('.')[2]))}\n"), *part.made.shaped.segments]
    return tuple(body)


def _next(asking: Asker, part: _Part) -> str | None:
    """Return the call for the first missing part of a block."""
    made = part.made
    if made.path and made.path != "$":
        return asking.calls("read_output", ref=part.ref, path=made.path)
    if not made.shaped.truncated or not made.shaped.out_total:
        return None
    following = 1
    for _, first, last in shown_ranges(made.shaped.segments):
        if first > following:
            break
        following = last + 1
    if following > made.shaped.out_total and part.field:
        return asking.calls("read_output", ref=part.field)
    if following > made.shaped.out_total:
        return asking.calls("read_output", ref=part.ref, offset=0)
    last = min(following + _NEXT_LINES - 1, made.shaped.out_total)
    return asking.calls("read_output", ref=part.ref, lines=f"{following}-{last}")


def _reply(
    fields: dict[str, Any],
    body: tuple[Segment, ...],
    buffer: Buffer,
    verb: str,
    request: dict[str, Any],
    *,
    truncated: bool,
) -> Reply:
    ordered = in_order(fields)
    shows = Shows(
        verb=verb,
        request=request,
        refs=(buffer.name,),
        records=(buffer,),
        shown=shown_of(body),
        lines_total=buffer.lines,
        bytes_total=buffer.bytes,
        truncated=truncated,
        parts=parts_of(body),
    )
    return Reply(ordered, body, shows, missing=truncated or bool(ordered))
