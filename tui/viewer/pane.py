"""The pane that shows an output: what those know of it who look for something in it, mark it or draw it."""

from abc import abstractmethod
from collections.abc import Callable

from sightline.store import Reading
from sightline.tui.common.part_styles import Styled
from sightline.tui.common.row_scroll import RowScroll
from sightline.tui.common.store_errors import STORE_ERRORS, tell
from sightline.tui.common.window import Place
from sightline.tui.viewer.line_strips import NOTHING, DrawnLine, LineStrips
from sightline.tui.viewer.opened_output import OpenOutput
from sightline.tui.viewer.overview_strip import OverviewStrip


class OutputPane(Styled, RowScroll):
    """Has an output, of which it reads the lines that are on the screen; its scrollbar is an overview of the whole.

    Attributes:
        store: whose buffers it shows.
        strips: the drawn lines of what is shown, None where nothing is.
        column: the first column on the screen.
        target: the line that was gone to, 0 for none.
    """

    def __init__(self, store: Reading, height: Callable[[int], int]) -> None:
        """Make the widget; `height` tells the rows of a line, where lines take several."""
        super().__init__(height, id="viewer")
        self.store = store
        self.strips: LineStrips | None = None
        self.column = 0
        self.target = 0

    # what it shows

    @property
    @abstractmethod
    def opened(self) -> OpenOutput | None:
        """The output that is shown, None where there is none."""

    @property
    def shows_bytes(self) -> bool:
        """Whether it is bytes that are shown, and no lines."""
        return self.opened is not None and self.opened.hex

    @property
    def line_count(self) -> int:
        """Lines of the output as far as they have been taken in."""
        return self.window.count

    @property
    def grows(self) -> bool:
        """Whether what it shows is still written."""
        return self.opened is not None and self.opened.running

    def drawn(self, number: int) -> DrawnLine:
        """A line as it is shown; one that cannot be read any more is empty, and it is said."""
        if self.strips is None:
            return NOTHING
        try:
            return self.strips.line(number)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return NOTHING

    def origin(self, number: int) -> tuple[str, int]:
        """(stream, offset) at which a line begins."""
        stream = self.drawn(number).stream
        return stream, self.opened.reading.offsets(number).get(stream, 0) if self.opened is not None else 0

    @abstractmethod
    def number_at(self, y: int) -> int:
        """The line in a row of the screen; the last one's below it, 0 where there are none."""

    # where it stands

    @abstractmethod
    def tell_place(self) -> None:
        """Tell where it stands."""

    @abstractmethod
    def go_near(self, number: int) -> None:
        """Mark a line's number, and show it where it is not on the screen yet."""

    @abstractmethod
    def show_match(self, number: int, start: int, end: int) -> None:
        """Bring some characters of a line into view: by rows, or sideways."""

    def back_to(self, place: Place, target: int) -> None:
        """Go back to where one was."""
        self.target = target
        self.move(lambda: self.window.move_to(place))

    def bring_in(self, number: int) -> None:
        """Move no further than needed to have a line on the screen."""
        self.move(lambda: self.window.bring_in(number))

    # the overview

    @property
    def overview(self) -> OverviewStrip:
        """The strip beside it, on which the whole of it stands."""
        bar = self.vertical_scrollbar
        assert isinstance(bar, OverviewStrip)
        return bar

    def new_scrollbar(self) -> OverviewStrip:
        """What Textual has it scrolled by: the overview."""
        return OverviewStrip()
