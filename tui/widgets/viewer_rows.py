"""Draws the rows of the viewer: the gutter with number, marks and times, then the text or a part of it."""

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from sightline.tui.failures import STORE_ERRORS, tell
from sightline.tui.output.elapsed import TIME_COLUMNS, WAIT_COLUMNS, is_long, time_text, wait_text
from sightline.tui.output.folding import Place, fold, folds
from sightline.tui.output.painting import Paint
from sightline.tui.widgets.line_strips import Drawn
from textual.geometry import Size
from textual.strip import Strip

if TYPE_CHECKING:
    from sightline.tui.widgets.viewer import Viewer

STREAM_MARKS = {"err": "▌"}
"""What stands between number and text; the other streams have nothing there."""

FAILURE_MARK = "!"
_MIN_DIGITS = 3
_OFFSET_DIGITS = 8
_MARK_COLUMNS = 3  # failure, stream, space


class Rows:
    """Draws what a viewer shows. Asked row by row, it works out once for all of them where they stand."""

    def __init__(self, viewer: "Viewer") -> None:
        self._viewer = viewer
        self._places: list[Place] | None = None
        self._size = Size(0, 0)
        self._times: dict[int, int] = {}
        self._with_times = False
        self._whole = 0  # nanoseconds that all lines took

    def changed(self) -> None:
        """Forget where the rows stand."""
        self._places = None

    def paint(self) -> Paint:
        """What lines are drawn in, as the theme has it now."""
        viewer = self._viewer
        return Paint(viewer.own_style, viewer.part_styles, viewer.app.ansi_theme, viewer.part_style)

    # where rows stand

    def places(self) -> list[Place]:
        """The places of the rows on the screen, fewer where the output ends."""
        size = self._viewer.size  # known to who draws before it is told
        if self._places is None or self._size != size:
            self._size, self._viewer.window.rows = size, size.height
            self._places = self._viewer.window.places()
            self._times = self._times_shown(self._places) if self._timed else {}
        return self._places

    def height_of(self, number: int) -> int:
        """How many rows a line takes."""
        return len(folds(self._viewer.drawn(number).strip, self.room))

    def number_at(self, y: int) -> int:
        """The line in a row of the screen; the last one's below it, 0 where there are none."""
        places = self.places()
        return places[max(0, min(y, len(places) - 1))].line if places else 0

    def longest(self) -> int:
        """Columns by which one may scroll so that the longest line on the screen is seen to its end."""
        if self._viewer.window.wraps:
            return 0
        widths = (self._viewer.drawn(place.line).strip.cell_length for place in self.places())
        return max(max(widths, default=0) - self.room + 1, 0)

    # times

    def toggle_times(self) -> str:
        """Show when lines came, or no longer; where that is not known, why, in words."""
        opened = self._viewer.opened
        self._with_times = not self._with_times
        if self._with_times and opened is not None and not self._timed:
            self._with_times = False
            return "When its lines came is not known: it was not captured from a running command"
        self.changed()
        return ""

    @property
    def _timed(self) -> bool:
        """Whether the column of times is there; not where none are known."""
        opened = self._viewer.opened
        return self._with_times and opened is not None and opened.timed

    def _times_shown(self, places: list[Place]) -> dict[int, int]:
        opened = self._viewer.opened
        if opened is None or not places:
            return {}
        first, last, count = places[0].line, places[-1].line, opened.line_count
        try:
            self._whole = next(opened.reading.times(count, count), 0)
            return dict(enumerate(opened.reading.times(first, last + 1), first))
        except STORE_ERRORS as error:
            tell(self._viewer.app, error)
            return {}

    # drawing

    def row(self, y: int) -> Strip:
        """A row on the screen."""
        viewer, base = self._viewer, self._viewer.own_style
        width, places = viewer.size.width, self.places()
        if y >= len(places):
            return Strip.blank(width, base)
        number, row = places[y]
        drawn = viewer.drawn(number)
        text = viewer.with_hits(number, drawn.strip)
        room = max(width - self._gutter_columns, 0)
        if viewer.window.wraps:
            text = fold(text, self.room, row).crop_extend(0, room, base)
        else:
            text = text.crop_extend(viewer.column, viewer.column + room, base)
        if viewer.selecting.holds(number):
            text = _over(text, viewer.part_style("selected"))
        return Strip.join([self._gutter(number, row, drawn, base), text]).crop(0, width)

    @property
    def _digits(self) -> int:
        opened = self._viewer.opened
        if opened is not None and opened.hex:
            return _OFFSET_DIGITS
        return max(len(str(self._viewer.line_count)), _MIN_DIGITS)

    @property
    def _gutter_columns(self) -> int:
        return self._digits + _MARK_COLUMNS + (TIME_COLUMNS + WAIT_COLUMNS + 2 if self._timed else 0)

    @property
    def room(self) -> int:
        """Columns for the text."""
        return max(self._viewer.size.width - self._gutter_columns, 1)

    def _gutter(self, number: int, row: int, drawn: Drawn, base: Style) -> Strip:
        """What stands before the text; of a line on several rows, the number and the time only at the first."""
        styles, viewer = self._viewer.part_styles, self._viewer
        numbered = base + styles["target" if number in (viewer.target, viewer.selecting.head) else "gutter"]
        mark = STREAM_MARKS.get(drawn.stream, "")
        segments = [Segment(f"{'' if row else self._numbered(number, drawn):>{self._digits}}", numbered)]
        failed = not row and viewer.is_failure(drawn)
        if mark or failed:
            segments.append(Segment(FAILURE_MARK if failed else " ", base + viewer.part_style("failure")))
            segments.append(Segment(f"{mark or ' '} ", base + styles["stderr"]))
        else:
            segments.append(Segment("   ", base))
        if self._timed:
            segments += (
                self._time(number, base) if not row else [Segment(" " * (TIME_COLUMNS + WAIT_COLUMNS + 2), base)]
            )
        return Strip(segments, self._gutter_columns)

    def _numbered(self, number: int, drawn: Drawn) -> str:
        opened = self._viewer.opened
        if opened is not None and opened.hex:
            from sightline.tui.output.hexdump import offset_text

            return offset_text(drawn.line)
        return str(number)

    def _time(self, number: int, base: Style) -> list[Segment]:
        """When a line came, and how long one waited for the next where that was long."""
        time = self._times.get(number)
        wait = self._times.get(number + 1, time or 0) - (time or 0)
        told = wait_text(wait) if is_long(wait, self._whole) else ""
        return [
            Segment(
                f"{'' if time is None else time_text(time):>{TIME_COLUMNS}} ", base + self._viewer.part_style("time")
            ),
            Segment(f"{told:<{WAIT_COLUMNS}} ", base + self._viewer.part_style("wait")),
        ]


def _over(strip: Strip, style: Style) -> Strip:
    """A strip with a style on top of its own."""
    return Strip([Segment(text, (own or Style.null()) + style) for text, own, _ in strip], strip.cell_length)
