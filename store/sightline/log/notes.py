"""Keeps notes, a person's remarks on lines, and an outbox from which a session's next reply takes them along."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterable

from sightline.base.errors import SightlineError, StoreFailed, UsageError
from sightline.base.private_files import make_folder, open_private, remove_file, write_atomically
from sightline.base.records import Note, Session, View, storable
from sightline.base.refs import format_ref, parse_ref
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.log.log import BrokenChain, read_all
from sightline.log.log_index import append_entry, fill_index
from sightline.store import Reading, Store, Target

ANYONE = "*"
"""Stands for a session's name if the note is for whoever asks next."""

OF_READERS = "fleet"
"""Stands for the harness of a session that writes down what readers of the fleet sent."""

MAX_CHARACTERS = 4000
"""Length of a note at most, because it becomes part of a reply."""


class UnknownNote(SightlineError):
    """No note has this id."""


def write_note(
    store: Store, session: Session, target: Target, text: str, *, remark: int = 0, written: float = 0.0
) -> Note:
    """Keep a remark on a stream, or on the lines that the target names.

    Args:
        store: the store.
        session: the session of the writer.
        target: what the remark is about.
        text: the remark.
        remark: its number at the shared place from which it came; 0 for one that was written here.
        written: when it was written there, seconds since the epoch; 0 for now.

    Raises:
        UsageError: the text is empty, or longer than MAX_CHARACTERS.
        StoreFailed: the note could not be logged.
    """
    text = storable(text.strip())
    if not text or len(text) > MAX_CHARACTERS:
        raise UsageError(f"the remark has {len(text):,} characters", f"it may have 1 to {MAX_CHARACTERS:,}")
    now = written or time.time()
    ref = format_ref(target.buffer.name, target.stream, target.first, target.last)
    entry = {"kind": "note", "time": now, "ref": ref, "refs": [target.buffer.name], "text": text}
    entry |= {"remark": remark} if remark else {}
    number = append_entry(store, session, entry)
    return Note(f"{session.name}:{number}", session.name, now, ref, text)


def note_of_remark(store: Store, session: Session, remark: int) -> tuple[Note, bool] | None:
    """Return the note that a remark has become, and whether it needs no sending; None if it has become none yet.

    The log is asked, because only that is sure to have what a process did that was killed.
    """
    fill_index(store, session.name)
    note, was_sent = None, False
    try:
        for place, entry in read_all(store.layout.audit_file(session.name)):
            if entry.get("kind") == "note" and entry.get("remark") == remark:
                note = store.index.note(f"{session.name}:{place.number}")
            elif note is not None and entry.get("kind") == "send" and entry.get("note") == note.id:
                was_sent = True
    except (FileNotFoundError, BrokenChain):
        pass  # nothing is known of it, or no more than was read
    if note is None:
        return None
    is_blank_or_withdrawn = note.text is None or (was_sent and not note.to)
    return note, bool(note.sent or is_blank_or_withdrawn or _in_outbox(store, note))


def list_notes(store: Reading, *, buffer: str | None = None) -> list[Note]:
    """Return notes, oldest first: all, or those on one buffer."""
    fill_index(store)
    return store.index.notes(buffer=buffer)


def notes_for(notes: Iterable[Note], views: Iterable[View], session: str | None, since: float = 0.0) -> list[Note]:
    """Return the notes that belong beside views: for one session its own, those it got, and those on its outputs.

    Args:
        notes: all notes.
        views: the views.
        session: the session of these views; None for all, beside which all notes belong.
        since: earliest time of a note, seconds since the epoch.
    """
    wanted = [note for note in notes if note.time >= since]
    if session is None or not wanted:
        return wanted
    about = {name for view in views for name in view.refs}
    return [
        note
        for note in wanted
        if session in (note.session, note.to, note.sent_to) or (parse_ref(note.ref).name in about)
    ]


def send_note(store: Store, session: Session, note: Note, to: str) -> Note:
    """Put a note into the outbox for a session or ANYONE; a note that waits already changes its recipient.

    Args:
        store: the store.
        session: the session of the sender.
        note: the note; its text must still be there.
        to: name of the recipient session.

    Raises:
        UnknownNote: the text of the note was blanked.
        StoreFailed: the sending could not be logged.
    """
    if note.text is None:
        raise UnknownNote(f"the text of note {note.id} was blanked", "write it again")
    append_entry(store, session, {"kind": "send", "time": time.time(), "note": note.id, "to": to})
    take_back(store, note)
    kept = {"id": note.id, "ref": note.ref, "text": note.text}
    if session.name == note.session and session.harness == OF_READERS:
        kept["from"] = f"{note.session}, {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(note.time))}"
    data = dumps(kept).encode()
    path = os.path.join(store.layout.outbox, _file_name(note, to))
    while True:
        make_folder(store.layout.outbox)
        try:
            write_atomically(path, data, durable=store.settings.durable)
        except FileNotFoundError:  # another process took the last note and removed the folder
            continue
        return note._replace(to=to)


