"""A list of themes, with a preview of each behind it."""

from collections.abc import Callable

from textual.strip import Strip

from sightline_tui.common.choice import Choice, ChoiceRows
from sightline_tui.common.popular_themes import POPULAR
from sightline_tui.common.strips import StripPart, row
from sightline_tui.common.theme import DARK, LIGHT, TERMINAL

OFFERED = {
    DARK.name: "dark",
    LIGHT.name: "light",
    TERMINAL.name: "the terminal's own colours",
    **{name: name for name in POPULAR},
}
"""What each theme is called, by its name."""


class ThemeRows(ChoiceRows[str]):
    """Names of themes; the screen has the one under the cursor."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self._show = show

    def draw(self, at: int, width: int) -> Strip:
        """Draw a row."""
        return row([StripPart(f" {OFFERED[self.offered[at]]}", "strong")], (), width, self.own_style, self.part_styles)

    def cursor_moved(self) -> None:
        """Preview the theme."""
        if self.offered:
            self._show(self.offered[self.cursor])


class ThemeChoice(Choice[str, str]):
    """Answers with a theme."""

    TITLE_TEXT, HINT = "Theme", "a part of its name"
    CSS = "ThemeChoice { background: transparent; align: center bottom; } ThemeChoice #choice { height: 10; }"

    def __init__(self, shown: str, show: Callable[[str], None]) -> None:
        """Make the list.

        Args:
            shown: the theme that is shown now.
            show: shows a theme.
        """
        self._found = ThemeRows(show)
        self._shown = shown
        super().__init__(self._found)

    def offer(self, text: str) -> None:
        """Offer the themes whose name has a text, with the cursor on the one that was shown before."""
        found = [name for name, called in OFFERED.items() if text.lower() in called]
        self._found.offered = found
        self._found.set_rows(len(found), cursor=found.index(self._shown) if self._shown in found else 0)

    def answer(self, chosen: str) -> str:
        """Answer with the theme."""
        return chosen
