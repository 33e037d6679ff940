"""Which raw lines of its output a past call's answer showed."""

from typing import NamedTuple

from sightline.audit.matching import How, Matched, has_long_lines, match_parts
from sightline.errors import SightlineError
from sightline.harnesses.call import Call
from sightline.records import Buffer, LinePart, Shown
from sightline.store import Store, Target

_BEFORE = ("\n", "\nOutput: ")  # what stands before the first line; the latter is Gemini CLI's
_SEARCHED_BYTES = 64 << 20  # of a larger stream nobody waits for what was shown of it


class Found(NamedTuple):
    """Lines of a buffer that stand in a text.

    Attributes:
        known: those that are known to, whole.
        matched: those that were recognised in it, whole.
        parts: those of which a part was.
    """

    known: tuple[Shown, ...]
    matched: tuple[Shown, ...]
    parts: tuple[LinePart, ...] = ()


def shown_lines(store: Store, call: Call, buffer: Buffer, text: str) -> Found:
    """The lines of a buffer that stand in what the model was shown, whole or in part.

    Args:
        store: where the buffer is.
        call: what it was made of.
        buffer: its record, which the index need not know yet.
        text: all that was shown.
    """
    contents = {part.stream: part.content for part in call.parts}
    known: list[Shown] = []
    matched: list[Shown] = []
    parts: list[LinePart] = []
    for stream, info in buffer.streams.items():
        content, runs = contents.get(stream, b""), buffer.runs(stream)
        is_file = call.kind == "file" and isinstance(content, bytes) and has_long_lines(content, text)
        if is_file or (isinstance(content, bytes) and content and _holds(text, content, runs)):
            known += [Shown(buffer.name, stream, first, last) for first, last in runs]
        elif text and info.bytes <= _SEARCHED_BYTES:
            found = _matched(store, buffer, stream, text)
            matched += (Shown(buffer.name, stream, first, last) for first, last in found.lines)
            parts += (LinePart(buffer.name, stream, *cut, matched=True) for cut in found.cuts)
    return Found(tuple(known), tuple(matched), tuple(parts))


def _holds(text: str, content: bytes, runs: list[tuple[int, int]]) -> bool:
    """Whether a text has all of a stream from gap to gap, as lines of its own, but for a newline at its end."""
    lines = content.decode(errors="replace").removesuffix("\n").split("\n")
    wholes = ["\n".join(lines[first - 1 : last]) for first, last in runs]
    return all(whole and any(f"{before}{whole}\n" in f"\n{text}\n" for before in _BEFORE) for whole in wholes)


def _matched(store: Store, buffer: Buffer, stream: str, text: str) -> Matched:
    try:
        with store.open_text(Target(buffer, stream)) as source:
            return match_parts(text.split("\n"), source, How())
    except SightlineError:
        return Matched()
