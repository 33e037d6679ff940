"""A reply: fields, then a body; its size is measured in the same way for every door."""

import os

from sightline.base.errors import SightlineError
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.light.json_text import dumps
from sightline.light.late_imports import late_modules
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Callable, Iterable, Sequence, TypeVar
from sightline.log.views import Shows, Traced, settled
from sightline.shape.budgets import ROOMY, Room
from sightline.shape.segments import Segment, join_segments

with late_modules(globals()):
    from sightline.shape import whole_body  # 1 ms: no output, no body

FIELD_ORDER = (
    "output_id",
    "file_id",
    "exit_code",
    "status",
    "timed_out",
    "partial",
    "altered",
    "summary",
    "compared_with",
    "truncated",
    "stdout_shown",
    "stdout_total",
    "stderr_shown",
    "stderr_total",
    "lines",
    "bytes",
    "matches_shown",
    "matches_total",
    "total_lines",
    "total_bytes",
    "next_offset",
    "unfiltered_output",
    "unfiltered_lines",
    "unfiltered_bytes",
    "description",
    "pending_ack",
    "reason",
    "error",
    "next",
    "full_output",
    "output_files",
    "hint",
    "notes",
    "note",
    "warning",
)
"""Agents cut late fields, so the most needed ones come first."""

_Made = TypeVar("_Made")


class Reply(NamedTuple):
    """The answer to one call of a verb.

    Attributes:
        fields: values by name, in FIELD_ORDER.
        body: the text, in pieces.
        shows: what the log keeps beside the text.
        missing: whether the body lacks something, or a field must be read; else the command line shows no fields.
        exit_code: exit code for a command line that asked.
        find_shown: finds the raw lines in the text after the reply was sent; None if ``shows`` has them.
        passed_on: whether the output itself has been shown already, as it came.
        sent: the exact text, fields and body, that was logged and sent, if the door keeps it.
    """

    fields: dict[str, Any]
    body: tuple[Segment, ...]
    shows: Shows
    missing: bool = False
    exit_code: int = 0
    find_shown: Callable[[], Traced] | None = None
    passed_on: bool = False
    sent: str = ""

    def __str__(self) -> str:
        return self.sent or self.text

    @property
    def ref(self) -> str:
        """Ref of the output that it is about, such as ``@cmd_a1b2c3``; empty if it is about none, or several."""
        return format_ref(self.shows.refs[0]) if len(self.shows.refs) == 1 else ""

    def with_shown(self) -> "Reply":
        """Return the reply with its raw lines found."""
        if self.find_shown is None:
            return self
        return self._replace(shows=self.shows._replace(**self.find_shown()._asdict()), find_shown=None)

    def about(self, names: Sequence[str]) -> "Reply":
        """Return the reply as being about these buffers, too; one that is about none stays as it is."""
        refs = tuple(dict.fromkeys((*self.shows.refs, *names))) if self.shows.refs else ()
        return self._replace(shows=self.shows._replace(refs=refs))

    @property
    def text(self) -> str:
        """The text of the body."""
        return join_segments(self.body)

    @property
    def streams(self) -> tuple[str, str]:
        """The body before and after the line that begins stderr."""
        for at, segment in enumerate(self.body):
            if segment == whole_body.SEPARATOR:
                return join_segments(self.body[:at]), join_segments(self.body[at + 1 :])
        return self.text, ""


def fault(error: Exception) -> str:
    """Return an error in a line: its message; of one that nobody foresaw, also its class and where it was raised."""
    if isinstance(error, SightlineError):
        return error.message
    at = error.__traceback__
    while at and at.tb_next:
        at = at.tb_next
    place = f" at {os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno}" if at else ""
    return f"{type(error).__name__}: {str(error)[:200]}{place}"


def in_order(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that have a value, in the order in which agents read them; an unknown exit code is null."""
    place = {name: at for at, name in enumerate(FIELD_ORDER)}
    ordered = sorted(fields.items(), key=lambda item: place.get(item[0], len(place)))
    return {name: value for name, value in ordered if value is not None or name == "exit_code"}


def serialised_bytes(fields: dict[str, Any], body: str) -> int:
    """Return the size of a reply over MCP: two text blocks, the first with a JSON object."""
    blocks = [{"type": "text", "text": _dumps(fields)}, {"type": "text", "text": body}]
    return len(_dumps({"content": blocks}).encode(errors="surrogateescape"))


def _dumps(value: Any) -> str:
    return dumps(value, ensure_ascii=False, compact=True)


def fitting(
    fields: dict[str, Any],
    limit: int,
    make: Callable[[int], _Made],
    text: Callable[[_Made], str],
    room: Room = ROOMY,
) -> _Made:
    """Make the body for a limit, and again with smaller ones until the whole reply fits.

    Args:
        fields: the fields known so far; there is some room for later ones.
        limit: bytes of the body to begin with.
        make: makes the body for a limit.
        text: returns the text of a body.
        room: the size that the whole reply, serialised, may have.
    """
    made = make(limit)
    while (excess := _excess(room, fields, text(made))) > 1:
        limit = min(int(limit / excess), limit - 1) - _FIELDS_TO_COME_BYTES
        if limit < _FIELDS_TO_COME_BYTES:
            break
        made = make(limit)
    return made


def _excess(room: Room, fields: dict[str, Any], body: str) -> float:
    return room.excess(serialised_bytes(fields, body) + _FIELDS_TO_COME_BYTES, body.count("\n"))


_FIELDS_TO_COME_BYTES = 1024


def error_reply(error: SightlineError, verb: str, request: dict[str, Any]) -> Reply:
    """Make the reply for a refusal or a failure: small, with nothing half-done."""
    fields = in_order({"error": error.message, "hint": error.hint or None})
    return Reply(fields, (), Shows(verb, request, failed=True), missing=True, exit_code=error.exit_code)


def settled_reply(reply: Reply, buffer: Buffer, unended: Iterable[tuple[str, int]]) -> Reply:
    """Return the reply with unfinished last lines not counted as shown, because those of a running buffer may grow."""
    if buffer.state != "running":
        return reply
    shows = reply.shows
    for stream, line in unended:
        shows = settled(shows, buffer.name, stream, line - 1)
    return reply._replace(shows=shows)


Render = Callable[[Reply], Sequence[Segment]]
"""A door's way of writing a reply, in pieces that together are exactly the text it sends."""


def state_in_words(buffer: Buffer) -> str:
    """Return a few words, such as ``running``, ``ok``, ``exit 1``, ``exit 1 no match``, or ``ok partial altered``."""
    marks = {" partial": buffer.partial, " altered": buffer.altered, " pinned": buffer.pinned}
    pinned = "".join(mark for mark, holds in marks.items() if holds)
    if buffer.state != "sealed":
        return buffer.shown_state + pinned
    if buffer.timed_out:
        return "timed out" + pinned
    if buffer.signal:
        return f"signal {buffer.signal}" + pinned
    if buffer.exit_code is None:
        return (buffer.kind if buffer.kind != "cmd" else "exit unknown") + pinned
    said = f"exit {buffer.exit_code} {buffer.exit_meaning}".rstrip()
    return ("ok" if buffer.exit_code == 0 else said) + pinned
