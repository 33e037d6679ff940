"""Draws the rows of the viewer: the gutter with number, marks and times, then the text or a part of it."""

from bisect import bisect_right
from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip

from sightline.light.named_tuple import NamedTuple
from sightline_tui.common.hexdump import offset_text
from sightline_tui.common.line_painter import Paint
from sightline_tui.common.output_reader import OutputReader
from sightline_tui.common.pens import SIXTEEN
from sightline_tui.common.phrases import ALTERED
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.window import RowPlace, fold, folds
from sightline_tui.viewer.annotations import AnnotatedPane
from sightline_tui.viewer.line_strips import DrawnLine
from sightline_tui.viewer.opened_output import OpenOutput

_SECOND = 1_000_000_000
LONG_SECONDS = 1.0
LONG_SHARE = 0.02
SHORTEST_LONG_SECONDS = 0.1
"""A wait is marked if it took a second, or in a short run a 50th of it and at least a tenth of a second."""

TIME_COLUMNS, WAIT_COLUMNS = 9, 7


def is_long(wait: int, whole: int) -> bool:
    """Return whether a wait for the next line is marked.

    Args:
        wait: nanoseconds of the wait.
        whole: nanoseconds from the first line to the last.
    """
    return wait >= min(LONG_SECONDS * _SECOND, max(SHORTEST_LONG_SECONDS * _SECOND, LONG_SHARE * whole))


def time_text(nanoseconds: int) -> str:
    """Write a time since the start: ``12.345``, ``3:07.2``, ``1:02:03``; within a day it fits into TIME_COLUMNS."""
    minutes, rest = divmod(nanoseconds, 60 * _SECOND)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest // _SECOND:02}"
    tenths = rest // (_SECOND // 10)
    return f"{minutes}:{tenths // 10:02}.{tenths % 10}" if minutes else f"{rest // 1_000_000 / 1000:.3f}"


def wait_text(nanoseconds: int) -> str:
    """Write a wait: ``+0.4s``, ``+12s``, ``+3m20s``, ``+2h05m``, in at most WAIT_COLUMNS."""
    seconds = nanoseconds / _SECOND
    if seconds < 9.95:
        return f"+{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"+{whole}s"
    if whole < 3600:
        return f"+{whole // 60}m{whole % 60:02}s"
    return f"+{whole // 3600}h{whole // 60 % 60:02}m"


STREAM_MARKS = {"err": "▌"}
"""The mark of a stream between number and text; the other streams have none."""

SEEN_MARKS = {"exact": "▎", "matched": "┊", "cut": "▘", "asked": "·"}
"""The mark before the number of a line that somebody was shown; other lines have none."""

FATE_MARKS = {"gone": "╎", "unsure": "▏"}
"""The marks of a line that no context has any more, and of one of which that is not known."""

UNSEEN_MARK = "○"
"""The mark of a line that no agent saw, since a tint says nothing to whoever does not see it."""

FAILURE_MARK = "!"
UNJUDGED_MARK = "?"
"""The mark of a line that looks like a failure and is not judged, such as an error in a file that was read."""
GOES_ON = "›"  # at the right edge of a line that continues
_NOTE_MARK = "✎"
_MIN_DIGITS = 2
_OFFSET_DIGITS = 8
_MARK_COLUMNS = 3  # failure, stream, space
_TIMES_COLUMNS = 18  # time, wait, a space after each


class _TimesOf(NamedTuple):
    """Lines whose times are wanted: each one, or all from the first to the last."""

    opened: OpenOutput
    numbers: tuple[int, ...]
    is_range: bool


class _Timed(NamedTuple):
    """The times of lines and of the last one of the output, in nanoseconds since the capture began."""

    of: _TimesOf
    whole: int
    times: dict[int, int]


