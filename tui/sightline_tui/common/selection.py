"""A range of lines that is marked for copying."""

from sightline.light.named_tuple import NamedTuple
from sightline_tui.common.line_painter import plain_text
from sightline_tui.common.output_reader import OutputReader
from sightline_tui.common.window import ShownLines

COPY_BYTES = 74_994
"""The text that fits into 100,000 characters of base64, at which many terminals refuse to copy (OSC 52)."""


class Selection(NamedTuple):
    """Lines from the place where the selection began to the present one, in either direction.

    Attributes:
        anchor: number of the line where it was begun.
        head: number of the line that moves.
    """

    anchor: int
    head: int

    @property
    def first(self) -> int:
        """The first line."""
        return min(self)

    @property
    def last(self) -> int:
        """The last line, inclusive."""
        return max(self)

    def holds(self, number: int) -> bool:
        """Return whether a line is among them."""
        return self.first <= number <= self.last


def text_of(reading: OutputReader, selection: Selection, only: ShownLines | None = None) -> tuple[str | None, int]:
    """Return the lines' text, cleaned, with newlines, None if it is more than a terminal takes; and how many they are.

    Args:
        reading: the output.
        selection: the lines.
        only: the lines that are shown; None if all are.
    """
    texts, size = list[str](), 0
    for number, (_, line) in enumerate(
        reading.lines(selection.first, selection.last, COPY_BYTES), max(selection.first, 1)
    ):
        if only is not None and not only.holds(number):
            continue
        texts.append(plain_text(line) + "\n")
        size += len(texts[-1].encode("utf-8", "replace"))
        if size > COPY_BYTES or not line.whole:
            return None, 0
    return "".join(texts), len(texts)
