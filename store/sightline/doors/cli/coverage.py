"""``sightline coverage``: shows which lines of a buffer stood in some view, by session and in all."""

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.buffer_failures import Failure, Unjudged, failures_if_quick, told_count, unjudged_if_quick
from sightline.audit.coverage import Coverage, GradedLines, cut_data, most, rounded, told_share
from sightline.audit.held_lines import STATE_WORDS, HeldCoverage, counts_told, held_of, is_told
from sightline.audit.line_spans import Spans, size, written
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.doors.terminal.arguments import CommandParser, Namespace, add_store, command_parser
from sightline.doors.terminal.output import Door, print_json, red, write_out
from sightline.light.typing_names import Any
from sightline.log.session_list import find_session
from sightline.store import Target
from sightline.verbs.printable_text import printable

_LISTED = 8


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Show which lines of an output agents saw. A line is seen exactly where a reply shows it; matched where it "
        "came out of a query and was found again in the output; and asked about where a query read it for an answer "
        "that does not show it, such as a count.",
        "sightline coverage @last",
        "sightline coverage @cmd_a1b2c3 --session claude-code-42",
        "sightline coverage @cmd_a1b2c3 --held",
    )
    made.add_argument("ref", metavar="REF", help="the output")
    made.add_argument("--session", default="", metavar="SESSION", help="count only what this session was shown")
    made.add_argument(
        "--held",
        action="store_true",
        help="tell which lines are still in the context of whoever was shown them, as far as their harness tells of "
        "compactions and the like, which were seen before, and which never",
    )
    add_store(made)
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    with Door(given) as door:
        target = door.asking.resolve_whole(given.ref)
        buffer = door.store.checked(door.store.with_progress(target.buffer))
        session = find_session(door.store, given.session).session.name if given.session else None
        coverage = coverage_of(door.store, buffer, session=session)
        failures = failures_if_quick(door.store, buffer)
        unjudged = unjudged_if_quick(door.store, buffer)
        held = held_of(door.store, buffer, coverage) if given.held else None
        if given.json:
            print_json(as_data(buffer, coverage, failures, unjudged) | ({"held": held_data(held)} if held else {}))
        else:
            _tell(target._replace(buffer=buffer), coverage, failures, unjudged)
            if held:
                _tell_held(held)
            elif is_told(door.store, coverage.sessions):
                told = counts_told(held_of(door.store, buffer, coverage), never=False)
                write_out(f"in context: {told}\n" if told else "")
        return 0


def as_data(
    buffer: Buffer, coverage: Coverage, failures: tuple[Failure, ...] | None, unjudged: Unjudged | None
) -> dict[str, Any]:
    """Encode coverage for ``coverage --json``; ranges are text such as ``"3-9"``."""
    return {
        "ref": buffer.ref,
        "state": buffer.shown_state,
        "partial": buffer.lost or None,
        "altered": buffer.altered or None,
        "gaps": [gap._asdict() for gap in buffer.gaps],
        "lines": coverage.total,
        "seen": coverage.seen_lines,
        "cut": coverage.cut_lines,
        "share": rounded(coverage.share),
        "at_most": coverage.at_most,
        "streams": _streams(coverage),
        "sessions": {
            name: {
                "seen": part.seen_lines,
                "share": rounded(part.share),
                "at_most": part.at_most,
                "streams": _streams(part),
            }
            for name in coverage.sessions
            for part in [coverage.of_session(name)]
        },
        "views": [
            {
                "id": one.view.id,
                "verb": one.view.verb,
                "truncated": one.view.truncated,
                "streams": {name: _grades(lines) for name, lines in one.streams.items()},
            }
            for one in coverage.contributions
        ],
        "failures": None
        if failures is None
        else [
            {
                "name": failure.name,
                "at": failure.at,
                "text": failure.text,
                "ref": failure.ref(buffer.name),
                "seen": failure.is_seen(coverage),
            }
            for failure in failures
        ],
        "not_judged": {
            "why": unjudged.why,
            "lines": {name: written(spans) for name, spans in unjudged.lines.items()},
            "unseen": unjudged.unseen(coverage),
        }
        if unjudged and unjudged.lines
        else None,
    }


def _streams(coverage: Coverage) -> dict[str, Any]:
    return {
        name: {
            "lines": stream.total,
            "seen": stream.seen_lines,
            **_grades(stream.lines),
            "unseen": written(stream.never),
        }
        for name, stream in coverage.streams.items()
    }


