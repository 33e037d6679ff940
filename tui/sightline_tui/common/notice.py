"""A few lines in the middle of a pane without an output: they explain why, and what to do."""

from collections.abc import Sequence

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from sightline_tui.common.part_styles import Styled
from sightline_tui.common.strips import StripPart, cut, width_of
from sightline_tui.common.visible_text import title

Said = Sequence[StripPart]


class Notice(Styled, Widget):
    """Centred lines."""

    PREFIX = "notice"
    PARTS = ("dim", "strong", "accent", "command")

    def __init__(self) -> None:
        super().__init__(id="notice")
        self._lines = list[Said]()

    def say(self, *lines: Said) -> None:
        """Show other lines."""
        self._lines = list(lines)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw a row."""
        base, width = self.own_style, self.size.width
        at = y - max((self.size.height - len(self._lines)) // 2, 0)
        if not 0 <= at < len(self._lines):
            return Strip.blank(width, base)
        styles = self.part_styles
        parts = [
            StripPart(cut(title(part.text) if part.text.strip() else part.text, width), part.style)
            for part in self._lines[at]
        ]
        left = max((width - width_of(parts)) // 2, 0)
        segments = [Segment(part.text, base + styles[part.style] if part.style else base) for part in parts]
        return Strip([Segment(" " * left, base), *segments]).adjust_cell_length(width, base)


def welcome() -> list[Said]:
    """Return what an empty store says to a newcomer."""
    return [
        [StripPart("Nothing captured yet", "strong")],
        [],
        [StripPart("Enter", "accent"), StripPart(" does one of these:", "dim")],
        [StripPart("Have an agent's outputs kept from now on:", "dim")],
        [StripPart("sightline install claude-code", "command")],
        [StripPart("Look at sessions that it has had before:", "dim")],
        [StripPart("sightline import", "command")],
        [StripPart("Look around in an example:", "dim")],
        [StripPart("sightline demo", "command")],
        [],
        [StripPart("What is captured shows up here by itself, as it runs;", "dim")],
        [
            StripPart("what no agent saw is tinted, ", "dim"),
            StripPart("!", "accent"),
            StripPart(" goes to such a failure", "dim"),
        ],
        [
            StripPart("?", "accent"),
            StripPart(" help, and the legend of all signs   ", "dim"),
            StripPart("q", "accent"),
            StripPart(" quit", "dim"),
        ],
    ]


def nothing_found() -> list[Said]:
    """Return what a filter says that finds nothing."""
    return [
        [StripPart("No buffer matches", "strong")],
        [],
        [
            StripPart("Enter", "accent"),
            StripPart(" or ", "dim"),
            StripPart("Esc", "accent"),
            StripPart(" shows all again", "dim"),
        ],
        [StripPart("//", "accent"), StripPart(" looks for a text in what all of them hold", "dim")],
        [StripPart("'word  ^start  end$  !without  exit:!0  seen:<50  is:running", "command")],
    ]


def nothing_here(project: str) -> list[Said]:
    """Return what a project says in which nothing was captured, or nothing is left."""
    return [
        [StripPart(f"Nothing of {project} is in the store", "strong")],
        [],
        [
            StripPart("Enter", "accent"),
            StripPart(" shows all projects, ", "dim"),
            StripPart("c", "accent"),
            StripPart(" chooses one", "dim"),
        ],
    ]
