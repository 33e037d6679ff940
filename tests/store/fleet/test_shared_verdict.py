"""The verdict at the shared place: the numbers that a host has of what it shipped, on every screen of its readers."""

import time
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from sightline.audit.finding_kinds import CUT, OVERLOOKED, PARTIAL, QUOTING, UNTOLD
from sightline.audit.findings import audited_by_hosts
from sightline.audit.verdict import Verdict, VerdictReader, verdict_of
from sightline.base.project import Project, Scope
from sightline.base.records import Buffer
from sightline.disk.recording import Recording
from sightline.settings.config import Settings
from sightline.store import Store
from tests.store.audit.test_audit_verdict import BROKEN, DEED, PROJECTS, SESSIONS, assert_same_everywhere, do
from tests.store.fleet.conftest import Hosts, ship

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.fleet.reader.store import SharedStore

NUMBERS = {OVERLOOKED: "unseen", CUT: "cut", UNTOLD: "untold", PARTIAL: "lost"}
TOLD = ("captured", "ran", "failed", "failures", "incomplete", "gone", "lines", "unopened", *NUMBERS.values())
DEEDS = st.lists(st.one_of(DEED, st.tuples(st.just("ship"), st.none())), max_size=14)
_number = count()


def run(code: int) -> tuple[str, Any]:
    return "run", ("agent-1", "/one", code, BROKEN if code else b"fine\n", "")


class Twins:
    """A host, and a store of which nobody removes or changes what the host has shipped: what a fleet has of it."""

    def __init__(self, host: Store, kept: Store) -> None:
        self.stores = host, kept
        self.made: tuple[list[Buffer], list[Buffer]] = ([], [])
        self.running: tuple[list[Recording], list[Recording]] = ([], [])
        self.shipped, self.gone = 0, set[int]()

    def do(self, deed: str, what: Any) -> None:
        made = len(self.made[0])
        number = (what[0] if isinstance(what, tuple) else what) % made if made and deed in AT_OUTPUTS else -1
        if number in self.gone or (deed in ("alter", "evict") and number >= self.shipped):
            return
        at_host_alone = deed in ("alter", "evict") and number >= 0
        for at in (0,) if at_host_alone else (0, 1):
            do(self.stores[at], deed, what, self.made[at], self.running[at])
        if at_host_alone:
            self.gone.add(number)


AT_OUTPUTS = ("show", "cut", "evict", "remove", "alter")


def numbers(verdict: Verdict, *, messages: bool) -> dict[str, int]:
    alarms = [one.kind for one in verdict.alarms if messages or one.kind not in QUOTING]
    said = (verdict.messages, verdict.not_read) if messages else ()
    return {name: getattr(verdict, name) for name in TOLD} | {"alarms": sorted(alarms), "messages": said}


@settings(
    max_examples=12,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),  # with a database, to find a smaller example takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(deeds=DEEDS, messages=st.booleans())
@example(deeds=[run(1), ("show", (0, "agent-1", 2)), ("ship", None), ("evict", 0), ("judge", None)], messages=True)
@example(
    deeds=[run(2), run(1), ("ship", None), ("alter", 0), ("show", (1, "agent-2", 23)), ("judge", None)], messages=False
)
@example(deeds=[run(1), ("cut", (0, "agent-2", 2)), ("claim", "agent-2"), ("ship", None), ("remove", 0)], messages=True)
@example(
    deeds=[run(1), ("show", (0, "agent-1", 3)), ("ship", None), run(1), ("claim", "agent-1"), ("ship", None)],
    messages=True,
)
@example(
    deeds=[("begin", ("agent-1", "/two")), ("ship", None), ("end", 1), ("begin", ("agent-2", "/one"))], messages=False
)
@example(deeds=[("say", "agent-1"), ("ship", None), ("claim", "agent-1"), ("say", "agent-2")], messages=True)
@example(
    deeds=[run(0), run(1), ("evict", 0), ("show", (1, "terminal-7", 23)), ("ship", None), ("remove", 1)], messages=False
)
def test_readers_of_a_fleet_have_the_numbers_of_its_hosts_however_far_they_have_read(
    deeds: list[tuple[str, Any]], messages: bool, hosts: Hosts, tmp_path: Path
) -> None:
    fleet = hosts.stores["a"].settings.fleet._replace(messages=messages)
    shipped_at = [time.time()]
    with (
        TemporaryDirectory(dir=tmp_path) as folder,
        Store(f"{folder}/host", Settings(fleet=fleet)) as own,
        Store(f"{folder}/kept", Settings()) as kept,
    ):
        twins = Twins(own, kept)
        for deed, what in deeds:
            if deed == "ship":
                ship(own)
                twins.shipped = len(twins.made[0])
                shipped_at.append(time.time())
            else:
                twins.do(deed, what)
        name = ship(own)
        projects = [Project(None, (), name), *(Project(one, (), name) for one in PROJECTS)]
        scopes = [
            *((Scope(project=one._replace(host="")), Scope(project=one)) for one in projects),
            *((Scope(one), Scope(f"{name}/{one}")) for one in SESSIONS),
        ]
        address = hosts.fleet.grant("carl", "team:red")
        for since in (0.0, shipped_at[len(shipped_at) // 2], time.time() + 60.0):
            with (
                Store(f"{folder}/{next(_number)}", Settings()) as local,
                SharedStore(local, address, patience=0) as place,
            ):
                place.bring_up_to_date(since)
                for here, there in scopes:
                    if here.project == Project(None):
                        here = Scope()
                    expected = numbers(verdict_of(kept, here), messages=messages)
                    found = VerdictReader(place, there).all()
                    assert numbers(found, messages=messages) == expected, (since, there)
                    assert (found.unexamined, found.read_since) == (0, 0.0)
                if since == 0.0:
                    for project in projects[1:]:
                        assert_same_everywhere(place, Scope(project=project))
                    done = audited_by_hosts(place, scopes[1][1])
                    assert done is not None
                    counts = {kind: sum(one.kind == kind for one in done.found) for kind in NUMBERS}
                    judged = verdict_of(place, scopes[1][1])
                    assert counts == {kind: getattr(judged, number) for kind, number in NUMBERS.items()}
        for one in (*twins.running[0], *twins.running[1]):
            one.seal(exit_code=0)