def take_back(store: Store, note: Note) -> bool:
    """Remove a note from the outbox, and return whether it was there."""
    waiting = _in_outbox(store, note)
    if not waiting:
        return False
    for name in waiting:
        remove_file(os.path.join(store.layout.outbox, name))
    _tidy(store)
    return True


def _in_outbox(store: Store, note: Note) -> list[str]:
    ending = "+" + note.id.replace(":", "+")
    try:
        return [name for name in os.listdir(store.layout.outbox) if name.endswith(ending)]
    except FileNotFoundError:
        return []


def withdraw_note(store: Store, session: Session, note: Note) -> bool:
    """Take back a note for a person, log that, and return whether it was still waiting.

    Raises:
        StoreFailed: the note no longer waits, but that could not be logged.
    """
    waited = take_back(store, note)
    if waited:
        append_entry(store, session, {"kind": "send", "time": time.time(), "note": note.id, "to": ""})
    return waited


def whereto(note: Note) -> str:
    """Return who got a note, or is to get it: ``sent to demo-agent``; empty if it is only kept."""
    if note.sent:
        return f"sent to {note.sent_to}"
    if note.to:
        return f"waits for {'whoever asks next' if note.to == ANYONE else note.to}"
    return ""


def _file_name(note: Note, to: str) -> str:
    return f"{'' if to == ANYONE else to}+{note.id.replace(':', '+')}"


class WaitingNote(NamedTuple):
    """A waiting note that a reply is about to take along; while it is held, no other reply can take it.

    Attributes:
        id: id of the note.
        ref: the lines that it is about.
        text: the text of the note.
        writer: who wrote it and when, if that was a reader of the fleet; otherwise empty.
        path: its file in the outbox.
        fd: descriptor of that file, locked.
    """

    id: str
    ref: str
    text: str
    writer: str
    path: str
    fd: int

    @property
    def field(self) -> dict[str, str]:
        """Return the note as a field of a reply."""
        return {"ref": self.ref, "text": self.text, **({"from": self.writer} if self.writer else {})}


def hold_waiting(store: Store, session: str, *, anyone: bool) -> list[WaitingNote]:
    """Return the notes that wait for a session, oldest first, each held until `release`.

    Args:
        store: the store.
        session: name of the session that is about to get a reply.
        anyone: whether to take also notes for whoever asks next.
    """
    try:
        names = os.listdir(store.layout.outbox)
    except FileNotFoundError:
        return []
    mine = [
        name
        for name in names
        if name.count("+") == 2 and name.partition("+")[0] in (session, "" if anyone else session)
    ]
    held = [waiting for name in mine if (waiting := _hold(os.path.join(store.layout.outbox, name)))]
    return sorted(held, key=lambda waiting: os.fstat(waiting.fd).st_mtime_ns)


def _hold(path: str) -> WaitingNote | None:
    try:
        fd = open_private(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(fd).st_nlink:
            kept = loads(os.read(fd, os.fstat(fd).st_size))
            return WaitingNote(kept["id"], kept["ref"], kept["text"], str(kept.get("from", "")), path, fd)
    except (BlockingIOError, ValueError, KeyError, TypeError):
        pass  # another reply holds it, or it was changed from outside
    os.close(fd)
    return None


def release(store: Store, held: list[WaitingNote], session: Session | None) -> None:
    """Release notes: those that were sent leave the outbox, which is logged; others wait again.

    Args:
        store: the store.
        held: the notes.
        session: the session that got them; None if they were not sent.
    """
    for waiting in held:
        try:
            if session is not None:
                remove_file(waiting.path)
                with contextlib.suppress(StoreFailed):  # it was sent, and must not be sent again
                    append_entry(store, session, {"kind": "sent", "time": time.time(), "note": waiting.id})
        finally:
            os.close(waiting.fd)
    if session is not None:
        _tidy(store)


def _tidy(store: Store) -> None:
    try:
        os.rmdir(store.layout.outbox)
    except OSError:
        pass  # others wait, or the folder is gone
