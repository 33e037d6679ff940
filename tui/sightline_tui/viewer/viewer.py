"""The viewer: shows an output, with the keys of less and vim."""

from functools import partial
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.strip import Strip

from sightline.base.records import Buffer
from sightline.store import Reading
from sightline_tui.common.hexdump import ROW_BYTES
from sightline_tui.common.keys import named
from sightline_tui.common.line_painter import LOOKS
from sightline_tui.common.messages import PlaceChanged
from sightline_tui.common.places import lines_meant
from sightline_tui.common.window import START, RowPlace, ShownLines
from sightline_tui.viewer.annotations import AnnotatedPane
from sightline_tui.viewer.awaited_lines import AwaitedLines
from sightline_tui.viewer.line_strips import Highlighter, LineStrips, gap_markers
from sightline_tui.viewer.opened_output import OpenOutput, OutputOpener
from sightline_tui.viewer.row_painter import RowPainter

_COLUMN_STEP = 8
_STREAM_NAMES = {"out": "stdout only", "err": "stderr only"}


AHEAD_SECONDS = 0.03  # after a page is on the screen, the lines of the next one are drawn
COUNT_SECONDS = 0.05  # wait before a typed digit is shown, so that drawing it delays no key
_MAX_COUNT_DIGITS = 15
WAITS = "waiting for its lines"
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
    Binding("slash", "app.search", "Search", key_display="/", priority=True),
    Binding("n", "search_on(False)", "Next hit of the search", show=False),
    Binding("N", "search_on(True)", "Hit before", show=False),
    Binding("e", "failure(False)", "Next error", key_display="e"),
    Binding("E", "failure(True)", "Error before", show=False),
    Binding("U", "unseen_above", "Unseen lines before", show=False),
    Binding("right_square_bracket", "eyes(1)", "Seen by all, or by the next session", key_display="]", show=False),
    Binding("left_square_bracket", "eyes(-1)", "Seen by the session before", key_display="[", show=False),
    Binding("s", "stream", "Both streams, or one of them", show=False),
    Binding("r", "look", "In colours, cleaned, raw", show=False),
    Binding("L", "levels", "Errors, warnings, or everything", show=False),
    Binding("w", "wrap", "Wrap"),
    Binding("x", "hex", "Bytes, or lines", show=False),
    Binding("T", "times", "When each line came", show=False),
    Binding("v", "select", "Select lines, or no longer", show=False),
    Binding("y", "copy_text", "Copy the selected lines", show=False),
    Binding("Y", "copy_ref", "Copy the ref of the lines", show=False),
    Binding("q", "back", "Back"),
    Binding("escape", "forget", "Forget the number typed, the selection, the search", show=False),
    # These are bindings, because a key handler would change the order of keys that are typed together.
    *(Binding(str(digit), f"digit({digit})", show=False) for digit in range(10)),
)


