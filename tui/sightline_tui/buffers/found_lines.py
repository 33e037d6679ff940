"""The list of lines found in many outputs, each below its buffer."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.strip import Strip

from sightline.base.records import Buffer
from sightline.light.named_tuple import NamedTuple
from sightline.search.contents import FoundLine, may_lack
from sightline_tui.common import phrases as wording
from sightline_tui.common.keys import named
from sightline_tui.common.messages import HitSelected
from sightline_tui.common.row_view import RowView
from sightline_tui.common.strips import StripPart, cut, row, width_of
from sightline_tui.common.visible_text import title

_NUMBER = 6  # cells for a line's number
_LEAD = 24  # cells before a match that stay in sight


class FoundRow(NamedTuple):
    """A row: a found line or, without one, the buffer above its lines."""

    buffer: Buffer
    line: FoundLine | None
    lines: int = 0
    lacks: bool = False  # whether the buffer may have more matches


class FoundLines(RowView):
    """Rows, added as they are found; those on the screen stay in place."""

    PARTS = (*RowView.PARTS, "match", "running", "ok", "failed", "unknown", "interrupted", "evicted")
    COMPONENT_CLASSES: ClassVar = {f"row-view--{part}" for part in PARTS}
    BINDINGS: ClassVar[list[BindingType]] = named(
        "found",
        [
            Binding("enter", "screen.read", "Open"),
            Binding("n,right_square_bracket", "next_buffer(1)", "Next buffer"),
            Binding("N,left_square_bracket", "next_buffer(-1)", "Previous buffer", show=False),
        ],
    )

    def __init__(self) -> None:
        super().__init__(id="found")
        self._hits = list[FoundRow]()
        self._said = ""
        self._told: FoundRow | None = None

    def begin(self, said: str) -> None:
        """Show nothing yet.

        Args:
            said: the text to show while nothing is found.
        """
        self._hits, self._said, self._told = [], said, None
        self.set_rows(0, cursor=0)

    def say(self, said: str) -> None:
        """Show another text while nothing is found."""
        self._said = said
        self.refresh()

    def add(self, buffer: Buffer, lines: Sequence[FoundLine]) -> None:
        """Show more: a buffer and its lines."""
        first = not self._hits
        self._hits.append(FoundRow(buffer, None, len(lines), may_lack(lines)))
        self._hits += [FoundRow(buffer, line) for line in lines]
        self.set_rows(len(self._hits), cursor=1 if first else None)

    @property
    def selected(self) -> FoundRow | None:
        """The row under the cursor."""
        return self._hits[self.cursor] if 0 <= self.cursor < len(self._hits) else None

    def cursor_moved(self) -> None:
        """Post the line under the cursor; on a buffer's row its first one."""
        hit = self.selected
        if hit is not None and hit.line is None:
            hit = self._hits[self.cursor + 1]
        if hit is not None and hit.line is not None and hit is not self._told:
            self._told = hit
            self.post_message(HitSelected(hit.buffer, hit.line))

    def choose(self) -> None:
        """Read it."""
        self.call_later(self.run_action, "screen.read")

    def action_next_buffer(self, step: int) -> None:
        """Go to the first line of the next buffer, or of the one before."""
        rows = range(self.cursor + 1, len(self._hits)) if step > 0 else range(self.cursor - 2, -1, -1)
        at = next((at for at in rows if self._hits[at].line is None), None)
        if at is not None:
            self.move_to(at + 1)

    def draw(self, at: int, width: int) -> Strip:
        """A buffer, or a line with its number."""
        hit = self._hits[at]
        parts = _line_parts(hit.line, width) if hit.line else _buffer_parts(hit, width)
        return row(parts, (), width, self.own_style, self.part_styles)

    def render_line(self, y: int) -> Strip:
        """A row on the screen; without rows the first line has the text for that."""
        if y or self._hits:
            return super().render_line(y)
        return row([StripPart(f"  {self._said}", "dim")], (), self.columns, self.own_style, self.part_styles)


def _buffer_parts(hit: FoundRow, width: int) -> list[StripPart]:
    state = wording.state_of(hit.buffer)
    counted = StripPart(f"  {'at least ' if hit.lacks else ''}{wording.counted(hit.lines, 'line')}", "dim")
    named = [StripPart(f" {wording.MARKS[state]} ", state), StripPart(f"{hit.buffer.ref}  ", "key")]
    room = max(width - width_of([*named, counted]), 4)
    return [*named, StripPart(cut(wording.name_of(hit.buffer), room), "strong"), counted]


def _line_parts(line: FoundLine, width: int) -> list[StripPart]:
    stream = "" if line.stream == "out" else f" {line.stream.replace('part.', '.')}"
    number = StripPart(f"{line.line:>{_NUMBER}}{stream}  ", "dim")
    room = max(width - width_of([number]), 8)
    before, match, after = (_one_line(text) for text in (line.before, line.match, line.after))
    if width_of([StripPart(before), StripPart(match)]) > room:
        before = "…" + before[-_LEAD:]
    return [number, StripPart(before.lstrip()), StripPart(match, "match"), StripPart(after)]


def _one_line(text: str) -> str:
    """As `title`, but spaces at its ends stay."""
    stripped = text.strip()
    if not stripped:
        return " " if text else ""
    return " " * text[0].isspace() + title(stripped) + " " * text[-1].isspace()
