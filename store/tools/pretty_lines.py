"""Which lines of a JSON block's pretty form some of its bytes stand for."""

from collections.abc import Iterator

from sightline.store.disk.streams import StreamReader
from sightline.store.records import Shown
from sightline.store.shape.structured.json_pretty import pretty
from sightline.store.store import Store, Target

MOST_BYTES = 64 << 20
"""Further in nothing is worked out: it would take seconds, for a page that nobody pages on from."""

_READ_BYTES = 1 << 16


def pretty_lines(store: Store, target: Target, start: int, end: int) -> tuple[Shown, ...]:
    """The lines that the bytes from start to end hold anything of; at the start one too few rather than too many."""
    if end > MOST_BYTES or start >= end:
        return ()
    with store.open(target) as source:
        before = _newlines(source, start)
        first = before + 2 if start else 1
        last = _newlines(source, end) + 1
    info = target.buffer.stream(target.stream)
    last = min(last, info.lines)
    return (Shown(target.buffer.name, target.stream, first, last),) if first <= last else ()


def _newlines(source: StreamReader, end: int) -> int:
    """Newlines of the pretty form of the first bytes, as far as these alone make it."""
    if not end:
        return 0
    pieces = pretty(_chunks(source, end))
    counted = held = 0
    for piece in pieces:  # the last one is what only the end of all would make of them
        counted, held = counted + held, piece.count(b"\n")
    return counted


def _chunks(source: StreamReader, end: int) -> Iterator[bytes]:
    for at in range(0, end, _READ_BYTES):
        yield source.read(at, min(_READ_BYTES, end - at))
