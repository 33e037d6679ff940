"""The evidence of a session as records: verdicts on claims, alarms, and the calls on which they rest."""

from collections.abc import Iterable, Sequence

from sightline.audit.evidence.checks import Check
from sightline.audit.evidence.claims import Claim
from sightline.audit.evidence.edits import Edit
from sightline.audit.evidence.languages import UnreadMessages
from sightline.audit.timeline import Call
from sightline.base.refs import format_ref, parse_ref
from sightline.light.json_text import loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.shape.summary import one_line

SUPPORTED, CONTRADICTED, STALE = "supported", "contradicted", "stale"
NO_EVIDENCE, NOT_KNOWN = "no evidence", "not known"
VERDICTS = (CONTRADICTED, STALE, NO_EVIDENCE, NOT_KNOWN, SUPPORTED)
DOUBTED = (CONTRADICTED, STALE, NO_EVIDENCE)
"""The verdicts that speak against a claim; that something is not known does not."""

NO_MESSAGES = "no message of an agent is known, so there is no claim to judge"

COMMAND_CHARACTERS = 80
MOST_NAMES = 3


class Ground(NamedTuple):
    """A call on which a verdict or an alarm rests.

    Attributes:
        view: id of the call in the log.
        ref: ref of its output; empty for none.
        time: seconds since the epoch.
        text: what it is, in a few words.
    """

    view: str
    ref: str
    time: float
    text: str


class JudgedClaim(NamedTuple):
    """A claim, and the verdict on it.

    Attributes:
        claim: the claim, with its words.
        session: name of its session.
        message: number of the message in the session's log.
        time: when it was made, seconds since the epoch.
        verdict: one of VERDICTS.
        why: the reason, in one line.
        grounds: the calls on which the verdict rests; empty if there are none.
    """

    claim: Claim
    session: str
    message: int
    time: float
    verdict: str
    why: str
    grounds: tuple[Ground, ...]


class Alarm(NamedTuple):
    """Something that is wrong, with the calls on which it rests; ``kind`` is one of ALARMS."""

    kind: str
    text: str
    grounds: tuple[Ground, ...]
    command: str = ""
    ref: str = ""

    @property
    def at(self) -> str:
        """Ref of the output that it is about; empty for none."""
        return self.ref or next((one.ref for one in self.grounds if one.ref), "")

    @property
    def outputs(self) -> set[str]:
        """Names of the outputs that it is about, or rests on."""
        refs = (self.ref, *(ground.ref for ground in self.grounds))
        return {parse_ref(ref).name for ref in refs if ref}


class StatedCheck(NamedTuple):
    """A check as evidence states it; ``view`` is the id of its call, ``time`` seconds since the epoch."""

    kind: str
    phrase: str
    outcome: str
    masked: bool
    ref: str
    view: str
    time: float


class StatedEdit(NamedTuple):
    """An edit as evidence states it; ``path`` is empty if nobody can name the file."""

    path: str
    sure: bool
    time: float
    view: str


class SessionEvidence(NamedTuple):
    """The evidence about one session, which is kept as it is: it has nothing that changes with the store.

    Attributes:
        session: name of the session.
        checks: its checks that have ended, in order.
        edits: its edits, in order.
        claims: the claims of its agent, in order.
        alarms: what is wrong in it.
        messages: number of its agent's messages.
        unread: those of these in a language without rules, or that were blanked.
        open_commands: number of commands whose edits nobody can name.
    """

    session: str
    checks: tuple[StatedCheck, ...]
    edits: tuple[StatedEdit, ...]
    claims: tuple[JudgedClaim, ...]
    alarms: tuple[Alarm, ...]
    messages: int
    unread: UnreadMessages
    open_commands: int

    @property
    def not_read(self) -> int:
        """Number of messages that no rule can read."""
        return self.unread.number

    @property
    def lacking(self) -> int:
        """Number of claims that the log speaks against."""
        return sum(one.verdict in DOUBTED for one in self.claims)


def evidence_from(text: str) -> SessionEvidence:
    """Return evidence that was written as JSON."""
    found = SessionEvidence._make(loads(text))
    return found._replace(
        checks=tuple(map(StatedCheck._make, found.checks)),
        edits=tuple(map(StatedEdit._make, found.edits)),
        claims=tuple(
            one._replace(claim=_claim_from(one.claim), grounds=_grounds_from(one.grounds))
            for one in map(JudgedClaim._make, found.claims)
        ),
        alarms=tuple(one._replace(grounds=_grounds_from(one.grounds)) for one in map(Alarm._make, found.alarms)),
        unread=UnreadMessages(found.unread[0], tuple((name, number) for name, number in found.unread[1])),
    )


def _claim_from(values: Sequence[Any]) -> Claim:
    made = Claim._make(values)
    return made._replace(checks=tuple(made.checks))


def _grounds_from(rows: Iterable[Sequence[Any]]) -> tuple[Ground, ...]:
    return tuple(map(Ground._make, rows))


def stated_check(check: Check) -> StatedCheck:
    of_call = (check.view.id, check.view.time)
    return StatedCheck(check.kind, check.phrase, check.outcome, check.masked, check.ref, *of_call)


def stated_edit(edit: Edit) -> StatedEdit:
    return StatedEdit(edit.path, edit.sure, edit.time, edit.call.view.id)


def _names(edits: Sequence[Edit]) -> str:
    names = list(dict.fromkeys(one.name for one in edits))
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def were_edited(edits: Sequence[Edit]) -> str:
    return f"{_names(edits)} {'was' if len({one.name for one in edits}) == 1 else 'were'} edited"


def ground_of_check(check: Check) -> Ground:
    return Ground(check.view.id, check.ref, check.view.time, f"{check.phrase} {check.outcome}")


def ground_of_edit(edit: Edit) -> Ground:
    return Ground(edit.call.view.id, "", edit.time, f"{edit.name} edited")


def ground_of_call(call: Call) -> Ground:
    ref = format_ref(call.view.refs[0]) if call.view.refs else ""
    return Ground(call.view.id, ref, call.view.time, one_line(call.asked, COMMAND_CHARACTERS))
