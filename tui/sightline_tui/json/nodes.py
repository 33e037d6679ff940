"""The values of a JSON text as nodes, which are read when they are looked at, some children of a container at a time.

Only the children on the way are kept; what lies between two of them is skipped without parsing.
"""

import json
import re
import sys
from bisect import bisect_right
from collections.abc import Callable
from typing import cast

from sightline.light.named_tuple import NamedTuple
from sightline.shape.json.scanner import FAILURES, NotJson, Scanner, kind_of, parsed, scan
from sightline.shape.source import Source
from sightline.store import StreamReader

PAGE = 200
"""Children that are read at once."""

NEAR_BYTES = 1 << 17
"""A container that is longer than this is skipped only when the value after it is needed."""

_FIRST_LINE_BYTES = 1 << 24  # a longer first line is not tested for being a value of its own
_SHOWN_BYTES = 2_000  # shown of a scalar, and of a container's beginning
_KEY_BYTES = 1_000
_COUNTED_BYTES = 1 << 16
_CLOSING = {"object": "}", "array": "]"}
_PLAIN_KEY = re.compile(r"[^.\[\]\s\"']+")
_SPACES = re.compile(r"[ \t\r\n]+")


class TreeNode:
    """A value, or a place holder for values that are not read yet.

    Attributes:
        kind: ``object``, ``array``, ``lines``, ``string``, ``number``, ``boolean``, ``null``; ``more`` if children
            of ``parent`` are still to be read; ``broken`` where the text stops being JSON.
        parent: the container around it.
        key: key of an object's member; None for anything else.
        place: index among the container's children, from 0.
        start: offset in bytes of its beginning.
        end: offset of its end, exclusive; 0 while that is not known.
        text: a scalar as it is written, or a container's beginning; cut if it is long.
        count: number of children, if the container is small or has been read, else None.
        children: the children that have been read.
        is_complete: whether these are all.
        is_open: whether they are shown.
    """

    __slots__ = (
        *("kind", "parent", "key", "place", "start", "end", "text", "count"),
        *("children", "is_complete", "is_open", "depth"),
    )

    def __init__(self, kind: str, parent: "TreeNode | None", place: int, start: int, key: str | None = None) -> None:
        self.kind = kind
        self.parent = parent
        self.key = key
        self.place = place
        self.start = start
        self.end = 0
        self.text = ""
        self.count: int | None = None
        self.children = list[TreeNode]()
        self.is_complete = False
        self.is_open = False
        self.depth: int = parent.depth + 1 if parent is not None else 0

    @property
    def is_container(self) -> bool:
        """Whether it has, or could have, children."""
        return self.kind in ("object", "array", "lines")

    @property
    def line(self) -> int:
        """In a text of several values, the number of the value around it, from 1; else 0."""
        if self.parent is None:
            return 0
        return self.place + 1 if self.parent.kind == "lines" else self.parent.line

    @property
    def path(self) -> str:
        """The path ``$.items[3].name``; in a text of several values, the path within its value."""
        if self.parent is None or self.parent.kind == "lines":
            return "$"
        if self.key is None:
            return f"{self.parent.path}[{self.place}]"
        if _PLAIN_KEY.fullmatch(self.key):
            return f"{self.parent.path}.{self.key}"
        is_whole = self.key.isprintable()  # half a surrogate pair or a control must be escaped
        return f"{self.parent.path}[{json.dumps(self.key, ensure_ascii=not is_whole)}]"


class NextChildren(NamedTuple):
    """The next children of a container.

    Attributes:
        children: the children, in order.
        is_complete: whether they are the last.
        end: offset of the container's end, exclusive, if it is known, else 0.
        last_end: offset of the end, exclusive, of the last child that was read before.
        broken: the offset at which the text stops being JSON; -1 if it does not.
    """

    children: list[TreeNode]
    is_complete: bool
    end: int = 0
    last_end: int = 0
    broken: int = -1


def read_root(source: StreamReader) -> TreeNode:
    """Read the value of a text, or the root of several on a line each. Raises NotJson for anything but containers."""
    scanner = Scanner(source)
    start = scanner.start()
    kind = kind_of(scanner.char(start))
    if kind not in _CLOSING:
        raise NotJson(start)
    root = TreeNode("lines" if _is_first_of_several(source, start) else kind, None, 0, start)
    root.end = source.byte_count if root.kind == "lines" else 0
    root.is_open = True
    return root


