"""The row above the list: names of its columns, or what the filter has found."""

from textual import events

from sightline.light.late_imports import late_modules
from sightline_tui.buffers.buffer_row import has_two_lines, heading_parts, sort_at
from sightline_tui.buffers.order import ListOrder
from sightline_tui.common.bar import Bar
from sightline_tui.common.messages import ListFiltered, OrderChosen
from sightline_tui.common.phrases import counted
from sightline_tui.common.strips import StripPart
from sightline_tui.common.visible_text import title

with late_modules(globals()):
    from sightline.audit import buffer_filter  # 30 ms; the first screen has no filter

_POINTED = "▸"
"""The mark before the names of the columns while the list has the keys."""


class ListTitle(Bar):
    """A heading, which the filter's outcome replaces. A click on a column's name sorts by it."""

    def __init__(self, order: ListOrder) -> None:
        super().__init__(id="list-title")
        self._order = order
        self._query = ""
        self._found = ListFiltered(None)
        self._doubt = ""  # words that were meant as conditions, perhaps
        self._search: tuple[str, str] | None = None
        self._has_keys = True

    def point(self, has_keys: bool) -> None:
        """Whether the keys go to the list."""
        self._has_keys = has_keys
        self._tell()

    def on_resize(self) -> None:
        """Draw the heading anew, since columns have moved."""
        self._tell()

    def filtered(self, query: str, found: ListFiltered) -> None:
        """Say what a filter found; without a filter show the heading again."""
        self._query, self._found, self._search = query, found, None
        self._doubt = buffer_filter.doubtful(buffer_filter.parsed(query)) if ":" in query else ""
        self._tell()

    def searched(self, query: str, outcome: str) -> None:
        """Say what a search through all outputs has found so far."""
        self._search = query, outcome
        self._tell()

    def ordered(self, order: ListOrder) -> None:
        """Show the order of the list."""
        self._order = order
        self._tell()

    def on_click(self, event: events.Click) -> None:
        """Sort by the column clicked on; a second click reverses the order."""
        two_lines = has_two_lines(*self.app.size)
        sort = sort_at(self.size.width - 1, event.x, two_lines=two_lines) if self._names_columns else ""
        if sort:
            turned = sort == self._order.sort and not self._order.turned
            self.post_message(OrderChosen(sort, turned, self._order.group))

    @property
    def _names_columns(self) -> bool:
        return self._found.found is None and self._search is None

    def _tell(self) -> None:
        if self._search is not None:
            self._rows_of("//", *self._search)
            return
        if self._found.found is None:
            # The column of the scrollbar belongs to the list, not to the heading.
            two_lines = has_two_lines(*self.app.size)
            first, *others = heading_parts(self.size.width - 1, self._order, two_lines=two_lines)
            sign = _POINTED if self._has_keys else first.text[:1]
            self.say(([StripPart(sign, "accent"), StripPart(first.text[1:], first.style), *others], ()))
            return
        self._rows_of("/", self._query, self._outcome())

    def _rows_of(self, sign: str, query: str, outcome: str) -> None:
        clear = [StripPart("Esc", "key"), StripPart(" clears ", "dim")]
        lead = _POINTED if self._has_keys else " "
        self.say(
            (
                [
                    StripPart(f"{lead}{sign} ", "accent"),
                    StripPart(title(query)),
                    StripPart(f"  {title(outcome)}", "dim"),
                ],
                clear,
            )
        )

    def _outcome(self) -> str:
        found, close = self._found.found or 0, self._found.close
        if close and found == close:
            return "no match; did you mean:"
        matches = counted(found - close, "match").replace("matchs", "matches")
        if not self._found.done:
            return f"reading… {matches} so far"
        return "; ".join(filter(None, (f"{matches}, {close:,} close" if close else matches, self._doubt)))
