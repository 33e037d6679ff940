"""Finds the steps in the log of a CI service, and which of them failed, so that views show what stands above their end.

A service says that a step failed, but seldom why; errors in other steps failed nothing, or were tolerated.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from sightline.light.named_tuple import NamedTuple
from sightline.shape.failure.classes import frames_in, is_frame
from sightline.shape.failure.judge import Judge, judged_part
from sightline.shape.failure.prefilter import Prefilter
from sightline.shape.repeated_lines import Span
from sightline.shape.source import Line, Source

FRAMES = 1
"""Frames of a stack to show above the end of a step, from the top."""

STEPS = 10_000
"""Steps that are told apart; a log with more is not read by steps."""


class CiStep(NamedTuple):
    """A part of a log that ran as one.

    Attributes:
        first: its first line, from 1.
        last: its last line, inclusive, which tells its end if any does.
        bad: whether it failed.
    """

    first: int
    last: int
    bad: bool


class Steps(NamedTuple):
    """The steps of a stream, in order; none if it is no such log, or no step is known to have failed."""

    all: tuple[CiStep, ...] = ()

    @property
    def bad(self) -> tuple[CiStep, ...]:
        """The steps that failed."""
        return tuple(step for step in self.all if step.bad)

    def at(self, line: int) -> CiStep | None:
        """Return the step in which a line stands."""
        place = bisect_right(self.all, line, key=lambda step: step.first) - 1
        return self.all[place] if place >= 0 and line <= self.all[place].last else None


def find_steps(source: Source, judge: Judge) -> Steps:
    """Find the steps of a stream, by the rules of services whose marks it has."""
    kinds = [step for rule in judge.rules for step in rule.steps]
    if not kinds:
        return Steps()
    literals = sorted({literal.encode() for kind in kinds for literal in kind.has})
    found: list[CiStep] = []
    first = 1
    for number, line in Prefilter((), literals).lines(source.blocks()):
        text = judge.text(judged_part(line))
        for kind in kinds:
            if ended := kind.end.search(text):
                found.append(CiStep(first, number, ended.groupdict().get("code") != "0"))
                first = number + 1
                break
            if kind.begin and kind.begin.search(text):
                if number > first:
                    found.append(CiStep(first, number - 1, False))
                first = number
                break
        if len(found) > STEPS:
            return Steps()
    if first <= source.line_count:
        found.append(CiStep(first, source.line_count, False))
    return Steps(tuple(found)) if any(step.bad for step in found) else Steps()


def lines_above(step: CiStep, source: Source, judge: Judge, counts: Sequence[int]) -> Iterator[tuple[Span, ...]]:
    """Return the last lines of a step that say something, and its end, as spans, for each count of lines."""
    passing = [kind.skip for rule in judge.rules for kind in rule.steps if kind.skip]
    most = max(counts)
    told: list[int] = []
    start = max(step.first, step.last - 4 * most)
    for number, text in reversed(list(_without_most_frames(source.lines(start, step.last - 1), judge))):
        if text.strip() and not judge.is_advice(text) and not any(skip.search(text) for skip in passing):
            told.append(number)
            if len(told) == most:
                break
    for count in counts:
        yield spans_of_lines([*told[:count], step.last])
        if count >= len(told):
            break


def _without_most_frames(lines: Iterable[Line], judge: Judge) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of lines, without those of a stack after its first frames, whose message stands above."""
    told = [(line.number, judge.text(line.data)) for line in lines]
    framed = frames_in([text for _, text in told])
    frames = 0
    for at, (number, text) in enumerate(told):
        frames = frames + is_frame(text) if at in framed else 0
        if frames <= FRAMES:
            yield number, text


def spans_of_lines(lines: Iterable[int]) -> tuple[Span, ...]:
    """Return lines as spans, in order, neighbours joined."""
    spans: list[Span] = []
    for line in sorted(set(lines)):
        if spans and spans[-1][1] + 1 == line:
            spans[-1] = (spans[-1][0], line)
        else:
            spans.append((line, line))
    return tuple(spans)
