"""Works out how a file changed, and which of its lines are known, from reads, writes and edits alone. It is pure."""

from collections.abc import Iterator, Sequence

from sightline.harnesses.file_changes import DELETED, WRITTEN, FileChange, Replacement
from sightline.light.named_tuple import NamedTuple
from sightline.search.diff.difflib_engine import hunks

CONTEXT_LINES = 3
"""Lines of a file that a diff shows around what changed, as far as they are known."""

NO_READ = "no call had read or written it whole or in part"
NOT_FOUND = "an edit replaced text that is in none of the lines that were known"
AMBIGUOUS = "an edit replaced text that stands in several places of what was known"
CUT = "the log does not have all of an edit's text"
NO_PLACE = "an edit does not state where its text went"


class FileState(NamedTuple):
    """Which lines of a file are known at some moment.

    Attributes:
        runs: runs of neighbouring lines that are known: the number of the first, from 1, and the lines; in order.
        total: number of its lines; None if that is not known.
        why_not: why nothing is known; empty if something is.
        is_gone: whether the file was deleted.
    """

    runs: tuple[tuple[int, tuple[str, ...]], ...] = ()
    total: int | None = None
    why_not: str = NO_READ
    is_gone: bool = False

    @property
    def known(self) -> int:
        """Number of lines that are known."""
        return sum(len(lines) for _, lines in self.runs)

    @property
    def is_whole(self) -> bool:
        """Whether all lines are known."""
        return self.total is not None and self.known == self.total


UNKNOWN = FileState()


class DiffLine(NamedTuple):
    """A line of a diff.

    Attributes:
        sign: ``+``, ``-``, a blank for context, or ``@`` for the heading of a place.
        text: the line.
        number: its number in the file, before for ``-`` and else after the change; 0 if it is not known.
    """

    sign: str
    text: str
    number: int = 0


def written(text: str) -> FileState:
    """Return the state of a file that has just been written whole."""
    lines = lines_of(text)
    return FileState(((1, lines),) if lines else (), len(lines), "")


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines of a text, without an empty one behind its last newline."""
    return tuple(text.removesuffix("\n").split("\n")) if text else ()


def read(state: FileState, first: int, lines: Sequence[str], total: int | None) -> FileState:
    """Return the state after some lines were read; what was known and differs from them is of another time, and goes.

    Args:
        state: the state before.
        first: number of the first line that was read, from 1.
        lines: the lines.
        total: number of lines of the file; None if that is not known.
    """
    new = {first + at: line for at, line in enumerate(lines)}
    known = _numbered(state)
    differs = any(known.get(number, line) != line for number, line in new.items())
    if differs or state.is_gone or (None not in (total, state.total) and total != state.total):
        known, state = {}, UNKNOWN
    return _state({**known, **new}, total if total is not None else state.total)


def _numbered(state: FileState) -> dict[int, str]:
    return {first + at: line for first, lines in state.runs for at, line in enumerate(lines)}


def _state(known: dict[int, str], total: int | None) -> FileState:
    runs = list[tuple[int, list[str]]]()
    for number in sorted(known):
        if runs and number == runs[-1][0] + len(runs[-1][1]):
            runs[-1][1].append(known[number])
        else:
            runs.append((number, [known[number]]))
    return FileState(tuple((first, tuple(lines)) for first, lines in runs), total, "")


def changed(state: FileState, change: FileChange) -> tuple[FileState, list[DiffLine]]:
    """Return the state after a change, and the change as a diff, with numbers of lines where these are known."""
    if change.what == DELETED:
        runs = () if change.moved else state.runs
        gone = [DiffLine("-", line, first + at) for first, lines in runs for at, line in enumerate(lines)]
        return FileState(total=0, why_not="", is_gone=True), gone
    if change.what == WRITTEN:
        return _overwritten(state, change)
    diff = list[DiffLine]()
    for piece in change.pieces:
        state, found = _replaced(state, piece)
        diff += found
    return (FileState(why_not=CUT) if change.cut else state), diff


def _overwritten(state: FileState, change: FileChange) -> tuple[FileState, list[DiffLine]]:
    text = "".join(piece.new for piece in change.pieces)
    after = written(text)
    before = state.runs[0][1] if state.is_whole and state.runs else ()
    diff = list(_hunk(before, after.runs[0][1] if after.runs else (), 1))
    return (FileState(why_not=CUT) if change.cut else after), diff


def _replaced(state: FileState, piece: Replacement) -> tuple[FileState, list[DiffLine]]:
    """Return the state after a replacement, and that as a diff."""
    alone = list(_hunk(lines_of(piece.old), lines_of(piece.new), 0))
    if not piece.old:
        return FileState(why_not=NO_PLACE), alone
    places = [run for run, (_, lines) in enumerate(state.runs) for _ in _found(_text(lines), piece.old)]
    if not places or (piece.everywhere and not state.is_whole):
        return (FileState(why_not=NOT_FOUND) if state.runs else state), alone
    if len(places) > 1 and not piece.everywhere:
        return FileState(why_not=AMBIGUOUS), alone
    return _replaced_in(state, piece, places[0])


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _found(text: str, old: str) -> Iterator[int]:
    at = text.find(old)
    while at >= 0:
        yield at
        at = text.find(old, at + len(old))


def _replaced_in(state: FileState, piece: Replacement, run: int) -> tuple[FileState, list[DiffLine]]:
    """Replace a text that stands in a known run; the lines behind it move."""
    first, lines = state.runs[run]
    after = lines_of(_text(lines).replace(piece.old, piece.new, -1 if piece.everywhere else 1))
    moved = len(after) - len(lines)
    later = tuple((start + moved, known) for start, known in state.runs[run + 1 :])
    kept = ((first, after),) if after else ()
    total = None if state.total is None else state.total + moved
    return FileState((*state.runs[:run], *kept, *later), total, ""), list(_hunk(lines, after, first))


def _hunk(old: Sequence[str], new: Sequence[str], first: int) -> Iterator[DiffLine]:
    """Yield the places where two runs of lines differ, with context.

    Args:
        old: the lines before.
        new: the lines after.
        first: number of the first of them in the file; 0 if it is not known.
    """
    ids = dict[str, int]()
    numbers = [[ids.setdefault(line, len(ids)) for line in lines] for lines in (old, new)]
    shown = 0  # lines of the new side that were yielded, or passed over
    found = [(a, b, c, d) for a, b, c, d in hunks(*numbers) if (a, c) != (b, d)]
    for place, (begin, end, new_begin, new_end) in enumerate(found):
        start = max(shown, new_begin - CONTEXT_LINES)
        if first and (start > shown or not place):
            yield DiffLine("@", "", first + start)
        yield from (DiffLine(" ", new[at], _at(first, at)) for at in range(start, new_begin))
        yield from (DiffLine("-", old[at], _at(first, at)) for at in range(begin, end))
        yield from (DiffLine("+", new[at], _at(first, at)) for at in range(new_begin, new_end))
        following = found[place + 1][2] if place + 1 < len(found) else len(new)
        shown = min(new_end + CONTEXT_LINES, following)
        yield from (DiffLine(" ", new[at], _at(first, at)) for at in range(new_end, shown))


def _at(first: int, place: int) -> int:
    return first + place if first else 0
