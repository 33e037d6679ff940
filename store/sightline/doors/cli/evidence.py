"""``sightline evidence``: lists what agents claim, and the runs and edits that support or contradict it."""

from sightline.audit.evidence.evidence_records import (
    CONTRADICTED,
    DOUBTED,
    NO_EVIDENCE,
    NO_MESSAGES,
    STALE,
    VERDICTS,
    Alarm,
    Ground,
    JudgedClaim,
    SessionEvidence,
)
from sightline.audit.evidence.languages import UnreadMessages
from sightline.audit.project_scope import agents_within
from sightline.audit.verdict import evidence_within
from sightline.base.project import ALL, Scope
from sightline.base.records import Session
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import Door, print_json, red, write_out
from sightline.light.typing_names import Any
from sightline.log.session_list import find_session, list_sessions
from sightline.shape.summary import one_line
from sightline.verbs.printable_text import printable

_CHARACTERS = 160


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Compare what agents say of their work (tests pass, the build succeeds, fixed, …) with what their sessions "
        "ran, edited and saw. A claim is supported or contradicted; it is stale if files were edited since the last "
        "run, or it has no evidence; or the log leaves it open: not known. Messages in languages without rules are "
        "not read. The exit code is 1 if a claim is contradicted, stale or without evidence, else 0, and 2 after a "
        "wrong option. Without --session, all sessions of agents are looked at.",
        "sightline evidence --session claude-code-42",
        "sightline evidence --json",
    )
    made.add_argument("--session", default="", metavar="SESSION", help="look at this session only")
    return made


def main(given: Namespace) -> int:
    """Print the claims, and return 1 if the log speaks against one."""
    with Door() as door:
        sessions = _sessions(door, given.session)
        found = evidence_within(door.store, Scope(sessions[0].name) if given.session else ALL, sessions)
    told = [one for one in found if one.messages or one.alarms or given.session]
    if given.json:
        print_json({"sessions": [as_data(one) for one in told]})
    else:
        unread = UnreadMessages()
        for one in found:
            unread = unread.with_those(one.unread)
        first = f"{unread.words}\n" if unread.number else ""
        write_out(first + ("".join(_text(one) for one in told) or f"{NO_MESSAGES}\n"))
    return int(any(one.lacking for one in found))


def _sessions(door: Door, name: str) -> list[Session]:
    if name:
        return [find_session(door.store, name).session]
    listed = [one.session for one in list_sessions(door.store)]
    known = {one.name: one for one in (*listed, *door.store.index.sessions())}  # those, too, that only said something
    names = agents_within(door.store, ALL)
    return [one for name, one in known.items() if name in names]


def as_data(evidence: SessionEvidence) -> dict[str, Any]:
    """Encode the evidence of a session for programs; times are seconds since the epoch."""
    return {
        "session": evidence.session,
        "claims": [_claim_data(one) for one in evidence.claims],
        "verdicts": {word: sum(one.verdict == word for one in evidence.claims) for word in VERDICTS},
        "alarms": [
            {"kind": one.kind, "ref": one.at, "text": one.text, "grounds": [ground._asdict() for ground in one.grounds]}
            for one in evidence.alarms
        ],
        "checks": [one._asdict() for one in evidence.checks],
        "edits": [{**one._asdict(), "path": one.path or None} for one in evidence.edits],
        "messages": evidence.messages,
        "messages_not_read": evidence.not_read,
        "languages_not_read": dict(evidence.unread.languages),
        "commands_with_unknown_edits": evidence.open_commands,
    }


def _claim_data(one: JudgedClaim) -> dict[str, Any]:
    return {
        "kind": one.claim.kind,
        "words": one.claim.words,
        "verdict": one.verdict,
        "why": one.why,
        "time": one.time,
        "message": f"{one.session}:{one.message}",
        "grounds": [ground._asdict() for ground in one.grounds],
    }


def _text(evidence: SessionEvidence) -> str:
    rows = [f"{evidence.session}\n"]
    rows += [_claim(one) for one in evidence.claims]
    claimed = {CONTRADICTED: "contradicted", STALE: "stale-claim", NO_EVIDENCE: "no-evidence"}.values()
    rows += [_alarm(one) for one in evidence.alarms if one.kind not in claimed]
    if not evidence.messages:
        rows.append("  no message of the agent was kept\n")
    elif evidence.not_read:
        rows.append(f"  {evidence.unread.words}\n")
    if evidence.open_commands:
        rows.append(f"  what files they changed is not known of {evidence.open_commands:,} commands\n")
    return "".join(rows)


def _claim(one: JudgedClaim) -> str:
    word = red(one.verdict.ljust(12)) if one.verdict in DOUBTED else one.verdict.ljust(12)
    words = printable(one_line(one.claim.words, _CHARACTERS))
    return f"  {word}  “{words}”: {printable(one.why)}{_grounds(one.grounds)}\n"


def _alarm(one: Alarm) -> str:
    return f"  {red(one.kind)}  {printable(one_line(one.text, 2 * _CHARACTERS))}{_grounds(one.grounds)}\n"


def _grounds(grounds: tuple[Ground, ...]) -> str:
    told = ", ".join(one.ref or one.view for one in grounds)
    return f"  ({told})" if told else ""
