"""A range of lines that is marked to be copied."""

from sightline.named_tuple import NamedTuple
from sightline.tui.common.line_painter import plain_text
from sightline.tui.common.output_reader import OutputReader

COPY_BYTES = 74_994
"""As much as fits 100,000 characters of base64, which is where many terminals stop taking what is copied (OSC 52)."""


class Selection(NamedTuple):
    """Lines from where it was begun to where one has come, either of them first.

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
        """Whether a line is among them."""
        return self.first <= number <= self.last


def text_of(reading: OutputReader, selection: Selection) -> str | None:
    """The text of the lines, cleaned, each with its newline; None where that is more than a terminal takes."""
    texts, size = list[str](), 0
    for _, line in reading.lines(selection.first, selection.last, COPY_BYTES):
        texts.append(plain_text(line) + "\n")
        size += len(texts[-1].encode("utf-8", "replace"))
        if size > COPY_BYTES or not line.whole:
            return None
    return "".join(texts)
