"""Searching in a comparison, on both of its sides at once."""

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, ClassVar, cast

from rich.style import Style
from sightline.store.query.hits import Pattern
from sightline.tui.diff.searching import DiffSearch, Places
from sightline.tui.output.searching import Step
from sightline.tui.widgets.searching import Searching
from textual.strip import Strip

if TYPE_CHECKING:
    from sightline.tui.widgets.comparison_view import ComparisonView


class DiffSearching(Searching[DiffSearch]):
    """The search of a comparison."""

    ranks: ClassVar = False  # a row may show two hits, and be one step

    def __init__(self, view: "ComparisonView") -> None:
        super().__init__(view)
        self._view = view
        self._places: tuple[object, Places] | None = None

    @property
    def places(self) -> Places | None:
        """Where lines stand as it is laid out now."""
        compared = self._view.compared
        if compared is None:
            return None
        of = compared.comparison, self._view.unified
        if self._places is None or self._places[0] != of:
            self._places = of, Places(compared.comparison, unified=self._view.unified)
        return self._places[1]

    def draw(self, side: int, line: int, strip: Strip, *, here: bool) -> Strip:
        """A line of one side with its hits marked."""
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

    def _engine(self) -> Callable[[Pattern, int], DiffSearch] | None:
        compared, places = self._view.compared, self.places
        if compared is None or places is None:
            return None
        return lambda pattern, number: DiffSearch(pattern, compared.open_sides, places, compared.ignore, number)

    def _go_to(self, number: int) -> None:
        if (places := self.places) is not None:
            self._view.show_row(places.rows[number - 1])
            self._bring_into_view()

    def _bring_into_view(self) -> None:
        """Have the cursor on the side of the hit, and the hit between the edges."""
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

    def _counted(self, search: DiffSearch, step: Step | None) -> str:  # noqa: ARG002 (as every search)
        told = zip(search.sides, ("left", "right"), strict=True)
        return ", ".join(f"{side.total:,}{'' if side.complete else '…'} {name}" for side, name in told)
