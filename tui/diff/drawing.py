"""Draws lines of a comparison: made safe, tabs expanded, with their changes marked in colours, or without any."""

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from sightline.search.diff.word_diff import Span
from sightline.tui.common.painting import expanded
from sightline.tui.common.safe import pieces

Styles = dict[str, Style]


def line_strip(text: str, spans: Sequence[Span], base: Style, word: Style, styles: Styles) -> Strip:
    """A line with stretches of it marked.

    Args:
        text: cleaned.
        spans: what differs.
        base: style of the line.
        word: what is laid over a change in it.
        styles: ``control`` for what cannot be shown as itself, ``ignored`` for differences that make none.
    """
    return Strip(_segments(_runs(text, spans, base, word, styles["ignored"]), base + styles["control"]))


def cells(text: str) -> int:
    """How wide a line is drawn."""
    null = Style.null()
    return sum(cell_len(segment.text) for segment in _segments([(text, null)], null))


def _runs(text: str, spans: Sequence[Span], base: Style, word: Style, ignored: Style) -> Iterator[tuple[str, Style]]:
    at = 0
    for span in spans:
        yield text[at : span.start], base
        yield text[span.start : span.end], base + (ignored if span.ignored else word)
        at = span.end
    yield text[at:], base


def _segments(runs: Iterable[tuple[str, Style]], control: Style) -> Iterator[Segment]:
    column = 0
    for run, style in runs:
        for text, marked in pieces(run):
            if "\t" in text:
                text = expanded(text, column)
            column += cell_len(text)
            yield Segment(text, control if marked else style)
