"""Keeps what is known of each session: judges those whose log, or a helper's, has changed, and reads what is kept."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from sightline.audit.kept_facts import families
from sightline.base.errors import SightlineError
from sightline.light.json_text import dumps, loads
from sightline.light.typing_names import TYPE_CHECKING
from sightline.log.log_index import last_known, verify_log
from sightline.store import JudgedSession, Reading, StatedAlarm, Store

if TYPE_CHECKING:
    from sightline.audit.evidence.evidence_records import SessionEvidence

LogSizes = Mapping[str, tuple[int, int]]
"""What changes with each session's log."""


class KeptSessions:
    """The sessions of a store as they are now, and what is kept of them.

    Attributes:
        everyone: the records of all sessions, by name.
    """

    def __init__(self, store: Reading, sizes: LogSizes) -> None:
        """Read what is kept; ``sizes`` come from `log_sizes`."""
        self._store, self._sizes = store, sizes
        self.everyone = {one.name: one for one in store.index.sessions()}
        self._related = families(self.everyone.values())
        self._kept = store.index.session_verdicts()
        self._entries = last_known(store)
        self._rules = _rules_of_sessions(store)

    def find(self, name: str) -> JudgedSession | None:
        """Return what is kept of a session; None if it is to be judged."""
        made_from, record = self._kept.get(name, ("", ""))
        return _session_of(record) if made_from == self._made_from(name) else None

    def judge(self, name: str) -> JudgedSession:
        """Judge a session by its log, and keep what is found. Raises StoreFailed if it cannot be read."""
        return self._judged(name)[0]

    def evidence(self, name: str) -> "SessionEvidence | None":
        """Return the evidence of a session, judged anew only if it changed; None if only its log is there.

        Its outputs are judged already, which makes what changed in them known. Raises what `judge` raises.
        """
        from sightline.audit.evidence.evidence_records import evidence_from

        kept = self._store.index.session_evidence(name, self._made_from(name))
        return evidence_from(kept) if kept else self._judged(name)[1]

    def _judged(self, name: str) -> "tuple[JudgedSession, SessionEvidence | None]":
        from sightline.audit.evidence.session_evidence import evidence_of

        session = self.everyone.get(name)
        made, evidence = JudgedSession(broken=_broken(self._store, name, self._entries.get(name, 0))), None
        if session is not None:
            evidence = evidence_of(self._store, session)
            made = made._replace(alarms=alarms_of(evidence), messages=evidence.messages, not_read=evidence.not_read)
        written = dumps(evidence, ensure_ascii=False) if evidence else ""
        self._store.index.put_session_verdict(name, self._made_from(name), dumps(made), written)
        return made, evidence

    def log_bytes(self, names: Iterable[str]) -> int:
        """Return the bytes of some logs together."""
        return sum(self._sizes.get(name, (0, 0))[0] for name in names)

    def family(self, name: str) -> tuple[str, ...]:
        """Return the names of the sessions that share one of a harness with a session, its own among them."""
        session = self.everyone.get(name)
        return self._related.get((session.harness, session.harness_id), (name,)) if session else (name,)

    def _made_from(self, name: str) -> str:
        zone = " ".join(time.tzname)  # of the times in its words
        return f"{self._rules} {zone} {' '.join(f'{one}:{self._sizes.get(one)}' for one in self.family(name))}"


def log_sizes(store: Reading) -> LogSizes:
    """Return by session what changes with its log: its bytes and time, or elsewhere the number of its last reply."""
    if not isinstance(store, Store):
        return {name: (number, 0) for name, number in store.index.last_entries().items()}
    found = dict[str, tuple[int, int]]()
    with suppress(FileNotFoundError), os.scandir(store.layout.audit) as files:
        for one in files:
            name, dot, _ = one.name.rpartition(".jsonl")
            if dot:
                status = one.stat(follow_symlinks=False)
                found[name] = status.st_size, status.st_mtime_ns
    return found


def alarms_of(evidence: "SessionEvidence") -> tuple[StatedAlarm, ...]:
    """Return the alarms of a session as rows, with the ids of the replies that they rest on."""
    return tuple(
        StatedAlarm(
            one.kind, one.text, one.command, one.at, tuple(dict.fromkeys(ground.view for ground in one.grounds))
        )
        for one in evidence.alarms
    )


def each_once(alarms: Iterable[StatedAlarm]) -> Iterator[StatedAlarm]:
    """Yield alarms, once those that a session and its helper share: they rest on the same replies."""
    known = set[StatedAlarm]()
    for one in alarms:
        if one not in known:
            yield one
        if one.views:
            known.add(one)


def _rules_of_sessions(store: Reading) -> str:
    from sightline.audit.evidence.session_evidence import alarm_rules  # 25 ms, which outputs do not wait for

    return alarm_rules(store)


def _session_of(record: str) -> JudgedSession:
    alarms, *rest = loads(record)
    return JudgedSession(tuple(StatedAlarm._make((*one[:4], tuple(one[4]))) for one in alarms), *rest)


def _broken(store: Reading, name: str, last: int) -> str:
    """Return what is wrong with the log of a session; empty if its chain of hashes holds."""
    if store.place is not None:
        return ""  # lines may have been withheld before shipping; `fleet verify` knows which
    try:
        verify_log(store, name, last)
    except SightlineError as error:
        return error.message
    return ""
