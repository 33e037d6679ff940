"""Asks for a note on some lines and for its recipient, or only for the recipient of a note that exists."""

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Input, Static

from sightline.light.named_tuple import NamedTuple
from sightline.log.notes import MAX_CHARACTERS
from sightline_tui.common.row_view import RowView
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import is_whole
from sightline_tui.common.strips import StripPart, row
from sightline_tui.common.theme import load_style
from sightline_tui.common.visible_text import title, visible


class Excerpt(NamedTuple):
    """What a note is about: the ref, the first of its lines, and how many more lines follow."""

    ref: str
    lines: Sequence[str]
    more: int


class Recipient(NamedTuple):
    """A recipient: a session's name, ANYONE, or empty for nobody; how to call it, and what is known of it."""

    to: str
    what: str
    fact: str


NOBODY = Recipient("", "keep it", "send it to nobody")
_MOST_ROWS = 6


class WrittenNote(NamedTuple):
    """The text of a note, and its recipient; empty for nobody."""

    text: str
    to: str


class Recipients(RowView, can_focus=False):
    """A list of recipients; the one under the cursor is chosen."""

    def __init__(self) -> None:
        super().__init__(id="recipients")
        self._recipients: Sequence[Recipient] = (NOBODY,)

    @property
    def chosen(self) -> Recipient:
        """The one under the cursor."""
        return self._recipients[self.cursor]

    def offer(self, recipients: Sequence[Recipient]) -> None:
        """Show these recipients; the cursor stays where it is."""
        self._recipients = recipients
        self.styles.height = min(len(recipients), _MOST_ROWS)
        self.set_rows(len(recipients))

    def choose(self) -> None:
        """A recipient was clicked twice."""
        self.call_later(self.run_action, "screen.write")

    def draw(self, at: int, width: int) -> Strip:
        """A recipient's row: the name, and what is known of it."""
        one = self._recipients[at]
        mark = StripPart("● " if at == self.cursor else "○ ", "accent" if at == self.cursor else "dim")
        return row(
            [StripPart(" "), mark, StripPart(title(one.what)), StripPart(f"  {title(one.fact)}", "dim")],
            (), width, self.own_style, self.part_styles,
        )  # fmt: skip


class NoteScreen(ModalScreen[WrittenNote | None]):
    """A panel with the lines, the note, and its recipients."""

    CSS_PATH = "note.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Cancel"),
        Binding("enter", "write", "Done", priority=True),
        Binding("down,ctrl+n,tab", "move(1)", "Whom it goes to", show=False, priority=True),
        Binding("up,ctrl+p,shift+tab", "move(-1)", "Whom it goes to", show=False, priority=True),
    ]

    def __init__(
        self, about: Excerpt, recipients: Callable[[], Sequence[Recipient]], *, written: str | None = None
    ) -> None:
        """Make the screen.

        Args:
            about: the lines.
            recipients: reads the recipients from the store; called in another thread.
            written: the text, if it is written already.
        """
        super().__init__()
        self._about = about
        self._recipients = recipients
        self._written = written

    def compose(self) -> ComposeResult:
        """A panel in the middle."""
        load_style(self.app, "common/row_view")
        with Vertical(id="note") as panel:
            panel.border_title = Content(f"Note on {self._about.ref}")
            panel.border_subtitle = Content("Enter done · ↑ ↓ whom it goes to · Esc cancel")
            shown = [visible(line.expandtabs(4)) for line in self._about.lines]
            more = [f"… {self._about.more:,} more"] if self._about.more else []
            if shown:
                yield Static(Content("\n".join([*shown, *more])), id="note-lines", markup=False)
            if self._written is None:
                line = Input(placeholder="what the agent should know", id="note-text", compact=True)
                line.max_length = MAX_CHARACTERS
                line.cursor_blink = False
                yield line
            else:
                yield Static(Content(title(self._written)), id="note-written", markup=False)
            yield Recipients()

    def on_mount(self) -> None:
        """Give the keys to the text; if it is written already, to the recipients."""
        self.query_one(Recipients).offer((NOBODY,))
        if self._written is None:
            self.set_focus(self.query_one("#note-text", Input))
        self.run_worker(self._offer())

    async def _offer(self) -> None:
        try:
            recipients = await asyncio.to_thread(self._recipients)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return
        if is_whole(self):
            self.query_one(Recipients).offer(recipients)

    def action_move(self, rows: int) -> None:
        """Another recipient."""
        self.query_one(Recipients).action_move(rows)

    def action_write(self) -> None:
        """Enter: answer with the text and the recipient."""
        text = self._written if self._written is not None else self.query_one("#note-text", Input).value.strip()
        if text:
            self.dismiss(WrittenNote(text, self.query_one(Recipients).chosen.to))
        else:
            self.notify("Write a remark first, or leave with Esc", severity="warning", markup=False)

    def on_click(self, event: events.Click) -> None:
        """Close the panel at a click beside it."""
        if event.widget is self:
            self.dismiss(None)
