"""The base of the pane that shows an output, as far as the parts that search, mark or draw it need to know."""

from abc import abstractmethod
from collections.abc import Callable

from sightline.store import Reading
from sightline_tui.common.part_styles import Styled
from sightline_tui.common.row_scroll import RowScroll
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.window import RowPlace, ShownLines
from sightline_tui.viewer.line_strips import NOTHING, DrawnLine, LineStrips
from sightline_tui.viewer.opened_output import OpenOutput
from sightline_tui.viewer.overview_strip import OverviewStrip


class OutputPane(Styled, RowScroll):
    """Reads those lines of an output that are on the screen; its scrollbar is an overview of the whole.

    Attributes:
        store: the store that has the buffers.
        strips: the drawn lines; None if nothing is shown.
        column: the leftmost column on the screen.
        target: the line that was gone to; 0 for none.
    """

    def __init__(self, store: Reading, height: Callable[[int], int]) -> None:
        """Make the widget; `height` gives the rows of a line, if lines can take several."""
        super().__init__(height, id="viewer")
        self.store = store
        self.strips: LineStrips | None = None
        self.column = 0
        self.target = 0

    # what it shows

    @property
    @abstractmethod
    def opened(self) -> OpenOutput | None:
        """The output that is shown; None if there is none."""

    @property
    def shows_bytes(self) -> bool:
        """Whether bytes are shown instead of lines."""
        return self.opened is not None and self.opened.hex

    @property
    def line_count(self) -> int:
        """Number of lines that have been taken in."""
        return self.window.count

    @property
    def grows(self) -> bool:
        """Whether the output is still being written."""
        return self.opened is not None and self.opened.running

    def drawn(self, number: int) -> DrawnLine:
        """Return a drawn line; one that cannot be read any more is empty, and the error is shown."""
        if self.strips is None:
            return NOTHING
        try:
            return self.strips.line(number)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return NOTHING

    def origin(self, number: int) -> tuple[str, int]:
        """Return the (stream, offset) at which a line begins."""
        stream = self.drawn(number).stream
        return stream, self.opened.reading.offsets(number).get(stream, 0) if self.opened is not None else 0

    @abstractmethod
    def number_at(self, y: int) -> int:
        """Return the number of the line in a row of the screen; below the last line, the last; 0 if there are none."""

    # where it stands

    @abstractmethod
    def tell_place(self) -> None:
        """Post the place in the output."""

    @abstractmethod
    def go_near(self, number: int) -> None:
        """Go to a line and mark its number; scroll only if it is not on the screen."""

    @abstractmethod
    def show_only(self, only: ShownLines | None) -> None:
        """Show only some lines, from the same place on; None for all."""

    @abstractmethod
    def show_match(self, number: int, start: int, end: int) -> None:
        """Bring some characters of a line into view, by scrolling rows or columns."""

    def back_to(self, place: RowPlace, target: int) -> None:
        """Return to an earlier place."""
        self.target = target
        self.move(lambda: self.window.move_to(place))

    @abstractmethod
    def reveal(self, number: int) -> None:
        """Show all lines if this one, to which somebody goes, is hidden."""

    def bring_in(self, number: int) -> None:
        """Scroll just far enough to show a line."""
        self.reveal(number)
        self.move(lambda: self.window.bring_in(number))

    # the overview

    @property
    def overview(self) -> OverviewStrip:
        """The strip beside the pane that maps the whole output."""
        bar = self.vertical_scrollbar
        assert isinstance(bar, OverviewStrip)
        return bar

    def new_scrollbar(self) -> OverviewStrip:
        """The scrollbar for Textual, which is the overview."""
        return OverviewStrip()
