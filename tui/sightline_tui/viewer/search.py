"""Searches in the viewer; its numbers are those of the viewer's lines."""

from collections.abc import Callable, Hashable, Mapping
from typing import cast

from rich.style import Style
from textual.strip import Strip

from sightline.light.named_tuple import NamedTuple
from sightline.search.engine import SearchPattern
from sightline.search.errors import Cancelled
from sightline.shape.source import Line
from sightline.store import Target
from sightline_tui.common.long_line import Middle
from sightline_tui.common.pane_search import Marks, PaneSearch
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.stream_search import NONE, StreamSearch
from sightline_tui.common.window import RowPlace
from sightline_tui.viewer.line_strips import AWAITED, read_middle
from sightline_tui.viewer.opened_output import OpenOutput
from sightline_tui.viewer.pane import OutputPane


class PlaceInLine(NamedTuple):
    """A place in a line that is too long to be shown whole.

    Attributes:
        number: number of the line.
        offset: bytes from the line's start to the place.
        character: index of its character in the shown text of the line.
    """

    number: int
    offset: int
    character: int = 0


class ViewerSearch(PaneSearch[StreamSearch]):
    """The search of a pane's output. In a line that is too long to be shown whole, it goes from match to match."""

    _pane: OutputPane

    def __init__(self, pane: OutputPane) -> None:
        super().__init__(pane)
        self._back = False
        self._awaited = 0  # the line of a hit that is still being read
        self._inside: PlaceInLine | None = None  # the present place in a long line
        self._sought: PlaceInLine | None = None  # where the next match in that line is searched from
        self._insides: StoreRead[tuple[StreamSearch, PlaceInLine, Middle | None]] = StoreRead(
            pane, self._plan_inside, self._take_inside, self._lost
        )

    def step(self, *, back: bool) -> None:
        """Go to the next hit or the previous one, in a long line to the next match."""
        if self._sought is not None:  # a match is being searched: the key waits
            self._queued.append(back)
            return
        at, self._back = self._inside, back
        if self._search is not None and at is not None and at.number == self._here()[0]:
            self._seek(PlaceInLine(at.number, at.offset + (not back)))
        else:
            super().step(back=back)

    def _forget(self) -> None:
        super()._forget()
        self._inside = self._sought = None
        self._awaited = 0
        self._back = False

    def draw(self, number: int, strip: Strip) -> Strip:
        """Draw a line with its hits marked."""
        return self.drawn(number, strip, here=number == self._pane.target)

    def marks(self, key: Hashable, strip: Strip) -> Marks:
        """Return the marks of a line; bytes have none, nor has a line that is still being read."""
        opened = self._pane.opened
        return () if opened is None or opened.hex or strip is AWAITED.strip else super().marks(key, strip)

    def _place(self) -> object:
        return self._pane.window.top, self._pane.target

    def _back_to(self, place: object) -> None:
        self._pane.back_to(*cast(tuple[RowPlace, int], place))

    def _here(self, *, back: bool = False) -> tuple[int, bool]:  # noqa: ARG002 (both ways alike)
        window, target = self._pane.window, self._pane.target
        return (target, True) if target and window.on_screen(target) else (window.top.line, False)

    def _engine(self) -> Callable[[SearchPattern, int], StreamSearch] | None:
        opened = self._pane.opened
        if opened is None:
            return None
        return lambda pattern, number: StreamSearch(
            pattern,
            lambda: opened.open_again(self._pane.store),
            lambda name: self._path(opened, name),
            number,
            matches=opened.hex,
        )

    def _path(self, opened: OpenOutput, stream: str) -> str:
        return self._pane.store.local_copy(Target(opened.buffer, stream), raw=opened.hex)

    def _go_to(self, number: int) -> None:
        self._inside = self._sought = None
        self._pane.go_near(number)
        self._show_hit(number)

    def came(self) -> None:
        """Go on with a hit whose line was still being read, unless the person has gone elsewhere."""
        if self._awaited and self._here() == (self._awaited, True):
            self._show_hit(self._awaited)

    def _show_hit(self, number: int) -> None:
        """Show where the hit is in its line, once that is there."""
        raw = self._raw(number)
        self._awaited = number if raw is None else 0
        if raw is None:
            return
        if raw[1].whole:
            self._bring_into_view(number)
        else:
            self._seek(PlaceInLine(number, raw[1].length if self._back else 0))

    def _bring_into_view(self, number: int) -> None:
        """Bring the first match of a line into view, in a long line the present one, if it lies beyond an edge."""
        strip, at = self._pane.drawn(number).strip, self._inside
        if spans := self.marks(number, strip):
            near = at.character if at is not None and at.number == number else 0
            self._pane.show_match(number, *min(spans, key=lambda span: abs(span[0] - near)))

    # within a line that is too long to be read whole

    def _raw(self, number: int) -> tuple[str, Line] | None:
        strips = self._pane.strips
        try:
            return strips.raw(number) if strips is not None else None
        except STORE_ERRORS as error:
            tell(self._pane.app, error)
            return None

    def _look_at(self, inside: PlaceInLine, middle: Middle | None) -> int:
        """Show the surroundings of a place in the line; return the index of its character there."""
        strips = self._pane.strips
        try:
            return strips.look_inside(inside.number, inside.offset, middle) if strips is not None else 0
        except STORE_ERRORS as error:
            tell(self._pane.app, error)
            return 0

    def _seek(self, sought: PlaceInLine) -> None:
        self._sought = sought
        self._insides.ask()

    def _plan_inside(self) -> Callable[[], tuple[StreamSearch, PlaceInLine, Middle | None]] | None:
        search, sought, back, opened = self._search, self._sought, self._back, self._pane.opened
        raw = self._raw(sought.number) if sought is not None else None
        if search is None or sought is None or raw is None or opened is None:
            self._sought = None
            return None
        stream, line = raw
        store = self._pane.store

        def look() -> tuple[StreamSearch, PlaceInLine, Middle | None]:
            try:
                found = search.within(stream, line.number, line.length, sought.offset, back=back)
            except Cancelled:
                found = NONE
            middle = None
            if found != NONE:
                reading = opened.open_again(store)
                try:
                    middle = read_middle(reading, stream, line, found)
                finally:
                    reading.close()
            return search, sought._replace(offset=found), middle

        return look

    def _lost(self) -> None:
        self._sought = None
        self._broken()

    def _take_inside(self, found: tuple[StreamSearch, PlaceInLine, Middle | None]) -> None:
        search, inside, middle = found
        if search is not self._search or self._sought is None:
            return
        if inside.number != self._sought.number:
            return
        gone_on, self._sought = self._inside is not None, None
        if inside.offset != NONE:
            self._inside = inside._replace(character=self._look_at(inside, middle))
            self._marks.pop(inside.number, None)
            self._bring_into_view(inside.number)
            self._redraw()
            if self._queued:
                self.step(back=self._queued.pop(0))
        elif gone_on:  # the last match of this line was passed
            self._inside = None
            super().step(back=self._back)

    def _on_screen(self) -> Mapping[Hashable, str]:
        numbers = sorted({place.line for place in self._pane.window.places()})
        drawn = {number: self._pane.drawn(number) for number in numbers}
        return {number: one.strip.text for number, one in drawn.items() if one is not AWAITED}

    def _marked(self, found: dict[Hashable, Marks]) -> None:
        super()._marked(found)
        if self._step is not None and self._step.number in found:
            self._bring_into_view(self._step.number)

    def _style(self, part: str) -> Style:
        return self._pane.part_style(part)

    def _tell(self) -> None:
        self._pane.tell_place()

    def _redraw(self) -> None:
        self._pane.changed()
