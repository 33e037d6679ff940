"""``sightline audit``: lists what went wrong unseen; with ``--fail-on`` it serves scripts and builds."""

from collections.abc import Iterable

from sightline.audit.evidence.languages import UnreadMessages, unread_of_scope
from sightline.audit.finding_kinds import ALARMS, ALTERED, CUT, KINDS, OVERLOOKED, PARTIAL
from sightline.audit.findings import Audited, Finding, audited, audited_by_hosts
from sightline.audit.line_spans import spans_of, written
from sightline.audit.verdict import Scope
from sightline.base.errors import UsageError
from sightline.base.refs import format_ref, parse_ref
from sightline.base.time_words import span_of
from sightline.doors.cli.scope import add_scope, project_option, scope_of
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import Door, print_json, red, write_out
from sightline.shape.summary import one_line
from sightline.store import Reading
from sightline.verbs.printable_text import printable

_NAMED = 5
_COMMAND_CHARACTERS = 80
_LISTED = 8  # ranges of lines listed in one row


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "List what went wrong in a session, or in all sessions, without an agent seeing it. There are these kinds:\n"
        + "".join(f"  {kind}: {kind.meaning}.\n" for kind in KINDS.values())
        + f"Nobody can say what was overlooked in a {PARTIAL} or an {ALTERED}, so --fail-on {OVERLOOKED} and {CUT} "
        "count these, too. "
        "Nobody can say what is in an output or a log that cannot be read, so --fail-on with any kind counts these. "
        "The exit code is 0 where nothing was found that --fail-on names, 1 where something was, and 2 after a wrong "
        "option.",
        "sightline audit --since 2h",
        "sightline audit --session claude-code-42 --fail-on overlooked-failure,cut-failure",
    )
    add_scope(made)
    made.add_argument(
        "--fail-on",
        default="",
        metavar="KIND,…",
        help=("exit with 1 if one of these kinds is found, so that a build stops"),
    )
    made.add_argument(
        "--all",
        action="store_true",
        help="print a row for each finding, instead of one for each output and kind",
    )
    return made


def main(given: Namespace) -> int:
    """Print the findings, and return 1 if --fail-on names the kind of one."""
    kinds = [kind.strip() for kind in given.fail_on.split(",") if kind.strip()]
    implied = [PARTIAL, ALTERED] if {OVERLOOKED, CUT} & set(kinds) else []
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise UsageError(f"--fail-on does not know {unknown[0]!r}", f"it is one or more of {', '.join(KINDS)}")
    with Door(given) as door:
        done = _audited(door.store, given)
        messages = UnreadMessages()
        if door.store.place is None:
            scope = scope_of(door.store, given)
            messages = unread_of_scope(door.store, scope.session, scope.since, scope.project)
        offline = door.store.place.words if door.store.place and given.offline else ""
    found, gone = done.found, [format_ref(name) for name in done.gone]
    failing = bool(kinds and done.unread) or any(finding.kind in (*kinds, *implied) for finding in found)
    if given.json:
        counts = {kind: sum(finding.kind == kind for finding in found) for kind in KINDS}
        rows = [one._asdict() for one in found]
        told = {"findings": rows, "counts": counts, "gone": gone, "not_judged": done.not_judged}
        told |= {"examined_here": done.examined_here, "running": done.running, "unread": done.unread}
        told |= {"unsealed": done.unsealed, "messages_not_read": dict(messages.languages)}
        print_json(told | {"failed": failing})
    else:
        if messages.words:
            write_out(f"{messages.words}\n")
        nothing = "nothing was captured, so nothing was judged\n"
        if done.captured or gone:
            nothing = "nothing of what is still there went wrong unseen\n" if gone else "nothing went wrong unseen\n"
        write_out("".join(_row(one) for one in (found if given.all else _grouped(found))) or nothing)
        if done.not_judged:
            write_out(f"not judged, since they only show what others wrote: {_outputs(done.not_judged)}\n")
        if done.examined_here:
            write_out(f"examined here, since their hosts have not told what failed: {_outputs(done.examined_here)}\n")
        if done.running:
            write_out(f"not examined, since they are still running: {_outputs(done.running)}\n")
        if done.unsealed:
            write_out(f"not checked for changes, since an older version captured them: {_outputs(done.unsealed)}\n")
        if done.unread:
            write_out(f"could not be read, so nothing is known of them: {done.unread:,} of the outputs and logs\n")
        if offline:
            write_out(f"only what was read here before was looked at ({offline})\n")
        if gone:
            named = ", ".join(gone[:_NAMED]) + (" …" if len(gone) > _NAMED else "")
            write_out(
                f"removed before they were shown whole, so nobody knows what was missed: {len(gone):,} ({named})\n"
            )
    return int(failing)


def _audited(store: Reading, given: Namespace) -> Audited:
    """Return the audit of what the options name; at a shared place, by what its hosts found themselves."""
    since = span_of(given.since).start if given.since else 0.0
    named = Scope(given.session or None, since, project_option(store, given.project))
    return audited_by_hosts(store, named) or audited(store, scope_of(store, given))


def _outputs(count: int) -> str:
    return f"{count:,} output{'' if count == 1 else 's'}"


def _grouped(found: Iterable[Finding]) -> list[Finding]:
    """Make one row for each buffer and kind, with their number and lines; keep what rests on several calls apart."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for nth, one in enumerate(found):
        name = parse_ref(one.ref).name if one.ref and one.kind not in ALARMS else str(nth)
        groups.setdefault((one.kind, name), []).append(one)
    return [group[0] if len(group) == 1 else _together(group) for group in groups.values()]


def _together(group: list[Finding]) -> Finding:
    refs = [parse_ref(one.ref) for one in group]
    lines: dict[str, list[tuple[int, int]]] = {}
    for ref in refs:
        lines.setdefault(ref.stream, []).append((ref.first, ref.last))
    places = []
    for stream, spans in lines.items():
        listed = written(spans_of(spans))
        more = f" and {len(listed) - _LISTED:,} more" if len(listed) > _LISTED else ""
        places.append(f"{stream and stream + ' '}{', '.join(listed[:_LISTED])}{more}")
    what = "failures" if group[0].kind == OVERLOOKED else "times"
    text = f"{len(group):,} {what}, lines {'; '.join(places)}: {group[0].text}, …"
    return group[0]._replace(ref=format_ref(refs[0].name), text=text)


def _row(finding: Finding) -> str:
    command = f"  ({printable(one_line(finding.command, _COMMAND_CHARACTERS))})" if finding.command else ""
    ref = f"{finding.ref}  " if finding.ref else ""
    return f"{red(finding.kind)}  {ref}{printable(finding.text)}{command}\n"
