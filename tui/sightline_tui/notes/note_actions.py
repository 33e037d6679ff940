"""Leads from lines in the viewer to a note on them, and from a note to an agent."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from textual.app import App

from sightline.base.records import Buffer, Note
from sightline.base.refs import format_ref
from sightline.light.named_tuple import NamedTuple
from sightline.log.notes import ANYONE, send_note, write_note
from sightline.log.session_list import SessionFacts, list_sessions
from sightline.log.sessions import INSPECTOR
from sightline.shape.clean import clean_line
from sightline.store import Reading
from sightline_tui.common.output_reader import Blocks, MergedLines, OutputReader, StreamLines
from sightline_tui.common.phrases import age
from sightline_tui.common.sessions import person_session
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.notes.note_screen import NOBODY, Excerpt, NoteScreen, Recipient, WrittenNote

_EXCERPT_LINES = 3
_EXCERPT_BYTES = 400
_SESSIONS = 20


class Passage(NamedTuple):
    """Lines of an output as shown, from the first to the last; 0 for the whole output."""

    buffer: Buffer
    reading: OutputReader
    first: int
    last: int


async def write_on(app: App[Any], store: Reading, passage: Passage, now: float, written: Callable[[], None]) -> None:
    """Ask for a note on some lines.

    Args:
        app: shows the panel.
        store: keeps the note.
        passage: the lines.
        now: the clock that tells how long ago sessions asked.
        written: called once the note is kept.
    """
    buffer, reading, first, last = passage
    if not isinstance(reading, MergedLines | StreamLines | Blocks):
        app.notify("A note is about lines: x shows them", severity="warning", markup=False)
        return
    try:
        ref = ref_of(buffer, reading, first, last) if first else buffer.ref
        excerpt = await asyncio.to_thread(excerpt_of, ref, reading, first or 1, last or 1)
    except STORE_ERRORS as error:
        tell(app, error)
        return

    def done(remark: WrittenNote | None) -> None:
        if remark is not None:
            app.run_worker(_keep(app, store, ref, remark))
            written()

    # Keys typed ahead wait for the panel, since they are the note's text.
    await app.push_screen(NoteScreen(excerpt, lambda: recipients(list_sessions(store), buffer.session, now)), done)


async def _keep(app: App[Any], store: Reading, ref: str, written: WrittenNote) -> None:
    try:
        note = await asyncio.to_thread(_write, store, ref, written)
    except STORE_ERRORS as error:
        tell(app, error)
    else:
        app.notify(kept_told(note), title=f"Note on {note.ref}", markup=False)


def _write(store: Reading, ref: str, written: WrittenNote) -> Note:
    session, target = person_session(), store.resolve(ref)
    if sent := store.remark(target, written.text, written.to or target.buffer.session):
        return sent
    note = write_note(store.local, session, target, written.text)
    return send_note(store.local, session, note, written.to) if written.to else note


def kept_told(note: Note) -> str:
    """What happened to a note that was just written or sent, as a sentence."""
    if not note.to:
        return "Kept; nobody was told. A lists notes, and sends them"
    who = "whoever asks next" if note.to == ANYONE else note.to
    return f"Goes along with the next reply of {who}"


def ref_of(buffer: Buffer, reading: MergedLines | StreamLines | Blocks, first: int, last: int) -> str:
    """The ref of lines of a reading: of their stream if all are of one, else of both in order of arrival."""
    start, end = reading.before(first), reading.before(last + 1)
    there = [(stream, start[stream] + 1, end[stream]) for stream in reading.streams if end[stream] > start[stream]]
    if len(there) == 1 or isinstance(reading, Blocks):
        stream, top, bottom = there[0]
        return format_ref(buffer.name, stream, top, bottom)
    return format_ref(buffer.name, "all", first, last)


def excerpt_of(ref: str, reading: MergedLines | StreamLines | Blocks, first: int, last: int) -> Excerpt:
    """The first of the lines, to be shown above the note."""
    shown = reading.lines(first, min(last, first + _EXCERPT_LINES - 1), _EXCERPT_BYTES)
    lines = [clean_line(line.data) for _, line in shown]
    return Excerpt(ref, lines, max(last - first + 1 - len(lines), 0))


def recipients(sessions: Sequence[SessionFacts], captor: str, now: float) -> list[Recipient]:
    """The recipients of a note: nobody first, then the session that captured the output, then others by last call."""
    found = [NOBODY]
    by_name = {one.session.name: one for one in sessions}
    own = by_name.pop(captor, None)
    if own is not None and own.session.client != INSPECTOR:
        found.append(Recipient(captor, f"send to {own.name}", "whose output it is"))
    found.append(Recipient(ANYONE, "send to whoever asks next", ""))
    others = [
        one for one in by_name.values() if one.session.client != INSPECTOR and one.counts.calls and not one.is_removed
    ]
    found += [
        Recipient(one.session.name, f"send to {one.name}", _asked(now - one.counts.last)) for one in others[:_SESSIONS]
    ]
    return found


def _asked(seconds: float) -> str:
    """When a session asked last, as ``asked 5m ago`` or ``asked just now``."""
    told = age(seconds)
    return "asked just now" if told == "now" else f"asked {told} ago"
