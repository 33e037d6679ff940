"""Samples a JSON text for a body of a given size: some of its own lines, with markers for all others.

A text on one line is written out as pretty JSON, and each line of that is a part of line 1. For the output of a failed
command, the left-out failure lines are counted below the sample.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from sightline.base.profile import Sampling
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING
from sightline.shape import markers
from sightline.shape.json.body import Body, LeftOut, Measure, MovedString, rest_marker, write_line, write_lines
from sightline.shape.json.path import path_of_key
from sightline.shape.json.sampling import Detail, details
from sightline.shape.json.schema import describe
from sightline.shape.json.tree import Document, Node, children_end, children_shown, read_document
from sightline.shape.repeated_lines import Span, free_spans, text_bytes
from sightline.shape.segments import Segment, join_segments, shown_ranges
from sightline.shape.source import Source

if TYPE_CHECKING:
    from sightline.shape.failure.examination import Examination
    from sightline.shape.failure.failure_scan import Failures

_COUNT_BYTES = 1 << 20
_EDGE_BYTES = 256
_LINE_END = re.compile(rb"[ \t\r]*(?:,[ \t\r]*)?\n")
_LINE_START = re.compile(rb"\n[ \t\r]*$")

_Rest = Callable[[Node, int], object]
"""Returns what stands for the later children of a container, past a number of them; nothing if they are shown."""


class Sample(NamedTuple):
    """The sample of a text.

    Attributes:
        body: the text.
        path: JSON path of the first container that lacks something; empty if none does.
    """

    body: Body
    path: str


def sample(
    document: Document, source: Source, room: int, sampling: Sampling, moved: Mapping[int, MovedString] | None = None
) -> Sample:
    """Sample a JSON text; if it takes more than the room, as little as is honest.

    Args:
        document: the parsed text.
        source: the text.
        room: bytes of the body.
        sampling: how much of it to show, if there is room.
        moved: strings that are streams of their own, by offset.
    """
    moved = moved or {}
    lines = line_numbers(source, _places(document.root))
    root = document.root
    is_one_line = lines[root.start] == lines[root.end - 1] and root.kind != "lines"
    for detail in details(sampling):
        measure = Measure(detail.string_bytes, sampling.string_head_percent)
        if is_one_line:
            number = lines[root.start]
            written = write_line(source, root, detail, measure, number, room, moved)
            rest: _Rest = partial(rest_marker, source.ref, number)
        else:
            gaps = _Gaps(source, lines, detail)
            rest = gaps.rest
            moved_lines = {lines[node.start]: moved[node.start] for node in root.children if node.start in moved}
            written = write_lines(source, gaps.found(root), measure, room, moved_lines)
        if written:
            return Sample(written, next(_lacking(source, root, detail, rest), "") if written.truncated else "")
    marker = markers.elision(source.ref, 1, source.line_count)
    return Sample(Body((Segment(marker + "\n"),), 0, True), "$")


def _places(root: Node) -> Iterator[int]:
    yield root.start
    yield root.end - 1
    for child in root.children:
        yield from _places(child)


def line_numbers(source: Source, places: Iterable[int]) -> dict[int, int]:
    """Return the line of each byte."""
    numbers: dict[int, int] = {}
    number, counted, data, base = 1, 0, b"", 0
    for place in sorted(set(places)):
        while place > base + len(data) and base + len(data) < source.byte_count:
            number += data.count(b"\n", counted - base)
            base = counted = base + len(data)
            data = source.read(base, _COUNT_BYTES)
        number += data.count(b"\n", counted - base, place - base)
        counted = place
        numbers[place] = number
    return numbers


class _Gaps:
    """The lines that a sample leaves out."""

    def __init__(self, source: Source, lines: Mapping[int, int], detail: Detail) -> None:
        self._source = source
        self._lines = lines
        self._detail = detail

    def found(self, node: Node, depth: int = 1) -> Iterator[LeftOut]:
        """Yield the gaps of a value, in order."""
        shown = children_shown(node, depth, self._detail)
        gap = self.rest(node, shown)
        for child in node.children[: shown if gap else None]:
            yield from self.found(child, depth + 1)
        if gap:
            yield gap

    def rest(self, node: Node, shown: int) -> LeftOut | None:
        """Return the gap of a container's later children; None if there are none, or a marker takes as much room."""
        if shown == node.total:
            return None
        is_lines = node.kind == "lines"
        before = children_end(node, shown)
        first = self._lines[max(before - 1, node.start)] + (bool(shown) or not is_lines)
        last = self._source.line_count if is_lines else self._lines[node.end - 1] - 1
        if first > last:
            return None
        if is_lines or self._stands_apart(before, node.end - 1):
            noun = "key" if node.kind == "object" else "item"
            marker = markers.sample(self._source.ref, first, last, node.total - shown, noun, more=bool(shown))
        else:
            marker = markers.elision(self._source.ref, first, last)
        return LeftOut(first, last, marker) if node.end - before > len(marker.encode()) + 1 else None

    def _stands_apart(self, before: int, closing: int) -> bool:
        """Return whether the children between two places share no line with others, so that a count of them is one of
        left-out lines."""
        after = self._source.read(before, _EDGE_BYTES)
        start = max(closing - _EDGE_BYTES, 0)
        return bool(_LINE_END.match(after) and _LINE_START.search(self._source.read(start, closing - start)))


