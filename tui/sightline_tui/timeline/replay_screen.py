"""Replay: shows a session step by step, each with the question, the reply as it was sent, and what was seen by then."""

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widget import Widget

from sightline.store import Reading
from sightline_tui.common.answer_text import AnswerText
from sightline_tui.common.bar import Bar
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named
from sightline_tui.common.messages import LineChosen
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.store_screen import StoreScreen
from sightline_tui.common.text_rows import TextRows
from sightline_tui.common.theme import load_style
from sightline_tui.timeline.coverage_rows import CoverageRows
from sightline_tui.timeline.edit_parts import changed_rows
from sightline_tui.timeline.files_screen import FilesScreen
from sightline_tui.timeline.part_rows import PartRows
from sightline_tui.timeline.replay_reader import ReplayReader, ReplayStep
from sightline_tui.timeline.step_parts import (
    asked_rows,
    changed_title,
    covered_title,
    head_parts,
    legend,
    map_parts,
    reply_title,
    said_text,
    so_far_rows,
    step_at,
    track_parts,
)

SIDE_BY_SIDE_COLUMNS = 110
_LAST = 1 << 60


class Track(Bar):
    """A line that shows which step is open; a click opens the step under it."""

    def __init__(self, go: Callable[[int], None]) -> None:
        super().__init__(id="replay-track")
        self._go = go
        self.steps = 0

    def on_click(self, event: events.Click) -> None:
        """Open the clicked step; on an arrow, the next or the previous one."""
        if self.steps:
            self._go(step_at(event.x, self.size.width, self.steps))


