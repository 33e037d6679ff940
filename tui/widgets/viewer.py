"""The viewer: an output of any size, of which only what is on the screen is read; it follows a capture that goes on.

Here is what it shows and the keys; how rows are drawn is in `viewer_rows`, what is looked for in `viewer_search` and
`viewer_failures`, what is marked to be copied in `viewer_selection`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from sightline.store.records import Buffer
from sightline.store.store import Store
from sightline.tui.errand import Errand
from sightline.tui.failures import STORE_ERRORS, tell
from sightline.tui.goto import lines_meant
from sightline.tui.keys import named
from sightline.tui.messages import PlaceChanged
from sightline.tui.output.folding import START, Place
from sightline.tui.output.hexdump import ROW_BYTES, is_binary, open_dump
from sightline.tui.output.painting import LOOKS
from sightline.tui.output.window import Window
from sightline.tui.reading import Reading, open_reading, streams_of
from sightline.tui.widgets.line_strips import NOTHING, Drawn, LineStrips
from sightline.tui.widgets.styled import Styled
from sightline.tui.widgets.viewer_rows import Rows
from sightline.tui.widgets.viewer_selection import Selecting
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

if TYPE_CHECKING:
    from sightline.tui.widgets.viewer_failures import Failing
    from sightline.tui.widgets.viewer_search import Searching

SETTLE_SECONDS = 0.06  # a marker is touched at most each 20 ms: the last bytes of a burst may come without a word
LOOK_SECONDS = 0.3  # after it is opened, a failed output is looked through for why: loading the rules is felt
_COLUMN_STEP = 8
_MAX_COUNT_DIGITS = 15
_WHEEL_ROWS = 3
_STREAM_NAMES = {"out": "stdout only", "err": "stderr only"}
_SINGLE = {"out": "standard output", "err": "standard error"}


class Opened(NamedTuple):
    """An output that has been opened.

    Attributes:
        buffer: its record.
        reading: its lines, or its bytes.
        line_count: how many there are.
        stream: the only one that is shown, empty for all.
        hex: whether bytes are shown.
        timed: whether it is known when its lines came.
    """

    buffer: Buffer
    reading: Reading
    line_count: int
    stream: str
    hex: bool
    timed: bool


class Viewer(Styled, ScrollView, can_focus=True):
    """Both streams in order of arrival, with line numbers; lines of stderr carry a bar."""

    ALLOW_SELECT = False  # lines are selected here, not the text that happens to be on the screen
    PREFIX = "viewer"
    PARTS = ("gutter", "stderr", "control", "dim", "target")
    RARE_PARTS = (
        *("failure", "text", "wait", "selected", "match", "here", "keyword", "name", "string", "number", "comment"),
        *("heading", "added", "removed", "error", "warning", "time"),
    )
    COMPONENT_CLASSES: ClassVar = {f"viewer--{part}" for part in (*PARTS, *RARE_PARTS)}
    BINDINGS: ClassVar[list[BindingType]] = named(
        "viewer",
        [
            Binding("down,j", "scroll_by(1)", "Line down", show=False),
            Binding("up,k", "scroll_by(-1)", "Line up", show=False),
            Binding("pagedown,space,ctrl+f", "page(1)", "Page down", show=False),
            Binding("pageup,b,ctrl+b", "page(-1)", "Page up", show=False),
            Binding("ctrl+d", "page(0.5)", "Half a page down", show=False),
            Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False),
            Binding("home,g", "top", "First line, or line N after typing N", show=False),
            Binding("end,G", "bottom", "Last line, or line N after typing N", key_display="G", show=False),
            Binding("right,l", "sideways(1)", "Scroll right", show=False),
            Binding("left,h", "sideways(-1)", "Scroll left", show=False),
            Binding("circumflex_accent", "line_start", "Start of the lines", key_display="^", show=False),
            Binding("dollar_sign", "line_end", "End of the longest line shown", key_display="$", show=False),
            Binding("F", "follow", "Follow"),
            Binding("s", "stream", "Both streams, or one", show=False),
            Binding("r", "look", "Colours, cleaned, raw", show=False),
            Binding("w", "wrap", "Wrap"),
            Binding("x", "hex", "Bytes as hex, or lines", show=False),
            Binding("T", "times", "Times", show=False),
            Binding("n", "search_on(False)", "Next hit", show=False),
            Binding("N", "search_on(True)", "Hit before", show=False),
            Binding("e", "failure(False)", "Next error", show=False),
            Binding("E", "failure(True)", "Error before", show=False),
            Binding("v", "select", "Select lines", show=False),
            Binding("y", "copy_text", "Copy the selected lines", show=False),
            Binding("Y", "copy_ref", "Copy the ref of the lines", show=False),
            Binding("escape", "forget", "Forget the number typed, the selection, the search", show=False),
            # Bindings and not a key handler: so they keep their place among the keys typed with them.
            *(Binding(str(digit), f"digit({digit})", show=False) for digit in range(10)),
        ],
    )

    def __init__(self, store: Store, *, line: int = 0) -> None:
        """Make the viewer.

        Args:
            store: whose buffers it shows.
            line: line at which the first buffer is opened, 0 for none in particular.
        """
        super().__init__(id="viewer")
        self._store = store
        self._wanted: Buffer | None = None
        self._opened: Opened | None = None
        self._strips: LineStrips | None = None
        self._first_line = line
        self._window = Window(self._height_of)
        self._rows = Rows(self)
        self._selecting = Selecting(self)
        self._searching: Searching | None = None
        self._failing: Failing | None = None
        self._stream = ""
        self._hex: bool | None = None
        self._look = LOOKS[0]
        self._wraps = False
        self._column = 0
        self._count = ""
        self._target = 0
        self._following = False
        self._placing = False
        self._settling = False
        self._opens: Errand[Opened] = Errand(self, self._plan_open, self._take, self._cannot_open)

    # opening

    def show(self, buffer: Buffer | None, *, line: int = 0) -> None:
        """Show a buffer, or what has become of the one that is shown; another from a line on, if given."""
        if buffer is None or self._wanted is None or buffer.name != self._wanted.name:
            self._stream, self._hex = "", None
        self._wanted = buffer
        self._first_line = line or self._first_line
        first = self._opened is None and buffer is not None and buffer.state == "sealed"
        if first and (read := self._plan_open()):  # its index is whole, so that this is quick
            self._opens.carry_out_now(read)
        else:
            self._opens.ask()

    def went_on(self, names: frozenset[str]) -> None:
        """Captures have written; where the one shown is among them, its new lines are taken in."""
        if self._wanted is not None and self._wanted.name in names and self._wanted.state == "running":
            self._opens.ask()
            if not self._settling:
                self._settling = True
                self.set_timer(SETTLE_SECONDS, self._settled)

    def _settled(self) -> None:
        self._settling = False
        self._opens.ask()

    def shows(self, name: str) -> bool:
        """Whether it is this buffer's output that is on the screen."""
        return self._opened is not None and self._opened.buffer.name == name

    def _plan_open(self) -> Callable[[], Opened] | None:
        buffer = self._wanted
        if buffer is None or buffer.state == "evicted":
            self._let_go()
            return None
        store, stream, wanted_hex = self._store, self._stream, self._hex

        def read() -> Opened:
            # A capture makes its files as it needs them: opened anew, it is always whole.
            reading: Reading = open_reading(store, buffer, stream)
            as_hex = is_binary(reading) if wanted_hex is None else wanted_hex
            if as_hex:
                reading.close()
                reading = open_dump(store, buffer, stream)
            timed = buffer.kind == "cmd" and next(reading.times(1, 1), None) is not None
            return Opened(buffer, reading, reading.line_count, stream, as_hex, timed)

        return read

    def _take(self, opened: Opened) -> None:
        buffer, before = opened.buffer, self._opened
        if self._wanted is None or buffer.name != self._wanted.name or not self.is_attached:
            opened.reading.close()
            return
        another = before is None or before.buffer.name != buffer.name
        otherwise = before is not None and (before.stream, before.hex) != (opened.stream, opened.hex)
        grown = before is None or before.line_count != opened.line_count or buffer.state == "running"
        place = self._same_place(opened) if otherwise and not another else None
        self._opened, self._window.count = opened, opened.line_count
        self._window.wraps = self._wraps and not opened.hex
        if another or otherwise or self._strips is None:
            self._strips = LineStrips(opened.reading, self._rows.paint, "hex" if opened.hex else self._look)
        else:
            self._strips.forget(opened.reading)
        if another:
            self._open_at_its_place(buffer)
        else:
            if place is not None:
                self._show_other_side(place)
            elif grown:
                self._resize_to_lines()
                self._stay_at_end()
            self._following = self._following and self._is_running()
        if before is not None:
            before.reading.close()
        if another or buffer.state != (before.buffer.state if before is not None else ""):
            self._look_for_failures(buffer)
        if self._searching is not None:
            if another:
                self._searching.clear()
            elif otherwise:
                self._searching.shown_otherwise(same=False)
            elif grown:
                self._searching.went_on()
        self.changed()

    def _look_for_failures(self, buffer: Buffer) -> None:
        """Of what has failed, mark the lines that say why; not before there is something on the screen."""
        if self._failing is not None:
            self._failing.clear()
        if buffer.failed and buffer.state != "running":
            self.set_timer(LOOK_SECONDS, lambda: self.failing.begin() if self._shows(buffer) else None)

    def _shows(self, buffer: Buffer) -> bool:
        return self.is_attached and self._opened is not None and self._opened.buffer.name == buffer.name

    def _same_place(self, opened: Opened) -> int:
        """The number that what is at the top of the screen has there."""
        stream, offset = self.origin(self._window.top.line)
        return opened.reading.number_at(stream, offset)

    def _show_other_side(self, number: int) -> None:
        """Other lines of the same output are shown: those at the same place."""
        self._target, self._column = 0, 0
        self._selecting.clear()
        self._resize_to_lines()
        self._move(lambda: self._window.move_to(Place(number)))

    def _cannot_open(self) -> None:
        if self._opened is not None and self._wanted is not None and self._opened.buffer.name != self._wanted.name:
            self._let_go()  # what stands there is another's output

    def _open_at_its_place(self, buffer: Buffer) -> None:
        self._column, self._count, self._target = 0, "", 0
        self._selecting.clear()
        self._window.top = START
        self._resize_to_lines()
        self._move(lambda: self._window.move_to(START))
        self._following = buffer.state == "running" and not self._first_line
        self._go_to_first_line()
        self._stay_at_end()

    def _go_to_first_line(self) -> None:
        if self._first_line and self.size.height and self._opened is not None:  # before the first layout it has no rows
            self.go_to_line(self._first_line)
            self._first_line = 0

    def _let_go(self) -> None:
        if self._opened is not None:
            self._opened.reading.close()
        self._opened = self._strips = None
        self._window.count = 0
        self._selecting.clear()
        for part in (self._searching, self._failing):
            if part is not None:
                part.clear()
        self._resize_to_lines()
        self.changed()

    def on_unmount(self) -> None:
        """Close the files, end what runs."""
        for part in (self._searching, self._failing):
            if part is not None:
                part.clear()
        if self._opened is not None:
            self._opened.reading.close()
            self._opened = self._strips = None

    # what it shows, for its parts

    @property
    def store(self) -> Store:
        """The store whose buffers it shows."""
        return self._store

    @property
    def opened(self) -> Opened | None:
        """The output that is shown, None where there is none."""
        return self._opened

    @property
    def strips(self) -> LineStrips | None:
        """Its drawn lines."""
        return self._strips

    @property
    def window(self) -> Window:
        """Which of its rows are on the screen."""
        return self._window

    @property
    def selecting(self) -> Selecting:
        """Which of its lines are selected."""
        return self._selecting

    @property
    def searching(self) -> "Searching":
        """What is looked for in it; made, and loaded, with the first search."""
        if self._searching is None:
            from sightline.tui.widgets.viewer_search import Searching

            self._searching = Searching(self)
        return self._searching

    @property
    def failing(self) -> "Failing":
        """Which of its lines say what failed; made, and loaded, when one first wants to know."""
        if self._failing is None:
            from sightline.tui.widgets.viewer_failures import Failing

            self._failing = Failing(self)
        return self._failing

    def is_failure(self, drawn: Drawn) -> bool:
        """Whether a line is known to say what failed."""
        return self._failing is not None and self._failing.marks(drawn)

    def with_hits(self, number: int, strip: Strip) -> Strip:
        """A line with the hits of the search marked."""
        return strip if self._searching is None else self._searching.draw(number, strip)

    @property
    def column(self) -> int:
        """The first column on the screen."""
        return self._column

    @property
    def target(self) -> int:
        """The line that was gone to, 0 for none."""
        return self._target

    @property
    def line_count(self) -> int:
        """Lines of the output as far as they have been taken in."""
        return self._window.count

    @property
    def following(self) -> bool:
        """Whether it stays at the end while the output grows."""
        return self._following

    def drawn(self, number: int) -> Drawn:
        """A line as it is shown; one that cannot be read any more is empty, and it is said."""
        if self._strips is None:
            return NOTHING
        try:
            return self._strips.line(number)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return NOTHING

    def number_at(self, y: int) -> int:
        """The line in a row of the screen; the last one's below it, 0 where there are none."""
        return self._rows.number_at(y)

    def origin(self, number: int) -> tuple[str, int]:
        """(stream, offset) at which a line begins."""
        stream = self.drawn(number).stream
        return stream, self._opened.reading.offsets(number).get(stream, 0) if self._opened is not None else 0

    def _height_of(self, number: int) -> int:
        return self._rows.height_of(number)

    # where it stands

    def changed(self) -> None:
        """Draw all anew, and tell."""
        self._rows.changed()
        self.refresh()
        self.tell_place()

    def _resize_to_lines(self) -> None:
        """Have the scrollbar know how far one can go, in lines."""
        self._window.rows = self.size.height
        height = self._window.end.line - 1 + self.size.height if self._window.wraps else self._window.count
        size = Size(1, height)  # its width is no matter, and another one would mean another layout
        if size != self.virtual_size:
            self.virtual_size = size

    def _move(self, move: Callable[[], None]) -> None:
        """Move the window, the scrollbar along with it."""
        move()
        self._placing = True
        self.scroll_to(y=self._window.top.line - 1, animate=False, force=True)
        self._placing = False
        self._following = self._is_running() and self._window.at_end
        self.changed()

    def _stay_at_end(self) -> None:
        if self._following:
            self._move(lambda: self._window.move_to(self._window.end))

    def on_resize(self) -> None:
        """Another number of rows is on the screen, which is drawn anew anyway."""
        self._rows.changed()
        self._resize_to_lines()
        if self._first_line:
            self._go_to_first_line()
        elif self._following:
            self._stay_at_end()
        elif self._window.top > self._window.end:
            self._move(lambda: self._window.move_to(self._window.end))
        self.tell_place()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The scrollbar was moved: scrolling up lets go of the end, scrolling back down to it follows again."""
        super().watch_scroll_y(old_value, new_value)
        if self._placing:
            return
        self._window.rows = self.size.height
        end, line = self._window.end, round(new_value) + 1
        self._window.top = end if line >= end.line else Place(line)
        self._following = self._is_running() and self._window.at_end
        self.changed()

    def _is_running(self) -> bool:
        return self._opened is not None and self._opened.buffer.state == "running"

    def tell_place(self) -> None:
        """Tell where it stands."""
        places = self._rows.places()
        first, last = (places[0].line, places[-1].line) if places else (0, 0)
        self.post_message(PlaceChanged(first, last, self.line_count, self._following, self._count, self._notes()))

    def _notes(self) -> tuple[str, ...]:
        opened = self._opened
        if opened is None:
            return ()
        block = opened.stream.replace("part.", "block ")
        notes = [_STREAM_NAMES.get(opened.stream, f"{block} only")] if opened.stream else []
        notes += ["hex"] if opened.hex else []
        notes += [self._look] if self._look != LOOKS[0] and not opened.hex else []
        notes += ["wrap"] if self._window.wraps else []
        for part in (self._failing, self._searching):
            notes += part.notes() if part is not None else []
        return (*notes, *self._selecting.notes())

    # drawing

    def render_line(self, y: int) -> Strip:
        """A row on the screen."""
        return self._rows.row(y)

    def notify_style_update(self) -> None:
        """Colours have changed: what was drawn in the old ones goes."""
        super().notify_style_update()
        self._rows.changed()
        if self._strips is not None:
            self._strips.forget()

    # going somewhere

    def go_to(self, text: str) -> bool:
        """Go where a text says, a range being selected; whether it says anything.

        Args:
            text: ``42``, ``42,80``, ``50%``, ``$``, or where bytes are shown ``0x2a0``.
        """
        row_bytes = ROW_BYTES if self._opened is not None and self._opened.hex else 0
        meant = lines_meant(text, self.line_count, row_bytes)
        if meant is None:
            return False
        if meant.last:
            self._selecting.select(meant.first, meant.last)
        self.go_to_line(meant.first)
        return True

    def go_to_line(self, number: int) -> None:
        """Show a line a third down the screen, its number marked."""
        number = max(1, min(number, self.line_count))
        self._target = number
        self._selecting.moved_to(number)
        self._move(lambda: self._window.show(number, self.size.height // 3))

    def go_near(self, number: int) -> None:
        """Mark a line's number, and show it where it is not on the screen yet."""
        if self._window.on_screen(number):
            self._target = number
            self._selecting.moved_to(number)
            self.changed()
        else:
            self.go_to_line(number)

    def back_to(self, place: Place, target: int) -> None:
        """Go back to where one was."""
        self._target = target
        self._move(lambda: self._window.move_to(place))

    def show_columns(self, start: int, end: int) -> None:
        """Scroll sideways where some columns are not on the screen."""
        room = self._rows.room
        if not self._window.wraps and not self._column <= start < self._column + room:
            self._scroll_to_column(0 if end < room else start - room // 3)
        elif not self._window.wraps and end > self._column + room:
            self._scroll_to_column(start - room // 3)

    def bring_in(self, number: int) -> None:
        """Move no further than needed to have a line on the screen."""
        self._move(lambda: self._window.bring_in(number))

    # keys

    def action_digit(self, digit: int) -> None:
        """Digits are collected for the G that may follow."""
        self._count = f"{self._count}{digit}".lstrip("0")[:_MAX_COUNT_DIGITS]
        self.tell_place()

    def _taken_count(self) -> int:
        count, self._count = int(self._count or 0), ""
        return count

    def action_scroll_by(self, lines: int) -> None:
        """Scroll by rows, as many as were typed; while selecting, move the end of the selection by lines."""
        lines *= self._taken_count() or 1
        if not self._selecting.move_by(lines):
            self._move(lambda: self._window.move_by(lines))

    def action_page(self, pages: float) -> None:
        """Scroll by pages, one line of the old kept in sight."""
        self._count = ""
        rows = int(pages * max(self.size.height - 1, 1))
        if not self._selecting.move_by(rows):
            self._move(lambda: self._window.move_by(rows))

    def action_top(self) -> None:
        """Go to the first line, or to the one typed."""
        self._go_to_end(START, 1)

    def action_bottom(self) -> None:
        """Go to the last line, or to the one typed."""
        self._go_to_end(self._window.end, self.line_count)

    def _go_to_end(self, place: Place, number: int) -> None:
        if count := self._taken_count():
            self.go_to_line(count)
        elif not self._selecting.move_to(number):
            self._move(lambda: self._window.move_to(place))

    def action_follow(self) -> None:
        """Go to the end and stay there while the capture goes on."""
        self._move(lambda: self._window.move_to(self._window.end))

    def action_sideways(self, steps: int) -> None:
        """Scroll sideways."""
        self._scroll_to_column(self._column + steps * _COLUMN_STEP)

    def action_line_start(self) -> None:
        """Back to the first column."""
        self._scroll_to_column(0)

    def action_line_end(self) -> None:
        """To the end of the longest line on the screen."""
        self._scroll_to_column(self._rows.longest())

    def _scroll_to_column(self, column: int) -> None:
        self._column = max(0, min(column, self._rows.longest()))
        self.refresh()

    def action_forget(self) -> None:
        """Forget the number typed, else what is selected, else the search; without any the key is for others."""
        if self._count:
            self._count = ""
        elif self._failing is not None and self._failing.give_up():
            pass
        elif not any(part.clear() for part in (self._selecting, self._searching) if part is not None):
            raise SkipAction
        self.changed()

    def action_stream(self) -> None:
        """Show both streams, or only one of them; of a result all its blocks, or one."""
        if self._opened is None:
            return
        streams = streams_of(self._opened.buffer)
        if len(streams) < 2:
            for stream in streams:
                self.notify(f"There is only {_SINGLE.get(stream, 'one block')}", markup=False)
            return
        choices = ["", *streams]
        at = choices.index(self._stream) if self._stream in choices else 0
        self._stream = choices[(at + 1) % len(choices)]
        self._opens.ask()

    def action_hex(self) -> None:
        """Show bytes instead of lines, or lines instead of bytes."""
        if self._opened is not None:
            self._hex = not self._opened.hex
            self._opens.ask()

    def action_look(self) -> None:
        """Show the lines in another way."""
        self._look = LOOKS[(LOOKS.index(self._look) + 1) % len(LOOKS)]
        if self._strips is not None and self._opened is not None and not self._opened.hex:
            self._strips.look = self._look
            self._strips.forget()
            if self._searching is not None:
                self._searching.shown_otherwise(same=True)
        self._resize_to_lines()
        self._move(lambda: self._window.move_to(Place(self._window.top.line)))

    def action_wrap(self) -> None:
        """Show long lines on several rows, or on one."""
        self._wraps = not self._wraps
        self._window.wraps = self._wraps and not (self._opened is not None and self._opened.hex)
        self._column = 0
        self._resize_to_lines()
        self._move(lambda: self._window.move_to(Place(self._window.top.line)))

    def action_times(self) -> None:
        """Show when each line came."""
        said = self._rows.toggle_times()
        if said:
            self.notify(said, markup=False)
        self._resize_to_lines()
        self.changed()

    def action_search_on(self, back: bool) -> None:
        """Go to the next hit, or to the one before."""
        self.searching.step(back=back)

    def action_failure(self, back: bool) -> None:
        """Go to the next error region, or to the one before."""
        self.failing.step(back=back)

    def action_select(self) -> None:
        """Begin to select lines, or end it."""
        self._selecting.begin()

    def action_copy_text(self) -> None:
        """Copy the selected lines; without any the key means what it means elsewhere."""
        if not self._selecting.copy_text():
            raise SkipAction

    def action_copy_ref(self) -> None:
        """Copy the ref of the selected lines, or of the line that was gone to."""
        self._selecting.copy_ref()

    # mouse

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Rows, not lines: where long lines take several, the wheel goes on by rows too."""
        self._wheel(event, _WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """As down."""
        self._wheel(event, -_WHEEL_ROWS)

    def _wheel(self, event: events.MouseEvent, rows: int) -> None:
        event.stop()
        event.prevent_default()
        if event.ctrl or event.shift:
            self.action_sideways(1 if rows > 0 else -1)
        else:
            self._move(lambda: self._window.move_by(rows))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin to select, should the mouse be moved."""
        self._selecting.pressed(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Select up to the line under the mouse."""
        self._selecting.dragged(event)

    def on_mouse_up(self) -> None:
        """What is selected stays so."""
        self._selecting.released()
