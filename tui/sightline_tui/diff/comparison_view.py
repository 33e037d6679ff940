"""Shows a comparison: hunks of two outputs, side by side or one below the other; only visible lines are read."""

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import ClassVar, cast

from rich.style import Style
from textual.strip import Strip

from sightline.search.engine import SearchPattern
from sightline_tui.common.messages import DiffMoved
from sightline_tui.common.pane_search import PaneSearch
from sightline_tui.common.part_styles import Styled
from sightline_tui.common.row_pane import RowPane
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.stream_search import HitStep
from sightline_tui.diff.comparison import ComparisonResult
from sightline_tui.diff.diff_rows import DiffRow, DiffRows, RowKind
from sightline_tui.diff.diff_search import DiffSearch, SearchRows
from sightline_tui.diff.row_strips import RowLook, RowStrips

KEPT_ABOVE = 3  # rows that stay visible above a hunk that was gone to


class ComparisonView(Styled, RowPane, can_focus=True):
    """Rows with a cursor, which stands on one of the two sides."""

    PREFIX = "diff-view"
    PARTS = (
        "gutter", "mark", "removed", "added", "removed-word", "added-word", "ignored", "blank", "fold", "control",
        "cursor", "selected", "match", "here",
    )  # fmt: skip
    COMPONENT_CLASSES: ClassVar = {f"diff-view--{part}" for part in PARTS}

    def __init__(self) -> None:
        super().__init__(id="diff-view")
        self._compared: ComparisonResult | None = None
        self._strips: RowStrips | None = None
        self._unified = False
        self._cursor = 0
        self._anchor: int | None = None
        self._right = True
        self._column = 0
        self._count = ""
        self._search: DiffPaneSearch | None = None

    # what it shows

    @property
    def compared(self) -> ComparisonResult | None:
        """The comparison that is shown."""
        return self._compared

    @property
    def search(self) -> "DiffPaneSearch":
        """The search in it; made with the first search."""
        if self._search is None:
            self._search = DiffPaneSearch(self)
        return self._search

    @property
    def unified(self) -> bool:
        """Whether the sides stand one below the other."""
        return self._unified

    @property
    def rows(self) -> DiffRows | None:
        """The rows of the comparison."""
        return self._strips.rows if self._strips is not None else None

    def show(self, compared: ComparisonResult, *, unified: bool) -> None:
        """Show a comparison, and close it with the next; with the same sides as before, the cursor keeps its line."""
        line = self._line_at(self._cursor) if self._compared is not None else None
        self._close()
        self._compared = compared
        self._lay_out(unified)
        self._go_to(self._row_of(line) if line is not None else self._first_hunk(), lead=KEPT_ABOVE)

    def lay_out(self, *, unified: bool) -> None:
        """Show the same comparison side by side, or one side below the other."""
        if self._compared is not None and unified != self._unified:
            line = self._line_at(self._cursor)
            self._lay_out(unified)
            self._go_to(self._row_of(line))

    def _lay_out(self, unified: bool) -> None:
        assert self._compared is not None
        folds = self.rows.folds if self.rows is not None else True
        self._unified = unified
        rows = DiffRows(self._compared.comparison, unified=unified)
        if not folds:
            rows.fold(False)
        self._strips = RowStrips(self._compared, rows, unified=unified)
        self._anchor = None
        if self._search is not None:
            self._search.shown_otherwise(same=False)
        self._resize_to_rows()

    def _resize_to_rows(self) -> None:
        self.set_height(len(self.rows or ()))
        self.refresh()

    def _close(self) -> None:
        if self._compared is not None:
            self._compared.close()
        self._compared = self._strips = None

    def on_unmount(self) -> None:
        """Close the files, and end a running search."""
        if self._search is not None:
            self._search.clear()
        self._close()

    # drawing

    def render_line(self, y: int) -> Strip:
        """Draw a row of the screen."""
        at, width, base = self.scroll_offset.y + y, self.columns, self.own_style
        if self._strips is None or at >= len(self._strips.rows):
            return Strip.blank(width, base)
        try:
            return self._strips.draw(self._strips.rows[at], self._look(at))
        except STORE_ERRORS as error:
            tell(self.app, error)
            return Strip.blank(width, base)

    def _look(self, at: int) -> RowLook:
        marked = None
        if self._search is not None:
            marked = partial(self._search.draw, here=at == self._cursor)
        own = self._own_part(at)
        return RowLook(self.columns, self._column, self.own_style, self.part_styles, own, self._right, marked)

    def _own_part(self, at: int) -> str:
        if at == self._cursor:
            return "cursor"
        first, last = self._selected()
        return "selected" if self._anchor is not None and first <= at <= last else "gutter"

    def _part_style(self, component: str) -> Style:
        """Return a part's style; a background that is a share of another colour is blended."""
        own, whole = super()._part_style(component), self.get_component_rich_style(component)
        return own + Style(bgcolor=whole.bgcolor) if own.bgcolor is not None else own

    def notify_style_update(self) -> None:
        """Forget the drawn rows, since the colours have changed."""
        super().notify_style_update()
        if self._strips is not None:
            self._strips.forget()

    # places

    def _line_at(self, at: int) -> tuple[int, bool]:
        """Return the line on a row, and whether it is one of the right side."""
        if self._strips is None or not len(self._strips.rows):
            return 1, True
        left, right = self._lines(self._strips.rows[at])
        return (right, True) if right and (self._right or not left) else (left, False)

    def _lines(self, row: DiffRow) -> tuple[int, int]:
        try:
            return self._strips.lines(row) if self._strips is not None else (0, 0)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return row.left, row.right

    def _row_of(self, line: tuple[int, bool]) -> int:
        return self.rows.row_of_line(line[0], right=line[1]) if self.rows is not None else 0

    def _first_hunk(self) -> int:
        return self.rows.row_of_hunk(0) if self.rows is not None and self.rows.hunk_count else 0

    # for its search

    @property
    def row(self) -> DiffRow | None:
        """The row under the cursor."""
        return self.rows[self._cursor] if self.rows else None

    @property
    def line(self) -> tuple[int, bool]:
        """The line under the cursor, and whether it is one of the right side."""
        return self._line_at(self._cursor)

    def go_to_line(self, number: int, right: bool) -> None:
        """Put the cursor on a line, or on the fold that hides it."""
        self._right = right
        self._go_to(self._row_of((number, right)), lead=self.size.height // 3)

    def show_row(self, row: DiffRow) -> None:
        """Put the cursor on the lines that a row of an unfolded layout shows, and open a fold that hides them."""
        if self.rows is None:
            return
        at = self.rows.row_like(row)
        if self.rows[at].kind is RowKind.FOLD:
            self.rows.open(self.rows[at].part)
            self._resize_to_rows()
            at = self.rows.row_like(row)
        self._go_to(at, lead=self.size.height // 3)

    def show_match(self, found: dict[int, tuple[int, int]]) -> None:
        """Put the cursor on a side with a match, and make the match visible.

        Args:
            found: first and last character of a match, by side; 0 is the left one.
        """
        if int(self._right) not in found:
            self._right = not self._right
        start, end = found[int(self._right)]
        room = self._strips.room(self.columns) if self._strips is not None else 0
        if not self._column <= start <= end <= self._column + room:
            self._scroll_to_column(0 if end <= room else start)
        self.refresh()

    def strips_at_cursor(self) -> dict[tuple[int, int], Strip]:
        """The texts in the cursor's row, by (side, line)."""
        return self._texts_at(self._cursor)

    def strips_on_screen(self) -> dict[tuple[int, int], Strip]:
        """The visible texts."""
        top = self.scroll_offset.y
        rows = range(top, min(top + self.size.height, len(self.rows or ())))
        return {key: strip for at in rows for key, strip in self._texts_at(at).items()}

    def _texts_at(self, at: int) -> dict[tuple[int, int], Strip]:
        if self._strips is None or at >= len(self._strips.rows):
            return {}
        try:
            return self._strips.texts(self._strips.rows[at], self._look(at))
        except STORE_ERRORS as error:
            tell(self.app, error)
            return {}

    def tell(self) -> None:
        """Post the cursor's place and the state of the search."""
        if self.rows is not None:
            notes = self._search.notes() if self._search is not None else []
            self.post_message(DiffMoved(self.rows.hunk_near(self._cursor) + 1, " ".join(notes)))

    def _go_to(self, at: int, *, lead: int | None = None, extent: int = 1) -> None:
        """Put the cursor on a row, and make it visible.

        Args:
            at: the row.
            lead: rows to show above it if scrolling is needed; None for scrolling just far enough.
            extent: rows from it on to show, as far as they fit.
        """
        self._cursor = max(0, min(at, len(self.rows or ()) - 1))
        # Before the first layout, the height of the screen is a good guess.
        top, height = self.scroll_offset.y, self.size.height or self.app.size.height
        if lead is None:
            wanted = min(max(top, self._cursor - height + 1), self._cursor)
        else:
            lead = min(lead, height - 1)
            seen = top <= self._cursor and self._cursor + min(extent, height - lead) <= top + height
            wanted = top if seen else max(self._cursor - lead, 0)
        if wanted != top:
            self.scroll_to(y=wanted, animate=False, force=True)
        self.refresh()
        self.tell()

    def _selected(self) -> tuple[int, int]:
        anchor = self._cursor if self._anchor is None else self._anchor
        return min(anchor, self._cursor), max(anchor, self._cursor)

    def _scroll_to_column(self, column: int) -> None:
        self._column = max(0, min(column, self._longest()))
        self.refresh()

    def _longest(self) -> int:
        if self._strips is None:
            return 0
        rows = self._strips.rows
        shown = range(self.scroll_offset.y, min(self.scroll_offset.y + self.size.height, len(rows)))
        try:
            widest = max((self._strips.longest(rows[at]) for at in shown), default=0)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return self._column
        return max(widest - self._strips.room(self.columns), 0)


class DiffPaneSearch(PaneSearch[DiffSearch]):
    """The search of a comparison."""

    ranks: ClassVar = False  # hits of one row are one step

    def __init__(self, view: ComparisonView) -> None:
        super().__init__(view)
        self._view = view
        self._places: tuple[object, SearchRows] | None = None

    @property
    def places(self) -> SearchRows | None:
        """Where the lines stand in the present layout."""
        compared = self._view.compared
        if compared is None:
            return None
        of = compared.comparison, self._view.unified
        if self._places is None or self._places[0] != of:
            self._places = of, SearchRows(compared.comparison, unified=self._view.unified)
        return self._places[1]

    def draw(self, side: int, line: int, strip: Strip, *, here: bool) -> Strip:
        """Draw a line of one side with its hits marked."""
        return self.drawn((side, line), strip, here=here)

    def _place(self) -> object:
        return self._view.line

    def _back_to(self, place: object) -> None:
        self._view.go_to_line(*cast(tuple[int, bool], place))

    def _here(self, *, back: bool = False) -> tuple[int, bool]:  # noqa: ARG002 (both ways alike)
        row, places = self._view.row, self.places
        if row is None or places is None:
            return 1, True
        return places.rows.row_like(row) + 1, True

    def _engine(self) -> Callable[[SearchPattern, int], DiffSearch] | None:
        compared, places = self._view.compared, self.places
        if compared is None or places is None:
            return None
        return lambda pattern, number: DiffSearch(pattern, compared.open_sides, places, compared.ignore, number)

    def _go_to(self, number: int) -> None:
        if (places := self.places) is not None:
            self._view.show_row(places.rows[number - 1])
            self._bring_into_view()

    def _bring_into_view(self) -> None:
        """Put the cursor on the side of the hit, and make the hit visible."""
        spans = {key: self.marks(key, strip) for key, strip in self._view.strips_at_cursor().items()}
        found = {key[0]: marks[0] for key, marks in spans.items() if marks}
        if found:
            self._view.show_match(found)

    def _marked(self, found: dict[Hashable, tuple[tuple[int, int], ...]]) -> None:
        super()._marked(found)
        if self._step is not None and self._step.number == self._here()[0]:
            self._bring_into_view()

    def _on_screen(self) -> Mapping[Hashable, str]:
        return {key: strip.text for key, strip in self._view.strips_on_screen().items()}

    def _style(self, part: str) -> Style:
        return self._view.part_styles[part]

    def _tell(self) -> None:
        self._view.tell()

    def _redraw(self) -> None:
        self._view.refresh()
        self._view.tell()

    def _counted(self, search: DiffSearch, step: HitStep | None) -> str:  # noqa: ARG002 (as every search)
        told = zip(search.sides, ("left", "right"), strict=True)
        return ", ".join(f"{side.total:,}{'' if side.complete else '…'} {name}" for side, name in told)
