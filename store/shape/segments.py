"""The pieces that a body is made of, so that an audit can tell which raw lines stood in it and render them again."""

from collections.abc import Iterable, Iterator

from sightline.named_tuple import NamedTuple
from sightline.shape.source import LINE_LIMIT, CutLine, Source


class Segment(NamedTuple):
    """One piece of a body.

    Three sorts: a *range*, whose text ``render_lines`` gives again; a *partial* one, which stands for the lines it
    names, but not in their own words (the fold of a repeated line, a line cut in the middle); and a *literal* one,
    without ref.

    Attributes:
        text: the exact text, with its newlines.
        ref: the stream that it shows lines of, as ``Source.ref`` has it; empty for a literal one.
        first: first raw line, 1-based; 0 for a literal one.
        last: last raw line, inclusive.
        partial: whether the text is not the plain rendering of these lines.
        cuts: those of these lines of which only a part stands here; of all others all does.
    """

    text: str
    ref: str = ""
    first: int = 0
    last: int = 0
    partial: bool = False
    cuts: tuple[CutLine, ...] = ()


class Shaped(NamedTuple):
    """A body, and what it shows.

    Attributes:
        segments: the text in order; ``join_segments`` makes the body of it.
        out_shown: raw lines of standard output that stand in it, wholly, folded or in part.
        out_total: raw lines of standard output.
        err_shown: the same of standard error.
        err_total: the same of standard error.
        truncated: whether anything was left out.
        errors_elided: error lines that are counted in the body, not shown.
    """

    segments: tuple[Segment, ...]
    out_shown: int
    out_total: int
    err_shown: int
    err_total: int
    truncated: bool
    errors_elided: int = 0


def render_lines(source: Source, first: int, last: int) -> str:
    """The plain rendering of raw lines: each cleaned and ended by a newline, but for an unterminated last one."""
    from sightline.shape.clean import clean_line  # half a millisecond that a call without output does without

    limit = max(LINE_LIMIT, source.byte_count)
    text = "".join([clean_line(line.data) + "\n" for line in source.lines(first, last, limit)])
    return text[:-1] if last >= source.line_count and text and not terminated(source) else text


def terminated(source: Source) -> bool:
    """Whether the stream ends with a newline."""
    size = source.byte_count
    return bool(size) and source.read(size - 1, 1) == b"\n"


def join_segments(segments: Iterable[Segment]) -> str:
    """The body."""
    return "".join([segment.text for segment in segments])


def uncut(segments: Iterable[Segment]) -> Iterator[Segment]:
    """All but the beginnings of lines whose rest is missing: what a reader goes on with is such a line again.

    Where a beginning is followed by the same line's end, that is left out, too.
    """
    begun = ("", 0)
    for segment in segments:
        if segment.partial and not segment.text.endswith("\n"):
            begun = segment.ref, segment.first
        elif not segment.cuts or begun != (segment.ref, segment.first):
            yield segment


def uncut_ranges(segments: Iterable[Segment]) -> Iterator[tuple[str, int, int]]:
    """(ref, first, last) of the raw lines that stand in a body whole, or folded; touching ranges joined."""
    return shown_ranges(piece for segment in segments for piece in _whole_lines(segment))


def _whole_lines(segment: Segment) -> Iterator[Segment]:
    """A segment without those of its lines that are cut."""
    if not segment.cuts:
        yield segment
        return
    following = segment.first
    for cut in segment.cuts:
        if following < cut.line:
            yield segment._replace(first=following, last=cut.line - 1)
        following = max(following, cut.line + 1)
    if following <= segment.last:
        yield segment._replace(first=following)


def shown_ranges(segments: Iterable[Segment]) -> Iterator[tuple[str, int, int]]:
    """(ref, first, last) of the raw lines that stand in a body, wholly or in part; touching ranges joined."""
    ref, first, last = "", 0, 0
    for segment in segments:
        if not segment.ref:
            continue
        if segment.ref == ref and segment.first in (last, last + 1):  # the same one where its ends stand apart
            last = segment.last
            continue
        if ref:
            yield ref, first, last
        ref, first, last = segment.ref, segment.first, segment.last
    if ref:
        yield ref, first, last
