"""Writes a sample of a JSON text that stands on one line as pretty JSON: each line of it is a part of that line."""

from collections.abc import Mapping

from sightline.store.shape import markers
from sightline.store.shape.clean import clean_line
from sightline.store.shape.segments import Segment
from sightline.store.shape.source import Source
from sightline.store.shape.structured.json_lines import Measure, Written, ends
from sightline.store.shape.structured.json_sample import Detail, children_end, children_shown
from sightline.store.shape.structured.json_tree import Node

INDENT = "  "
_BRACKETS = {"object": "{}", "array": "[]"}


def write_line(
    source: Source, root: Node, detail: Detail, measure: Measure, number: int, room: int, moved: Mapping[int, str]
) -> Written | None:
    """The body, None where it takes more than the room.

    Args:
        source: the text.
        root: its value.
        detail: what is shown of it.
        measure: for long strings.
        number: the line that it stands on.
        room: bytes of the body.
        moved: by the offset of a string, the marker that stands for the whole of it.
    """
    writer = _Writer(source, detail, measure, number, room, moved)
    try:
        writer.write(root, 1, "", "")
    except _Full:
        return None
    return Written(tuple(writer.segments), source.line_count, True)


def rest_marker(ref: str, number: int, node: Node, shown: int) -> str:
    """The marker for a container's children past so many; empty where it would save nothing, so that they are shown."""
    if shown == node.total:
        return ""
    noun = "key" if node.kind == "object" else "item"
    marker = markers.sample(ref, number, number, node.total - shown, noun, more=bool(shown))
    saves = node.end - children_end(node, shown) > len(marker.encode()) + 1
    return marker if saves or (shown and len(node.children) < node.total) else ""


class _Full(Exception):
    """There is no more room."""


class _Writer:
    def __init__(
        self, source: Source, detail: Detail, measure: Measure, number: int, room: int, moved: Mapping[int, str]
    ) -> None:
        self.segments: list[Segment] = []
        self._source = source
        self._detail = detail
        self._measure = measure
        self._number = number
        self._room = room
        self._moved = moved

    def write(self, node: Node, depth: int, name: str, comma: str) -> None:
        """A value on lines of its own."""
        indent = INDENT * (depth - 1) + name
        if not node.total:
            self._add(f"{indent}{self._scalar(node)}{comma}")
            return
        shown = children_shown(node, depth, self._detail)
        marker = rest_marker(self._source.ref, self._number, node, shown)
        if not marker:
            if not shown:
                self._add(f"{indent}{clean_line(self._source.read(node.start, node.end - node.start))}{comma}")
                return
            shown = node.total
        brackets = _BRACKETS[node.kind]
        self._add(indent + brackets[0])
        for place, child in enumerate(node.children[:shown], 1):
            self.write(child, depth + 1, self._name(child), "," if place < node.total else "")
        if marker:
            self._add(marker, is_marker=True)
        self._add(INDENT * (depth - 1) + brackets[1] + comma)

    def _name(self, node: Node) -> str:
        if node.key == node.start:
            return ""
        key = self._source.read(node.key, node.start - node.key)
        return clean_line(key.rstrip(b" \t\r:")) + ": "

    def _scalar(self, node: Node) -> str:
        size = node.end - node.start
        read = self._source.read
        if node.is_container:
            return _BRACKETS[node.kind]
        if node.start in self._moved:
            return f'"{self._moved[node.start]}"'
        if size - 2 <= self._measure.size:
            return clean_line(read(node.start, size))
        if node.kind == "string":
            near = 2 * self._measure.size
            data = read(node.start + 1, size - 2) if size < 2 * near else self._two_ends(node, near)
            head, tail = ends(data, self._measure)
            marker = markers.window(self._source.ref, self._number, size - 2 - len(head) - len(tail))
            return f'"{clean_line(head)}{marker}{clean_line(tail)}"'
        head, tail = ends(read(node.start, size), self._measure)
        return head.decode() + markers.clipping(self._source.ref, self._number, size - len(head) - len(tail))

    def _two_ends(self, node: Node, near: int) -> bytes:
        """The string's beginning and its end, more than is shown of them."""
        return self._source.read(node.start + 1, near) + self._source.read(node.end - 1 - near, near)

    def _add(self, text: str, *, is_marker: bool = False) -> None:
        self._room -= len(text.encode()) + 1
        if self._room < 0:
            raise _Full
        ref = "" if is_marker else self._source.ref
        last = self.segments[-1] if self.segments else None
        if last and ref and last.ref:
            self.segments[-1] = last._replace(text=f"{last.text}{text}\n")
        else:
            self.segments.append(Segment(text + "\n", ref, *((self._number, self._number, True) if ref else ())))