def _grades(lines: GradedLines) -> dict[str, Any]:
    return {**{grade: written(spans) for grade, spans in lines.by_grade()}, "cut": cut_data(lines)}


def held_data(held: HeldCoverage) -> dict[str, Any]:
    """Encode what contexts still hold of a buffer, by stream; ranges are text such as ``"3-9"``."""
    return {
        name: {state: written(getattr(lines, state)) for state in STATE_WORDS} for name, lines in held.streams.items()
    }


def _tell_held(held: HeldCoverage) -> None:
    for stream, lines in held.streams.items():
        write_out(f"{format_ref(held.buffer, stream)}  {held_words(held, stream)}\n")
        for state, word in STATE_WORDS.items():
            if spans := getattr(lines, state):
                write_out(f"  {word.ljust(11)} {listed(spans)}\n")
    if held.count("unknown"):
        write_out("not known: nothing in the log tells whether the context still has these lines\n")


def held_words(held: HeldCoverage, stream: str) -> str:
    """Put into words what is held: ``40 of 200 lines still held, 60 seen before, 100 never``."""
    lines = held.streams[stream]
    told = [f"{size(lines.held):,} of {lines.total:,} lines still held"]
    told += [f"{size(lines.before):,} seen before"] if lines.before else []
    told += [f"{size(lines.unknown):,} not known"] if lines.unknown else []
    return ", ".join([*told, f"{size(lines.never):,} never seen"])


def _tell(target: Target, coverage: Coverage, failures: tuple[Failure, ...] | None, unjudged: Unjudged | None) -> None:
    name = target.buffer.name
    if target.buffer.altered:
        write_out(f"altered: {target.buffer.altered}; the lines below are those that were captured\n")
    if target.buffer.is_partial:
        write_out(f"partial: {target.buffer.lost}\n")
        if (reached := target.buffer.most_reached) < 1:
            write_out(f"{most(reached)} of what was written reached the store\n")
    lines = "lines that reached the store" if target.buffer.is_partial else "lines"
    for stream, covered in coverage.streams.items():
        ref = format_ref(name, stream)
        in_part = f", {len(covered.lines.cut):,} in part" if covered.lines.cut else ""
        told = f"{covered.seen_lines:,} of {covered.total:,} {lines} seen{in_part} ({told_share(covered)})"
        write_out(f"{ref}  {told}\n")
        for grade, spans in (*covered.lines.by_grade(), ("in part", covered.cut), ("unseen", covered.never)):
            if spans:
                write_out(f"  {grade.ljust(8)} {listed(spans)}\n")
        for line, cut in sorted(covered.lines.cut.items())[:_LISTED]:
            write_out(f"  line {line:,}: {size(cut.seen):,} of {cut.length:,} B\n")
    if not coverage.streams:
        write_out(f"{format_ref(name)} is empty\n")
    for session in coverage.sessions:
        part = coverage.of_session(session)
        views = sum(one.view.session == session for one in coverage.contributions)
        plural = "" if views == 1 else "s"
        lines = f"{part.seen_lines:,} lines" + (f", {part.cut_lines:,} in part" if part.cut_lines else "")
        write_out(f"{session}  {lines} ({told_share(part)}) in {views} view{plural}\n")
    if not coverage.contributions:
        write_out("shown to nobody\n")
    if failures is None:
        write_out("this output is too large to look for failures here; `sightline audit` looks for them\n")
        return
    unseen = [failure for failure in failures if not failure.is_seen(coverage)]
    if unseen:
        write_out(red(f"overlooked: {len(unseen):,} of {told_count(failures)}\n"))
        for failure in unseen[:_LISTED]:
            write_out(f"  {failure.ref(name)}  {printable(failure.name or failure.text)[:100]}\n")
        if len(unseen) > _LISTED:
            write_out(f"  and {len(unseen) - _LISTED} more\n")
    if unjudged and (told := unjudged.told(coverage)):
        write_out(f"{told}\n")


def listed(spans: Spans) -> str:
    """List the first ranges, the number of further ranges, and the number of lines in all."""
    shown = ", ".join(written(spans[:_LISTED]))
    more = f" and {len(spans) - _LISTED:,} more ranges" if len(spans) > _LISTED else ""
    return f"{shown}{more} ({size(spans):,})"
