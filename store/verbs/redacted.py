"""Replies where a person has turned redaction on: what no stream has hidden is hidden here, and how much is told."""

from sightline.records import Buffer, joined_notes
from sightline.redact.hiding import Redaction
from sightline.shape.segments import Segment
from sightline.store import Store
from sightline.verbs.reply import Reply, in_order

_TOLD = "redacted: "


def redacted_reply(store: Store, reply: Reply) -> Reply:
    """The reply without secrets in its fields and its body; its note says what was hidden.

    What it shows of streams was looked through when they were written, and is again: cleaning may have joined what
    backspaces or other codes parted there, and a stream may be older than the setting. Such lines are shown in part.
    """
    redaction = store.redaction()
    if redaction is None:
        return reply
    fields = redaction.value(reply.fields)
    body = tuple(_hidden(redaction, segment) for segment in reply.body)
    note = fields.get("note") or ""
    told = [] if _TOLD in note else [_told_of(store.index.buffer(name)) for name in reply.shows.refs]
    here = f"{_TOLD}{redaction.count:,} in this reply" if redaction.count else ""
    if not (here or any(told)):
        return reply
    fields = in_order({**fields, "note": joined_notes(note, *dict.fromkeys(told), here)})
    return reply._replace(fields=fields, body=body, missing=True)


def _hidden(redaction: Redaction, segment: Segment) -> Segment:
    text = redaction.text(segment.text)
    return segment if text == segment.text else segment._replace(text=text, partial=bool(segment.ref))


def _told_of(buffer: Buffer | None) -> str:
    """What a buffer's note says of what was hidden in it."""
    notes = buffer.note.split("; ") if buffer else []
    return next((note for note in notes if note.startswith(_TOLD)), "")
