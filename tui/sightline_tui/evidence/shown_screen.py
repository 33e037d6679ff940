"""The Shown screen: lists the exact replies in which an output was shown, and leads to their lines."""

import asyncio
import time
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.screen import Screen

from sightline.base.records import Buffer
from sightline.light.named_tuple import NamedTuple
from sightline.store import Reading
from sightline_tui.common.answer_text import AnswerText
from sightline_tui.common.bar import Bar
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named
from sightline_tui.common.messages import StoreChanged
from sightline_tui.common.phrases import counted, name_of
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.strips import StripPart
from sightline_tui.common.text_rows import TextRows
from sightline_tui.common.theme import load_style
from sightline_tui.common.visible_text import title
from sightline_tui.evidence.replies import ShowingReply, line_behind, read_replies, text_of
from sightline_tui.evidence.reply_rows import ReplyRows, lines_text

_EMPTY_TEXT = "(nothing: the reply had no text)"


class LinesWanted(NamedTuple):
    """Lines of an output that a person wants to see in the viewer.

    Attributes:
        reply: the reply in which they stand.
        what: words that name that reply.
        start: (stream, line) to go to.
    """

    reply: ShowingReply
    what: str
    start: tuple[str, int]


class ShownScreen(Screen[LinesWanted | None]):
    """Replies, and below or beside them the exact text of the one under the cursor."""

    CSS_PATH = "shown.tcss"
    AUTO_FOCUS = "#replies"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (160, "-wide")]  # noqa: RUF012 (typed so in Screen)
    BINDINGS: ClassVar[list[BindingType]] = named(
        "shown",
        [
            Binding("escape,q,V", "leave", "Back", key_display="Esc"),
            Binding("tab,shift+tab", "other_pane", "Replies or text", key_display="Tab"),
        ],
    )

    def __init__(
        self,
        store: Reading,
        buffer: Buffer,
        *,
        session: str = "",
        at: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Make the screen.

        Args:
            store: the store.
            buffer: the buffer whose replies are shown.
            session: the only session; empty for all.
            at: id of the view to begin with; the newest by default.
            clock: the time, which decides which replies are from today.
        """
        super().__init__()
        self._store = store
        self._buffer = buffer
        self._session = session
        self._at = at
        self._clock = clock
        self._replies = list[ShowingReply]()
        self._shown: ShowingReply | None = None
        self._lines = list[str]()
        self._reads: StoreRead[list[ShowingReply]] = StoreRead(self, self._plan_read, self._take)
        self._texts: StoreRead[tuple[ShowingReply, str]] = StoreRead(
            self, self._plan_text, self._show_text, self._no_text
        )

    def compose(self) -> ComposeResult:
        """Lay out head, replies, text and keys."""
        load_style(self.app, "common/row_view")
        yield Bar(id="shown-head")
        with Container(id="shown-panes"):
            yield ReplyRows(self._clock(), id="replies")
            with Vertical(id="reply"):
                yield Bar(id="reply-head")
                yield TextRows(id="reply-text")
        yield KeyBar()

    def on_mount(self) -> None:
        """Read the replies outside the UI's thread."""
        self._tell()
        self._reads.ask()

    def store_changed(self, message: StoreChanged) -> None:
        """Read the replies again, because there may be a new one."""
        if message.index and self.is_mounted:
            self._reads.ask()

    def _plan_read(self) -> Callable[[], list[ShowingReply]]:
        return lambda: read_replies(self._store, self._buffer, self._session)

    def _take(self, replies: list[ShowingReply]) -> None:
        if replies == self._replies and replies:
            return
        self._replies = replies
        rows = self.query_one(ReplyRows)
        rows.show(replies)
        rows.refresh(layout=True)  # a few replies take only as many rows
        if self._at:
            at, self._at = self._at, ""
            rows.move_to(next((nth for nth, one in enumerate(replies) if one.view.id == at), len(replies) - 1))
        self._tell()
        if not replies:
            whose = f" to {self._session}" if self._session else " to anyone"
            self.query_one("#reply-head", Bar).say(
                ([StripPart(f" Nothing of it was shown{title(whose)}", "accent")], ())
            )

    def _tell(self) -> None:
        replies = self._replies
        named = [StripPart(" Shown ", "accent"), StripPart(f" {self._buffer.ref}", "strong")]
        named.append(StripPart(f"  {name_of(self._buffer)}"))
        told = [StripPart(counted(len(replies), "reply").replace("replys", "replies"))] if replies else []
        if cut := sum(one.view.truncated for one in replies):
            told.append(StripPart(f" · {cut} cut", "interrupted"))
        whose = f"to {title(self._session)} only " if self._session else ""
        self.query_one("#shown-head", Bar).say((named, [*told, StripPart(f" {whose}", "dim")]))

    # the reply under the cursor

    def on_reply_rows_moved(self) -> None:
        """Read the text of the reply."""
        self._texts.ask()

    def _plan_text(self) -> Callable[[], tuple[ShowingReply, str]] | None:
        reply = self.query_one(ReplyRows).reply
        if reply is None or (self._shown is not None and reply.view.id == self._shown.view.id):
            return None
        return lambda: (reply, text_of(self._store, reply))

    def _show_text(self, answer: tuple[ShowingReply, str]) -> None:
        reply, text = answer
        self._shown, self._lines = reply, text.split("\n")
        self.query_one("#reply-text", TextRows).show(AnswerText(text or _EMPTY_TEXT))
        view = reply.view
        told = [
            StripPart(f" {view.id}", "strong"),
            StripPart(f"  {view.verb}", "dim"),
            StripPart(f"  {title(reply.request)}"),
        ]
        if view.unknown:
            told.append(StripPart(f"  not all known: {title(view.unknown)}", "interrupted"))
        size = f"{lines_text(reply)} of {view.lines_total:,} · {view.bytes_shown:,} bytes"
        right = [StripPart(size, "dim"), StripPart(" · cut " if view.truncated else " ", "interrupted")]
        self.query_one("#reply-head", Bar).say((told, right))

    def _no_text(self) -> None:
        """Say that the text is gone, and clear the text shown before."""
        self._shown, self._lines = None, []
        self.query_one("#reply-text", TextRows).show(None)
        self.query_one("#reply-head", Bar).say(([StripPart(" The text of this reply is gone", "interrupted")], ()))

    # its lines in the output

    def on_reply_rows_chosen(self) -> None:
        """Go to the first line of the reply in the output."""
        reply = self.query_one(ReplyRows).reply
        if reply is None:
            return
        if reply.start is None:
            asked = f": it was made of {reply.asked_count:,}" if reply.asked_count else ""
            self.notify(f"No line of the output stands in this reply{asked}", severity="warning", markup=False)
        else:
            self._leave_for(reply, reply.start)

    def on_text_rows_chosen(self, message: TextRows.Chosen) -> None:
        """Go to the line of the output that the chosen line of the reply is."""
        message.stop()
        if self._shown is not None:
            self.run_worker(self._find(self._shown, message.number), exclusive=True, group="line")

    async def _find(self, reply: ShowingReply, number: int) -> None:
        lines = self._lines
        try:
            found = await asyncio.to_thread(line_behind, self._store, self._buffer, reply, lines, number - 1)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return
        if found is None:
            self.notify("This line of the reply is none of the output's", severity="warning", markup=False)
        elif self.is_current:
            self._leave_for(reply, found)

    def _leave_for(self, reply: ShowingReply, start: tuple[str, int]) -> None:
        nth = self._replies.index(reply) + 1 if reply in self._replies else 0
        self.dismiss(LinesWanted(reply, f"reply {nth} of {len(self._replies)}: {lines_text(reply)}", start))

    # keys

    def action_leave(self) -> None:
        """Close the screen."""
        self.dismiss(None)

    def action_other_pane(self) -> None:
        """Switch between the replies and the text."""
        self.set_focus(self.query_one(TextRows if isinstance(self.focused, ReplyRows) else ReplyRows))
