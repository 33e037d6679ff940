"""Makes bodies of structured texts: JSON is sampled, a diff becomes a diffstat; all other texts are for ``cut``."""

from sightline.base.profile import Sampling
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.segments import Segment, Shaped, render_lines
from sightline.shape.source import Source

if TYPE_CHECKING:
    from sightline.shape.failure.examination import Examination

_SNIFFED_BYTES = 4096
LINE_BYTES = 1000
"""The longest line of a report that is shown as it is, for its message may stand anywhere within."""

_DIFF_WORDS = (b"diff ", b"--- ", b"Index: ", b"commit ", b"From ", b"Only in ", b"Binary files ")


class Structured(NamedTuple):
    """A body that follows the structure of a text.

    Attributes:
        shaped: the body; the text counts as standard output.
        description: what the text is, in a line.
        path: JSON path of the first missing elements; empty if none are missing.
    """

    shaped: Shaped
    description: str
    path: str = ""


def shape_result(
    source: Source,
    *,
    budget: int | None,
    failed: bool = False,
    examination: "Examination | None" = None,
    limit: int = HARD_LIMIT_BYTES,
    sampling: Sampling | None = None,
) -> Structured | None:
    """Make the body of a JSON text or a diff that does not fit; None for any other text, and for one that fits.

    After a failure, only a single JSON value is sampled; in lines of JSON, or in a diff, error regions come first.

    Args:
        source: the text.
        budget: bytes of the body; None for as much as the limit allows, which is not sampled.
        failed: whether the command that wrote it failed.
        examination: what is known of the output; after a failure, it counts the left-out failure lines.
        limit: most bytes of the body with any budget.
        sampling: how much of JSON to show.
    """
    if budget is None:
        return None
    room = min(budget, limit, HARD_LIMIT_BYTES)
    if source.byte_count <= room:
        return None
    head = source.read(0, _SNIFFED_BYTES)
    if looks_like_json(head):
        report = examination.report if failed and examination else None
        if report and report.longest <= LINE_BYTES and not report.by_lines:
            return None  # its lines can be shown, those that say what failed first
        if report:
            from sightline.shape.failure.report import write_report

            written, path = write_report(report, source, room)
            return Structured(written, "", path)
        return _json(source, room, failed, examination if failed else None, sampling or Sampling())
    if not failed and head.lstrip(b"\r\n").startswith(_DIFF_WORDS):
        return _diff(source, head, room)
    return None


def may_have_structure(source: Source) -> bool:
    """Return whether a text may be JSON or a diff, by its beginning; most texts are neither."""
    head = source.read(0, _SNIFFED_BYTES)
    return looks_like_json(head) or head.lstrip(b"\r\n").startswith(_DIFF_WORDS)


def looks_like_json(head: bytes) -> bool:
    """Return whether a text may be one or more objects or arrays, by its beginning."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")[:1] in (b"{", b"[")


def _diff(source: Source, head: bytes, room: int) -> Structured | None:
    from sightline.shape.diffstat import diffstat, looks_like_diff, read_diff  # likewise

    diff = read_diff(source) if looks_like_diff(head) else None
    if diff is None:
        return None
    written = diffstat(diff, source, room)
    shaped = Shaped(written.segments, written.shown, source.line_count, 0, 0, written.truncated)
    return Structured(shaped, diff.told)


def _json(
    source: Source, room: int, failed: bool, examination: "Examination | None", sampling: Sampling
) -> Structured | None:
    from sightline.shape.json.sample import sample_result  # 10 ms, which a text with another beginning does not need

    made = sample_result(source, room, failed, examination, sampling)
    if made is None:
        return None if failed else _json_and_text(source, room, sampling)
    sample, description, hidden = made
    body = sample.body
    shaped = Shaped(body.segments, body.shown, source.line_count, 0, 0, body.truncated, hidden)
    return Structured(shaped, description, sample.path)


def _json_and_text(source: Source, room: int, sampling: Sampling) -> Structured | None:
    """Make the body of JSON that a few lines of text follow, which are shown whole; None for any other text."""
    from sightline.shape.json.sample import sample_result
    from sightline.shape.json.trailing_lines import before_trailing

    head = before_trailing(source)
    if head is None:
        return None
    first, last = head.line_count + 1, source.line_count
    rest = Segment(render_lines(source, first, last), source.ref, first, last)
    size = len(rest.text.encode())
    made = sample_result(head, room - size, False, None, sampling) if 2 * size < room else None
    if made is None:
        return None
    body, lines = made[0].body, last - first + 1
    shaped = Shaped((*body.segments, rest), body.shown + lines, last, 0, 0, body.truncated)
    return Structured(shaped, f"{made[1]}, then {lines} line{'' if lines == 1 else 's'} of text", made[0].path)
