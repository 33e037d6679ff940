"""Which raw lines of its output a past call's answer showed."""

from sightline.store.audit.matching import How, match_lines
from sightline.store.capture.importers.past import PastCall
from sightline.store.errors import SightlineError
from sightline.store.records import Buffer, Shown
from sightline.store.store import Store, Target

_SEARCHED_BYTES = 64 << 20  # of a larger stream nobody waits for what was shown of it


def shown_lines(store: Store, call: PastCall, buffer: Buffer, text: str) -> tuple[Shown, ...]:
    """The lines of a buffer that stand in what the model was shown, whole.

    Args:
        store: where the buffer is.
        call: what it was made of.
        buffer: its record, which the index need not know yet.
        text: all that was shown.
    """
    contents = {part.stream: part.content for part in call.parts}
    found: list[Shown] = []
    for stream, info in buffer.streams.items():
        content = contents.get(stream, b"")
        if call.kind == "file" or (isinstance(content, bytes) and content and _holds(text, content)):
            found.append(Shown(buffer.name, stream, 1, info.lines))
        elif text and info.bytes <= _SEARCHED_BYTES:
            found += _matched(store, buffer, stream, text)
    return tuple(found)


def _holds(text: str, content: bytes) -> bool:
    """Whether a text has all of a stream, but for a newline at its end."""
    whole = content.decode(errors="replace").removesuffix("\n")
    return whole in text


def _matched(store: Store, buffer: Buffer, stream: str, text: str) -> list[Shown]:
    try:
        with store.open_text(Target(buffer, stream)) as source:
            everything = ((1, buffer.stream(stream).lines),)
            spans = match_lines(text.split("\n"), source, everything, How())
    except SightlineError:
        return []
    return [Shown(buffer.name, stream, first, last) for first, last in spans]
