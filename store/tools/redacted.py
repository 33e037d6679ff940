"""Replies where a person has turned redaction on: what no stream has hidden is hidden here, and how much is told."""

from sightline.store.disk.recording import joined_notes
from sightline.store.records import Buffer
from sightline.store.shape.segments import Segment
from sightline.store.store import Store
from sightline.store.tools.reply import Reply, in_order

_TOLD = "redacted: "


def redacted_reply(store: Store, reply: Reply) -> Reply:
    """The reply without secrets in its fields and in what is literal in its body; its note says what was hidden.

    What it shows of streams was hidden when they were written.
    """
    redaction = store.redaction()
    if redaction is None:
        return reply
    fields = redaction.value(reply.fields)
    body = tuple(segment if segment.ref else Segment(redaction.text(segment.text)) for segment in reply.body)
    note = fields.get("note") or ""
    told = [] if _TOLD in note else [_told_of(store.index.buffer(name)) for name in reply.shows.refs]
    here = f"{_TOLD}{redaction.count:,} in this reply" if redaction.count else ""
    if not (here or any(told)):
        return reply
    fields = in_order({**fields, "note": joined_notes(note, *dict.fromkeys(told), here)})
    return reply._replace(fields=fields, body=body, missing=True)


def _told_of(buffer: Buffer | None) -> str:
    """What a buffer's note says of what was hidden in it."""
    notes = buffer.note.split("; ") if buffer else []
    return next((note for note in notes if note.startswith(_TOLD)), "")
