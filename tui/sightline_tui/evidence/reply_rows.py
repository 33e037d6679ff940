"""Lists the replies in which an output was shown: when, to whom, for which question, how much, and whether cut."""

import time
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from sightline_tui.common.messages import State
from sightline_tui.common.phrases import short_bytes, short_count
from sightline_tui.common.row_view import RowView
from sightline_tui.common.strips import StripPart, pad, row
from sightline_tui.common.visible_text import title
from sightline_tui.evidence.replies import ShowingReply

CUT_BADGE = " CUT "
_WHO_CELLS, _VERB_CELLS = 18, 12
_DAY_SECONDS = 86_400


class ReplyRows(RowView):
    """Replies, the oldest first."""

    PARTS = (*RowView.PARTS, "number", "badge")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "choose", "Open")]

    @dataclass(eq=False, repr=False)
    class Moved(State):
        """The cursor has moved to another reply."""

        reply: ShowingReply

    class Chosen(Message):
        """A person wants to see the lines of a reply in the output."""

    def __init__(self, now: float, *, id: str) -> None:  # noqa: A002
        """Make the widget; `now`, in seconds since the epoch, decides which replies show their date."""
        super().__init__(id=id)
        self._now = now
        self._replies = list[ShowingReply]()
        self._told: ShowingReply | None = None

    @property
    def reply(self) -> ShowingReply | None:
        """The reply under the cursor."""
        return self._replies[self.cursor] if self._replies else None

    @property
    def _is_of_today(self) -> bool:
        """Whether all replies are from today, so that the time of day is enough."""
        return not self._replies or self._now - self._replies[0].view.time < _DAY_SECONDS

    def show(self, replies: list[ShowingReply]) -> None:
        """Show these replies; the cursor stays on its reply, at first the newest."""
        before = self.reply
        at = len(replies) - 1
        if before is not None:
            at = next((at for at, one in enumerate(replies) if one.view.id == before.view.id), at)
        self._replies = replies
        self.set_rows(len(replies), cursor=at)

    def cursor_moved(self) -> None:
        """Post that the cursor has moved."""
        if self.reply is not None and self.reply != self._told:
            self._told = self.reply
            self.post_message(self.Moved(self.reply))

    def draw(self, at: int, width: int) -> Strip:
        """Draw a reply."""
        reply = self._replies[at]
        view = reply.view
        when = time.strftime("%H:%M:%S" if self._is_of_today else "%m-%d %H:%M", time.localtime(view.time))
        left = [
            StripPart(f"{at + 1:>3} ", "dim"),
            StripPart(when, "dim"),
            StripPart(f" {pad(title(reply.who), _WHO_CELLS if width >= 79 else _WHO_CELLS // 2)} ", "key"),
            StripPart(pad(view.verb, _VERB_CELLS), "strong"),
            StripPart(f" {title(reply.request)}"),
        ]
        badge = StripPart(CUT_BADGE, "badge") if view.truncated else StripPart(" " * len(CUT_BADGE))
        right = [
            StripPart(f" {lines_text(reply):>11}"),
            StripPart(f" {short_bytes(view.bytes_shown):>5} ", "dim"),
            badge,
        ]
        return row(left, right, width, self.own_style, self.part_styles)

    def choose(self) -> None:
        """Show the lines of the reply in the output."""
        if self.reply is not None:
            self.post_message(self.Chosen())


def lines_text(reply: ShowingReply) -> str:
    """Say how many of the output's lines stand in a reply: ``33 lines``, ``asked 401``, ``none``."""
    if reply.line_count:
        return f"{short_count(reply.line_count)} line{'' if reply.line_count == 1 else 's'}"
    return f"asked {short_count(reply.asked_count)}" if reply.asked_count else "none"
