"""Makes the view of a version of a file, whole if it is short."""

from sightline.base.records import Buffer, joined_notes
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any
from sightline.log.views import Shows, parts_of, shown_of
from sightline.shape.budgets import HARD_LIMIT_BYTES, budget_for
from sightline.shape.json.result import Structured
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import Segment, join_segments, uncut
from sightline.store import Target
from sightline.verbs.asker import Asker
from sightline.verbs.file_facts import file_fields
from sightline.verbs.head_line import fitted_head, head_bytes, with_paid_head
from sightline.verbs.outline import definitions, summary_of
from sightline.verbs.reply import Reply, fitting, in_order
from sightline.verbs.short_output import clean, cut_to_lines_only, short_body
from sightline.verbs.structured_view import shape_output

if TYPE_CHECKING:
    from sightline.store import StreamReader

_NEXT_LINES = 200
_SNIFFED_BYTES = 8192
OUTLINED_LINES = 20_000  # a longer file is not searched further


class Called(NamedTuple):
    """The call that asks for a file.

    Attributes:
        verb: the verb.
        logged: its arguments, for the audit log.
    """

    verb: str
    logged: dict[str, Any]


def file_reply(asking: Asker, target: Target, called: Called, verbosity: str = "auto") -> Reply:
    """Make the view of a version of a file; for a binary one, only its type and size.

    Args:
        asking: who asks.
        target: the version.
        called: the call.
        verbosity: ``auto``, which is ``normal`` here, or a mode.
    """
    with asking.store.open_text(target) as source:
        return reply_from(source, asking, target, called, verbosity)


def reply_from(source: "StreamReader", asking: Asker, target: Target, called: Called, verbosity: str = "auto") -> Reply:
    """Make the view as `file_reply` does, of the version's open stream."""
    return _binary(asking, target, called) if is_binary(source) else _view(source, asking, target, called, verbosity)


def is_binary(source: "StreamReader") -> bool:
    """Return whether a stream is not text."""
    return b"\0" in source.read(0, _SNIFFED_BYTES)


def _binary(asking: Asker, target: Target, called: Called) -> Reply:
    buffer = target.buffer
    fields = fields_of(buffer) | {
        "note": joined_notes(buffer.note, "a binary file: its bytes are kept and not shown"),
        "next": asking.calls("query", pipeline=f"xxd -l 256 {buffer.ref}"),
    }
    return reply_of(fields, (), buffer, called, missing=True)


def _view(raw: "StreamReader", asking: Asker, target: Target, called: Called, verbosity: str) -> Reply:
    buffer, profile, nothing = target.buffer, asking.profile, BytesSource(b"")
    mode = "normal" if verbosity == "auto" else verbosity
    budget = budget_for(mode, True, profile.budgets)
    source = clean(raw, profile)
    fields = fields_of(buffer)
    own = budget if verbosity != "auto" or profile.short.measure == "budget" else None
    if short := short_body(profile, fields, source, nothing, own, asking.room):
        return reply_of({}, short.segments, buffer, called, missing=False)
    few = cut_to_lines_only(profile, source, nothing)
    outlined = definitions(buffer.command, source.lines(1, min(source.line_count, OUTLINED_LINES)))

    def told(at_most: int | None = None) -> str:
        return summary_of(buffer.command, source.line_count, outlined, at_most)

    def made_for(body: int | None) -> Structured:
        return fitting(
            fields,
            HARD_LIMIT_BYTES,
            lambda limit: shape_output(profile, source, nothing, budget=body, failed=False, short=few, limit=limit),
            lambda made: join_segments(made.shaped.segments),
            asking.room,
        )

    def headed(made: Structured) -> dict[str, Any]:
        full = in_order(fields | _fields_of_view(asking, target, made, told()))
        return full if paid is None else fitted_head(full, paid, failed=False, summary=told)

    paid = budget if profile.budgets.measure == "reply" else None
    made = made_for(budget)
    above = headed(made)
    if paid is not None and made.shaped.truncated:
        made, above = with_paid_head(
            paid, head_bytes(above), made_for, lambda made: join_segments(made.shaped.segments), headed
        )
    return reply_of(above, made.shaped.segments, buffer, called, missing=made.shaped.truncated)


def _fields_of_view(asking: Asker, target: Target, made: Structured, summary: str) -> dict[str, Any]:
    """Return the fields above a view that are not those of every version of a file."""
    shaped = made.shaped
    fields: dict[str, Any] = {
        "summary": summary if shaped.truncated else None,
        "description": made.description or None,
        "truncated": shaped.truncated or None,
        "lines": f"{shaped.out_shown} of {shaped.out_total}",
    }
    if shaped.truncated:
        is_part = made.path and shaped.out_total == 1  # one line cannot be divided by line numbers
        lines = _first_gap(shaped.segments, shaped.out_total)
        where = {"path": made.path} if is_part else {"lines": lines}
        fields["next"] = asking.calls("read_output", ref=target.ref, **where)
        profile = asking.profile
        fields |= file_fields(asking.store, target.buffer, profile) if profile.files.shown else {}
    return fields


def _first_gap(segments: tuple[Segment, ...], total: int) -> str:
    following = 1
    for segment in uncut(segments):
        if segment.ref:
            if segment.first > following:
                return f"{following}-{min(segment.first - 1, following + _NEXT_LINES - 1)}"
            following = segment.last + 1
    return f"{min(following, total)}-{min(total, following + _NEXT_LINES - 1)}"


def fields_of(buffer: Buffer) -> dict[str, Any]:
    """Return the fields of every reply about a file."""
    info = buffer.stream("out")
    return {"file_id": buffer.ref, "total_lines": info.lines, "total_bytes": info.bytes, "note": buffer.note or None}


def reply_of(
    fields: dict[str, Any], body: tuple[Segment, ...], buffer: Buffer, called: Called, *, missing: bool
) -> Reply:
    """Make a reply about a version of a file."""
    ordered = in_order(fields)
    ordered.pop("exit_code", None)
    shows = Shows(
        verb=called.verb,
        request=called.logged,
        refs=(buffer.name,),
        records=(buffer,),
        shown=shown_of(body),
        lines_total=buffer.lines,
        bytes_total=buffer.bytes,
        truncated="truncated" in ordered,
        parts=parts_of(body),
    )
    return Reply(ordered, body, shows, missing=missing or bool(buffer.note))
