"""How one buffer, and the heading above them all, is laid out in columns."""

from typing import NamedTuple

from sightline.store.records import Buffer
from sightline.tui import wording
from sightline.tui.safe import title
from sightline.tui.strips import Part, pad

_REF, _EXIT, _SIZE, _AGE = 12, 4, 5, 4  # cells
_NARROW = 44  # below this many cells the size goes, so that a command is left to read
_VERY_NARROW = 34


class Columns(NamedTuple):
    """Cells for each column; 0 for one that is left out."""

    command: int
    exit: int
    size: int
    age: int


def columns(width: int) -> Columns:
    """What a row of this width has room for."""
    exit_, size = (0 if width < _VERY_NARROW else _EXIT), (0 if width < _NARROW else _SIZE)
    fixed = 3 + _REF + 1 + sum(cells + 1 for cells in (exit_, size, _AGE) if cells) + 1
    return Columns(max(width - fixed, 4), exit_, size, _AGE)


def heading(width: int) -> list[Part]:
    """Names of the columns."""
    room = columns(width)
    named = ((" EXIT", room.exit), (" SIZE", room.size), (" AGE", room.age))
    text = f"   {pad('REF', _REF)} {pad('COMMAND', room.command)}"
    return [Part(text + "".join(f" {name.strip():>{cells}}" for name, cells in named if cells), "dim")]


def row_parts(buffer: Buffer, width: int, now: float) -> list[Part]:
    """A buffer's row."""
    room = columns(width)
    state = wording.state_of(buffer)
    faded = "dim" if state == "evicted" else ""
    kind, _, digits = buffer.ref.partition("_")
    label = title(buffer.label)
    command = title(buffer.command)
    parts = [
        Part(wording.MARKS[state], faded or state),
        Part(f"{wording.PIN} " if buffer.pinned else "  ", faded or "accent"),
        Part(kind + "_", "dim"),
        Part(pad(digits, _REF - len(kind) - 1), faded or "ref"),
        Part(" "),
        *_named(label, command, room.command, faded),
    ]
    if room.exit:
        ended_badly = "failed" if buffer.failed and not faded else "dim"
        parts.append(Part(f" {wording.exit_text(buffer):>{room.exit}}", ended_badly))
    if room.size:
        size = wording.short_bytes(buffer.bytes) if buffer.bytes else "-"
        parts.append(Part(f" {size:>{room.size}}", faded))
    parts.append(Part(f" {wording.age(now - buffer.accessed):>{room.age}}", "dim"))
    return parts


def _named(label: str, command: str, width: int, faded: str) -> list[Part]:
    if not label:
        return [Part(pad(command, width), faded)]
    named = pad(f"{label}  {command}", width)
    return [Part(named[: len(label)], faded or "label"), Part(named[len(label) :], faded)]
