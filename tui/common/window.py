"""Which rows of an output are on the screen: where it begins, and how one moves it."""

from collections.abc import Callable

from sightline.tui.common.folding import START, Place, Walk

_FAR_ROWS = 2_000  # further than this one goes by lines, since each row on the way would have to be read


class Window:
    """A screenful of rows.

    Attributes:
        count: lines of the output.
        rows: rows of the screen, 0 before it is known.
        wraps: whether long lines take several rows.
        top: the first row on the screen.
    """

    def __init__(self, height: Callable[[int], int]) -> None:
        """Make it; `height` tells the rows of a line where long lines take several."""
        self.count = self.rows = 0
        self.wraps = False
        self.top = START
        self._height = height

    def _walk(self) -> Walk:
        return Walk(self.count, self._height if self.wraps else None)

    @property
    def end(self) -> Place:
        """The furthest that one can go down: the last row stands at the bottom."""
        return self._walk().last(max(self.rows, 1))

    @property
    def at_end(self) -> bool:
        """Whether the last row is on the screen."""
        return self.top >= self.end

    def places(self) -> list[Place]:
        """The rows on the screen."""
        return self._walk().shown(self.top, self.rows)

    def on_screen(self, number: int) -> bool:
        """Whether a line begins on the screen."""
        places = self.places()
        return bool(places) and places[0] <= Place(number) <= places[-1]

    def move_to(self, place: Place) -> None:
        """Begin with a row, or as near to it as there are rows for a whole screen."""
        self.top = max(START, min(self._walk().held(place), self.end))

    def move_by(self, rows: int) -> None:
        """Go down, or up where it is negative."""
        if abs(rows) > _FAR_ROWS:
            self.move_to(Place(self.top.line + rows))
        else:
            self.move_to(self._walk().on(self.top, rows))

    def show(self, place: Place, above: int) -> None:
        """Go where a row has so many above it."""
        self.move_to(self._walk().on(place, -above))

    def bring_in(self, number: int) -> None:
        """Go no further than needed to have a line on the screen, its beginning in any case."""
        if number <= self.top.line:
            self.move_to(Place(number))
            return
        walk = self._walk()
        bottom = walk.on(Place(number + 1), -1) if number < self.count else walk.last(1)
        if bottom > self.places()[-1]:
            self.move_to(min(walk.on(bottom, 1 - self.rows), Place(number)))
