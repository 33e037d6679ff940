"""Finds which bytes of a raw line a piece of its cleaned text stands for; where that is not certain, fewer of them."""

from bisect import bisect_right

from sightline.named_tuple import NamedTuple
from sightline.shape.clean import clean_line, has_controls
from sightline.shape.source import CutLine, Line


class _Piece(NamedTuple):
    """Bytes of a line that its cleaned text has as they are.

    Attributes:
        text: where they begin in the cleaned text.
        raw: where they begin in the line.
        length: how many they are.
    """

    text: int
    raw: int
    length: int


def cut_at_ends(line: Line, head: str, tail: str) -> CutLine:
    """A line of which a text has the beginning and the end.

    Args:
        line: as it was read; of one that was not read whole, each half was cleaned by itself.
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
    """How many bytes two texts begin with alike."""
    same, end = 0, min(len(one), len(other))
    while same < end:
        middle = (same + end + 1) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            end = middle - 1
    return same


def raw_range(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The bytes of a line, from a place to before another, that such a range of its cleaned text stands for.

    What a terminal does not show counts with what stands before it. No bytes, (0, 0), where a carriage return or the
    like may have written over some, or the text is no UTF-8 before the end of the range.
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
    """Where in the line a place of its cleaned text lies; between two pieces, at the end of the one or in the next."""
    at = bisect_right(pieces, place - is_end, key=lambda piece: piece.text) - 1
    return pieces[at].raw + place - pieces[at].text


def _pieces(data: bytes) -> list[_Piece]:
    """The pieces that make up the cleaned text of a line, as far as its beginning is UTF-8; none where they moved."""
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
