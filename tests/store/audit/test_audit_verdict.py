"""The verdict: which failures no agent saw, kept up to date as captures and views come and go."""

import time
from pathlib import Path

from sightline.audit import verdict
from sightline.audit.evidence.session_evidence import DoubtedClaims
from sightline.audit.overlooked_places import number_in
from sightline.audit.verdict import VerdictReader, first_unseen
from sightline.log.log_index import fill_index
from sightline.log.session_events import AgentMessage, append_events
from sightline.log.views import Shows, record_view
from sightline.project import Project
from sightline.records import Buffer, Session, Shown
from sightline.shape.segments import Segment
from sightline.store import Store

AGENT = Session("agent-1", "claude-code", "", "", "/", 1.0)
BROKEN = b"fine\nERROR: one\n" + b"fine\n" * 20 + b"ERROR: two\n"


def ran(store: Store, out: bytes = BROKEN, *, exit_code: int = 2, command: str = "make") -> Buffer:
    recording = store.begin("cmd", command, "/", "agent-1")
    recording.register()
    recording.append("out", out)
    return recording.seal(exit_code=exit_code)


def show(store: Store, buffer: Buffer, first: int, last: int) -> None:
    lines = (Shown(buffer.name, "out", first, last),)
    record_view(store, AGENT, Shows("read_output", {}, refs=(buffer.name,), shown=lines), [Segment("text\n")])


def missed(reader: VerdictReader) -> list[tuple[str, int]]:
    found = reader.step(60)
    assert found.done
    return [(one.buffer.name, line) for one in found.missed for line in one.lines]


def test_what_stood_in_no_view_is_told_of_the_buffer_used_last_first(store: Store) -> None:
    first, second = ran(store), ran(store, b"ERROR: three\n")
    ran(store, b"ERROR: seen by nobody, and no failure\n", exit_code=0, command="cat log")
    show(store, first, 1, 5)
    found = missed(VerdictReader(store))
    assert found == [(second.name, 1), (first.name, 23)]


def test_it_follows_captures_views_and_removals(store: Store) -> None:
    reader = VerdictReader(store)
    assert missed(reader) == []
    buffer = ran(store)
    assert missed(reader) == [(buffer.name, 2), (buffer.name, 23)]
    show(store, buffer, 2, 2)
    assert missed(reader) == [(buffer.name, 23)]
    other = ran(store, b"ERROR: three\n")
    assert missed(reader) == [(other.name, 1), (buffer.name, 23)]
    store.remove(buffer, "removed")
    assert missed(reader) == [(other.name, 1)]


def test_a_failure_whose_output_was_evicted_as_another_came_is_told_no_more(store: Store) -> None:
    reader = VerdictReader(store)
    first, second = ran(store), ran(store, b"ERROR: three\n")
    assert len(missed(reader)) == 3
    store.remove(first, "evicted")
    third = ran(store, b"ERROR: four\n")
    assert missed(reader) == [(third.name, 1), (second.name, 1)]


def test_in_a_project_an_evicted_failure_goes_whatever_comes_elsewhere(store: Store) -> None:
    kept = ran(store)
    reader = VerdictReader(store, Project(kept.project))
    assert len(missed(reader)) == 2
    store.remove(kept, "evicted")
    store.begin("cmd", "make", store.root, "agent-1").seal(exit_code=0)
    assert missed(reader) == []


def test_what_runs_is_judged_when_it_has_ended(store: Store) -> None:
    recording = store.begin("cmd", "make", "/", "agent-1")
    recording.register()
    recording.append("out", BROKEN)
    reader = VerdictReader(store)
    assert missed(reader) == []
    recording.seal(exit_code=2)
    assert [line for _, line in missed(reader)] == [2, 23]


def test_it_says_that_older_buffers_were_not_looked_at(store: Store, monkeypatch) -> None:
    monkeypatch.setattr(verdict, "MOST_BUFFERS", 200)
    for number in range(201):
        ran(store, b"ERROR: %d\n" % number)
    found = VerdictReader(store).step(60)
    assert (number_in(found.missed), found.done, found.older) == (200, True, True)


def test_of_more_than_it_can_examine_meanwhile_the_last_used_ones_are_examined(store: Store, monkeypatch) -> None:
    monkeypatch.setattr(verdict, "MOST_BUFFERS", 3)
    reader = VerdictReader(store)
    reader.step(60)
    made = [ran(store) for _ in range(5)]
    assert not reader.step(-1).done
    found = reader.step(60)
    assert found.done
    assert found.older
    assert [one.buffer.name for one in found.missed] == [one.name for one in reversed(made[2:])]


def test_what_is_removed_before_its_turn_is_not_told(store: Store) -> None:
    reader = VerdictReader(store)
    gone, stays = ran(store), ran(store, b"ERROR: three\n")
    assert not reader.step(-1).done
    store.remove(gone, "removed")
    assert missed(reader) == [(stays.name, 1)]


def test_the_first_output_of_which_something_was_shown_to_nobody(store: Store) -> None:
    seen, empty, unseen = ran(store, b"a\nb\n"), ran(store, b""), ran(store, b"a\nb\n")
    show(store, seen, 1, 2)
    show(store, unseen, 1, 1)
    found = first_unseen(store, [seen.name, empty.name, "cmd_000000", unseen.name])
    assert found is not None
    assert found.name == unseen.name
    assert first_unseen(store, [seen.name]) is None


def test_claims_that_nothing_supports_are_counted_of_the_sessions_of_the_project(store: Store) -> None:
    ran(store, b"fine\n", exit_code=0)
    append_events(store.root, AGENT, [AgentMessage(2.0, "All tests pass.")])
    assert VerdictReader(store).step(60).doubted == 1
    assert VerdictReader(store, Project("/elsewhere")).step(60).doubted == 0


def test_a_claim_is_judged_again_when_a_call_before_it_is_logged_late(store: Store) -> None:
    ran(store, b"fine\n", exit_code=0)
    append_events(store.root, AGENT, [AgentMessage(time.time() + 60, "All tests pass.")])
    fill_index(store)
    claims = DoubtedClaims(store)
    assert claims.count() == 1
    tests = ran(store, b"3 passed in 0.10s\n", exit_code=0, command="pytest -q")
    shows = Shows("run_command", {"command": "pytest -q"}, refs=(tests.name,), exit_code=0)
    record_view(store, AGENT, shows, [Segment("3 passed in 0.10s\n")])
    assert claims.count() == 0


def test_outputs_whose_bytes_were_changed_are_counted_whatever_they_are(store: Store) -> None:
    recording = store.begin("tool", "ask", "/", "agent-1")
    recording.append("part.0", b"text\n")
    for buffer, stream in ((recording.seal(exit_code=None), "part.0"), (ran(store, exit_code=0), "out")):
        path = Path(store.layout.stream(buffer.name, stream))
        path.chmod(0o600)
        path.write_text("other\n")
    ran(store, exit_code=0)
    reader = VerdictReader(store)
    assert reader.step(60).altered == 2
    store.remove(buffer, "removed")
    assert reader.step(60).altered == 1
