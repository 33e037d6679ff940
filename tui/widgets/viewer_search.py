"""Searching in the viewer: its numbers are those of its lines."""

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, cast

from rich.style import Style
from sightline.store.query.hits import Pattern
from sightline.store.store import Target
from sightline.tui.output.folding import Place
from sightline.tui.output.hexdump import open_dump
from sightline.tui.output.reading import Reading, open_reading
from sightline.tui.output.searching import Search
from sightline.tui.widgets.searching import Marks, Searching
from textual.strip import Strip

if TYPE_CHECKING:
    from sightline.tui.widgets.output_view import OutputView
    from sightline.tui.widgets.viewer_opening import Opened


class ViewerSearch(Searching[Search]):
    """The search of a viewer."""

    def __init__(self, viewer: "OutputView") -> None:
        super().__init__(viewer)
        self._viewer = viewer

    def draw(self, number: int, strip: Strip) -> Strip:
        """A line with its hits marked."""
        return self.drawn(number, strip, here=number == self._viewer.target)

    def marks(self, key: Hashable, strip: Strip) -> Marks:
        """Bytes have none."""
        opened = self._viewer.opened
        return () if opened is None or opened.hex else super().marks(key, strip)

    def _place(self) -> object:
        return self._viewer.window.top, self._viewer.target

    def _back_to(self, place: object) -> None:
        self._viewer.back_to(*cast(tuple[Place, int], place))

    def _here(self, *, back: bool = False) -> tuple[int, bool]:  # noqa: ARG002 (both ways alike)
        window, target = self._viewer.window, self._viewer.target
        return (target, True) if target and window.on_screen(target) else (window.top.line, False)

    def _engine(self) -> Callable[[Pattern, int], Search] | None:
        opened = self._viewer.opened
        if opened is None:
            return None
        return lambda pattern, number: Search(
            pattern,
            lambda: self._reading(opened),
            lambda name: self._path(opened, name),
            number,
            matches=opened.hex,
        )

    def _reading(self, opened: "Opened") -> Reading:
        store = self._viewer.store
        return (open_dump if opened.hex else open_reading)(store, opened.buffer, opened.stream)

    def _path(self, opened: "Opened", stream: str) -> str:
        store, target = self._viewer.store, Target(opened.buffer, stream)
        return store.path(target) if opened.hex else store.text_path(target)

    def _go_to(self, number: int) -> None:
        self._viewer.go_near(number)
        self._bring_into_view(number)

    def _bring_into_view(self, number: int) -> None:
        """Show the first match of a line, where it lies beyond an edge."""
        strip = self._viewer.drawn(number).strip
        if spans := self.marks(number, strip):
            self._viewer.show_match(number, *spans[0])

    def _on_screen(self) -> Mapping[Hashable, str]:
        numbers = sorted({place.line for place in self._viewer.window.places()})
        return {number: self._viewer.drawn(number).strip.text for number in numbers}

    def _marked(self, found: dict[Hashable, Marks]) -> None:
        super()._marked(found)
        if self._step is not None and self._step.number in found:
            self._bring_into_view(self._step.number)

    def _style(self, part: str) -> Style:
        return self._viewer.part_style(part)

    def _tell(self) -> None:
        self._viewer.tell_place()

    def _redraw(self) -> None:
        self._viewer.changed()
