"""Finds the line that explains most why a command failed, for a summary to quote."""

import re
from collections.abc import Sequence
from heapq import nsmallest

from sightline.light.named_tuple import NamedTuple
from sightline.shape.clean import clean_line
from sightline.shape.failure.ci_steps import Steps
from sightline.shape.failure.classes import class_of, is_frame
from sightline.shape.failure.failure_scan import FailureHit, Failures
from sightline.shape.failure.judge import ECHO, EXCEPTION, EXIT, Judge
from sightline.shape.failure.layers import STEP, in_order, own_layers
from sightline.shape.source import Source

_SAYS_MUCH = 12  # letters and digits; a line with fewer is quoted with the one below it
_BELOW_LINES = 3
_QUOTED = 90  # characters of a heading with what is below it; a longer quote takes the room of lines of the view
_COMPARED = 8  # failure lines that a view would show first, of which one is quoted that says more than that it failed
_SAYS_LITTLE = re.compile(
    r"^[\W\d]{0,40}(?:\w{1,40}: )?(?:[\w./-]{1,60} ){0,5}(?:failed|FAILED|errored)[\W\d]{0,40}$"
    r"|^\s{0,40}\d{1,9}\s{1,9}\| ",
    re.ASCII,
)
"""Matches a line that says no more than that something failed, and a line of source."""

_LAST_LINES = 20  # from the end, of which the last with any text is quoted


class Reason(NamedTuple):
    """A line of an output.

    Attributes:
        source: its stream.
        line: its number.
        text: its text, with that of a line below if it is a heading, or says little alone.
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
        (placed.hit.verdict.rank in (ECHO, EXIT), placed.place, number, placed.hit)
        for number, (_, failures, steps) in enumerate(streams)
        for placed in in_order(failures, steps)
        if placed.hit.verdict.rank != STEP
    ]
    if not first:
        return _last_line([source for source, _, _ in streams])
    best = nsmallest(_COMPARED, first, key=lambda one: (*one[:3], one[3].line))
    told = (one for one in best if not _SAYS_LITTLE.search(_text(streams[one[2]][0], one[3], judge)))
    _, _, number, hit = next(told, best[0])
    source = streams[number][0]
    lines = [one.data for one in source.lines(hit.line, hit.line + _BELOW_LINES)]
    text = judge.telling_text(lines[0]).strip()
    if text.endswith(":") and hit.verdict.rank == EXCEPTION and (said := _said_below(hit, source, judge)):
        quoted = f"{text} {said}"
        return Reason(source, hit.line, quoted if len(quoted) <= _QUOTED else f"{quoted[: _QUOTED - 1]}…")
    for below in lines[1:]:
        if sum(map(str.isalnum, text)) >= _SAYS_MUCH:
            break
        text = f"{text} {judge.text(below).strip()}".rstrip()
    return Reason(source, hit.line, text)


def _said_below(hit: FailureHit, source: Source, judge: Judge) -> str:
    """Return the line that says most of those that a heading, such as one of a stack, has below it; may be empty."""
    lines = (line for span in own_layers(hit, source, judge)[0] for line in source.lines(*span))
    texts = [judge.text(line.data) for line in lines if line.number > hit.line]
    told = [text for text in texts if text.strip() and not is_frame(text)]
    depth = min((len(text) - len(text.lstrip()) for text in told), default=0)
    near = [text.strip() for text in told if not text[:depth].strip() and not text[depth : depth + 1].isspace()]
    return next((text for text in near if class_of(text) >= 0), near[0] if near else "")


def _text(source: Source, hit: FailureHit, judge: Judge) -> str:
    """Return the text of a hit's line; empty for a line of a rule, which knows what it says."""
    return "" if hit.verdict.rule else "".join(judge.text(line.data) for line in source.lines(hit.line, hit.line))


def _last_line(sources: Sequence[Source]) -> Reason | None:
    """Return the last line of standard error with any text, else that of standard output."""
    for source in reversed(sources):
        for line in reversed(list(source.lines(max(1, source.line_count - _LAST_LINES + 1), source.line_count))):
            if text := clean_line(line.data).strip():
                return Reason(source, line.number, text, is_failure=False)
    return None
