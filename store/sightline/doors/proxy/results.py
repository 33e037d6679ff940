"""Reads a tool's result: what of it is kept, how it is logged, and what is sent in its place."""

import contextlib
import re
from collections.abc import Iterator

from sightline.capture.result import TEXT_MIME, ResultBlock, blocks_of
from sightline.doors.proxy.calls import dumped
from sightline.light.json_text import first_value, loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any
from sightline.shape import markers

if TYPE_CHECKING:
    from sightline.settings.config import Redaction

IMAGE_BYTES = 1 << 16
"""An image, a sound or an encoded resource of at most this size, as sent, stays in the reply."""

MANY_BLOCKS = 32
"""With more blocks than this none would get a readable share of a view, so their array is kept as one JSON text."""

_NAMED_RESOURCES = 10
_URI_CHARACTERS = 200


class ResultPart(NamedTuple):
    """A part of a result that becomes one stream.

    Attributes:
        block: its bytes.
        shown: whether the view shows it; not if it stays in the reply, or if another part says the same.
        about: what a reader must know about it, such as a resource's address; may be empty.
    """

    block: ResultBlock
    shown: bool
    about: str = ""


class Result(NamedTuple):
    """A tool's result.

    Attributes:
        members: all members of the result.
        items: its content blocks.
        structured: its ``structuredContent``; None if it has none.
    """

    members: dict[str, Any]
    items: list[Any]
    structured: Any

    @property
    def failed(self) -> bool:
        """Whether the tool reports an error."""
        return is_error(self.members)

    def is_larger(self, limit: int) -> bool:
        """Whether its movable text, or its structure, is over a limit; a client shows its model one of the two."""
        content = sum(_size(item, limit) for item in self.items if not _stays(item))
        return content > limit or (self.structured is not None and _size(self.structured, limit) > limit)


def is_error(value: Any) -> bool:
    """Whether a tool's result, in whatever form, says that it is an error."""
    return isinstance(value, dict) and value.get("isError") is True


def _size(value: Any, limit: int) -> int:
    """The size of a value in bytes as sent; for a text longer than the limit its characters, which decide as well."""
    text = _text_of(value) if _is_block(value) else None
    return len(text) if text is not None and len(text) > limit else len(dumped(value).encode())


def read_result(value: Any) -> Result | None:
    """A tool's result; None for anything but content blocks and structured content."""
    if not isinstance(value, dict) or not ("content" in value or "structuredContent" in value):
        return None
    items = value.get("content", [])
    if not isinstance(items, list) or not all(map(_is_block, items)):
        return None
    return Result(value, items, value.get("structuredContent"))


