"""Finds which bytes of a raw line a piece of its cleaned text stands for; if that is not certain, fewer of them."""

from bisect import bisect_right

from sightline.light.named_tuple import NamedTuple
from sightline.shape.clean import clean_line, has_controls
from sightline.shape.source import CutLine, Line


class _Piece(NamedTuple):
    """Bytes of a line that its cleaned text has unchanged.

    Attributes:
        text: their offset in the cleaned text.
        raw: their offset in the line.
        length: their number.
    """

    text: int
    raw: int
    length: int


def cut_at_ends(line: Line, head: str, tail: str) -> CutLine:
    """Return a line of which a text has the beginning and the end.

    Args:
        line: the line; if it was not read whole, each half was cleaned by itself.
        head: the beginning of its cleaned text; empty for none.
        tail: the end of its cleaned text.
    """
    data = line.data
    half = len(data) if line.whole else len(data) // 2
    first, last = data[:half], data if line.whole else data[half:]
    seen = []
    if head and (end := raw_range(first, 0, len(head.encode()))[1]):
        seen.append((0, end))
    if tail:
        size = len(clean_line(last).encode())
        start, end = raw_range(last, size - len(tail.encode()), size)
        if start < end:
            seen.append((line.length - len(last) + start, line.length))
    return line.cut(*seen)


def common_head(one: bytes, other: bytes) -> int:
    """Return the number of equal bytes at the beginnings of two texts."""
    same, end = 0, min(len(one), len(other))
    while same < end:
        middle = (same + end + 1) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            end = middle - 1
    return same


def raw_range(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Return the range of bytes, its end exclusive, that a range of a line's cleaned text stands for.

    What a terminal does not show counts with what stands before it. The range is (0, 0) if a carriage return or the
    like may have overwritten some of it, or the text is not UTF-8 up to the end of the range.
    """
    pieces = _pieces(data)
    size = pieces[-1].text + pieces[-1].length if pieces else 0
    if not pieces or not 0 <= start < end <= size:
        return 0, 0
    is_all = size == len(clean_line(data).encode())
    first = _place(pieces, start, is_end=False) if start else 0
    last = len(data) if end == size and is_all else _place(pieces, end, is_end=True)
    return first, last


def _place(pieces: list[_Piece], place: int, *, is_end: bool) -> int:
    """Return where a place of the cleaned text lies in the line; between two pieces, in one or at its end."""
    at = bisect_right(pieces, place - is_end, key=lambda piece: piece.text) - 1
    return pieces[at].raw + place - pieces[at].text


def _pieces(data: bytes) -> list[_Piece]:
    """Return the pieces of a line's cleaned text, as far as its beginning is UTF-8; none if they have moved."""
    bare = data.rstrip(b"\r")
    try:
        text = bare.decode()
    except UnicodeDecodeError as error:
        bare = bare[: error.start]
        text = bare.decode()
    if not has_controls(bare):
        return [_Piece(0, 0, len(bare))] if bare else []
    from sightline.shape.terminal import MOVES, TOKEN  # most lines have no controls

    if MOVES.search(data.decode("utf-8", "replace").rstrip("\r")):
        return []
    pieces: list[_Piece] = []
    shown = raw = at = 0
    for start, end in [*((token.start(), token.end()) for token in TOKEN.finditer(text)), (len(text), len(text))]:
        if size := len(text[at:start].encode()):
            pieces.append(_Piece(shown, raw, size))
        shown, raw, at = shown + size, raw + size + len(text[start:end].encode()), end
    return pieces
