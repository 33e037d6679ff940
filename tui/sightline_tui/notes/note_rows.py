"""Notes, one a row: the lines that each is about, its text, and whether an agent has got it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from sightline.base.records import Note
from sightline.log.notes import whereto
from sightline_tui.common.keys import named
from sightline_tui.common.messages import State
from sightline_tui.common.phrases import age
from sightline_tui.common.row_view import RowView
from sightline_tui.common.strips import StripPart, pad, row
from sightline_tui.common.visible_text import title

_REF_CELLS = 24
KEPT, WAITING, DELIVERED = "○", "◔", "●"


class NoteRows(RowView):
    """Newest first."""

    PARTS = (*RowView.PARTS, "ok")
    BINDINGS: ClassVar[list[BindingType]] = named("notes", [Binding("enter", "choose", "Open")])

    class Moved(State):
        """The cursor has moved to another note."""

    @dataclass(eq=False, repr=False)
    class Chosen(Message):
        """The person wants to see the lines of a note."""

        note: Note

    def __init__(self) -> None:
        super().__init__(id="notes")
        self._notes: Sequence[Note] = ()
        self._now = 0.0

    @property
    def note(self) -> Note | None:
        """The one under the cursor."""
        return self._notes[self.cursor] if self._notes else None

    def show(self, notes: Sequence[Note], now: float) -> None:
        """Show these notes; the cursor stays on its own if that is still there."""
        old = self.note
        self._notes, self._now = notes, now
        at = next((at for at, note in enumerate(notes) if old is not None and note.id == old.id), None)
        self.set_rows(len(notes), cursor=at)

    def draw(self, at: int, width: int) -> Strip:
        """A note."""
        note = self._notes[at]
        mark, style = mark_of(note)
        text = title(note.text) if note.text is not None else "(blanked)"
        left = [
            StripPart(f" {mark} ", style),
            StripPart(f"{age(self._now - note.time):>4}  ", "dim"),
            StripPart(pad(note.ref, _REF_CELLS) + " ", "key"),
            StripPart(text, "" if note.text is not None else "dim"),
        ]
        return row(left, [StripPart(f" {title(whereto(note))} ", "dim")], width, self.own_style, self.part_styles)

    def cursor_moved(self) -> None:
        """Post that the cursor has moved to another note."""
        self.post_message(self.Moved())

    def choose(self) -> None:
        """Post that the person wants to see the note's lines."""
        if self.note is not None:
            self.post_message(self.Chosen(self.note))


def mark_of(note: Note) -> tuple[str, str]:
    """The mark of a note's state, and its style."""
    if note.sent:
        return DELIVERED, "ok"
    return (WAITING, "accent") if note.to else (KEPT, "dim")