def _is_block(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _stays(block: dict[str, Any]) -> bool:
    """Whether a block is left in the reply: small images, links, and everything unknown."""
    match block["type"]:
        case "text":
            return _text_of(block) is None
        case "image" | "audio" | "resource":
            return _text_of(block) is None and len(dumped(block)) <= IMAGE_BYTES
    return True


def _text_of(block: dict[str, Any]) -> str | None:
    """The text of a text block, or of an embedded resource."""
    inner = block.get("resource") if block["type"] == "resource" else block
    text = inner.get("text") if isinstance(inner, dict) and block["type"] in ("text", "resource") else None
    return text if isinstance(text, str) else None


def parts_of(result: Result, line: bytes) -> list[ResultPart]:
    """The parts of a result, one for each stream, in order.

    Args:
        result: the result.
        line: the server's line that holds it; JSON is kept as it is spelled there.
    """
    parts = list(_content_parts(result, line))
    if result.structured is not None:
        number, same = len(parts), _is_told(result)
        about = f"part {number} is structuredContent" + (", which says the same" if same else "")
        spelled = _spelled(line, "structuredContent", result.structured)
        parts.append(ResultPart(ResultBlock([spelled]), not same, about if parts else ""))
    return parts


def _spelled(line: bytes, key: str, value: Any) -> bytes:
    """A member's value as a line spells it; as we write it if the line spells the key in another way."""
    text = line.decode()
    for found in re.finditer(rf'"{key}"[ \t]*:[ \t]*', text):  # within a string its quotes would have backslashes
        with contextlib.suppress(ValueError):
            read, end = first_value(text, found.end())
            if read == value:
                return text[found.end() : end].encode()
    return dumped(value).encode()


def _content_parts(result: Result, line: bytes) -> Iterator[ResultPart]:
    if len(result.items) > MANY_BLOCKS:
        about = f"part 0 is all {len(result.items):,} blocks as JSON"
        yield ResultPart(ResultBlock([_spelled(line, "content", result.items)]), True, about)
        return
    blocks, _ = blocks_of({"content": result.items}) or ([], False)
    for number, (item, block) in enumerate(zip(result.items, blocks, strict=True)):
        if block.mime == TEXT_MIME and _text_of(item) is None:  # no known content: the JSON itself is kept
            block = ResultBlock([dumped(item).encode()])
        yield ResultPart(block, not _stays(item), _address(item, number))


def _address(block: dict[str, Any], number: int) -> str:
    inner = block.get("resource")
    uri = inner.get("uri") if block["type"] == "resource" and isinstance(inner, dict) else None
    return f"part {number} is {uri[:_URI_CHARACTERS]}" if isinstance(uri, str) and number < _NAMED_RESOURCES else ""


def _is_told(result: Result) -> bool:
    """Whether the structure only repeats the one text beside it: as its JSON, or in a field."""
    if len(result.items) != 1 or (text := _text_of(result.items[0])) is None:
        return False
    value = result.structured
    if isinstance(value, dict) and list(value.values()) == [text]:
        return True
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        return bool(loads(text) == value)
    except ValueError:
        return False


def told(value: Any) -> str:
    """A result as text: its texts, a mark for each block that is none, or its JSON if it is not a result."""
    result = read_result(value)
    if result is None:
        return dumped(value)
    texts = [_told_block(item) for item in result.items]
    if result.structured is not None and not _is_told(result):
        texts.append(dumped(result.structured))
    if len(texts) == 1:
        return texts[0]
    return "".join(f"{markers.part(number)}\n{text}{_ended(text)}" for number, text in enumerate(texts))


def _told_block(block: dict[str, Any]) -> str:
    text = _text_of(block)
    if text is not None:
        return text
    sent = dumped(block)
    return (
        f"[{block['type']}, {len(sent):,} bytes as sent]" if block["type"] in ("image", "audio", "resource") else sent
    )


def _ended(text: str) -> str:
    return "" if text.endswith("\n") else "\n"


def with_content(result: Result, blocks: list[dict[str, Any]], meta: dict[str, Any]) -> dict[str, Any]:
    """The result with other content; all other members stay, and so do blocks that are left in a reply.

    Args:
        result: the server's.
        blocks: the content blocks that come first.
        meta: what to add to its ``_meta``.
    """
    theirs = result.members.get("_meta")
    made = {**result.members, "content": [*blocks, *filter(_stays, result.items)]}
    made.pop("structuredContent", None)
    return {**made, "_meta": {**(theirs if isinstance(theirs, dict) else {}), **meta}}


def without_secrets(redaction: "Redaction", value: Any) -> tuple[Any, str] | None:
    """A result with its secrets hidden, and the text for the log; None if it has none. A block says what was hidden.

    Some secrets are known by what stands before them in the JSON, some show only in the texts.
    """
    text = dumped(value)
    try:
        value = loads(redaction.text(text))
    except ValueError:  # a person's pattern reaches past the end of a text
        pass
    clean = redaction.value(value)
    said = redaction.text(told(clean))
    if not redaction.count:
        return None
    note = f"redacted: {redaction.count:,}"
    if read_result(clean) and "content" in clean:
        clean["content"] = [*clean["content"], {"type": "text", "text": note}]
    return clean, f"{said}\n{note}\n"
