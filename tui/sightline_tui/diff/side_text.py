"""Reads the lines of a compared side as they become visible, and pairs the lines of a hunk."""

from collections.abc import Sequence

from textual.cache import FIFOCache

from sightline.search.diff.engines import Ignore
from sightline.search.diff.hunks import Hunk
from sightline.search.diff.sides import Side
from sightline.search.diff.word_diff import MOST_PAIRS, WordSpan, aligned, inline
from sightline.shape.clean import clean_line
from sightline.shape.source import Line
from sightline.shape.summary import human_bytes
from sightline_tui.common.line_painter import plain_text
from sightline_tui.common.selection import COPY_BYTES
from sightline_tui.common.visible_text import lone_controls_shown

LINE_BYTES = 1 << 14  # read of one line at most, half from each end
_READ_AHEAD = 60  # lines read with the needed one, so that a screenful costs one read
_KEPT_TEXTS = 2_000
_KEPT_PAIRS = 500

Spans = tuple[Sequence[WordSpan], Sequence[WordSpan]]


class SideTexts:
    """The lines of a side. The memory for them does not depend on their number."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._kept: FIFOCache[int, str] = FIFOCache(_KEPT_TEXTS)

    def __getitem__(self, number: int) -> str:
        """Return a line, cleaned; empty if it is gone. Raises what reading the side raises."""
        text = self._kept.get(number)
        if text is None:
            for line in self._side.lines(number, number + _READ_AHEAD, LINE_BYTES):
                self._kept[line.number] = _text(line)
            text = self._kept.get(number) or ""
        return text

    def run(self, first: int, count: int) -> list[str]:
        """Return consecutive lines, as far as they exist."""
        return [_text(line) for line in self._side.lines(first, first + count - 1, LINE_BYTES)]


def text_of(side: Side, first: int, last: int) -> str | None:
    """Return lines, cleaned, with newlines; None if they are more than a terminal takes. Raises what reading raises."""
    texts, size = list[str](), 0
    for line in side.lines(first, last, COPY_BYTES):
        texts.append(_text(line) + "\n")
        size += len(texts[-1].encode("utf-8", "replace"))
        if size > COPY_BYTES or not line.whole:
            return None
    return "".join(texts)


def _text(line: Line) -> str:
    if line.whole:
        return plain_text(line)
    half = len(line.data) // 2
    head, tail = (clean_line(lone_controls_shown(data)) for data in (line.data[:half], line.data[half:]))
    return f"{head} ⋯ {human_bytes(line.length - len(line.data))} not read ⋯ {tail}"


def _all_ignored(spans: Sequence[WordSpan]) -> list[WordSpan]:
    return [span._replace(ignored=True) for span in spans]


class Pairs:
    """Works out, for visible lines only, which lines stand beside each other, and where they differ."""

    def __init__(self, left: SideTexts, right: SideTexts, ignore: Ignore) -> None:
        self.texts = left, right
        self._ignore = ignore
        self._aligned: FIFOCache[Hunk, list[int]] = FIFOCache(_KEPT_PAIRS)
        self._spans: FIFOCache[tuple[int, int], Spans | None] = FIFOCache(_KEPT_PAIRS)

    def beside(self, hunk: Hunk, at: int) -> tuple[int, int]:
        """Return the lines, left and right, on a row of a hunk that is shown side by side; 0 for none."""
        few_left = hunk.left_count <= hunk.right_count
        few, many = (hunk.left, hunk.right) if few_left else (hunk.right, hunk.left)
        order = self._order(hunk)
        if order is None:
            one = few + at if at < min(hunk.left_count, hunk.right_count) else 0
        else:
            one = few + order.index(at) if at in order else 0
        return (one, many + at) if few_left else (many + at, one)

    def partner(self, hunk: Hunk, *, left: int = 0, right: int = 0) -> int:
        """Return the line beside one of a hunk, given by its number on one side; 0 for none."""
        few_left = hunk.left_count <= hunk.right_count
        if bool(left) == few_left:  # the side with fewer lines
            at = left - hunk.left if left else right - hunk.right
            order = self._order(hunk)
            return (hunk.right if left else hunk.left) + (at if order is None else order[at])
        beside = self.beside(hunk, left - hunk.left if left else right - hunk.right)
        return beside[1] if left else beside[0]

    def spans(self, left: int, right: int, *, equal: bool = False) -> Spans | None:
        """Return where two lines differ; None if they share too little. Equal lines differ in what is ignored."""
        if (left, right) not in self._spans:
            texts = self.texts[0][left], self.texts[1][right]
            found: Spans | None = ([], []) if texts[0] == texts[1] else inline(*texts, self._ignore)
            if equal and found is not None:
                found = _all_ignored(found[0]), _all_ignored(found[1])
            self._spans[(left, right)] = found
        return self._spans[(left, right)]

    def _order(self, hunk: Hunk) -> list[int] | None:
        """Return the row of each line of the shorter side; None for "from the top"."""
        few, many = sorted((hunk.left_count, hunk.right_count))
        if not few or few == many or few * (many - few + 1) > MOST_PAIRS:
            return None
        order = self._aligned.get(hunk)
        if order is None:
            left = self.texts[0].run(hunk.left, hunk.left_count)
            right = self.texts[1].run(hunk.right, hunk.right_count)
            order = aligned(left, right) if len(left) <= len(right) else aligned(right, left)
            if len(order) != few:  # a file has shrunk since
                order = list(range(few))
            self._aligned[hunk] = order
        return order
