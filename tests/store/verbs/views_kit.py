"""What must hold of every view of a command's output, checked for one view at a time."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from sightline.base.profile import DEFAULT, Profile
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.clean import clean_text
from sightline.shape.failure.examination import Examination
from sightline.shape.failure.judge import Judge
from sightline.shape.markers import CLIPPED, MARKER
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import Shaped, join_segments, render_lines, shown_ranges
from sightline.verbs.structured_view import shape_output

OUT, ERR = "@cmd_a1b2c3", "@cmd_a1b2c3.err"
_ERRORS = re.compile(r"\[… (?:[^\]]*, )?([\d,]+) (?:more )?error lines?\b(?=(?: among them)?[:\] ])")
_LISTED = re.compile(r"\[… [\d,]+ more error lines?: (@[^\s:]+:|\.err:|)([\d, -]+?)( and others)?(?: …)?\]")
_LEFT_OUT = re.compile(
    r"\[… (?:[\d,]+ (?:lines? elided.*|lines? rewritten in place|(?:more )?(?:items?|keys?) elided|more files?, .*)"
    r": (?P<ref>@[^\s:]+):(?P<long>\d+(?:-\d+)?) …"
    r"|(?P<err>\.err:)?(?P<short>\d+(?:-\d+)?)(?:, [\d,]+ error lines?)?)\]"
)
Span = tuple[int, int]


class Output(NamedTuple):
    """What a command wrote, and how it ended."""

    command: str
    out: bytes
    err: bytes
    failed: bool

    def view(self, budget: int | None, profile: Profile = DEFAULT) -> "Viewed":
        """Its view; of sources that are new each time."""
        out, err = BytesSource(self.out, OUT), BytesSource(self.err, ERR)
        examination = Examination(out, err, self.command)
        made = shape_output(profile, out, err, budget=budget, failed=self.failed, examination=examination)
        return Viewed(self, out, err, examination, budget, made.shaped)


class Viewed(NamedTuple):
    """A view, and what it was made of."""

    output: Output
    out: BytesSource
    err: BytesSource
    examination: Examination
    budget: int | None
    shaped: Shaped

    @property
    def body(self) -> str:
        return join_segments(self.shaped.segments)

    def spans(self, ref: str) -> list[Span]:
        """The lines of a stream that stand in it; of one that is shown in several parts, once."""
        found = {(first, last) for name, first, last in shown_ranges(self.shaped.segments) if name == ref}
        return sorted(found)

    def left_out(self, ref: str) -> list[Span]:
        """The lines of a stream that markers of whole lines stand for."""
        texts = (text for segment in self.shaped.segments if not segment.ref for text in segment.text.split("\n"))
        found = (_LEFT_OUT.fullmatch(text) for text in texts)
        mine = [one for one in found if one and (one["ref"] or (ERR if one["err"] else OUT)) == ref]
        spans = [_span(one["long"] or one["short"]) for one in mine]
        by_path = f": {ref} $" in self.body and self.out.line_count == 1  # of JSON on one line
        return spans or ([(1, 1)] if by_path and ref == OUT and not self.spans(ref) else [])


def check(viewed: Viewed) -> None:
    """All that holds of any view in the default profile."""
    check_size(viewed)
    check_lines(viewed)
    check_ranges(viewed)
    if viewed.output.failed:
        check_failures(viewed)


def check_size(viewed: Viewed) -> None:
    """A body is no larger than its budget, nor than the hard limit."""
    size = len(viewed.body.encode())
    limit = HARD_LIMIT_BYTES if viewed.budget is None else min(viewed.budget, HARD_LIMIT_BYTES)
    assert size <= limit or size <= _smallest(viewed.output)


def _smallest(output: Output) -> int:
    return len(output.view(0).body.encode())


def check_lines(viewed: Viewed) -> None:
    """Every line of a body is one of the cleaned source, or a marker."""
    known = _lines_of(viewed.output.out) | _lines_of(viewed.output.err)
    parts = {
        text
        for segment in viewed.shaped.segments
        if segment.ref and segment.partial
        for text in segment.text.split("\n")
    }
    for line in viewed.body.split("\n"):
        if line in known or re.fullmatch(MARKER, line) or re.fullmatch(CLIPPED, line):  # all of a line may be cut
            continue
        assert line in parts
        cut = re.search(CLIPPED, line)
        if not cut:  # of JSON on one line, written as lines
            assert viewed.out.line_count == 1
            continue
        head, tail = line[: cut.start()], line[cut.end() :]
        assert any(text.startswith(head) and text.endswith(tail) for text in known) or viewed.out.line_count == 1


@lru_cache(maxsize=4)
def _lines_of(data: bytes) -> frozenset[str]:
    """The lines of a stream, cleaned, and an empty one; an output is looked at once for all its views."""
    return frozenset(("", *clean_text(data).split("\n")))


def check_ranges(viewed: Viewed) -> None:
    """Lines shown and lines left out make up the whole, and what is shown in its own words is what stands there."""
    sources = {OUT: viewed.out, ERR: viewed.err}
    for ref, count in ((OUT, viewed.shaped.out_shown), (ERR, viewed.shaped.err_shown)):
        shown = viewed.spans(ref)
        assert sum(last - first + 1 for first, last in shown) == count
        following = 1
        for first, last in sorted([*shown, *(span for span in viewed.left_out(ref) if span not in shown)]):
            assert first == following
            following = last + 1
        assert following == sources[ref].line_count + 1
    for segment in viewed.shaped.segments:
        if segment.ref and not segment.partial:
            assert render_lines(sources[segment.ref], segment.first, segment.last) in (
                segment.text,
                segment.text + "\n",
            )


def check_failures(viewed: Viewed) -> None:
    """Every line that a rule or a general class calls a failure is shown or counted."""
    missing = {ref: list(_hidden(viewed, ref)) for ref in (OUT, ERR)}
    hidden = sum(map(len, missing.values()))
    assert viewed.shaped.errors_elided == hidden
    told = sum(int(count.replace(",", "")) for count in _ERRORS.findall(viewed.body))
    assert told == hidden or (f": {OUT} $" in viewed.body and viewed.out.line_count == 1)  # of JSON on one line
    for place, numbers, others in _LISTED.findall(viewed.body):
        ref = ERR if ".err" in place else OUT
        told = [number for part in numbers.split(", ") for number in _numbered(part)]
        assert told == missing[ref][: len(told)]
        assert bool(others) == (len(told) < len(missing[ref]))


def check_names(examination: Examination) -> None:
    """No tool names more failures than it counts, unless it names groups of them, too."""
    for tally in examination.tallies:
        stated = tally.states_failures or tally.numbers.get("passed")
        if stated and not tally.unclear and not (tally.rule.groups and tally.bad):
            named = {one.name for one in examination.failed if one.rule is tally.rule and one.name}
            assert len(named) <= tally.bad, (tally.rule.name, tally.numbers, named)


def _hidden(viewed: Viewed, ref: str) -> Iterator[int]:
    """Numbers of the failure lines that are not shown; each line judged by itself, and not as a scan finds them."""
    data = viewed.output.out if ref == OUT else viewed.output.err
    shown = {number for first, last in viewed.spans(ref) for number in range(first, last + 1)}
    yield from (number for number in _failures_of(data, viewed.examination.judge) if number not in shown)


@lru_cache(maxsize=4)
def _failures_of(data: bytes, judge: Judge) -> list[int]:
    return [number for number, line in enumerate(data.split(b"\n"), 1) if judge.verdict(line)]


def _numbered(part: str) -> range:
    first, last = _span(part)
    return range(first, last + 1)


def _span(text: str) -> Span:
    first, _, last = text.partition("-")
    return int(first), int(last or first)