def _lacking(source: Source, node: Node, detail: Detail, rest: _Rest, depth: int = 1, path: str = "$") -> Iterator[str]:
    """Yield paths of the first elements that arrays lack."""
    shown = children_shown(node, depth, detail)
    lacks = bool(rest(node, shown))
    for place, child in enumerate(node.children[: shown if lacks else None]):
        if node.kind == "array":
            yield from _lacking(source, child, detail, rest, depth + 1, f"{path}[{place}]")
        elif node.kind == "object" and child.total:
            segment = path_of_key(source.read(child.key, child.start - child.key).rstrip(b" \t\r\n:"))
            lacking = _lacking(source, child, detail, rest, depth + 1, path + segment)
            yield from lacking if segment else (path for _ in lacking)  # a path ends before a key that needs quotes
    if node.kind == "array" and lacks:
        yield f"{path}[{shown}]"


NUMBERS_PERCENT = 10  # of the body, for the line numbers of failure lines that are not shown


def sample_result(
    source: Source, room: int, failed: bool, examination: "Examination | None", sampling: Sampling
) -> tuple[Sample, str, int] | None:
    """Return the sample of a text, its description, and the counted failure lines; None if it is not JSON.

    Args:
        source: the text, which needs a ref if there is an examination.
        room: bytes of the body.
        failed: whether its command failed; then a text of several values is left to those who show errors first.
        examination: what is known of the output; it counts failure lines.
        sampling: how much to show.
    """
    document = read_document(source, sampling)
    if document is None or (failed and document.root.kind == "lines"):
        return None
    hidden = 0
    if examination:
        made, hidden = _counted(lambda left: sample(document, source, left, sampling), source, examination, room)
    else:
        made = sample(document, source, room, sampling)
    return made, describe(document, source, sampling), hidden


def _counted(
    make: Callable[[int], Sample], source: Source, examination: "Examination", room: int
) -> tuple[Sample, int]:
    """Make a sample that counts the failure lines it does not show.

    Args:
        make: makes the sample for a number of bytes.
        source: the text, which has a ref.
        examination: what is known of the output.
        room: bytes of the body; the smallest honest one may take more.
    """
    made = make(room)
    failures = examination.failures(source)
    if not _count_hidden(failures, made.body, source, examination):
        return made, 0
    numbers = len(failures.spans) * (2 * len(str(source.line_count)) + 3)
    shortest = text_bytes(markers.more_errors(source.ref, max(2, failures.total), (), 0)) + 2
    made = make(room - shortest - min(numbers, room * NUMBERS_PERCENT // 100))
    hidden = _count_hidden(failures, made.body, source, examination)
    body = join_segments(made.body.segments)
    end = "" if body.endswith("\n") else "\n"
    left = room - text_bytes(body + end) - 1
    marker = markers.more_errors(source.ref, hidden, _hidden(failures, made.body), left)
    if text_bytes(marker) <= left:
        segments = (*made.body.segments, Segment(f"{end}{marker}\n"))
        return made._replace(body=made.body._replace(segments=segments)), hidden
    nothing = markers.elision(source.ref, 1, source.line_count, failures.total)
    return Sample(Body((Segment(nothing + "\n"),), 0, True), "$"), failures.total


def _count_hidden(failures: "Failures", written: Body, source: Source, examination: "Examination") -> int:
    """Count the failure lines that a body does not show; if there are very many, not all numbers are known."""
    if not failures.total:
        return 0
    lines = (line for first, last in _shown(written) for line in source.lines(first, last))
    return failures.total - sum(examination.judge.verdict(line.data) is not None for line in lines)


def _hidden(failures: "Failures", written: Body) -> Iterator[Span]:
    shown = _shown(written)
    for first, last in failures.spans:
        yield from free_spans(shown, first, last)


def _shown(written: Body) -> list[Span]:
    """Return the lines that a body shows; one that is written out on several lines, once."""
    return sorted({(first, last) for _, first, last in shown_ranges(written.segments)})
