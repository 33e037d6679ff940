"""Contents of results as harnesses write them: texts, and lists of blocks in the ways of several APIs. Pure."""

import base64
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from sightline.harnesses.past import Part
from sightline.harnesses.transcript import dict_of, plain, text_bytes
from sightline.records import Gap

_TEXTS = ("text", "input_text", "output_text")
_MIME = re.compile(r"[\w.+-]+/[\w.+-]+")
_MIME_BYTES = 100
_LONG_ID = 20


def shown_of(content: Any) -> tuple[str, ...]:
    """The texts of a result, one a block; what is no text stands as a short remark in brackets."""
    if isinstance(content, str):
        return (plain(content),)
    if isinstance(content, list):
        return tuple(_shown(block) for block in content)
    return () if content is None else (plain(json.dumps(content, ensure_ascii=False)),)


def _shown(block: Any) -> str:
    if isinstance(block, str):
        return plain(block)
    fields = dict_of(block)
    if fields.get("type", "text") in _TEXTS and isinstance(fields.get("text"), str):
        return plain(fields["text"])
    if found := _binary(fields):
        return f"[{found[1]}, {len(found[0]):,} bytes]"
    return plain(json.dumps(block, ensure_ascii=False))


def parts_of(content: Any) -> tuple[Part, ...]:
    """The streams of a result, one a block: images and the like as the bytes that they are."""
    blocks = content if isinstance(content, list) else [] if content is None else [content]
    made = ((f"part.{place}", *_bytes(block)) for place, block in enumerate(blocks))
    return tuple(Part(stream, data, mime) for stream, data, mime in made if data)


def _bytes(block: Any) -> tuple[bytes, str]:
    fields = dict_of(block)
    if not isinstance(block, str) and (found := _binary(fields)):
        return found
    (text,) = shown_of([block])
    return text_bytes(text), "text/plain"


def _binary(block: dict[str, Any]) -> tuple[bytes, str] | None:
    """What a block of an image or of other bytes holds, and its MIME type; None for any other block."""
    source = dict_of(block.get("source")) or dict_of(block.get("resource")) or block
    encoded = source.get("data", source.get("blob"))
    mime = source.get("media_type", source.get("mimeType"))
    if not isinstance(encoded, str) or not encoded:
        return None
    try:
        data = base64.b64decode(encoded, validate=True)
    except ValueError:
        return None
    known = isinstance(mime, str) and len(mime) < _MIME_BYTES and _MIME.fullmatch(mime)
    return data, str(mime) if known else "application/octet-stream"


def text_part(text: str, stream: str = "out") -> tuple[Part, ...]:
    """A text as a stream; nothing where it is empty."""
    return (Part(stream, text_bytes(text)),) if text else ()


class Kept(NamedTuple):
    """What a harness left of a text, without the marks that it put where it cut.

    Attributes:
        text: what is left of it.
        gaps: where something is missing, as far as that is told.
        is_cut: whether anything is.
    """

    text: str
    gaps: tuple[Gap, ...] = ()
    is_cut: bool = False


def parted(pieces: Sequence[str], missing: Sequence[tuple[int | None, str]], stream: str) -> Kept:
    """What is left of a text.

    Args:
        pieces: its pieces in order, a gap between each two.
        missing: how much each gap lacks, and the unit, as a `Gap` has them.
        stream: the stream that it is of.
    """
    text, gaps = pieces[0], list[Gap]()
    for piece, (count, unit) in zip(pieces[1:], missing, strict=True):
        is_open = bool(text) and not text.endswith("\n")
        gaps.append(Gap(stream, text.count("\n") + is_open, count, unit))
        text += ("\n" if is_open and piece else "") + piece
    return Kept(text, tuple(gaps), bool(gaps))


def lines_not_read(first: int, last: int, total: int) -> tuple[Gap, ...]:
    """The gaps before and after the lines of a file that were read of it."""
    gaps = (Gap("out", 0, first - 1, "lines"), Gap("out", last - first + 1, total - last, "lines"))
    return tuple(gap for gap in gaps if gap.missing and gap.missing > 0)


def unique_id(session: str, call: str) -> str:
    """An id of a call that no other session has: those that models give are long and random, others need the session.

    Sessions that were forked hold the calls of the first one again; by a long id these are known.
    """
    return call if len(call) >= _LONG_ID else f"{session}:{call}"