def _is_first_of_several(source: StreamReader, start: int) -> bool:
    """Return whether the first line is a value of its own, and another line follows."""
    line_end = source.offset_of_line(source.line_at(start) + 1)
    if line_end - start > _FIRST_LINE_BYTES or line_end >= source.byte_count:
        return False
    text = source.read(start, line_end - start).decode("latin-1")
    try:
        end = scan(text, 0)[1]
    except FAILURES:
        return False
    return not text[end:].strip() and Scanner(source).space(line_end) < source.byte_count


class NobodyWaits(Exception):
    """The reading was cancelled."""


class _Guarded:
    """A source whose reading can be cancelled, because skipping a gigabyte takes a while."""

    def __init__(self, source: Source, is_left: Callable[[], bool]) -> None:
        self.byte_count = source.byte_count
        self._source = source
        self._is_left = is_left

    def read(self, offset: int, length: int) -> bytes:
        if self._is_left():
            raise NobodyWaits
        return self._source.read(offset, length)


def read_children(source: Source, node: TreeNode, *, is_left: Callable[[], bool] = lambda: False) -> NextChildren:
    """Read the next children of a container; at most one large one is skipped for them.

    Args:
        source: the text.
        node: the container.
        is_left: returns whether the reading is cancelled.

    Raises:
        NobodyWaits: the reading was cancelled.
    """
    scanner = Scanner(cast(Source, _Guarded(source, is_left)))
    found: list[TreeNode] = []
    last_end = 0
    try:
        if node.children:
            last = node.children[-1]
            last_end = last.end or scanner.value_end(last.start)
            more, at = _step(scanner, node, last_end)
        elif node.kind == "lines":
            more, at = True, node.start
        else:
            more, at = scanner.opened(node.start)
        while more and len(found) < PAGE:
            child = _child(scanner, node, len(node.children) + len(found), at)
            found.append(child)
            _measure(scanner, child)
            if not child.end:
                return NextChildren(found, is_complete=False, last_end=last_end)
            more, at = _step(scanner, node, child.end)
    except NotJson as error:
        return NextChildren(found, is_complete=True, last_end=last_end, broken=error.args[0])
    broken = -1
    if not more and node.parent is None and (following := scanner.space(at)) < scanner.size:
        broken = following
    return NextChildren(found, is_complete=not more, end=0 if more else at, last_end=last_end, broken=broken)


def towards(root: TreeNode, offset: int) -> tuple[TreeNode, bool]:
    """Return (node, True) for the node around a byte, else (container, False) if more of one must be read first."""
    node = root
    while node.is_container:
        at = bisect_right(node.children, offset, key=lambda child: child.end or sys.maxsize)
        if at == len(node.children):
            return node, node.is_complete
        child = node.children[at]
        if offset < child.start:
            return child, True
        if not child.end and not node.is_complete:
            return node, False  # its end is found when the value after it is read
        node = child
    return node, True


def _step(scanner: Scanner, node: TreeNode, end: int) -> tuple[bool, int]:
    """Go from the end of a child to the next one; see `Scanner.step`."""
    if node.kind != "lines":
        return scanner.step(end, _CLOSING[node.kind])
    following = scanner.next_line(end)
    return following < scanner.size, following


def _child(scanner: Scanner, node: TreeNode, place: int, at: int) -> TreeNode:
    key = None
    if node.kind == "object":
        key_end, value = scanner.key(at)
        key = key_of(scanner.raw(at, min(key_end, at + _KEY_BYTES)).rstrip())
        at = value
    return TreeNode(kind_of(scanner.char(at)), node, place, at, key)


def key_of(written: bytes) -> str:
    """Decode a key; one that was cut is returned as it is written."""
    text = _decoded(written)
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return text[1:] + "…"


def _measure(scanner: Scanner, child: TreeNode) -> None:
    """Find the end of a child, unless it is a large container, and the text to show for it."""
    if not child.is_container:
        child.end = scanner.value_end(child.start)
        child.text = _shown(scanner, child)
        return
    text = scanner.raw(child.start, child.start + NEAR_BYTES).decode("latin-1")
    try:
        child.end = child.start + scan(text, 0)[1]
    except FAILURES:
        child.end = 0
    child.text = _shown(scanner, child)
    if child.end and child.end - child.start <= _COUNTED_BYTES:
        value = parsed(text[: child.end - child.start])
        child.count = None if value is None else len(value)


def _shown(scanner: Scanner, child: TreeNode) -> str:
    end = min(child.end or child.start + _SHOWN_BYTES, child.start + _SHOWN_BYTES)
    text = _SPACES.sub(" ", _decoded(scanner.raw(child.start, end)))
    return text if child.end and end == child.end else text + "…"


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