def _read_times(reading: OutputReader, wanted: _TimesOf) -> tuple[int, dict[int, int]]:
    """Return the time of the last line, and those of the lines and of what follows each, by number. In any thread."""
    count = wanted.opened.line_count
    whole = next(reading.times(count, count), 0)
    if wanted.is_range:
        first, last = wanted.numbers
        return whole, dict(enumerate(reading.times(first, last + 1), first))
    return whole, {
        number: came for line in wanted.numbers for number, came in enumerate(reading.times(line, line + 1), line)
    }


class RowPainter:
    """Draws what a pane shows, row by row; the places of all rows are worked out once.

    Attributes:
        room: columns for the text.
    """

    def __init__(self, pane: AnnotatedPane) -> None:
        self._pane = pane
        self._places: list[RowPlace] | None = None
        self._paint: Paint | None = None
        self._size = Size(0, 0)
        self._times: dict[int, int] = {}
        self._timing: StoreRead[_Timed] = StoreRead(pane, self._plan_times, self._take_times, self._no_times)
        self._wanted_times: _TimesOf | None = None  # of lines whose times are awaited
        self._came: _Timed | None = None
        self._with_times = False
        self._whole = 0  # nanoseconds from the first line to the last
        self._timed = False  # whether the column of times is shown
        self._digits = _MIN_DIGITS
        self._marked = False  # whether the column of marks for seen lines is shown
        self._noted = False  # whether the column of marks for notes is shown
        self._columns = self._gutter_columns = 0
        self.room = 1

    def changed(self) -> None:
        """Forget the places of the rows, and their colours."""
        self._places = self._paint = None
        self._measure()

    def _measure(self) -> None:
        """Measure the columns of the gutter and of the text."""
        pane, opened = self._pane, self._pane.opened
        self._size = pane.size
        in_hex = opened is not None and opened.hex
        self._timed = self._with_times and opened is not None and opened.timed and not in_hex
        audited = pane.known_audit
        self._marked = not in_hex
        self._noted = self._marked and audited is not None and audited.has_notes
        self._digits = _OFFSET_DIGITS if in_hex else max(len(str(pane.line_count)), _MIN_DIGITS)
        self._gutter_columns = self._marked + self._digits + self._noted + _MARK_COLUMNS
        self._gutter_columns += _TIMES_COLUMNS if self._timed else 0
        self._columns = pane.columns
        self.room = max(self._columns - self._gutter_columns, 1)

    def paint(self) -> Paint:
        """The colours of lines in the present theme."""
        if self._paint is None:
            pane = self._pane
            theme = SIXTEEN if pane.app.console.color_system == "standard" else pane.app.ansi_theme
            self._paint = Paint(pane.own_style, pane.part_styles, None if pane.app.no_color else theme, pane.part_style)
        return self._paint

    # where rows stand

    def places(self) -> list[RowPlace]:
        """The places of the rows on the screen; fewer than rows if the output ends above."""
        if self._places is None or self._size != self._pane.size:  # drawing can come before the resize is reported
            self._measure()
            self._pane.window.rows = self._size.height
            self._places = self._pane.window.places()
            self._times = self._times_shown(self._places) if self._timed else {}
        return self._places

    def height_of(self, number: int) -> int:
        """Return how many rows a line takes."""
        return len(folds(self._pane.drawn(number).strip, self.room))

    def place_of(self, number: int, character: int) -> RowPlace:
        """Return the row in which a character of a line stands."""
        starts = folds(self._pane.drawn(number).strip, self.room) if self._pane.window.wraps else (0,)
        return RowPlace(number, max(bisect_right(starts, character) - 1, 0))

    def number_at(self, y: int) -> int:
        """Return the number of the line in a row of the screen; below the last line, the last; 0 if there are none."""
        places = self.places()
        return places[max(0, min(y, len(places) - 1))].line if places else 0

    def longest(self) -> int:
        """Columns to scroll until the end of the longest line on the screen is visible."""
        if self._pane.window.wraps:
            return 0
        widths = (self._pane.drawn(place.line).strip.cell_length for place in self.places())
        return max(max(widths, default=0) - self.room + 1, 0)

    # times

    @property
    def with_times(self) -> bool:
        """Whether times are shown where they are known."""
        return self._with_times

    def toggle_times(self) -> str:
        """Show or hide the times of lines; if they are not known, return why."""
        opened = self._pane.opened
        self._with_times = not self._with_times
        if self._with_times and opened is not None and not opened.timed:
            self._with_times = False
            return "When its lines came is not known: it was not captured from a running command"
        self.changed()
        return ""

    def _times_shown(self, places: list[RowPlace]) -> dict[int, int]:
        opened = self._pane.opened
        if opened is None or not places:
            return {}
        is_range = self._pane.window.only is None
        lines = tuple(dict.fromkeys(place.line for place in places))
        wanted = _TimesOf(opened, (lines[0], lines[-1]) if is_range else lines, is_range)
        if opened.may_wait:
            known = self._came if self._came is not None and self._came.of.opened.reading is opened.reading else None
            if known is None or known.of != wanted:
                self._wanted_times = wanted
                self._timing.ask()
            self._whole, came = (known.whole, known.times) if known is not None else (0, {})
            return came
        try:
            self._whole, came = _read_times(opened.reading, wanted)
        except STORE_ERRORS as error:
            tell(self._pane.app, error)
            return {}
        return came

    def _plan_times(self) -> Callable[[], _Timed] | None:
        wanted, store = self._wanted_times, self._pane.store
        if wanted is None or (self._came is not None and self._came.of == wanted):
            return None

        def read() -> _Timed:
            reading = wanted.opened.open_again(store)
            try:
                return _Timed(wanted, *_read_times(reading, wanted))
            finally:
                reading.close()

        return read

    def _take_times(self, came: _Timed) -> None:
        self._came = came
        self._pane.changed()

    def _no_times(self) -> None:
        """Show no times for these lines, since each drawing would ask for them again."""
        if self._wanted_times is not None:
            self._came = _Timed(self._wanted_times, 0, {})

    # drawing

    def draw_ahead(self, *, back: bool) -> None:
        """Draw the lines that the next page key will show, which takes a third of its time, for quick paging."""
        places, count = self.places(), self._size.height
        if not places or self._pane.window.only is not None:
            return
        first = max(places[0].line - count, 1) if back else places[-1].line + 1
        for number in range(first, min(first + count, self._pane.line_count + 1)):
            self._pane.drawn(number)

    def row(self, y: int) -> Strip:
        """Draw a row of the screen."""
        pane, base, places = self._pane, self._pane.own_style, self.places()
        width = self._columns
        if y >= len(places):
            return Strip.blank(width, base)
        number, row = places[y]
        drawn = pane.drawn(number)
        text = pane.with_hits(number, drawn.strip)
        if pane.window.wraps:
            text, column = fold(text, self.room, row), 0
        else:
            column = pane.column
        goes_on = text.cell_length - column > self.room
        if column or goes_on:
            text = text.crop(column, column + self.room - goes_on)
        segments = [*text, Segment(" " * (self.room - goes_on - text.cell_length), base)]
        if goes_on:
            segments.append(Segment(GOES_ON, base + pane.part_styles["dim"]))
        if stands_out := self._stands_out(number, drawn):
            chosen = Style(bgcolor=pane.part_style(stands_out).bgcolor)  # the text keeps its colours
            keeps = stands_out == "unseen"  # what was found in it has a background of its own
            segments = [
                Segment(piece, own if keeps and own and own.bgcolor != base.bgcolor else (own or base) + chosen)
                for piece, own, _ in segments
            ]
        strip = Strip([*self._gutter(number, row, drawn, base), *segments], self._gutter_columns + self.room)
        return strip if strip.cell_length == width else strip.crop(0, width)

    def _stands_out(self, number: int, drawn: DrawnLine) -> str:
        """Return the part whose background a line has; empty for none."""
        pane = self._pane
        if pane.selection.holds(number):
            return "selected"
        if (audit := pane.known_audit) is None:
            return ""
        return "pointed" if audit.is_pointed_at(drawn) else "unseen" if self._is_unseen(drawn) else ""

    def _is_unseen(self, drawn: DrawnLine) -> bool:
        """Return whether it is known that no agent saw a line; of a running capture nobody was shown, it is not."""
        audit, opened = self._pane.known_audit, self._pane.opened
        if audit is None or audit.marks is None or opened is None or opened.hex:
            return False
        return audit.is_unseen(drawn) and bool(audit.marks.coverage.contributions or not opened.running)

    def _seen(self, drawn: DrawnLine, base: Style) -> Segment:
        audited = self._pane.known_audit
        grade = audited.grade(drawn) if audited is not None else ""
        if audited is not None and audited.marks is not None and drawn.stream in audited.marks.altered:
            return Segment(ALTERED, base + self._pane.part_style("error"))
        if not grade and self._is_unseen(drawn):
            return Segment(UNSEEN_MARK, base + self._pane.part_style("asked"))
        if audited is not None and grade and (fate := audited.fate(drawn)):
            return Segment(FATE_MARKS[fate], base + self._pane.part_style(fate))
        return Segment(SEEN_MARKS[grade], base + self._pane.part_style(grade)) if grade else Segment(" ", base)

    def _note(self, drawn: DrawnLine, base: Style) -> Segment:
        audited = self._pane.known_audit
        if audited is None or not audited.is_noted(drawn):
            return Segment(" ", base)
        return Segment(_NOTE_MARK, base + self._pane.part_style("note"))

    def _gutter(self, number: int, row: int, drawn: DrawnLine, base: Style) -> list[Segment]:
        """Draw what stands before the text; for a line on several rows, number and time only on the first."""
        styles, pane = self._pane.part_styles, self._pane
        numbered = base + styles["target" if number in (pane.target, pane.selection.head) else "gutter"]
        mark = STREAM_MARKS.get(drawn.stream, "")
        segments = [Segment(f"{'' if row else self._numbered(number, drawn):>{self._digits}}", numbered)]
        if self._marked:
            segments.insert(0, self._seen(drawn, base))
        if self._noted:
            segments.append(self._note(drawn, base))
        overlooked = not row and self._marked and pane.known_audit is not None and pane.known_audit.is_overlooked(drawn)
        failed = True if overlooked else None if row else pane.is_failure(drawn)
        if mark or failed is not None:
            style = pane.part_style("overlooked" if overlooked else "failure" if failed else "unjudged")
            told = {True: FAILURE_MARK, False: UNJUDGED_MARK, None: " "}[failed]
            segments.append(Segment(told, base if failed is None else base + style))
            segments.append(Segment(f"{mark or ' '} ", base + styles["stderr"]))
        else:
            segments.append(Segment("   ", base))
        if self._timed:
            segments += self._time(0 if row else number, base)
        return segments

    def _numbered(self, number: int, drawn: DrawnLine) -> str:
        opened = self._pane.opened
        if opened is not None and opened.hex:
            return offset_text(drawn.line)
        return str(number)

    def _time(self, number: int, base: Style) -> list[Segment]:
        """Draw when a line came, and a long wait for the next; nothing for line 0."""
        came = self._times.get(number)
        when = "" if came is None else time_text(came)
        wait = 0 if came is None else self._times.get(number + 1, came) - came
        told = wait_text(wait) if is_long(wait, self._whole) and wait else ""
        return [
            Segment(f"{when:>{TIME_COLUMNS}} ", base + self._pane.part_style("time")),
            Segment(f"{told:<{WAIT_COLUMNS}} ", base + self._pane.part_style("wait")),
        ]
