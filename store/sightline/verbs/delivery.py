"""Sends a reply: first logs it with its exact text, and adds what must be said with it.

That is what is missing of a partial output, what was hidden as a secret, and the notes that wait for the session that
asks.
"""

import os

from sightline.base.records import Buffer, Gap, LinePart, Shown, joined_notes
from sightline.light.late_imports import late_modules
from sightline.light.typing_names import TYPE_CHECKING, Any, Callable, Collection, Iterator, Mapping, Sequence
from sightline.log.views import Appended, Traced, append_view, index_soon, record_shown
from sightline.shape.budgets import Room
from sightline.shape.segments import Segment, join_segments
from sightline.shape.source import LINE_LIMIT
from sightline.store import Store, Target
from sightline.verbs.asker import Asker
from sightline.verbs.reply import Render, Reply, fault, in_order, serialised_bytes

if TYPE_CHECKING:
    from sightline.log.notes import WaitingNote
    from sightline.redact.hiding import Redaction

with late_modules(globals()):
    from sightline.log import notes as session_notes  # 1 ms: few replies have any
    from sightline.log import retention  # 1 ms
    from sightline.shape import markers  # 3 ms of patterns: few outputs are cut or partial


def deliver(asking: Asker, reply: Reply, render: Render, send: Callable[[str], None], *, is_use: bool = True) -> None:
    """Log a reply, send it, and count it as a use of what it showed. Waiting notes for the session go with it.

    A reply that cannot be logged is sent in spite of that, with a warning that says so. Nobody waits for the index: it
    learns of the reply afterwards, or from the log when views are listed.

    Args:
        asking: who asked.
        reply: the reply.
        render: writes it.
        send: takes the text that was logged.
        is_use: False if the order of use must not change, and nothing may be evicted.
    """
    if is_use and os.path.exists(asking.local.layout.outbox):
        _deliver_with_notes(
            asking, reply, render, lambda enclosed: _deliver(asking, enclosed, render, send, is_use=True)
        )
    else:
        _deliver(asking, reply, render, send, is_use=is_use)


def _deliver(asking: Asker, reply: Reply, render: Render, send: Callable[[str], None], *, is_use: bool) -> None:
    try:
        reply = _completed(asking, reply)
    except Exception as error:  # what was asked for has been done, and its answer must not be lost
        reply = _incomplete(asking, reply, error)
    text = render(reply)
    logged = None
    try:
        logged = append_view(
            asking.local,
            asking.session,
            reply.shows,
            text,
            asking.profile.cleaning.views,
            file=asking.log,
            of=asking.store,
        )
    except Exception as error:  # as above; usually `StoreFailed`
        reply.fields["warning"] = "; ".join(filter(None, (reply.fields.get("warning"), fault(error))))
        text = render(reply._replace(missing=True))
    try:
        send(join_segments(text))
    finally:  # it is in the log, even if its reader has left
        _index(asking, reply, logged, is_use=is_use)


def _completed(asking: Asker, reply: Reply) -> Reply:
    """Return the reply with all that must be said of the outputs that it shows."""
    buffers = [asking.store.checked(buffer) for buffer in reply.shows.buffers(asking.store)]
    reply = reply._replace(shows=reply.shows._replace(records=tuple(buffers)))
    if altered := [buffer for buffer in buffers if buffer.altered and buffer.state != "evicted"]:
        reply = _of_altered(reply, altered)
    if partial := [buffer for buffer in buffers if buffer.is_partial and buffer.state != "evicted"]:
        reply = _with_what_is_missing(reply, partial)
    if asking.local.settings.redacts:
        reply = _without_secrets(asking, reply)
    if any(_REPLACED in segment.text for segment in reply.body):
        reply = _with_replaced_bytes(asking, reply, buffers)
    return reply


def _incomplete(asking: Asker, reply: Reply, error: Exception) -> Reply:
    """Return the reply with the reason why not all that must be said with it is known."""
    warning = f"what must be said of its outputs is not known: {fault(error)}"
    if asking.local.settings.redacts:
        reply = reply._replace(body=())
        warning += "; without that, secrets might stand in its text, which is not shown"
    return _with_fields(reply, {"warning": "; ".join(filter(None, (reply.fields.get("warning"), warning)))})


