"""The pieces of a body, from which an audit can tell which raw lines it shows, and render them again."""

from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Iterable, Iterator
from sightline.shape.source import LINE_LIMIT, CutLine, Source


class Segment(NamedTuple):
    """One piece of a body.

    There are three sorts: a *range*, whose text ``render_lines`` gives again; a *partial* one, which stands for lines
    but does not have their own words (the fold of a repeated line, a line cut in the middle); and a *literal* one,
    without ref.

    Attributes:
        text: the exact text, with its newlines.
        ref: the stream whose lines it shows, from ``Source.ref``; empty for a literal one.
        first: first raw line, 1-based; 0 for a literal one.
        last: last raw line, inclusive.
        partial: whether the text is not the plain rendering of these lines.
        cuts: those of these lines that it shows only in part; it shows all others whole.
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
        segments: the text, in order; ``join_segments`` makes the body of it.
        out_shown: number of raw lines of standard output that it shows whole, folded or in part.
        out_total: number of raw lines of standard output.
        err_shown: number of raw lines of standard error that it shows likewise.
        err_total: number of raw lines of standard error.
        truncated: whether anything was left out.
        errors_elided: number of error lines that it counts, but does not show.
    """

    segments: tuple[Segment, ...]
    out_shown: int
    out_total: int
    err_shown: int
    err_total: int
    truncated: bool
    errors_elided: int = 0


def render_lines(source: Source, first: int, last: int) -> str:
    """Render raw lines plainly: each cleaned and ended by a newline, except for an unterminated last one."""
    from sightline.shape.clean import clean_line  # half a millisecond, which a call without output does not need

    limit = max(LINE_LIMIT, source.byte_count)
    text = "".join([clean_line(line.data) + "\n" for line in source.lines(first, last, limit)])
    return text[:-1] if last >= source.line_count and text and not terminated(source) else text


def terminated(source: Source) -> bool:
    """Return whether the stream ends with a newline."""
    size = source.byte_count
    return bool(size) and source.read(size - 1, 1) == b"\n"


def join_segments(segments: Iterable[Segment]) -> str:
    """Join segments into the body."""
    return "".join([segment.text for segment in segments])


def uncut(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Yield segments without the beginnings of lines whose rest is missing, so that a reader goes on with a whole line.

    If the same line's end follows, that is left out, too.
    """
    begun = ("", 0)
    for segment in segments:
        if segment.partial and not segment.text.endswith("\n"):
            begun = segment.ref, segment.first
        elif not segment.cuts or begun != (segment.ref, segment.first):
            yield segment


def uncut_ranges(segments: Iterable[Segment]) -> Iterator[tuple[str, int, int]]:
    """Yield (ref, first, last) of the raw lines that a body shows whole or folded; touching ranges are joined."""
    return shown_ranges(piece for segment in segments for piece in _whole_lines(segment))


def _whole_lines(segment: Segment) -> Iterator[Segment]:
    """Yield a segment without its cut lines."""
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
    """Yield (ref, first, last) of the raw lines that a body shows, whole or in part; touching ranges are joined."""
    ref, first, last = "", 0, 0
    for segment in segments:
        if not segment.ref:
            continue
        if segment.ref == ref and segment.first in (last, last + 1):  # the same line, if its two ends are separate
            last = segment.last
            continue
        if ref:
            yield ref, first, last
        ref, first, last = segment.ref, segment.first, segment.last
    if ref:
        yield ref, first, last
