"""The viewer: an output as one looks at it, with the keys of less and vim."""

from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType

from sightline.tui.common.keys import named
from sightline.tui.common.line_painter import LOOKS
from sightline.tui.common.window import START, Place
from sightline.tui.viewer.view import OutputView

AHEAD_SECONDS = 0.03  # after a page key, when its page is on the screen, the lines of the next one are drawn
COUNT_SECONDS = 0.05  # after a digit it is told: where it is typed ahead, drawing it would have what it is for wait
_MAX_COUNT_DIGITS = 15
_COLUMN_STEP = 8
_SINGLE = {"out": "standard output", "err": "standard error"}

_KEYS = (
    Binding("down,j", "scroll_by(1)", "Line down", show=False),
    Binding("up,k", "scroll_by(-1)", "Line up", show=False),
    Binding("pagedown,space,ctrl+f", "page(1)", "Page down", show=False),
    Binding("pageup,b,ctrl+b", "page(-1)", "Page up", show=False),
    Binding("ctrl+d", "page(0.5)", "Half a page down", show=False),
    Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False),
    Binding("home,g", "top", "First line, or line N after typing N", show=False),
    Binding("end,G", "bottom", "Last line, or line N after typing N", key_display="G", show=False),
    Binding("percent_sign", "percent", "Percentage, after typing it", key_display="%", show=False),
    Binding("right,l", "sideways(1)", "Scroll right", show=False),
    Binding("left,h", "sideways(-1)", "Scroll left", show=False),
    Binding("circumflex_accent", "line_start", "Start of the lines", key_display="^", show=False),
    Binding("dollar_sign", "line_end", "End of the longest line shown", key_display="$", show=False),
    Binding("F", "follow", "Follow"),
    Binding("slash", "app.filter", "Search", key_display="/"),
    Binding("n", "search_on(False)", "Next hit of the search", show=False),
    Binding("N", "search_on(True)", "Hit before", show=False),
    Binding("e", "failure(False)", "Next error", key_display="e"),
    Binding("E", "failure(True)", "Error before", show=False),
    Binding("exclamation_mark", "overlooked", "Overlooked", key_display="!"),
    Binding("u", "unseen(False)", "Next unseen lines", show=False),
    Binding("U", "unseen(True)", "Unseen lines before", show=False),
    Binding("right_square_bracket", "eyes(1)", "Seen by all, or by the next session", key_display="]", show=False),
    Binding("left_square_bracket", "eyes(-1)", "Seen by the session before", key_display="[", show=False),
    Binding("s", "stream", "Both streams, or one of them", show=False),
    Binding("r", "look", "In colours, cleaned, raw", show=False),
    Binding("w", "wrap", "Wrap"),
    Binding("x", "hex", "Bytes, or lines", show=False),
    Binding("T", "times", "When each line came", show=False),
    Binding("v", "select", "Select lines, or no longer", show=False),
    Binding("y", "copy_text", "Copy the selected lines", show=False),
    Binding("Y", "copy_ref", "Copy the ref of the lines", show=False),
    Binding("escape", "forget", "Forget the number typed, the selection, the search", show=False),
    # Bindings and not a key handler: so they keep their place among the keys typed with them.
    *(Binding(str(digit), f"digit({digit})", show=False) for digit in range(10)),
)


