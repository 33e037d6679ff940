"""The viewer: an output of any size, of which only what is on the screen is read; it follows a capture that goes on."""

from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from sightline.store.records import Buffer
from sightline.store.store import Store
from sightline.tui.errand import Errand
from sightline.tui.failures import STORE_ERRORS, tell
from sightline.tui.goto import line_meant
from sightline.tui.keys import named
from sightline.tui.messages import PlaceChanged
from sightline.tui.reading import Reading, open_reading
from sightline.tui.widgets.line_strips import STREAM_MARKS, LineStrips
from sightline.tui.widgets.styled import Styled
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

SETTLE_SECONDS = 0.06  # a marker is touched at most each 20 ms: the last bytes of a burst may come without a word
_COLUMN_STEP = 8
_MIN_DIGITS = 3
_MAX_COUNT_DIGITS = 15

Opened = tuple[Buffer, Reading, int]


class Viewer(Styled, ScrollView, can_focus=True):
    """Both streams in order of arrival, with line numbers; lines of stderr carry a bar."""

    PREFIX = "viewer"
    PARTS = ("gutter", "stderr", "control", "dim", "target")
    COMPONENT_CLASSES: ClassVar = {f"viewer--{part}" for part in PARTS}
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
            Binding("escape", "forget_count", "Forget the number typed", show=False),
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
        self._shown: Buffer | None = None
        self._reading: Reading | None = None
        self._strips: LineStrips | None = None
        self._first_line = line
        self._line_count = 0
        self._column = 0
        self._count = ""
        self._target = 0
        self._following = False
        self._settling = False
        self._opens: Errand[Opened] = Errand(self, self._plan_open, self._take, self._cannot_open)

    # opening

    def show(self, buffer: Buffer | None, *, line: int = 0) -> None:
        """Show a buffer, or what has become of the one that is shown; another from a line on, if given."""
        self._wanted = buffer
        self._first_line = line or self._first_line
        first = self._shown is None and buffer is not None and buffer.state == "sealed"
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
        return self._shown is not None and self._shown.name == name

    def _plan_open(self) -> Callable[[], Opened] | None:
        buffer = self._wanted
        if buffer is None or buffer.state == "evicted":
            self._let_go()
            return None

        def read() -> Opened:
            # A capture makes its files as it needs them: opened anew, it is always whole.
            reading = open_reading(self._store, buffer)
            return buffer, reading, reading.line_count

        return read

    def _take(self, opened: Opened) -> None:
        buffer, reading, line_count = opened
        if self._wanted is None or buffer.name != self._wanted.name or not self.is_attached:
            reading.close()
            return
        another = self._shown is None or self._shown.name != buffer.name
        grown = line_count != self._line_count or buffer.state == "running"
        if self._reading is not None:
            self._reading.close()
        self._shown, self._reading, self._line_count = buffer, reading, line_count
        if another or self._strips is None:
            self._strips = LineStrips(reading)
            self._open_at_its_place(buffer)
        else:
            self._strips.forget(reading)
            if grown:
                self._resize_to_lines()
                self._stay_at_end()
            self._following = self._following and self._is_running()
        self.refresh()
        self._tell_place()

    def _cannot_open(self) -> None:
        if self._shown is not None and self._wanted is not None and self._shown.name != self._wanted.name:
            self._let_go()  # what stands there is another's output

    def _open_at_its_place(self, buffer: Buffer) -> None:
        self._column, self._count, self._target = 0, "", 0
        self._resize_to_lines()
        self._following = buffer.state == "running" and not self._first_line
        self.scroll_to(y=0, animate=False, force=True)
        self._go_to_first_line()
        self._stay_at_end()

    def _go_to_first_line(self) -> None:
        if self._first_line and self.size.height and self._shown is not None:  # before the first layout it has no rows
            self.go_to_line(self._first_line)
            self._first_line = 0

    def _let_go(self) -> None:
        if self._reading is not None:
            self._reading.close()
        self._shown = self._reading = self._strips = None
        self._line_count = 0
        self._resize_to_lines()
        self.refresh()
        self._tell_place()

    def on_unmount(self) -> None:
        """Close the files."""
        if self._reading is not None:
            self._reading.close()
            self._reading = self._strips = None

    # where it stands

    @property
    def line_count(self) -> int:
        """Lines of the output as far as they have been taken in."""
        return self._line_count

    @property
    def following(self) -> bool:
        """Whether it stays at the end while the output grows."""
        return self._following

    def _resize_to_lines(self) -> None:
        size = Size(1, self._line_count)  # its width is no matter, and another one would mean another layout
        if size != self.virtual_size:
            self.virtual_size = size

    def _stay_at_end(self) -> None:
        if self._following:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True)

    def on_resize(self) -> None:
        """Another number of lines is on the screen."""
        self._go_to_first_line()
        self._stay_at_end()
        self._tell_place()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolling up lets go of the end, scrolling back down to it follows again."""
        super().watch_scroll_y(old_value, new_value)
        self._following = self._is_running() and new_value >= self.max_scroll_y
        self._tell_place()

    def _is_running(self) -> bool:
        return self._shown is not None and self._shown.state == "running"

    def _tell_place(self) -> None:
        first = min(self.scroll_offset.y + 1, self._line_count)
        last = min(self.scroll_offset.y + self.size.height, self._line_count)
        self.post_message(PlaceChanged(first, last, self._line_count, self._following, self._count))

    # drawing

    def render_line(self, y: int) -> Strip:
        """A line on the screen."""
        number, width, base = self.scroll_offset.y + y + 1, self.size.width, self.own_style
        if self._strips is None or number > self._line_count:
            return Strip.blank(width, base)
        styles = self.part_styles
        stream, text = self._line(number, self.size.height - y)
        gutter = self._gutter(number, stream, base, styles)
        room = max(width - gutter.cell_length, 0)
        return Strip.join([gutter, text.crop_extend(self._column, self._column + room, base)])

    def _line(self, number: int, ahead: int) -> tuple[str, Strip]:
        """(stream, drawn text) of a line; one that cannot be read any more is empty, and it is said."""
        if self._strips is None:
            return "out", Strip([], 0)
        try:
            return self._strips.line(number, ahead, self.own_style, self.part_styles)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return "out", Strip([], 0)

    def _gutter(self, number: int, stream: str, base: Style, styles: dict[str, Style]) -> Strip:
        digits = max(len(str(self._line_count)), _MIN_DIGITS)
        part = "target" if number == self._target else "gutter"
        mark = STREAM_MARKS.get(stream, "")
        if not mark:
            return Strip([Segment(f"{number:>{digits}}   ", base + styles[part])], digits + 3)
        numbered = Segment(f"{number:>{digits}} ", base + styles[part])
        return Strip([numbered, Segment(f"{mark} ", base + styles["stderr"])], digits + 3)

    def notify_style_update(self) -> None:
        """Colours have changed: what was drawn in the old ones goes."""
        super().notify_style_update()
        if self._strips is not None and self._reading is not None:
            self._strips.forget(self._reading)

    # keys

    def action_digit(self, digit: int) -> None:
        """Digits are collected for the G that may follow."""
        self._count = f"{self._count}{digit}".lstrip("0")[:_MAX_COUNT_DIGITS]
        self._tell_place()

    def _taken_count(self) -> int:
        count, self._count = int(self._count or 0), ""
        return count

    def go_to(self, text: str) -> bool:
        """Go where a text says (``42``, ``50%``); whether it says anything."""
        line = line_meant(text, self._line_count)
        if line is not None:
            self.go_to_line(line)
        return line is not None

    def go_to_line(self, number: int) -> None:
        """Show a line a third down the screen, its number marked."""
        self._target = max(1, min(number, self._line_count))
        self.scroll_to(y=max(self._target - 1 - self.size.height // 3, 0), animate=False, force=True)
        self.refresh()
        self._tell_place()

    def _scroll_lines(self, lines: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + lines, animate=False, force=True)

    def action_scroll_by(self, lines: int) -> None:
        """Scroll by lines, as many as were typed."""
        self._scroll_lines(lines * (self._taken_count() or 1))

    def action_page(self, pages: float) -> None:
        """Scroll by pages, one line of the old kept in sight."""
        self._count = ""
        self._scroll_lines(int(pages * max(self.size.height - 1, 1)))

    def action_top(self) -> None:
        """Go to the first line, or to the one typed."""
        self.go_to_line(count) if (count := self._taken_count()) else self.scroll_to(y=0, animate=False, force=True)

    def action_bottom(self) -> None:
        """Go to the last line, or to the one typed."""
        if count := self._taken_count():
            self.go_to_line(count)
        else:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True)

    def action_follow(self) -> None:
        """Go to the end and stay there while the capture goes on."""
        self._following = self._is_running()
        self.scroll_to(y=self.max_scroll_y, animate=False, force=True)
        self._tell_place()

    def action_sideways(self, steps: int) -> None:
        """Scroll sideways."""
        self._scroll_to_column(self._column + steps * _COLUMN_STEP)

    def action_line_start(self) -> None:
        """Back to the first column."""
        self._scroll_to_column(0)

    def action_line_end(self) -> None:
        """To the end of the longest line on the screen."""
        self._scroll_to_column(self._longest())

    def action_forget_count(self) -> None:
        """Forget the number typed so far; without one the key means what it means elsewhere."""
        if not self._count:
            raise SkipAction
        self._count = ""
        self._tell_place()

    def _scroll_to_column(self, column: int) -> None:
        self._column = max(0, min(column, self._longest()))
        self.refresh()

    def _longest(self) -> int:
        """Columns by which one may scroll so that the longest line on the screen is seen to its end."""
        if self._strips is None:
            return 0
        first = self.scroll_offset.y + 1
        last = min(first + self.size.height - 1, self._line_count)
        widths = (self._line(at, last - at)[1].cell_length for at in range(first, last + 1))
        room = self.size.width - max(len(str(self._line_count)), _MIN_DIGITS) - 3
        return max(max(widths, default=0) - room + 1, 0)
