"""Finds the raw lines of an output in a text that a hook or a transcript reports as shown."""

from collections.abc import Mapping

from sightline.audit.quoted_lines import How, Matched, has_long_lines, how_made, match_parts
from sightline.base.errors import SightlineError
from sightline.base.records import Buffer, LinePart, Shown
from sightline.light.named_tuple import NamedTuple
from sightline.shape.clean import clean_line
from sightline.store import Reading, Target

_BEFORE = ("\n", "\nOutput: ")  # prefixes of the first line; the latter is Gemini CLI's
_RAW = frozenset("\r\x1b\x08")
_SEARCHED_BYTES = 64 << 20  # in a larger stream shown lines are not searched
_CHARACTER_BYTES = 4  # in UTF-8, at most


class LinesShown(NamedTuple):
    """Lines of a buffer that a text shows.

    Attributes:
        known: lines that it is known to show whole.
        matched: lines that were recognised in it, whole.
        parts: lines that it shows in part.
    """

    known: tuple[Shown, ...]
    matched: tuple[Shown, ...]
    parts: tuple[LinePart, ...] = ()


_NONE_AT_HAND: Mapping[str, bytes] = {}


def shown_lines(
    store: Reading,
    buffer: Buffer,
    text: str,
    *,
    command: str = "",
    contents: Mapping[str, bytes] = _NONE_AT_HAND,
    is_read: bool = False,
) -> LinesShown:
    """Find the lines of a buffer in what a model was shown, whole or in part.

    Args:
        store: the store that has the buffer.
        buffer: the buffer's record, which the index need not know yet.
        text: the whole text that was shown.
        command: the command line, which may have filtered the buffer; empty if it has not.
        contents: contents of streams that are at hand.
        is_read: whether the streams are lines of a file as they were read.
    """
    known: list[Shown] = []
    matched: list[Shown] = []
    parts: list[LinePart] = []
    how = how_made(command) if command not in ("", buffer.command) else How(straight=True)
    for stream, info in buffer.streams.items():
        content, runs = contents.get(stream), buffer.runs(stream)
        is_file = is_read and content is not None and has_long_lines(content, text)
        if is_file or _holds(text, _runs_of(store, buffer, stream, content, len(text))):
            known += [Shown(buffer.name, stream, first, last) for first, last in runs]
        elif text and info.lines and info.bytes <= _SEARCHED_BYTES:
            found = _matched(store, buffer, stream, text, how)
            matched += (Shown(buffer.name, stream, first, last) for first, last in found.lines)
            parts += (LinePart(buffer.name, stream, *cut, matched=True) for cut in found.cuts)
    return LinesShown(tuple(known), tuple(matched), tuple(parts))


def _runs_of(store: Reading, buffer: Buffer, stream: str, content: bytes | None, characters: int) -> list[str]:
    """Return the text of a stream from gap to gap; none if it is too large for this many characters."""
    info = buffer.stream(stream)
    if not info.lines or info.bytes > _CHARACTER_BYTES * (characters + 1):
        return []
    if content is not None:
        whole = content.decode(errors="replace").removesuffix("\n")
        if not buffer.gaps:
            return [whole]
        lines = whole.split("\n")
        return ["\n".join(lines[first - 1 : last]) for first, last in buffer.runs(stream)]
    with store.open(Target(buffer, stream)) as source:
        at, texts = 0, list[str]()
        for _, last in buffer.runs(stream):
            end = source.offset_of_line(last + 1)
            texts.append(bytes(source.read(at, end - at)).decode(errors="replace"))
            at = end
    return texts


def _holds(text: str, runs: list[str]) -> bool:
    """Return whether a text has all of a stream unchanged from gap to gap, as whole lines, but for final newlines.

    For lines that are all alike, no other way tells how many were shown.
    """
    wholes = [whole.strip("\n") for whole in runs]
    if wholes == [text.strip("\n")] != [""]:
        return True  # as most are; looking for it would take two copies of each
    return bool(wholes) and all(
        whole and any(f"{before}{whole}\n" in f"\n{text}\n" for before in _BEFORE) for whole in wholes
    )


def _as_lines_are_sought(line: str) -> str:
    """Return a line without colours and carriage returns, as lines of a source are compared."""
    if _RAW.isdisjoint(line):
        return line
    return clean_line(line.encode(errors="surrogateescape"))


def _matched(store: Reading, buffer: Buffer, stream: str, text: str, how: How) -> Matched:
    try:
        with store.open_text(Target(buffer, stream)) as source:
            return match_parts([_as_lines_are_sought(line) for line in text.split("\n")], source, how)
    except SightlineError:
        return Matched()
