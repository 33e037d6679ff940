"""A sample of JSON that a failed command wrote: the failure lines that it leaves out are counted below it."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from sightline.shape import markers
from sightline.shape.json.lines import Written
from sightline.shape.json.sample import Sample
from sightline.shape.runs import Span, free_spans, text_bytes
from sightline.shape.segments import Segment, join_segments, shown_ranges
from sightline.shape.source import Source

if TYPE_CHECKING:
    from sightline.shape.failure.examination import Examination
    from sightline.shape.failure.failures import Failures

NUMBERS_PERCENT = 10  # of the body, for the line numbers of failure lines that are not shown


def counted(make: Callable[[int], Sample], source: Source, examination: "Examination", room: int) -> tuple[Sample, int]:
    """A sample that tells of the failure lines it does not show, and how many these are.

    Args:
        make: the sample for so many bytes.
        source: the text, which has a ref.
        examination: what is known of the output.
        room: bytes of the body; the smallest honest one takes more where there are fewer.
    """
    made = make(room)
    failures = examination.failures(source)
    if not _count_hidden(failures, made.written, source, examination):
        return made, 0
    numbers = len(failures.spans) * (2 * len(str(source.line_count)) + 3)
    shortest = text_bytes(markers.more_errors(source.ref, max(2, failures.total), (), 0)) + 2
    made = make(room - shortest - min(numbers, room * NUMBERS_PERCENT // 100))
    hidden = _count_hidden(failures, made.written, source, examination)
    body = join_segments(made.written.segments)
    end = "" if body.endswith("\n") else "\n"
    left = room - text_bytes(body + end) - 1
    marker = markers.more_errors(source.ref, hidden, _hidden(failures, made.written), left)
    if text_bytes(marker) <= left:
        segments = (*made.written.segments, Segment(f"{end}{marker}\n"))
        return made._replace(written=made.written._replace(segments=segments)), hidden
    nothing = markers.elision(source.ref, 1, source.line_count, failures.total)
    return Sample(Written((Segment(nothing + "\n"),), 0, True), "$"), failures.total


def _count_hidden(failures: "Failures", written: Written, source: Source, examination: "Examination") -> int:
    """How many failure lines do not stand in a body; of very many, not all numbers are known."""
    if not failures.total:
        return 0
    lines = (line for first, last in _shown(written) for line in source.lines(first, last))
    return failures.total - sum(examination.judge.verdict(line.data) is not None for line in lines)


def _hidden(failures: "Failures", written: Written) -> Iterator[Span]:
    shown = _shown(written)
    for first, last in failures.spans:
        yield from free_spans(shown, first, last)


def _shown(written: Written) -> list[Span]:
    """The lines that stand in a body; a line that is written out as several, once."""
    return sorted({(first, last) for _, first, last in shown_ranges(written.segments)})