class Viewer(AnnotatedPane, can_focus=True):
    """Both streams in order of arrival, with line numbers; lines of stderr have a bar."""

    ALLOW_SELECT = False  # the viewer selects lines, and Textual would select text of the screen
    PREFIX = "viewer"
    PARTS = (
        *("gutter", "stderr", "control", "dim", "target"),
        *("failure", "text", "wait", "selected", "match", "here", "keyword", "name", "string", "number", "comment"),
        *("heading", "added", "removed", "error", "warning", "time"),
        *("exact", "matched", "cut", "asked", "gone", "unsure"),
        *("overlooked", "unjudged", "note", "pointed", "gap", "unseen"),
    )
    COMPONENT_CLASSES: ClassVar = {f"viewer--{part}" for part in PARTS}
    BINDINGS: ClassVar[list[BindingType]] = named("viewer", _KEYS)

    def __init__(self, store: Reading, *, line: int = 0, wraps: bool = False, is_first: bool = False) -> None:
        """Make the widget.

        Args:
            store: the store that has the buffers.
            line: line at which the first buffer is opened; 0 for its usual place.
            wraps: whether long lines are wrapped.
            is_first: whether a person begins here, so that nothing lies behind it.
        """
        super().__init__(store, self._height_of)
        self.is_first = is_first
        self._opening = OutputOpener(self, store, self._taken, self._let_go, self._highlight, self._standing)
        self._first_line = line
        self._rows = RowPainter(self)
        self._awaited = AwaitedLines(self, self._came)
        self._look = LOOKS[0]
        self._wraps = wraps
        self._count = ""

    # opening

    def show(self, buffer: Buffer | None, *, line: int = 0) -> None:
        """Show a buffer, or the shown one as it is now; another buffer at a line, if given."""
        self._first_line = line or self._first_line
        self._opening.show(buffer)

    @property
    def wraps(self) -> bool:
        """Whether long lines are wrapped."""
        return self._wraps

    def went_on(self, names: frozenset[str]) -> None:
        """Take in the new lines if the shown output is among those that have grown."""
        self._opening.went_on(names)

    def shows(self, name: str) -> bool:
        """Return whether the output of this buffer is shown."""
        opened = self._opening.opened
        return opened is not None and opened.buffer.name == name

    def _taken(self, before: OpenOutput | None, opened: OpenOutput) -> None:
        """Show an output that was opened, while the previous one is still there."""
        another = before is None or not before.is_of(opened.buffer)
        place = None if before is None or another or opened.as_before(before) else opened.place
        self.window.count = opened.line_count
        self.window.wraps = self._wraps and not opened.hex
        strips, waits = self.strips, opened.may_wait
        if strips is None or another or place is not None or strips.reads_elsewhere != waits:
            look = "hex" if opened.hex else self._look
            self._awaited.close()
            elsewhere = self._awaited.of(partial(opened.open_again, self.store)) if waits else None
            gaps = gap_markers(opened.buffer)
            self.strips = LineStrips(opened.reading, self._rows.paint, look, opened.syntax, gaps, elsewhere)
        else:
            strips.forget(opened.reading)
        if another:
            self._open_at_its_place(opened)
        elif place is not None:
            self._show_other_side(place)
        elif before is None or before.line_count != opened.line_count or opened.running:
            self.resize_to_lines()
            self.stay_at_end()
        self.following = self.following and opened.running
        self.annotate(before, opened, otherwise=place is not None)
        self.changed()

    def _came(self) -> None:
        """Draw the lines that were waited for, or say that they are late."""
        if self.window.wraps:
            self.resize_to_lines()
        self.changed()
        if self._search is not None:
            self._search.came()

    def _standing(self) -> tuple[str, int]:
        """Return the stream and number of the line at the top of the screen."""
        number = self.window.top.line
        return self.drawn(number).stream, number

    def _show_other_side(self, number: int) -> None:
        """Show other lines of the same output, at the same place."""
        self.target, self.column = 0, 0
        self.selection.clear()
        self.resize_to_lines()
        self.move(lambda: self.window.move_to(RowPlace(number)))

    def _open_at_its_place(self, opened: OpenOutput) -> None:
        self.column, self._count, self.target = 0, "", 0
        self.selection.leave()
        self.window.top = START
        self.resize_to_lines()
        self.move(lambda: self.window.move_to(START))
        self.following = opened.running and not self._first_line
        self._go_to_first_line()
        self.stay_at_end()

    def _go_to_first_line(self) -> None:
        if self._first_line and self.size.height and self.opened is not None:  # before the first layout it has no rows
            self.go_to_line(self._first_line)
            self._first_line = 0

    def _highlight(self, syntax: Highlighter) -> None:
        """Draw with the syntax, which is known now."""
        if self.strips is not None:
            self.strips.highlight(syntax)
            self.refresh()

    def _let_go(self) -> None:
        """Show nothing."""
        self._awaited.close()
        self.strips = None
        self.window.count = 0
        self.clear_annotations()
        self.resize_to_lines()
        self.changed()

    def on_unmount(self) -> None:
        """Close the files, and end the threads."""
        self.clear_annotations()
        self._awaited.close()
        self._opening.close()
        self.strips = None

    # what it shows

    @property
    def opened(self) -> OpenOutput | None:
        """The output that is shown; None if there is none."""
        return self._opening.opened

    def number_at(self, y: int) -> int:
        """Return the number of the line in a row of the screen; below the last line, the last; 0 if there are none."""
        return self._rows.number_at(y)

    def _height_of(self, number: int) -> int:
        return self._rows.height_of(number)

    # where it stands

    def changed(self) -> None:
        """Draw all rows again, and post the place."""
        self._rows.changed()
        self.refresh()
        self.tell_place()

    def on_resize(self) -> None:
        """Fit to another number of rows; Textual redraws them."""
        self._rows.changed()
        self.audit_soon()
        self.keep_place()
        self._go_to_first_line()
        self.tell_place()

    def tell_place(self) -> None:
        """Post the place in the output."""
        places = self._rows.places()
        first, last = (places[0].line, places[-1].line) if places else (0, 0)
        place = PlaceChanged(first, last, self.line_count, self.following, self._count, self._notes())
        place.times = self.histogram
        if (opened := self.opened) is not None:
            place.name, place.unit, place.size = opened.buffer.name, opened.unit, opened.size
        if self._audit is not None:
            marked = self.selection.head or self.target
            place.seen = self._audit.words(marked if first <= marked <= last else 0)
        self.post_message(place)

    def _notes(self) -> tuple[str, ...]:
        opened = self.opened
        if opened is None:
            return (WAITS,) if self._opening.is_late else ()
        block = opened.stream.replace("part.", "block ")
        notes = [_STREAM_NAMES.get(opened.stream, f"{block} only")] if opened.stream else []
        notes += ["hex"] if opened.hex else []
        notes += [self._look] if self._look != LOOKS[0] and not opened.hex else []
        notes += ["wrap"] if self.window.wraps else []
        notes += self.annotations()
        return (*notes, WAITS) if self._awaited.are_late else tuple(notes)

    # drawing

    @property
    def stream(self) -> str:
        """The only stream that is shown; empty if all are."""
        return self.opened.stream if self.opened is not None else ""

    def render_line(self, y: int) -> Strip:
        """Draw a row of the screen."""
        return self._rows.row(y)

    def notify_style_update(self) -> None:
        """Drop the rows that are drawn in the colours of before."""
        super().notify_style_update()
        self._rows.changed()
        if self.strips is not None:
            self.strips.forget()

    # going somewhere

    def go_to(self, text: str) -> bool:
        """Go where a text says, and select the lines if it is a range; return whether it names a place.

        Args:
            text: ``42``, ``42,80``, ``50%``, ``$``, or for bytes ``0x2a0``.
        """

        row_bytes = ROW_BYTES if self.opened is not None and self.opened.hex else 0
        meant = lines_meant(text, self.line_count, row_bytes)
        if meant is None:
            return False
        if meant.last:
            self.selection.select(meant.first, meant.last)
        self.go_to_line(meant.first)
        return True

    def go_to_line(self, number: int) -> None:
        """Go to a line, a third down the screen, and mark its number."""
        number = max(1, min(number, self.line_count))
        self.reveal(number)
        self.target, self.column = number, 0
        self.selection.moved_to(number)
        self.move(lambda: self.window.show(RowPlace(number), self.size.height // 3))

    def go_near(self, number: int) -> None:
        """Go to a line and mark its number; scroll only if it is not on the screen."""
        self.reveal(number)
        if self.window.on_screen(number):
            self.target = number
            self.selection.moved_to(number)
            self.changed()
        else:
            self.go_to_line(number)

    def show_match(self, number: int, start: int, end: int) -> None:
        """Bring some characters of a line into view, by scrolling rows or columns."""
        self.reveal(number)
        room, place = (
            self._rows.room - 1,
            self._rows.place_of(number, start),
        )  # at the edge the sign of continuation may cover it
        if place not in self._rows.places():
            self.move(lambda: self.window.show(place, self.size.height // 3))
        if self.window.wraps:
            return
        text = self.drawn(number).strip.text
        start, end = cell_len(text[:start]), cell_len(text[:end])
        if not (self.column <= start and end <= self.column + room):
            self.scroll_to_column(0 if end <= room else min(start, end - room + _COLUMN_STEP))

    def scroll_to_column(self, column: int) -> None:
        """Scroll to a column, as far as the lines go."""
        self.column = max(0, min(column, self._rows.longest()))
        self.refresh()

    def show_only(self, only: ShownLines | None) -> None:
        """Show only some lines, from the same place on; None for all."""
        if only is None and self.window.only is None:
            self.tell_place()
            return
        self.window.only = only
        self.resize_to_lines()
        self.move(lambda: self.window.move_to(self.window.top))

    # keys

    def action_digit(self, digit: int) -> None:
        """Collect a digit of the number for a G that may follow."""
        self._count = f"{self._count}{digit}".lstrip("0")[:_MAX_COUNT_DIGITS]
        self.set_timer(COUNT_SECONDS, self.tell_place)

    def _taken_count(self) -> int:
        count, self._count = int(self._count or 0), ""
        return count

    def action_scroll_by(self, lines: int) -> None:
        """Scroll by rows, as many as were typed; while keys select, move the end of the selection."""
        lines *= self._taken_count() or 1
        if not self.selection.move_by(lines):
            self.move(lambda: self.window.move_by(lines))

    def action_page(self, pages: float) -> None:
        """Scroll by pages, and keep one line of the old page visible."""
        self._count = ""
        rows = int(pages * max(self.size.height - 1, 1))
        if not self.selection.move_by(rows):
            self.move(lambda: self.window.move_by(rows))
            self.set_timer(AHEAD_SECONDS, lambda: self._rows.draw_ahead(back=rows < 0))

    def action_top(self) -> None:
        """Go to the first line, or to the typed one."""
        self._go_to_end(START, 1)

    def action_bottom(self) -> None:
        """Go to the last line, or to the typed one."""
        self._go_to_end(self.window.end, self.line_count)

    def action_percent(self) -> None:
        """Go to the typed percentage of the output; without a number, leave the key to others."""
        if not self._count:
            raise SkipAction
        self.go_to(f"{self._taken_count()}%")

    def _go_to_end(self, place: RowPlace, number: int) -> None:
        if count := self._taken_count():
            self.go_to_line(count)
        elif not self.selection.move_to(number):
            self.move(lambda: self.window.move_to(place))

    def action_follow(self) -> None:
        """Go to the end, and follow it while the capture goes on."""
        self.move(lambda: self.window.move_to(self.window.end))

    def action_sideways(self, steps: int) -> None:
        """Scroll sideways."""
        self.scroll_to_column(self.column + steps * _COLUMN_STEP)

    def action_line_start(self) -> None:
        """Scroll to the first column."""
        self.scroll_to_column(0)

    def action_line_end(self) -> None:
        """Scroll to the end of the longest line on the screen."""
        self.scroll_to_column(self._rows.longest())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the key that goes back to the screen, whose bar says that it leaves, where nothing lies behind."""
        return not self.is_first if action == "back" else super().check_action(action, parameters)

    async def action_back(self) -> None:
        """Go back to the list."""
        await self.run_action("screen.back")

    def action_forget(self) -> None:
        """Drop the typed number, else the selection, else the search; if there is none, leave the key to others."""
        if self._count:
            self._count = ""
        elif (self._failures is not None and self._failures.give_up()) or (self._audit and self._audit.forget()):
            pass
        elif not any(part.clear() for part in (self.selection, self._search) if part is not None):
            raise SkipAction
        self.changed()

    def action_stream(self) -> None:
        """Show both streams or only one; of a result, all blocks or only one."""
        if only := self._opening.next_stream():
            self.notify(f"There is only {_SINGLE.get(only, 'one block')}", markup=False)

    def action_hex(self) -> None:
        """Switch between bytes and lines."""
        self._opening.switch_hex()

    def _shows_lines(self) -> bool:
        """Return whether lines are shown; if bytes are, say what this key does not do for them."""
        if self.shows_bytes:
            self.notify("These are bytes: x shows lines", markup=False)
        return not self.shows_bytes

    def action_look(self) -> None:
        """Show the lines in the next look."""
        if not self._shows_lines():
            return
        self._look = LOOKS[(LOOKS.index(self._look) + 1) % len(LOOKS)]
        if self.strips is not None and self.opened is not None:
            self.strips.look = self._look
            self.strips.forget()
            if self._search is not None:
                self._search.shown_otherwise(same=True)
        self.resize_to_lines()
        self.move(lambda: self.window.move_to(RowPlace(self.window.top.line)))

    def action_levels(self) -> None:
        """Choose the least level of the lines that are shown."""
        if self._shows_lines():
            self.levels.choose()

    def action_wrap(self) -> None:
        """Wrap long lines, or cut them."""
        if not self._shows_lines():
            return
        self._wraps = not self._wraps
        self.window.wraps = self._wraps
        self.column = 0
        self.resize_to_lines()
        self.move(lambda: self.window.move_to(RowPlace(self.window.top.line)))

    def action_times(self) -> None:
        """Show or hide when each line came."""
        if not self._shows_lines():
            return
        said = self._rows.toggle_times()
        if said:
            self.notify(said, markup=False)
        self.levels.count_times(self._rows.with_times)
        self.resize_to_lines()
        self.changed()

    def action_search_on(self, back: bool) -> None:
        """Go to the next hit or the previous one."""
        self.search.step(back=back)

    def action_failure(self, back: bool) -> None:
        """Go to the next error region or the previous one."""
        self.failures.step(back=back)

    def action_unseen_above(self) -> None:
        """Go to the previous lines that nobody was shown."""
        self.audit.step("unseen", back=True)

    def action_eyes(self, steps: int) -> None:
        """Mark what the next session was shown, or the previous one; after the last, what all sessions were shown."""
        if said := self.audit.next_session(steps):
            self.notify(said, markup=False)

    def action_select(self) -> None:
        """Start selecting lines, or stop."""
        self.selection.begin()

    def action_copy_text(self) -> None:
        """Copy the selected lines; without any, leave the key to others."""
        if not self.selection.copy_text():
            raise SkipAction

    def action_copy_ref(self) -> None:
        """Copy the ref of the selected lines, or of the line that was gone to."""
        self.selection.copy_ref()

    # mouse

    def wheel_sideways(self, steps: int) -> None:
        """Scroll sideways, as keys do."""
        self.action_sideways(steps)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin a selection, which exists once the mouse is moved."""
        self.selection.pressed(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Select up to the line under the mouse."""
        self.selection.dragged(event)

    def on_mouse_up(self) -> None:
        """Keep the selection."""
        self.selection.released()