class Viewer(OutputView):
    """Both streams in order of arrival, with line numbers; lines of stderr carry a bar."""

    BINDINGS: ClassVar[list[BindingType]] = named("viewer", _KEYS)

    # keys

    def action_digit(self, digit: int) -> None:
        """Digits are collected for the G that may follow."""
        self._count = f"{self._count}{digit}".lstrip("0")[:_MAX_COUNT_DIGITS]
        self.set_timer(COUNT_SECONDS, self.tell_place)

    def _taken_count(self) -> int:
        count, self._count = int(self._count or 0), ""
        return count

    def action_scroll_by(self, lines: int) -> None:
        """Scroll by rows, as many as were typed; while selecting, move the end of the selection by lines."""
        lines *= self._taken_count() or 1
        if not self.selecting.move_by(lines):
            self.move(lambda: self.window.move_by(lines))

    def action_page(self, pages: float) -> None:
        """Scroll by pages, one line of the old kept in sight."""
        self._count = ""
        rows = int(pages * max(self.size.height - 1, 1))
        if not self.selecting.move_by(rows):
            self.move(lambda: self.window.move_by(rows))
            self.set_timer(AHEAD_SECONDS, lambda: self._rows.draw_ahead(back=rows < 0))

    def action_top(self) -> None:
        """Go to the first line, or to the one typed."""
        self._go_to_end(START, 1)

    def action_bottom(self) -> None:
        """Go to the last line, or to the one typed."""
        self._go_to_end(self.window.end, self.line_count)

    def action_percent(self) -> None:
        """Go as many hundredths of the way as were typed; without any the key is for others."""
        if not self._count:
            raise SkipAction
        self.go_to(f"{self._taken_count()}%")

    def _go_to_end(self, place: Place, number: int) -> None:
        if count := self._taken_count():
            self.go_to_line(count)
        elif not self.selecting.move_to(number):
            self.move(lambda: self.window.move_to(place))

    def action_follow(self) -> None:
        """Go to the end and stay there while the capture goes on."""
        self.move(lambda: self.window.move_to(self.window.end))

    def action_sideways(self, steps: int) -> None:
        """Scroll sideways."""
        self.scroll_to_column(self.column + steps * _COLUMN_STEP)

    def action_line_start(self) -> None:
        """Back to the first column."""
        self.scroll_to_column(0)

    def action_line_end(self) -> None:
        """To the end of the longest line on the screen."""
        self.scroll_to_column(self._rows.longest())

    def action_forget(self) -> None:
        """Forget the number typed, else what is selected, else the search; without any the key is for others."""
        if self._count:
            self._count = ""
        elif (self._failing is not None and self._failing.give_up()) or (self._auditing and self._auditing.forget()):
            pass
        elif not any(part.clear() for part in (self.selecting, self._searching) if part is not None):
            raise SkipAction
        self.changed()

    def action_stream(self) -> None:
        """Show both streams, or only one of them; of a result all its blocks, or one."""
        if only := self._opening.next_stream():
            self.notify(f"There is only {_SINGLE.get(only, 'one block')}", markup=False)

    def action_hex(self) -> None:
        """Show bytes instead of lines, or lines instead of bytes."""
        self._opening.switch_hex()

    def _shows_lines(self) -> bool:
        """Whether it is lines that are shown; where it is bytes, what a key for lines does not do is said."""
        if self.shows_bytes:
            self.notify("These are bytes: x shows lines", markup=False)
        return not self.shows_bytes

    def action_look(self) -> None:
        """Show the lines in another way."""
        if not self._shows_lines():
            return
        self._look = LOOKS[(LOOKS.index(self._look) + 1) % len(LOOKS)]
        if self.strips is not None and self.opened is not None:
            self.strips.look = self._look
            self.strips.forget()
            if self._searching is not None:
                self._searching.shown_otherwise(same=True)
        self.resize_to_lines()
        self.move(lambda: self.window.move_to(Place(self.window.top.line)))

    def action_wrap(self) -> None:
        """Show long lines on several rows, or on one."""
        if not self._shows_lines():
            return
        self._wraps = not self._wraps
        self.window.wraps = self._wraps
        self.column = 0
        self.resize_to_lines()
        self.move(lambda: self.window.move_to(Place(self.window.top.line)))

    def action_times(self) -> None:
        """Show when each line came."""
        if not self._shows_lines():
            return
        said = self._rows.toggle_times()
        if said:
            self.notify(said, markup=False)
        self.resize_to_lines()
        self.changed()

    def action_search_on(self, back: bool) -> None:
        """Go to the next hit, or to the one before."""
        self.searching.step(back=back)

    def action_failure(self, back: bool) -> None:
        """Go to the next error region, or to the one before."""
        self.failing.step(back=back)

    def action_unseen(self, back: bool) -> None:
        """Go to the next lines that nobody was shown, or to those before."""
        self.auditing.step("unseen", back=back)

    def action_overlooked(self) -> None:
        """Go to the next failure that nobody was shown."""
        self.auditing.step("overlooked")

    def action_eyes(self, steps: int) -> None:
        """Mark what the next session was shown, or the one before; between the last and the first, what all were."""
        if said := self.auditing.next_session(steps):
            self.notify(said, markup=False)

    def action_select(self) -> None:
        """Begin to select lines, or end it."""
        self.selecting.begin()

    def action_copy_text(self) -> None:
        """Copy the selected lines; without any the key means what it means elsewhere."""
        if not self.selecting.copy_text():
            raise SkipAction

    def action_copy_ref(self) -> None:
        """Copy the ref of the selected lines, or of the line that was gone to."""
        self.selecting.copy_ref()

    # mouse

    def wheel_sideways(self, steps: int) -> None:
        """Scroll sideways, as by keys."""
        self.action_sideways(steps)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin to select, should the mouse be moved."""
        self.selecting.pressed(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Select up to the line under the mouse."""
        self.selecting.dragged(event)

    def on_mouse_up(self) -> None:
        """What is selected stays so."""
        self.selecting.released()
