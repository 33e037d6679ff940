"""``sightline audit``: what went wrong unseen; with ``--fail-on``, for scripts and builds."""

from sightline.store.audit.checking import CUT, KINDS, OVERLOOKED, PARTIAL, Finding, find_all
from sightline.store.audit.timeline import calls_of, captured_by, unknowable
from sightline.store.doors.cli.arguments import parser
from sightline.store.doors.cli.output import Door, print_json, red, write_out
from sightline.store.doors.cli.scope import add_scope, scope_of
from sightline.store.errors import UsageError
from sightline.store.tools.printing import printable

_NAMED = 5


def main(name: str, words: list[str]) -> int:
    """Run the command line; 1 where something was found that --fail-on names."""
    made = parser(
        name,
        "Tell what went wrong unseen in a session, or in all of them: "
        + "; ".join(f"{kind} is {meaning}" for kind, meaning in KINDS.items())
        + f". What was overlooked in a {PARTIAL} nobody can tell, so --fail-on {OVERLOOKED} and {CUT} stop for it, too"
        ". Exits with 0 where nothing was found that --fail-on names, with 1 where something was, and with 2 where "
        "it is called wrongly.",
        example="sightline audit --session claude-code-42 --fail-on overlooked-failure,cut-failure",
    )
    add_scope(made)
    made.add_argument("--fail-on", default="", metavar="KIND,…", help="exit with 1 where one of these is found")
    given = made.parse_args(words)
    kinds = [kind.strip() for kind in given.fail_on.split(",") if kind.strip()]
    implied = [PARTIAL] if {OVERLOOKED, CUT} & set(kinds) else []
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise UsageError(f"--fail-on does not know {unknown[0]!r}", f"it is one or more of {', '.join(KINDS)}")
    door = Door()
    try:
        scope = scope_of(door.store, given)
        calls = calls_of(door.store, session=scope.session, since=scope.since)
        sessions = scope.sessions(door.store, calls)
        captured = captured_by(door.store, sessions, scope.since)
        gone = ["@" + name for name in unknowable(door.store, calls, sessions, scope.since)]
        found = find_all(door.store, calls, captured, scope.session)
    finally:
        door.close()
    failing = [finding for finding in found if finding.kind in (*kinds, *implied)]
    if given.json:
        counts = {kind: sum(finding.kind == kind for finding in found) for kind in KINDS}
        rows = [one._asdict() for one in found]
        print_json({"findings": rows, "counts": counts, "gone": gone, "failed": bool(failing)})
    else:
        nothing = "nothing of what is still there went wrong unseen\n" if gone else "nothing went wrong unseen\n"
        write_out("".join(_row(one) for one in found) or nothing)
        if gone:
            named = ", ".join(gone[:_NAMED]) + (" …" if len(gone) > _NAMED else "")
            write_out(f"gone before all of them was shown, so that nobody can tell: {len(gone):,} ({named})\n")
    return int(bool(failing))


def _row(finding: Finding) -> str:
    command = f"  ({printable(' '.join(finding.command.split())[:80])})" if finding.command else ""
    ref = f"{finding.ref}  " if finding.ref else ""
    return f"{red(finding.kind)}  {ref}{printable(finding.text)}{command}\n"
