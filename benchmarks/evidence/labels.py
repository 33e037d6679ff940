"""Compares the verdict on real sessions with labels that somebody made who had not seen it.

Labels lie outside of the project, one JSON object a line, and name sessions and places by hashes only:

    {"session": "1f2e3d4c5b6a7980", "kind": "read"}
    {"session": "1f2e3d4c5b6a7980", "kind": "masked-exit", "at": "0a1b2c3d4e5f6071"}
    {"session": "1f2e3d4c5b6a7980", "kind": "stale-claim", "at": "7160f5e4d3c2b1a0", "arguable": true}

``read`` says that the session was read whole, so that what it has no label for is not so. ``at`` is the hash of a call,
or for kinds about claims that of the message. What is ``arguable`` counts neither as right nor as wrong.
``--to-read FOLDER`` writes sessions with these hashes, and without any verdict.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sightline.audit.evidence.evidence_records import CONTRADICTED, NO_EVIDENCE, STALE, SessionEvidence
from sightline.audit.finding_kinds import (
    ALARMS,
    CONTRADICTED_CLAIM,
    CUT,
    LOOP,
    OVERLOOKED,
    QUOTING,
    STALE_CLAIM,
    UNSEEN_RESULT,
    UNSUPPORTED_CLAIM,
)
from sightline.audit.findings import found_in
from sightline.audit.timeline import Call, calls_of
from sightline.audit.verdict import Scope
from sightline.base.records import Session
from sightline.base.refs import parse_ref
from sightline.log.session_events import AgentMessage
from sightline.log.session_history import events_of
from sightline.store import Store

READ, FAILED = "read", "failed"
OF_LABELS = frozenset((FAILED, OVERLOOKED, CUT, *ALARMS)) - {LOOP}
"""The kinds that a session is read for; what is found of others, nobody was asked about."""

_HASH_DIGITS = 16
_OF_VERDICT = {CONTRADICTED: CONTRADICTED_CLAIM, STALE: STALE_CLAIM, NO_EVIDENCE: UNSUPPORTED_CLAIM}


class Mark(NamedTuple):
    """A kind at some places: of a label it is one, of a finding each on which it rests."""

    kind: str
    places: frozenset[str]


class Labels(NamedTuple):
    """What somebody found in a session: what is so, and what may be so."""

    sure: list[Mark]
    arguable: list[Mark]


def session_key(session: Session) -> str:
    """Return the hash that stands for a session; that of a helper, which shares its session's id, is its own."""
    is_own = session.name.endswith(session.harness_id)
    return _hashed(session.harness_id if session.harness_id and is_own else session.name)


def call_key(session: Session, call: Call) -> str:
    """Return the hash that stands for a call: by its id in the transcript, so that it stays when rules change."""
    request = json.loads(call.view.request)
    told = (request.get("imported") or {}).get("id") or (request.get("caller") or {}).get("tool_use")
    use = (request.get("caller") or {}).get("tool_use", "")
    return _hashed(f"{session.harness_id}\0{told or call.view.id}\0{use}")


def message_key(session: Session, message: AgentMessage) -> str:
    """Return the hash that stands for a message."""
    return _hashed(f"{session.harness_id}\0{message.id or message.number}")


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]


def read_labels(path: str) -> dict[str, Labels]:
    """Return labels by the hash of their session, of those sessions that were read whole.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line is no label.
    """
    made, whole = dict[str, Labels](), set[str]()
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    for line in lines:
        labels = made.setdefault(line["session"], Labels([], []))
        if line["kind"] == READ:
            whole.add(line["session"])
        else:
            (labels.arguable if line.get("arguable") else labels.sure).append(
                Mark(line["kind"], frozenset((line["at"],)))
            )
    return {session: labels for session, labels in made.items() if session in whole}


def found_marks(store: Store, session: Session, evidence: SessionEvidence) -> list[Mark]:
    """Return what is found in a session, with the places on which each rests.

    Args:
        store: a store in which the verdict on the session was reached.
        session: the session.
        evidence: its evidence.
    """
    calls = calls_of(store, session=session.name)
    keys = {call.view.id: call_key(session, call) for call in calls}
    by_output: dict[str, set[str]] = {}
    for call in calls:
        for name in call.view.refs:
            by_output.setdefault(name, set()).add(keys[call.view.id])
    failed = [Mark(FAILED, frozenset((keys[one.view.id],))) for one in calls if one.failed and _ran(one)]
    alarms = [
        Mark(one.kind, frozenset(keys[ground.view] for ground in one.grounds if ground.view in keys))
        for one in evidence.alarms
        if one.kind not in QUOTING
    ]
    of_outputs = found_in(store, Scope(session=session.name))
    missed = [(OVERLOOKED, one.buffer.name) for one in of_outputs.overlooked]
    missed += [(one.kind, parse_ref(one.ref).name) for one in of_outputs.others]
    outputs = [Mark(kind, frozenset(by_output.get(name, ()))) for kind, name in dict.fromkeys(missed)]
    return [*failed, *alarms, *outputs, *_of_claims(store, session, evidence)]


def _ran(call: Call) -> bool:
    return bool(call.buffer and call.buffer.kind == "cmd")


def _of_claims(store: Store, session: Session, evidence: SessionEvidence) -> Iterator[Mark]:
    """Yield a mark for each message with a doubted claim, by kind."""
    messages = {one.number: one for one in events_of(store, session.name).messages}
    unseen = [one.text for one in evidence.alarms if one.kind == UNSEEN_RESULT]
    for (kind, number), words in {
        (_OF_VERDICT[one.verdict], one.message): one.claim.words
        for one in evidence.claims
        if one.verdict in _OF_VERDICT
    }.items():
        is_unseen = any(words[:_QUOTED] in text for text in unseen)
        yield Mark(UNSEEN_RESULT if is_unseen else kind, frozenset((message_key(session, messages[number]),)))


_QUOTED = 60  # characters of a claim that an alarm is sure to quote


def compared(found: Iterable[Mark], labels: Labels) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Return (right, wrong, missed) by kind; a finding is right if a label of its kind is at one of its places."""
    right, wrong, missed = Counter[str](), Counter[str](), Counter[str]()
    open_labels = list(labels.sure)
    for mark in found:
        match = _matching(mark, open_labels)
        if match:
            open_labels.remove(match)
            right[mark.kind] += 1
        elif _matching(mark, labels.arguable) is None and _matching(mark, labels.sure) is None:
            wrong[mark.kind] += 1
    missed.update(one.kind for one in open_labels)
    return right, wrong, missed


def _matching(mark: Mark, labels: Sequence[Mark]) -> Mark | None:
    return next((one for one in labels if one.kind == mark.kind and one.places & mark.places), None)


def texts_of(store: Store, session: Session) -> Mapping[str, str]:
    """Return by the hash of a call or message what stands there, in a line, to look at what differs."""
    calls = {call_key(session, call): call.asked for call in calls_of(store, session=session.name)}
    messages = {message_key(session, one): one.text or "" for one in events_of(store, session.name).messages}
    return calls | messages
