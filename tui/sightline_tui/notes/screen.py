"""The list of notes: which are only kept, which wait for an agent, and which an agent has got."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from sightline.audit.project_scope import notes_in
from sightline.base.project import Project
from sightline.base.records import Note
from sightline.base.refs import host_of, parse_ref
from sightline.log.notes import list_notes, send_note, withdraw_note
from sightline.log.session_list import list_sessions
from sightline.store import Reading
from sightline_tui.common.bar import Bar
from sightline_tui.common.clipboard import copy
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named
from sightline_tui.common.phrases import counted
from sightline_tui.common.scoped_screen import ScopedScreen
from sightline_tui.common.sessions import person_session
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.store_screen import go_to
from sightline_tui.common.strips import StripPart
from sightline_tui.common.theme import load_style
from sightline_tui.common.visible_text import title
from sightline_tui.notes.note_actions import Passage as Passage
from sightline_tui.notes.note_actions import kept_told, recipients
from sightline_tui.notes.note_actions import write_on as write_on
from sightline_tui.notes.note_rows import DELIVERED, KEPT, WAITING, NoteRows
from sightline_tui.notes.note_screen import Excerpt, NoteScreen, Recipient, WrittenNote


class NotesScreen(ScopedScreen[None]):
    """The notes of a project, or of all, the newest first."""

    CSS_PATH = "notes.tcss"
    AUTO_FOCUS = "#notes"
    BINDINGS: ClassVar[list[BindingType]] = named(
        "notes",
        [
            Binding("s", "send", "Send"),
            Binding("x", "take_back", "Take back"),
            Binding("y", "copy_ref", "Copy ref", show=False),
            Binding("escape,q,A", "dismiss", "Back", key_display="Esc"),
        ],
    )

    def __init__(
        self, store: Reading, project: Project | None = None, *, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(project)
        self._store = store
        self._clock = clock
        self._notes: list[Note] | None = None
        self._reads: StoreRead[list[Note]] = StoreRead(self, self._plan, self._take)

    def compose(self) -> ComposeResult:
        """Head, notes, the one under the cursor, keys."""
        load_style(self.app, "common/row_view")
        yield Bar(id="notes-head")
        yield NoteRows()
        yield Bar(id="notes-detail")
        yield KeyBar()

    def on_mount(self) -> None:
        """Read them."""
        self.read()

    def _plan(self) -> Callable[[], list[Note]]:
        project = self._project
        return lambda: notes_in(self._store, list_notes(self._store), project)[::-1]

    def _take(self, notes: list[Note]) -> None:
        self._notes = notes
        self.query_one(NoteRows).show(notes, self._clock())
        self.tell()

    def on_note_rows_moved(self) -> None:
        """Show the note under the cursor in full."""
        self.tell()

    def tell(self) -> None:
        """How many there are, and the one under the cursor."""
        notes = self._notes or []
        waiting = sum(bool(note.to and not note.sent) for note in notes)
        delivered = sum(bool(note.sent) for note in notes)
        marks = [
            StripPart(f"{KEPT} {len(notes) - waiting - delivered:,} kept  ", "dim"),
            StripPart(f"{WAITING} {waiting:,} waiting  ", "accent" if waiting else "dim"),
            StripPart(f"{DELIVERED} {delivered:,} delivered ", "ok" if delivered else "dim"),
        ]
        head = [*self.head("Notes"), StripPart(f"  {counted(len(notes), 'note')}", "dim")]
        self.query_one("#notes-head", Bar).say((head, marks))
        self.query_one("#notes-detail", Bar).say(*((row, ()) for row in self._detail()))

    def _detail(self) -> list[list[StripPart]]:
        note = self.query_one(NoteRows).note
        if note is None:
            if self._notes is None:
                return []
            return [
                [StripPart(" No notes yet", "strong")],
                [
                    StripPart(" a", "key"),
                    StripPart(" in an output writes one on the lines selected (v selects)", "dim"),
                ],
            ]
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(note.time))
        rows = [[StripPart(f" {note.ref}", "strong"), StripPart(f"  {when}  {title(note.session)}", "dim")]]
        return [*rows, [StripPart(f" {title(note.text) if note.text is not None else '(blanked)'}")]]

    # what can be done with a note

    def on_note_rows_chosen(self, message: NoteRows.Chosen) -> None:
        """Go to its lines."""
        self.run_worker(go_to(self, self._store, message.note.ref), exclusive=True, group="go")

    async def action_send(self) -> None:
        """Send the note to an agent, after asking to which."""
        note = self.query_one(NoteRows).note
        if note is None or note.text is None:
            return

        def done(written: WrittenNote | None) -> None:
            if written is not None:
                self.run_worker(self._send(note, written.to))

        about = Excerpt(note.ref, [], 0)
        await self.app.push_screen(NoteScreen(about, partial(self._recipients, note), written=note.text), done)

    def _recipients(self, note: Note) -> list[Recipient]:
        buffer = self._store.index.buffer(parse_ref(note.ref).name)
        return recipients(list_sessions(self._store), buffer.session if buffer else "", self._clock())

    def _is_elsewhere(self, note: Note) -> bool:
        """Whether the note is in the log of another host; if so, say that it cannot be changed here."""
        if host := host_of(note.id):
            self.notify(f"It is kept on {host}: write another one", severity="warning", markup=False)
        return bool(host)

    async def _send(self, note: Note, to: str) -> None:
        if self._is_elsewhere(note):
            return
        if not to:
            await self._take_back(note)
            return
        try:
            sent = await asyncio.to_thread(send_note, self._store.local, person_session(), note, to)
        except STORE_ERRORS as error:
            tell(self.app, error)
        else:
            self.notify(kept_told(sent), title=f"Note on {note.ref}", markup=False)
            self.read()

    def action_take_back(self) -> None:
        """Take the note back before an agent gets it."""
        note = self.query_one(NoteRows).note
        if note is not None:
            self.run_worker(self._take_back(note))

    async def _take_back(self, note: Note) -> None:
        if self._is_elsewhere(note):
            return
        try:
            waited = await asyncio.to_thread(withdraw_note, self._store.local, person_session(), note)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return
        if waited:
            told = "Taken back: nobody gets it"
        else:
            told = f"{note.sent_to} has got it already" if note.sent else "It waits for nobody"
        self.notify(told, markup=False)
        self.read()

    def action_copy_ref(self) -> None:
        """Copy the ref of its lines."""
        note = self.query_one(NoteRows).note
        if note is not None:
            copy(self.app, note.ref)
            self.notify(f"Copied {note.ref}", markup=False)