def _index(asking: Asker, reply: Reply, logged: Appended | None, *, is_use: bool) -> None:
    """Do what nobody has to wait for once a reply is out."""
    waiting = 0
    try:
        if logged:
            waiting = index_soon(asking.local, logged, reply.shows.refs if is_use else ())
            if reply.find_shown and logged.is_kept:
                record_shown(asking.local, logged.indexed.view, reply.find_shown())
        if is_use and (not waiting or waiting >= _INDEXED_TOGETHER):
            keep_within_limits(asking.local)
    except Exception:  # the next call or `doctor` reports what is wrong with the store
        return


_INDEXED_TOGETHER = 8
"""So many replies in a row go into the index together, in half of the time. More would keep the next one waiting."""


def keep_within_limits(store: Store) -> None:
    """Evict what is over the store's limits, after the index has taken in what waits for it."""
    if store.limits.over():
        retention.enforce_limits(store)


def _deliver_with_notes(asking: Asker, reply: Reply, render: Render, deliver: Callable[[Reply], None]) -> None:
    """Deliver a reply with as many notes as fit into it; the other notes wait.

    All of them wait if the door writes no fields, as for an error on the command line. Notes for whoever asks next are
    not for the person at the terminal.
    """
    anyone = not (asking.person and os.isatty(1))
    held = session_notes.hold_waiting(asking.local, asking.session.name, anyone=anyone)
    enclosed = _as_many_as_fit(asking.room, reply, held)
    if enclosed and _written(render, _with(reply, enclosed)) == _written(render, reply):
        enclosed = []
    session_notes.release(asking.local, held[len(enclosed) :], None)
    went_out = False
    try:
        deliver(_with(reply, enclosed))
        went_out = True
    finally:
        session_notes.release(asking.local, enclosed, asking.session if went_out else None)


def _written(render: Render, reply: Reply) -> str:
    return join_segments(render(reply))


def _as_many_as_fit(room: Room, reply: Reply, held: "list[WaitingNote]") -> "list[WaitingNote]":
    count = len(held)
    while count and serialised_bytes(_with(reply, held[:count]).fields, reply.text) > room.bytes:
        count -= 1
    return held[:count]


def _with(reply: Reply, notes: "list[WaitingNote]") -> Reply:
    if not notes:
        return reply
    return _with_fields(reply, {"notes": [note.field for note in notes]})


def _with_what_is_missing(reply: Reply, partial: Sequence[Buffer]) -> Reply:
    """Add to the reply what is missing of its buffers. These markers do not count towards any budget, like notes.

    Args:
        reply: the reply.
        partial: those of its buffers that are partial, at least one.
    """
    body = list(reply.body)
    for buffer in partial:
        for gap in buffer.gaps:
            body = list(with_gap(body, buffer, gap))
    shows = reply.shows._replace(truncated=reply.shows.truncated or len(body) > len(reply.body))
    reply = reply._replace(body=tuple(body), shows=shows)
    return _with_field(reply, "partial", {one.ref: one.lost for one in partial})


def _of_altered(reply: Reply, altered: Sequence[Buffer]) -> Reply:
    """Say in a reply which of its buffers are altered; of a stream that is, it shows none of the captured lines."""
    streams = {(buffer.name, seal.file) for buffer in altered for seal in buffer.altered_files}
    shows = reply.shows
    traced = _without(streams, Traced(shows.shown, shows.asked, shows.parts))
    matched = _without(streams, Traced(shows.matched)).shown
    reply = reply._replace(shows=shows._replace(**traced._asdict(), matched=matched))
    if find := reply.find_shown:
        reply = reply._replace(find_shown=lambda: _without(streams, find()))
    return _with_field(reply, "altered", {one.ref: one.altered for one in altered})


_REPLACED = "\ufffd"  # stands in a text for bytes that are not UTF-8


def _with_replaced_bytes(asking: Asker, reply: Reply, buffers: Sequence[Buffer]) -> Reply:
    """Say in a reply how many bytes it shows as replacement characters.

    Of whole lines they are counted in the stream; of a text without its lines, each such character counts as one.
    """
    targets = {target.ref: target for one in buffers for target in (Target(one, name) for name in one.streams)}
    count, is_exact = 0, True
    for segment in reply.body:
        if _REPLACED not in segment.text:
            continue
        target = None if segment.partial else targets.get(segment.ref)
        if target is None:
            count, is_exact = count + segment.text.count(_REPLACED), False
            continue
        with asking.store.open_text(target) as source:
            lines = source.lines(segment.first, segment.last, max(LINE_LIMIT, source.byte_count))
            count += sum(len(line.data) - len(line.data.decode(errors="ignore").encode()) for line in lines)
    if not count:
        return reply
    what = "byte that is not UTF-8 is" if count == 1 else "bytes that are not UTF-8 are"
    said = f"{'' if is_exact else 'at least '}{count:,} {what} shown as {_REPLACED}"
    return _with_fields(reply, {"note": joined_notes(reply.fields.get("note") or "", said)})


