"""Draws a row or two of text: the common part of header, titles, facts and key bar."""

from collections.abc import Sequence

from textual.strip import Strip
from textual.widget import Widget

from sightline_tui.common.part_styles import Styled
from sightline_tui.common.strips import StripPart, row


class Bar(Styled, Widget):
    """Rows with parts at the left and at the right. They are cut to fit, and made safe for the terminal."""

    PREFIX = "bar"
    PARTS = ("dim", "strong", "accent", "key", "running", "ok", "failed", "unknown", "interrupted", "evicted")

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._rows = list[tuple[Sequence[StripPart], Sequence[StripPart]]]()

    def say(self, *rows: tuple[Sequence[StripPart], Sequence[StripPart]]) -> None:
        """Show other text; each row is (parts at the left, parts at the right)."""
        if self._rows != list(rows):
            self._rows = list(rows)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one of the rows."""
        width = self.size.width
        left, right = self._rows[y] if y < len(self._rows) else ((), ())
        return row(left, right, width, self.own_style, self.part_styles)
