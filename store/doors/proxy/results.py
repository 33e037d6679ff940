"""What a tool's result holds, read from the server's own line: what of it may be kept, and what is left without it."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from sightline.capture.result import TEXT_MIME, Block, blocks_of
from sightline.doors.proxy.spans import Span
from sightline.shape import markers

IMAGE_BYTES = 1 << 16
"""An image, a sound or an encoded resource up to this size, as it is sent, is left in the reply."""

MANY_BLOCKS = 32
"""Of more blocks than these none would get a readable share of a view: their array is kept as one JSON text."""

_NAMED_RESOURCES = 10
_URI_CHARACTERS = 200


class Part(NamedTuple):
    """What becomes one stream.

    Attributes:
        block: its bytes.
        shown: whether the view shows it: what stays in the reply is not, and what another part says as well.
        about: what a reader must know of it, such as a resource's address; may be empty.
    """

    block: Block
    shown: bool
    about: str = ""


class Result(NamedTuple):
    """A tool's result in a line.

    Attributes:
        text: the line.
        span: where the result stands.
        members: its members.
        items: its content blocks, plainly read.
        structured: its ``structuredContent``, None where it has none.
    """

    text: str
    span: Span
    members: dict[str, Span]
    items: list[Span]
    structured: Span | None

    @property
    def failed(self) -> bool:
        """Whether the tool reports an error."""
        return "isError" in self.members and self.members["isError"].value is True

    @property
    def size(self) -> int:
        """Bytes of what could be taken out, as they are sent; a client shows its model the text or the structure."""
        content = sum(self._bytes(item) for item in self.items if not _stays(item))
        return max(content, self._bytes(self.structured) if self.structured else 0)

    def raw(self, span: Span) -> str:
        """A value as the server wrote it."""
        return self.text[span.start : span.end]

    def _bytes(self, span: Span) -> int:
        return span.end - span.start if self.text.isascii() else len(self.raw(span).encode())


def read_result(text: str, span: Span) -> Result | None:
    """A result whose ``content`` was walked into; None for anything but content blocks and structured content."""
    members = span.value
    if not isinstance(members, dict) or not ("content" in members or "structuredContent" in members):
        return None
    items = members["content"].value if "content" in members else []
    if not isinstance(items, list) or not all(_is_block(item.value) for item in items):
        return None
    return Result(text, span, members, items, members.get("structuredContent"))


def _is_block(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _stays(item: Span) -> bool:
    """Whether a block is left in the reply: small images, links, and everything unknown."""
    match item.value["type"]:
        case "text":
            return _text_of(item.value) is None
        case "image" | "audio" | "resource":
            return _text_of(item.value) is None and item.end - item.start <= IMAGE_BYTES
    return True


def _text_of(block: dict[str, Any]) -> str | None:
    """The text of a text block, or of an embedded resource."""
    inner = block.get("resource") if block["type"] == "resource" else block
    text = inner.get("text") if isinstance(inner, dict) and block["type"] in ("text", "resource") else None
    return text if isinstance(text, str) else None


def parts_of(result: Result) -> list[Part]:
    """What of a result becomes which stream, in order."""
    parts = list(_content_parts(result))
    if result.structured:
        number, same = len(parts), _is_told(result)
        about = f"part {number} is structuredContent" + (", which says the same" if same else "")
        data = result.raw(result.structured).encode()
        parts.append(Part(Block([data]), not same, about if parts else ""))
    return parts


def _content_parts(result: Result) -> Iterator[Part]:
    if len(result.items) > MANY_BLOCKS:
        data = result.raw(result.members["content"]).encode()
        yield Part(Block([data]), True, f"part 0 is all {len(result.items):,} blocks as JSON")
        return
    blocks, _ = blocks_of({"content": [item.value for item in result.items]}) or ([], False)
    for number, (item, block) in enumerate(zip(result.items, blocks, strict=True)):
        if block.mime == TEXT_MIME and _text_of(item.value) is None:  # no content that is known: the JSON itself
            block = Block([result.raw(item).encode()])
        yield Part(block, not _stays(item), _address(item.value, number))


def _address(block: dict[str, Any], number: int) -> str:
    inner = block.get("resource")
    uri = inner.get("uri") if block["type"] == "resource" and isinstance(inner, dict) else None
    return f"part {number} is {uri[:_URI_CHARACTERS]}" if isinstance(uri, str) and number < _NAMED_RESOURCES else ""


def _is_told(result: Result) -> bool:
    """Whether the structure says no more than the one text beside it: its JSON, or a field that holds it."""
    if len(result.items) != 1 or result.structured is None or (text := _text_of(result.items[0].value)) is None:
        return False
    value = result.structured.value
    if isinstance(value, dict) and list(value.values()) == [text]:
        return True
    if text.lstrip()[:1] not in ("{", "[") or text.count('"') != result.raw(result.structured).count('"'):
        return False
    try:
        return bool(json.loads(text) == value)
    except (ValueError, RecursionError):
        return False


def told(result: Result) -> str:
    """The texts of a result, as an agent may read them; for what is no text, what it is."""
    texts = [_told_block(result, item) for item in result.items]
    if result.structured and not _is_told(result):
        texts.append(result.raw(result.structured))
    if len(texts) == 1:
        return texts[0]
    return "".join(f"{markers.part(number)}\n{text}{_ended(text)}" for number, text in enumerate(texts))


def _told_block(result: Result, item: Span) -> str:
    text = _text_of(item.value)
    if text is not None:
        return text
    if item.value["type"] in ("image", "audio", "resource"):
        return f"[{item.value['type']}, {item.end - item.start:,} bytes as sent]"
    return result.raw(item)


def _ended(text: str) -> str:
    return "" if text.endswith("\n") else "\n"


def rewritten(result: Result, blocks: list[dict[str, Any]], meta: dict[str, Any]) -> str:
    """The result with other content; all that stays is as the server wrote it, and so is what is no content.

    Args:
        result: the server's.
        blocks: the content blocks that come first.
        meta: what its ``_meta`` has besides.
    """
    kept = [result.raw(item) for item in result.items if _stays(item)]
    content = "[" + ",".join([*map(_dumps, blocks), *kept]) + "]"
    members = {
        name: f"{result.text[span.key : span.start]}{content if name == 'content' else result.raw(span)}"
        for name, span in result.members.items()
        if name not in ("structuredContent", "_meta")
    }
    members.setdefault("content", f'"content":{content}')
    members["_meta"] = f'"_meta":{_with_meta(result, meta)}'
    return "{" + ",".join(members.values()) + "}"


def _with_meta(result: Result, meta: dict[str, Any]) -> str:
    old = result.members.get("_meta")
    if old is None or not isinstance(old.value, dict) or not old.value:
        return _dumps(meta)
    if not meta:
        return result.raw(old)
    if set(old.value) & set(meta):
        return _dumps(old.value | meta)
    return f"{result.raw(old)[:-1]},{_dumps(meta)[1:]}"


def _dumps(value: Any) -> str:
    from sightline.doors.mcp.wire import encode

    return encode(value).decode()
