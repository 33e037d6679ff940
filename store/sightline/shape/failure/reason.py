"""Finds the line that explains most why a command failed, for a summary to quote."""

from collections.abc import Sequence

from sightline.light.named_tuple import NamedTuple
from sightline.shape.clean import clean_line
from sightline.shape.failure.ci_steps import Steps
from sightline.shape.failure.failure_scan import Failures
from sightline.shape.failure.judge import ECHO, EXIT, Judge
from sightline.shape.failure.layers import STEP, in_order
from sightline.shape.source import Source

_SAYS_MUCH = 12  # letters and digits; a line with fewer is quoted with the one below it
_BELOW_LINES = 3
_LAST_LINES = 20  # from the end, of which the last with any text is quoted


class Reason(NamedTuple):
    """A line of an output.

    Attributes:
        source: its stream.
        line: its number.
        text: its text, with that of the line below if it says little alone.
        is_failure: whether it is a failure line; else it is only the last line.
    """

    source: Source
    line: int
    text: str
    is_failure: bool = True


def reason_of(streams: Sequence[tuple[Source, Failures, Steps]], judge: Judge) -> Reason | None:
    """Return the failure line that a view would show first; without any, the last line; None if there is no text.

    Args:
        streams: standard output and standard error, with their failure lines and steps.
        judge: judges their lines.
    """
    first = [
        (placed.hit.verdict.rank in (ECHO, EXIT), placed.place, number, placed.hit.line)
        for number, (_, failures, steps) in enumerate(streams)
        for placed in in_order(failures, steps)
        if placed.hit.verdict.rank != STEP
    ]
    if not first:
        return _last_line([source for source, _, _ in streams])
    _, _, number, line = min(first)
    source = streams[number][0]
    lines = [one.data for one in source.lines(line, line + _BELOW_LINES)]
    text = judge.telling_text(lines[0]).strip()
    for below in lines[1:]:
        if sum(map(str.isalnum, text)) >= _SAYS_MUCH:
            break
        text = f"{text} {judge.text(below).strip()}".rstrip()
    return Reason(source, line, text)


def _last_line(sources: Sequence[Source]) -> Reason | None:
    """Return the last line of standard error with any text, else that of standard output."""
    for source in reversed(sources):
        for line in reversed(list(source.lines(max(1, source.line_count - _LAST_LINES + 1), source.line_count))):
            if text := clean_line(line.data).strip():
                return Reason(source, line.number, text, is_failure=False)
    return None
