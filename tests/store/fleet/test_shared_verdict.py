"""The verdict at the shared place: the numbers that a host has of what it shipped, on every screen of its readers."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from sightline.audit.finding_kinds import CUT, OVERLOOKED, PARTIAL, UNTOLD
from sightline.audit.findings import audited_by_hosts
from sightline.audit.verdict import verdict_of
from sightline.base.project import Project, Scope
from sightline.base.records import Buffer
from sightline.disk.recording import Recording
from tests.store.audit.test_audit_verdict import DEEDS, PROJECTS, assert_same_everywhere, do
from tests.store.fleet.conftest import Hosts

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.fleet.reader.store import SharedStore

NUMBERS = {OVERLOOKED: "unseen", CUT: "cut", UNTOLD: "untold", PARTIAL: "lost"}
TOLD = ("ran", "failed", "failures", "incomplete", *NUMBERS.values())
"""What hosts tell of their outputs; what lies beside these, such as changed bytes, is known to them alone."""


def shipped(deed: tuple[str, Any]) -> bool:
    """Whether what it does reaches a fleet: neither what runs nor a change of stored bytes does, nor do messages."""
    return deed[0] not in ("alter", "begin", "end", "claim", "say")


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(deeds=DEEDS)
def test_readers_of_a_fleet_have_the_numbers_of_its_hosts(
    deeds: list[tuple[str, Any]], hosts: Hosts, place: SharedStore
) -> None:
    own, made, running = hosts.stores["a"], list[Buffer](), list[Recording]()
    for deed, what in filter(shipped, deeds):
        do(own, deed, what, made, running)
    hosts.ship("a")
    place.bring_up_to_date(0.0)
    name = hosts.names["a"]
    for project in PROJECTS:
        expected = verdict_of(own, Scope(project=Project(project)))
        scope = Scope(project=Project(project, (), name))
        found = assert_same_everywhere(place, scope)
        assert {one: getattr(found, one) for one in TOLD} == {one: getattr(expected, one) for one in TOLD}
        done = audited_by_hosts(place, scope)
        assert done is not None
        counts = {kind: sum(one.kind == kind for one in done.found) for kind in NUMBERS}
        assert counts == {kind: getattr(expected, number) for kind, number in NUMBERS.items()}
