"""What is said of who has seen a line, or an output. Pure."""

from sightline.audit.coverage import told_share
from sightline.audit.spans import Span, size
from sightline.tui.common.safe import title
from sightline.tui.common.strips import Part
from sightline.tui.common.wording import counted
from sightline.tui.viewer.marks import ASKED, CUT, UNSEEN, Marks

NOTE_MARK = "✎"
_NAMED_SESSIONS = 2


def of_output(marks: Marks) -> list[Part]:
    """How much of it was seen, what was overlooked, and how many replies were cut."""
    coverage = marks.coverage
    parts = _who(marks)
    if not coverage.contributions:
        parts += [Part("shown to nobody" if not marks.session else "shown nothing of it", "interrupted")]
    else:
        style = "ok" if coverage.share == 1 else "accent" if coverage.share else "interrupted"
        seen = f"seen {told_share(coverage, 0)}" if coverage.total else "shown, empty,"
        parts += [Part(seen, style)]
        replies = len(coverage.contributions)
        parts += [Part(f" in {counted(replies, 'view')}", "dim")]
        if cut := sum(one.view.truncated for one in coverage.contributions):
            parts += [
                Part(", cut" if cut == replies == 1 else ", all cut" if cut == replies else f", {cut} cut", "dim")
            ]
    if marks.failures and not coverage.contributions:
        parts += [Part(" · ", "dim"), Part(counted(len(marks.failures), "failure"), "failed")]
    elif marks.overlooked:
        parts += [Part(" · ", "dim"), Part(f"{counted(len(marks.overlooked), 'failure')} overlooked", "failed")]
    elif marks.failures:
        parts += [Part(" · ", "dim"), Part(f"{counted(len(marks.failures), 'failure')} seen", "ok")]
    elif marks.why_not:
        parts += [Part(" · ", "dim"), Part("not judged", "dim")]
    return [*parts, Part(" ")]


def _who(marks: Marks) -> list[Part]:
    return [Part(f"only {title(marks.called(marks.session))}: ", "accent")] if marks.session else []


def of_line(marks: Marks, stream: str, line: int) -> list[Part]:
    """How often and by whom a line was seen; what notes say of it."""
    sight = marks.sight(stream, line)
    parts = list[Part]()
    if marks.overlooks(stream, line):
        parts += [*_who(marks), Part("overlooked", "failed")]
    elif sight.grade in (ASKED, UNSEEN):
        parts += [*_who(marks), Part("never shown", "interrupted")]
    else:
        style, shown = ("accent", "seen in part") if sight.grade == CUT else ("ok", "seen")
        parts += [Part(f"{shown} {sight.views:,}×", style), Part(f" by {_named(marks, sight.sessions)}")]
        in_part = f"{size(sight.part.seen):,} of {sight.part.length:,} B" if sight.part else ""
        parts.append(Part(f" ({in_part or sight.grade})", "dim"))
    for remark in marks.remarks_on(stream, line):
        parts += [Part(" · ", "dim"), Part(f"{NOTE_MARK} {title(remark.note.text or '')}", "accent")]
    if sight.grade == ASKED:
        parts.append(Part(f" · asked about {sight.views:,}× by {_named(marks, sight.sessions)}", "dim"))
    return [*parts, Part(" ")]


def _named(marks: Marks, sessions: tuple[str, ...]) -> str:
    named = ", ".join(title(marks.called(name)) for name in sessions[:_NAMED_SESSIONS])
    more = len(sessions) - _NAMED_SESSIONS
    return f"{named} and {more} more" if more > 0 else named


def unseen_text(first: int, last: int) -> str:
    """Which region of unseen lines one has come to, as the lines are numbered on the screen."""
    return f"unseen {first:,}-{last:,}" if last > first else f"unseen {first:,}"


def none_unseen(marks: Marks, here: Span | None, *, back: bool) -> str:
    """Why there is no unseen region to go to.

    Args:
        marks: what is known of the lines.
        here: the region that one stands in, as the lines are numbered on the screen; None for none.
        back: whether one looked above.
    """
    if marks.coverage.seen_lines == marks.coverage.total and here is None:
        return f"All {'that reached us' if marks.coverage.partial else 'of it'} was seen{_by(marks)}"
    if not marks.coverage.contributions:
        return f"Nothing of it was shown{_to(marks)}: it is one unseen region"
    if here is not None:
        first, last = here
        many = f"Lines {first:,}-{last:,}, here, are the last unseen ones"
        return many if last > first else f"Line {first:,}, here, is the last unseen one"
    return f"Nothing unseen {'above' if back else 'below'}"


def none_overlooked(marks: Marks) -> str:
    """Why there is no overlooked failure to go to."""
    if not marks.failures:
        told = marks.unjudged.told(marks.coverage) if marks.unjudged else ""
        if told or not marks.why_not:
            return told or "No failure here: nothing to overlook"
        return f"Nothing here reads like an error; not judged, since {marks.why_not}"
    if len(marks.failures) == 1:
        return f"Its failure was seen{_by(marks)}"
    return f"All {len(marks.failures):,} failures were seen{_by(marks)}"


def overlooked_text(marks: Marks, nth: int, count: int) -> str:
    """Which of the overlooked failures one has come to, or of all where nothing was looked at."""
    if not marks.coverage.contributions:
        return f"failure {nth:,} of {count:,}, nothing shown{_to(marks)}"
    return f"overlooked {nth:,} of {count:,}"


def _by(marks: Marks) -> str:
    return f" by {title(marks.called(marks.session))}" if marks.session else ""


def _to(marks: Marks) -> str:
    return f" to {title(marks.called(marks.session))}" if marks.session else " to anyone"