class ReplayScreen(StoreScreen[None]):
    """A session, one call at a time."""

    CSS_PATH = "replay.tcss"
    AUTO_FOCUS = "#covered"
    HORIZONTAL_BREAKPOINTS = [(0, "-stacked"), (SIDE_BY_SIDE_COLUMNS, "-beside")]  # noqa: RUF012 (typed so in Screen)
    BINDINGS: ClassVar[list[BindingType]] = named(
        "replay",
        [
            # These keys have priority, because the panes would scroll by them.
            Binding("left,h", "step(-1)", "Step back", key_display="←", priority=True),
            Binding("right,l", "step(1)", "Step on", key_display="→", priority=True),
            Binding("f", "files", "Files then"),
            Binding("home,g", "go_to(0)", "Start", key_display="g", priority=True),
            Binding(
                "end,G", f"go_to({_LAST})", "End, and on as it goes on", key_display="G", show=False, priority=True
            ),
            Binding("o", "other_output", "Other output of the call", show=False),
            Binding("exclamation_mark", "missed", "Missed", key_display="!"),
            Binding("I", "why", "Why"),
            Binding("d", "changed", "The diff of the call, or its output", show=False),
            Binding("tab,shift+tab", "app.focus_next", "Other pane", key_display="Tab"),
            Binding("escape,q,r", "dismiss", "Back", key_display="Esc"),
        ],
    )

    def __init__(self, store: Reading, session: str, *, at: str = "") -> None:
        """Make the screen.

        Args:
            store: the store.
            session: name of the session.
            at: id of the view to begin with; the last one by default.
        """
        super().__init__()
        self._store = store
        self._session = session
        self._begins_at = at
        self._replaying = ReplayReader(store, session)
        self._at = _LAST
        self._which = 0
        self._step: ReplayStep | None = None
        self._shown = ("", 0, 0)
        self._missed_at = 0  # how many missed failures of this output the key has gone to
        self._goes_to_missed = False  # goes there once the step is read
        self._shows_output = False  # although the call changed files
        self._says = False  # whether what was said stands in the place of the reply
        self._reads: StoreRead[ReplayStep | None] = StoreRead(self, self._plan, self._take)
        self._seeks: StoreRead[tuple[int, int] | None] = StoreRead(self, self._plan_seek, self._found)

    def compose(self) -> ComposeResult:
        """Lay out head, track and call, then the reply beside the output, then the totals so far and the keys."""
        load_style(self.app, "common/row_view")
        yield Bar(id="replay-head")
        yield Track(self.action_go_to)
        yield Bar(id="replay-asked")
        with Container(id="replay-panes"):
            with Container(id="replay-reply"):
                yield Bar(id="reply-title")
                yield TextRows(id="reply", leads=False)
            with Container(id="replay-output"):
                yield Bar(id="covered-title")
                yield CoverageRows(self._store)
                yield PartRows(id="changed")
        yield Bar(id="replay-so-far")
        yield KeyBar()

    def on_mount(self) -> None:
        """Read the first step."""
        self.tell()
        self.read()

    # reading

    def _plan(self) -> Callable[[], ReplayStep | None]:
        begins_at, self._begins_at = self._begins_at, ""
        at, which, replaying = self._at, self._which, self._replaying
        if begins_at:
            return lambda: replaying.step(replaying.place_of(begins_at), which)
        return lambda: replaying.step(at, which)

    def _take(self, step: ReplayStep | None) -> None:
        self._step = step
        if step is not None:
            if self._at != _LAST or step.at < step.steps - 1:
                self._at = step.at
            shown = (step.call.view.id, self._which, step.buffer.bytes if step.buffer else 0)
            if shown != self._shown:
                self._shown, self._missed_at = shown, 0
                self._show_reply(step)
                self._shows_output = False
                self.query_one(CoverageRows).show(step.buffer, step.streams)
                self.query_one("#changed", PartRows).show(list(changed_rows(step.changed, step.call)))
            if self._goes_to_missed:
                self._goes_to_missed = False
                self._go_to_missed()
        self.tell()

    def _show_reply(self, step: ReplayStep) -> None:
        """Show the reply, or what was said before the call."""
        text = said_text(step) if self._says else step.text or f"({step.gone or 'the reply had no text'})"
        self.query_one("#reply", TextRows).show(AnswerText(text))

    def tell(self) -> None:
        """Show which step is open, its question, and the totals so far."""
        self.query_one("#reply-title", Bar).say((reply_title(says=self._says), ()), ((), ()))
        step, width = self._step, self.size.width
        self.query_one("#replay-head", Bar).say(head_parts(step, self._session))
        track = self.query_one(Track)
        track.steps = step.steps if step else 0
        track.say((track_parts(step, width), ()))
        if step is None:
            return
        asked = asked_rows(step)
        about = self.query_one("#replay-asked", Bar)
        about.styles.height = len(asked)
        about.say(*((row, ()) for row in asked))
        changes = bool(step.changed) and not self._shows_output
        self._swap(self.query_one("#changed"), self.query_one("#covered"), first=changes)
        title = self.query_one("#covered-title", Bar)
        if changes:
            title.say((changed_title(step), ()), ((), ()))
        else:
            title.say((covered_title(step), ()), (map_parts(step, title.size.width), ()))
        rows = so_far_rows(step, width)
        self.query_one("#replay-so-far", Bar).say(*((row, ()) for row in rows), (legend(step), ()))

    def _swap(self, one: Widget, other: Widget, *, first: bool) -> None:
        """Show the first or the second of two widgets in one place, with the focus where the other had it."""
        shown, hidden = (one, other) if first else (other, one)
        shown.display = True
        if self.focused is hidden:
            self.set_focus(shown)
        hidden.display = False

    # keys

    def action_step(self, steps: int) -> None:
        """Go forward or back by a number of calls."""
        step = self._step
        at = self._at if self._at != _LAST else step.steps - 1 if step else 0
        last = step.steps - 1 if step else 0
        self.action_go_to(max(0, min(at + steps, last)))

    def action_go_to(self, at: int) -> None:
        """Go to a call; from the last call it follows the session."""
        self._at, self._which = at, 0
        self._reads.ask()

    def action_other_output(self) -> None:
        """Show the next output that the call is about."""
        self._which += 1
        self._reads.ask()

    def action_why(self) -> None:
        """Show what was said before the call in the place of the reply, or the reply again."""
        self._says = not self._says
        if self._step is not None:
            self._show_reply(self._step)
        self.tell()

    def action_changed(self) -> None:
        """Show the output of a call that changed files, or its diff again."""
        if self._step is not None and self._step.changed and self._step.buffer is not None:
            self._shows_output = not self._shows_output
            self.tell()

    def action_files(self) -> None:
        """Show the files as they were at this step, as far as the calls show that."""
        if self._step is not None:
            self.app.push_screen(FilesScreen(self._replaying, self._step))

    def action_missed(self) -> None:
        """Go to the next failure that had not been shown by then, first in this output and then in others."""
        if not self._go_to_missed():
            self._seeks.ask()

    def _go_to_missed(self) -> bool:
        step = self._step
        places = [(one.stream, first) for one in step.streams for first, _ in one.missed] if step else []
        if self._missed_at >= len(places):
            return False
        rows = self.query_one(CoverageRows)
        self.set_focus(rows)
        rows.go_to(*places[self._missed_at])
        self._missed_at += 1
        return True

    def _plan_seek(self) -> Callable[[], tuple[int, int] | None] | None:
        step, replaying = self._step, self._replaying
        if step is None:
            return None
        name = step.buffer.name if step.buffer else ""
        return lambda: replaying.next_miss(step.at, name)

    def _found(self, place: tuple[int, int] | None) -> None:
        if place is not None:
            self._goes_to_missed = True
            self._at, self._which = place
            self._reads.ask()
        elif self._missed_at:
            self._missed_at = 0
            self._go_to_missed()
            self.notify("No failure of another output was missed", markup=False)
        else:
            self.notify("No failure of this session was missed by then", markup=False)

    def on_coverage_rows_chosen(self, message: CoverageRows.Chosen) -> None:
        """Go to the line in the main screen."""
        if self._step is not None and self._step.buffer is not None:
            self.app.post_message(LineChosen(self._step.buffer, message.stream, message.line))