def _without(streams: Collection[tuple[str, str]], traced: Traced) -> Traced:
    """Return the lines and parts of lines that are not of these streams."""

    def is_other(one: Shown | LinePart) -> bool:
        return (one.buffer, one.stream) not in streams

    return Traced(
        tuple(filter(is_other, traced.shown)),
        tuple(filter(is_other, traced.asked)),
        tuple(filter(is_other, traced.parts)),
    )


def _with_field(reply: Reply, name: str, told: Mapping[str, str]) -> Reply:
    """Add a field to the reply that says something of some of its buffers, by ref."""
    text = next(iter(told.values())) if len(reply.shows.refs) == 1 else "; ".join(map(": ".join, told.items()))
    return _with_fields(reply, {name: text})


def _with_fields(reply: Reply, added: Mapping[str, Any]) -> Reply:
    """Add fields to the reply, which a door then shows."""
    fields = in_order({**reply.fields, **added})
    if "exit_code" not in reply.fields:
        fields.pop("exit_code", None)
    return reply._replace(fields=fields, missing=True)


def with_gap(body: Sequence[Segment], buffer: Buffer, gap: Gap) -> Iterator[Segment]:
    """Yield a body with the marker of a gap, if it has a line beside the gap."""
    ref = Target(buffer, gap.stream).ref
    marker = markers.missing(gap.amount, buffer.partial)
    waiting, ended = True, True
    for segment in body:
        mine = waiting and segment.ref == ref
        if mine and segment.first <= gap.after <= segment.last:
            before, after = _parted(segment, gap.after)
            ended = before.text.endswith("\n")
            yield before
            yield Segment(f"{'' if ended else chr(10)}{marker}\n")
            if after:
                yield after
            waiting = False
            continue
        if mine and segment.first == gap.after + 1:
            yield Segment(f"{'' if ended else chr(10)}{marker}\n")
            waiting = False
        ended = segment.text.endswith("\n")
        yield segment


def _parted(segment: Segment, line: int) -> tuple[Segment, Segment | None]:
    """Split a segment after a line; if its text is not the text of its lines, keep it whole."""
    lines = _lines(segment.text)
    if line == segment.last or len(lines) != segment.last - segment.first + 1:
        return segment, None
    count = line - segment.first + 1
    return (
        segment._replace(text="".join(lines[:count]), last=line),
        segment._replace(text="".join(lines[count:]), first=line + 1),
    )


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


_TOLD = "redacted: "


def _without_secrets(asking: Asker, reply: Reply) -> Reply:
    """Return the reply without secrets in its fields and its body; its note says what was hidden.

    The shown streams were searched when they were written, and are searched again: cleaning may have joined what
    backspaces or other codes separated there, and a stream may be older than the setting. Such lines count as partly
    """
    redaction = asking.local.settings.redaction()
    if redaction is None:
        return reply
    fields = redaction.value(reply.fields)
    body = tuple(_hidden(redaction, segment) for segment in reply.body)
    note = fields.get("note") or ""
    told = [] if _TOLD in note else list(map(_told_of, reply.shows.buffers(asking.store)))
    here = f"{_TOLD}{redaction.count:,} in this reply" if redaction.count else ""
    if not (here or any(told)):
        return reply
    fields = in_order({**fields, "note": joined_notes(note, *dict.fromkeys(told), here)})
    return reply._replace(fields=fields, body=body, missing=True)


def _hidden(redaction: "Redaction", segment: Segment) -> Segment:
    text = redaction.text(segment.text)
    return segment if text == segment.text else segment._replace(text=text, partial=bool(segment.ref))


def _told_of(buffer: Buffer) -> str:
    """Return what a buffer's note says about secrets hidden in it."""
    return next((note for note in buffer.note.split("; ") if note.startswith(_TOLD)), "")
