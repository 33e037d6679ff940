"""Shows the lines of a text with a cursor, and reads only the visible ones: an answer, or the text of a view."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.cache import FIFOCache
from textual.message import Message
from textual.strip import Strip

from sightline.shape.clean import clean_line
from sightline.shape.source import Line
from sightline.shape.summary import human_bytes
from sightline_tui.common.answer_text import ReadableLines
from sightline_tui.common.clipboard import copy
from sightline_tui.common.keys import named
from sightline_tui.common.row_view import RowView
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.visible_text import TAB_STOP, lone_controls_shown, pieces

LINE_BYTES = 1 << 14  # read of one line at most, half from each end
_COLUMN_STEP = 8
_KEPT_STRIPS = 300
_READ_AHEAD = 40  # lines that are read together with a needed one


class TextRows(RowView):
    """Lines, a row each; long ones are scrolled sideways."""

    PARTS = (*RowView.PARTS, "control")
    BINDINGS: ClassVar[list[BindingType]] = named(
        "lines",
        [
            Binding("enter", "choose", "Open"),
            Binding("y", "copy", "Copy the line", show=False),
            Binding("right,l", "sideways(1)", "Scroll right", show=False),
            Binding("left,h", "sideways(-1)", "Scroll left", show=False),
            Binding("circumflex_accent", "line_start", "Start of the lines", key_display="^", show=False),
        ],
    )

    @dataclass(eq=False, repr=False)
    class Chosen(Message):
        """A person has chosen a line: its number, from 1, and its text."""

        number: int
        text: str

    def __init__(self, *, id: str | None = None, leads: bool = True) -> None:  # noqa: A002
        """Make the widget.

        Args:
            id: id of the widget.
            leads: whether a line can be chosen, to go somewhere.
        """
        super().__init__(id=id)
        self._leads = leads
        self._text: ReadableLines | None = None
        self._column = 0
        self._strips: FIFOCache[int, Strip] = FIFOCache(_KEPT_STRIPS)

    def show(self, text: ReadableLines | None) -> None:
        """Show a text from its beginning, and close the one before."""
        if self._text is not None:
            self._text.close()
        self._text, self._column = text, 0
        self._strips.clear()
        self.set_rows(text.line_count if text else 0, cursor=0)

    def on_unmount(self) -> None:
        """Close the text."""
        if self._text is not None:
            self._text.close()
            self._text = None

    def draw(self, at: int, width: int) -> Strip:
        """Draw a line, made safe."""
        if at not in self._strips:
            self._read(at)
        strip = self._strips.get(at) or Strip([], 0)
        return strip.crop_extend(self._column, self._column + width, self.own_style)

    def _read(self, at: int) -> None:
        if self._text is None:
            return
        try:
            for place, (_, line) in enumerate(self._text.lines(at + 1, at + _READ_AHEAD, LINE_BYTES), at):
                self._strips[place] = drawn(line, self.own_style, self.part_styles)
        except STORE_ERRORS as error:
            self._strips[at] = Strip([], 0)
            tell(self.app, error)

    def notify_style_update(self) -> None:
        """Forget the drawn rows, since the colours have changed."""
        super().notify_style_update()
        self._strips.clear()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide a key that would do nothing."""
        return self._leads if action == "choose" else super().check_action(action, parameters)

    def _line(self) -> Line | None:
        """The line under the cursor; None if there is none, or it cannot be read, which is then reported."""
        if self._text is None or not self.row_count:
            return None
        try:
            return next((line for _, line in self._text.lines(self.cursor + 1, self.cursor + 1, LINE_BYTES)), None)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return None

    def choose(self) -> None:
        """Post that the line was chosen."""
        if self._leads and (line := self._line()) is not None:
            self.post_message(self.Chosen(self.cursor + 1, line.data.decode(errors="surrogateescape")))

    def action_copy(self) -> None:
        """Copy the line, as far as it was read."""
        if (line := self._line()) is not None:
            copy(self.app, clean_line(line.data))
            self.notify(f"Copied line {self.cursor + 1:,}", markup=False)

    def action_sideways(self, steps: int) -> None:
        """Scroll sideways."""
        self._column = max(0, self._column + steps * _COLUMN_STEP)
        self.refresh()

    def action_line_start(self) -> None:
        """Scroll back to the first column."""
        self._column = 0
        self.refresh()


def drawn(line: Line, base: Style, styles: dict[str, Style]) -> Strip:
    """Draw a raw line's text, made safe; for a long line its two ends, and how much is left out."""
    if line.whole:
        return Strip(_segments(line.data, base, styles))
    half = len(line.data) // 2
    gap = Segment(f" ⋯ {human_bytes(line.length - len(line.data))} not read ⋯ ", base + styles["dim"])
    return Strip([*_segments(line.data[:half], base, styles), gap, *_segments(line.data[half:], base, styles)])


def _segments(data: bytes, base: Style, styles: dict[str, Style]) -> Iterator[Segment]:
    for text, marked in pieces(clean_line(lone_controls_shown(data)).expandtabs(TAB_STOP)):
        yield Segment(text, base + styles["control"] if marked else base)
