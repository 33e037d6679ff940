"""The verdict: one model for every scope, kept in the index, followed by all screens."""

import json
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline import disk
from sightline import store as stores
from sightline.audit import judging_processes, kept_facts, output_facts
from sightline.audit import verdict as verdicts
from sightline.audit.brief import as_data, make_brief
from sightline.audit.buffer_coverage import first_unseen
from sightline.audit.buffer_filter import BufferFilter, parsed
from sightline.audit.evidence import session_evidence
from sightline.audit.evidence.evidence_records import DOUBTED
from sightline.audit.evidence.session_evidence import evidence_of
from sightline.audit.finding_kinds import ALTERED, CUT, KINDS, OVERLOOKED, PARTIAL, UNTOLD
from sightline.audit.findings import audited
from sightline.audit.kept_facts import AT_ONCE
from sightline.audit.kept_sessions import KeptSessions
from sightline.audit.overlooked_places import missed_in, number_in, place_at
from sightline.audit.report.phrases import ending as exit_code_words
from sightline.audit.report.report import gather
from sightline.audit.timeline import calls_of
from sightline.audit.verdict import Verdict, VerdictReader, evidence_within, verdict_of
from sightline.base.project import ALL, Project, Scope
from sightline.base.records import Buffer, Session, Shown
from sightline.disk.database import Database
from sightline.disk.recording import Recording
from sightline.log.retention import evict, remove_session
from sightline.log.session_events import AgentMessage, append_events
from sightline.log.session_list import list_sessions
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store
from sightline.verbs.list_outputs import ListRequest, find_names
from sightline_tui.common.phrases import state_of
from sightline_tui.header import verdict_parts
from sightline_tui.timeline.board_reader import BoardReader
from sightline_tui.timeline.totals import TotalsReader
from tests.command_line import run_here

AGENT = Session("agent-1", "claude-code", "", "", "/", 1.0)
BROKEN = b"fine\nERROR: one\n" + b"fine\n" * 20 + b"ERROR: two\n"


def ran(
    store: Store,
    out: bytes = BROKEN,
    *,
    exit_code: int = 2,
    command: str = "make",
    session: str = "agent-1",
    cwd: str = "/",
    partial: str = "",
    **fields: Any,
) -> Buffer:
    recording = store.begin("cmd", command, cwd, session, **fields)
    recording.register()
    recording.append("out", out)
    sealed = recording.seal(exit_code=exit_code)
    return store.amend(sealed.name, partial=partial) if partial else sealed


def show(store: Store, buffer: Buffer, first: int, last: int, session: Session = AGENT, **more: Any) -> None:
    fields = {"verb": "read_output", "request": {}, "refs": (buffer.name,)}
    fields["shown"] = (Shown(buffer.name, "out", first, last),)
    record_view(store, session, Shows(**(fields | more)), [Segment("text\n")])


def missed(store: Store, scope: Scope = ALL) -> list[tuple[str, int]]:
    verdict = verdict_of(store, scope)
    outputs = missed_in(store, scope)
    assert verdict.unseen == number_in(outputs)
    places = [place_at(store, outputs, number) for number in range(1, verdict.unseen + 1)]
    return [(place[0].name, place[2]) for place in places if place]


@pytest.mark.parametrize(
    "command",
    [
        "make &",
        "cd sub && make &",
        "! make",
        "make || true",
        "make | tail -5",
        "make; echo done",
        "make -C sub -ki",
        "docker run x sh -c 'make || :'",
        "docker run x sh -c 'make | tail'",
        "trap 'exit 0' EXIT; make",
        "ruff check --exit-zero",
        "mvn test -Dmaven.test.failure.ignore",
        "for one in a b; do make $one; done",
        "ssh host 'make; true'",
    ],
)
def test_exit_code_0_excuses_no_missing_part_where_something_may_have_failed_all_the_same(
    store: Store, command: str
) -> None:
    ran(store, b"fine\n", exit_code=0, partial="it was cut", command=command)
    found = verdict_of(store)
    assert (found.incomplete, found.is_good, found.mark) == (1, False, "")


def test_failures_that_stood_in_no_reply_are_found_of_the_output_used_last_first(store: Store) -> None:
    first, second = ran(store), ran(store, b"ERROR: three\n")
    ran(store, b"ERROR: seen by nobody, and no failure\n", exit_code=0, command="cat log")
    show(store, first, 1, 5)
    assert missed(store) == [(second.name, 1), (first.name, 23)]


def test_the_words_name_failed_commands_cut_replies_and_unseen_failures(store: Store) -> None:
    for code in (1, 3):
        show(store, ran(store, b"ERROR: x\n", exit_code=code), 1, 1, verb="run_command", exit_code=code)
    cut = ran(store, exit_code=127)
    show(store, cut, 1, 1, verb="run_command", exit_code=127, truncated=True)
    verdict = verdict_of(store)
    assert verdict.mark + verdict.words == "! 3 commands failed · 1 cut before its end · 2 failures unseen"
    show(store, cut, 2, 23)
    verdict = verdict_of(store)
    assert verdict.mark + verdict.words == "✓ 3 commands failed, all seen"


def test_it_follows_captures_views_and_removals(store: Store) -> None:
    assert missed(store) == []
    buffer = ran(store)
    assert missed(store) == [(buffer.name, 2), (buffer.name, 23)]
    show(store, buffer, 2, 2)
    assert missed(store) == [(buffer.name, 23)]
    other = ran(store, b"ERROR: three\n")
    assert missed(store) == [(other.name, 1), (buffer.name, 23)]
    store.remove(buffer, "removed")
    assert missed(store) == [(other.name, 1)]
    evict(store, other)
    assert missed(store) == []
    assert (verdict_of(store).failed, verdict_of(store).gone) == (1, 2)


def test_a_command_that_runs_is_judged_when_it_has_ended(store: Store) -> None:
    recording = store.begin("cmd", "make", "/", "agent-1")
    recording.register()
    recording.append("out", BROKEN)
    assert (verdict_of(store).unseen, verdict_of(store).ran) == (0, 1)
    recording.seal(exit_code=2)
    assert [line for _, line in missed(store)] == [2, 23]


def test_all_outputs_and_sessions_are_judged_however_many_there_are(store: Store) -> None:
    first = Session("agent-0", "claude-code", "", "", "/", 1.0)
    ran(store, session=first.name)
    append_events(store.root, first, [AgentMessage(2.0, "All tests pass.")])
    for at in range(25):
        person = Session(f"terminal-{at}", "shell", "", "terminal", "/", time.time())
        record_view(store, person, Shows("list_outputs", {}), [Segment("text\n")])
        ran(store, b"ERROR: bad %d\n" % at, session=f"agent-{at + 2}")
    verdict = verdict_of(store)
    assert (verdict.ran, verdict.failed, verdict.unseen, verdict.claims, verdict.messages) == (26, 26, 27, 1, 1)


def test_what_is_kept_is_not_computed_anew(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ran(store)
    append_events(store.root, AGENT, [AgentMessage(2.0, "All tests pass.")])
    known = verdict_of(store)
    judged = list[str]()
    monkeypatch.setattr(kept_facts, "facts_of", lambda _, buffer, *rest: judged.append(buffer.name))
    assert verdict_of(store) == known
    with Store(store.root) as other:
        assert verdict_of(other) == known
    assert judged == []
    monkeypatch.undo()
    monkeypatch.setattr(output_facts, "_VERSION", "verdict/0")
    assert verdict_of(store) == known


def test_evidence_reads_what_the_verdict_has_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    show(store, ran(store, command="pytest"), 1, 5, verb="run_command", exit_code=2, request={"command": "pytest"})
    append_events(store.root, AGENT, [AgentMessage(time.time() + 9, "All 3 tests pass; the build is clean.")])
    sessions = [one.session for one in list_sessions(store)]
    fresh = [evidence_of(store, one) for one in sessions]
    assert fresh[0].claims[0].grounds
    verdict_of(store)
    with monkeypatch.context() as patch:
        patch.setattr(session_evidence, "evidence_of", None)
        assert evidence_within(store, ALL, sessions) == fresh
    append_events(store.root, AGENT, [AgentMessage(time.time() + 10, "Lint passes.")])
    anew = evidence_within(store, ALL, sessions)
    assert len(anew[0].claims) > len(fresh[0].claims)
    assert anew == [evidence_of(store, one) for one in sessions]
    monkeypatch.setattr(session_evidence, "_EVIDENCE", "evidence/0")
    assert evidence_within(store, ALL, sessions) == anew


def test_kept_evidence_goes_with_an_output_that_it_names(store: Store) -> None:
    buffer = ran(store, command="pytest -k secretword")
    show(store, buffer, 1, 5, verb="run_command", exit_code=2, request={"command": buffer.command})
    append_events(store.root, AGENT, [AgentMessage(time.time() + 9, "I ran `pytest -k secretword`, and it passes.")])
    verdict_of(store)
    assert buffer.name in str(kept_evidence(store))
    store.remove(buffer, "removed")
    assert kept_evidence(store) == []


def test_kept_evidence_goes_with_the_messages_of_a_session(store: Store) -> None:
    append_events(store.root, AGENT, [AgentMessage(time.time(), "All 3 tests pass in secretplace.")])
    verdict_of(store)
    assert "secretplace" in str(kept_evidence(store))
    remove_session(store, AGENT)
    assert "secretplace" not in str(kept_evidence(store))


def kept_evidence(store: Store) -> list[tuple[str]]:
    with closing(sqlite3.connect(store.layout.index)) as index:
        return index.execute("SELECT evidence FROM session_verdicts").fetchall()


def test_filters_read_what_the_verdict_has_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    half, unseen = ran(store, b"a\nb\n", exit_code=0), ran(store)
    show(store, half, 1, 1)
    verdict_of(store)
    monkeypatch.setattr(kept_facts, "facts_of", None)
    read = list[str]()
    monkeypatch.setattr(store, "listed", None)
    monkeypatch.setattr(Buffer, "_make", lambda values: read.append(values[0]))
    for text, found in (
        ("seen:50", [half.name]),
        ("seen:<50", [unseen.name]),
        ("!", [unseen.name]),
        ("! kind:cmd", [unseen.name]),
        ("seen:50 kind:tool", []),
    ):
        assert list(BufferFilter(store, parsed(text).conditions).names()) == found
    assert read == []  # names come from what is kept
    monkeypatch.undo()
    monkeypatch.setattr(store, "listed", None)
    for text in ("is:failed", "! is:failed kind:cmd", "seen:0 session:agent"):
        assert list(BufferFilter(store, parsed(text).conditions).names()) == [unseen.name]


def test_files_of_a_large_store_are_compared_with_their_seals_by_an_audit_and_bit_by_bit_behind_a_screen(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdicts, "_MANY", 0)
    monkeypatch.setattr(verdicts, "_LOOK_SECONDS", -1)
    monkeypatch.setattr(stores, "_COMPARED_AT_ONCE", 2)
    for _ in range(3):
        ran(store)
    looks = list[int]()
    monkeypatch.setattr(disk, "suspects", lambda _, page: looks.append(len(page)) or ())
    verdict_of(store)
    assert looks == []
    audited(store, ALL)
    assert looks == [2, 1]
    with Store(store.root) as other:
        reader = VerdictReader(other)
        for _ in range(5):
            reader.step(1)
    assert looks == [2, 1, 2, 1]  # and then not before a minute has passed


def test_what_a_later_run_shows_again_counts_once_as_long_as_that_run_is_there(store: Store) -> None:
    ran(store, b"ERROR: one\n")
    assert verdict_of(store).unseen == 1
    later = store.begin("cmd", "make", "/", "agent-1")
    later.register()
    assert verdict_of(store).unseen == 1
    later.append("out", b"ERROR: one\n")
    sealed = later.seal(exit_code=2)
    assert (verdict_of(store).unseen, verdict_of(store).failures) == (1, 2)
    evict(store, sealed)
    assert verdict_of(store).unseen == 1


def test_a_later_run_is_found_by_an_index_however_much_a_session_has_run(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, later = ran(store), ran(store)
    ran(store, command="make " + "x" * 100)
    asked = list[tuple[str, Any]]()
    row = Database.row
    monkeypatch.setattr(Database, "row", lambda self, *given: asked.append(given) or row(self, *given))
    found = store.index.later_run(first)
    monkeypatch.undo()
    assert found is not None
    assert found.name == later.name
    [(statement, parameters)] = asked
    with closing(sqlite3.connect(store.layout.index)) as index:
        plan = index.execute(f"EXPLAIN QUERY PLAN {statement}", parameters).fetchall()
    assert any("buffers_by_command (session=? AND <expr>=? AND rowid>?)" in one[3] for one in plan), plan


def test_what_is_removed_stays_gone_in_its_session_when_the_index_is_made_anew(store: Store) -> None:
    partly, whole = ran(store), ran(store, b"a\n", session="agent-2")
    show(store, partly, 1, 1)
    show(store, whole, 1, 1)
    for one in (partly, whole):
        store.remove(one, "removed")
    assert (verdict_of(store).gone, verdict_of(store).removed) == (1, (partly.name,))
    store.close()
    os.remove(store.layout.index)
    with Store(store.root) as again:
        assert [verdict_of(again, Scope(name)).gone for name in ("agent-1", "agent-2")] == [1, 0]


def test_a_store_that_cannot_be_written_to_has_the_same_verdict(store: Store) -> None:
    show(store, ran(store), 1, 5)
    with Store(store.root) as other:
        with closing(sqlite3.connect(store.layout.index)) as lock:
            lock.execute("BEGIN IMMEDIATE")
            blocked = verdict_of(other)
        assert blocked == verdict_of(store)
        show(store, ran(store), 2, 2)
        assert verdict_of(other) == verdict_of(store)


def test_outputs_whose_bytes_were_changed_are_counted_whatever_they_are(store: Store) -> None:
    recording = store.begin("tool", "ask", "/", "agent-1")
    recording.append("part.0", b"text\n")
    ended = ran(store, exit_code=0)
    result = recording.seal(exit_code=None)
    assert verdict_of(store).altered == 0
    for buffer, stream in ((result, "part.0"), (ended, "out")):
        path = Path(store.layout.stream(buffer.name, stream))
        path.chmod(0o600)
        path.write_text("other\n")
    assert verdict_of(store).altered == 2
    store.remove(ended, "removed")
    assert verdict_of(store).altered == 1


def test_a_purged_command_leaves_nothing_in_what_is_kept_of_its_session(store: Store) -> None:
    word = "unmistakable"
    buffer = ran(store, b"1 failed\n", exit_code=1, command=f"pytest {word}")
    shows = {"verb": "run_command", "request": {"command": f"pytest {word}"}, "exit_code": 1}
    show(store, buffer, 1, 1, **shows)
    assert verdict_of(store).alarms
    store.index.empty_views(buffer.name, f"pytest {word}")
    with closing(sqlite3.connect(store.layout.index)) as index:
        assert index.execute("SELECT COUNT(*) FROM session_verdicts WHERE instr(record, ?)", (word,)).fetchone() == (0,)


def test_the_first_output_of_which_something_was_shown_to_nobody(store: Store) -> None:
    seen, empty, unseen = ran(store, b"a\nb\n"), ran(store, b""), ran(store, b"a\nb\n")
    show(store, seen, 1, 2)
    show(store, unseen, 1, 1)
    found = first_unseen(store, [seen.name, empty.name, "cmd_000000", unseen.name])
    assert found is not None
    assert found.name == unseen.name
    assert first_unseen(store, [seen.name]) is None


def test_claims_that_nothing_supports_are_those_of_the_sessions_of_the_project(store: Store) -> None:
    ran(store, b"fine\n", exit_code=0)
    append_events(store.root, AGENT, [AgentMessage(2.0, "All tests pass.")])
    assert verdict_of(store).claims == 1
    assert verdict_of(store, Scope(project=Project("/elsewhere"))).claims == 0


def test_a_claim_is_judged_again_when_a_call_before_it_is_logged_late(store: Store) -> None:
    ran(store, b"fine\n", exit_code=0)
    append_events(store.root, AGENT, [AgentMessage(time.time() + 60, "All tests pass.")])
    assert verdict_of(store).claims == 1
    tests = ran(store, b"3 passed in 0.10s\n", exit_code=0, command="pytest -q")
    show(store, tests, 1, 1, verb="run_command", request={"command": "pytest -q"}, exit_code=0)
    assert verdict_of(store).claims == 0


def test_a_step_judges_some_and_says_how_many_are_left(store: Store) -> None:
    for at in range(AT_ONCE + 5):
        ran(store, b"ERROR: bad %d\n" % at)
    reader = VerdictReader(store)
    some = reader.step(-1)
    assert (some.is_done, some.left, some.is_good) == (False, 5, False)
    assert reader.all().unseen == AT_ONCE + 5


def test_whoever_watches_sees_how_far_a_first_verdict_is(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "_TOLD_SECONDS", -1)
    for at in range(AT_ONCE + 5):
        ran(store, b"ERROR: bad %d\n" % at, session=f"agent-{at % 3}")
    for at in range(3):
        append_events(store.root, session_of(f"agent-{at}"), [AgentMessage(2.0, "All tests pass.")])
    told = list[tuple[int, int, str]]()
    store.judged = lambda *progress: told.append(progress)
    assert verdict_of(store).claims == 3
    assert told == [(0, 5, "outputs"), (0, 2, "sessions"), (1, 2, "sessions"), (2, 2, "sessions")]
    told.clear()
    verdict_of(store)
    assert told == []


@pytest.fixture
def much(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store of which even little is much, so that processes of their own judge it."""
    monkeypatch.setattr(verdicts, "MANY_OUTPUTS", 1)
    monkeypatch.setattr(verdicts, "MANY_BYTES", 1)
    for at in range(6):
        ran(store, b"ERROR: bad %d\n" % at, session=f"agent-{at % 3}")
    for at in range(3):
        append_events(store.root, session_of(f"agent-{at}"), [AgentMessage(2.0, "All tests pass.")])
    return store


def test_processes_judge_what_is_much_and_the_caller_only_sums_up(much: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(kept_facts, "facts_of", None)
        patch.setattr(KeptSessions, "judge", None)
        told = list[tuple[int, int, str]]()
        much.judged = lambda *progress: told.append(progress)
        verdict = verdict_of(much)
    assert (verdict.failed, verdict.unseen, verdict.claims, verdict.left) == (6, 6, 3, 0)
    assert (told[0], told[-1]) == ((0, 6, "outputs"), (3, 3, "sessions"))
    append_events(much.root, session_of("agent-0"), [AgentMessage(3.0, "The build passes.")])
    assert verdict_of(much).claims == 4


def test_a_filter_has_processes_judge_what_is_much(much: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_facts, "facts_of", None)
    told = list[tuple[int, int, str]]()
    much.judged = lambda *progress: told.append(progress)
    names, _ = find_names(much, ListRequest(match="! seen:0", limit=99))
    assert len(names) == 6
    assert (told[0], told[-1]) == ((0, 6, "outputs"), (6, 6, "outputs"))  # and no session


def test_what_processes_leave_is_judged_by_the_caller(much: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging_processes, "_CODE", "raise SystemExit(1)")
    verdict = verdict_of(much)
    assert (verdict.failed, verdict.unseen, verdict.claims, verdict.left) == (6, 6, 3, 0)


def test_two_readers_do_not_judge_much_twice(much: Store) -> None:
    with much.layout.judging() as lock:
        assert lock is not None
        reader = VerdictReader(much)
        assert (reader.step(0).left, reader.step(0).left) == (6, 6)
    assert reader.all().failed == 6


def test_nothing_is_green_while_something_could_not_be_judged(store: Store) -> None:
    assert not verdict_of(store).is_good
    whole = ran(store, b"fine\n", exit_code=0)
    show(store, whole, 1, 1)
    assert verdict_of(store).mark == "✓ "
    ran(store, b"fine\n", exit_code=0, partial="it was cut")
    ran(store, b"fine\n", exit_code=0, partial="it was cut", command="curl -s host")
    assert verdict_of(store).mark == "✓ "  # an exit code of its own says how it ended
    ran(store, b"fine\n", exit_code=0, partial="it was cut", command="make; echo done")
    assert (verdict_of(store).mark, verdict_of(store).words) == ("", "no failures known")
    assert verdict_of(store).unknown


@pytest.mark.parametrize(
    ("command", "exit_code", "hedges"),
    [
        ("npm test", 0, False),
        ("cd app && npm test", 0, False),
        ("git diff", 0, False),
        ("git diff | head -50", 0, False),
        ("npm test", 1, True),
        ("npm test 2>&1 | tail -3", 0, True),
        ("npm test; echo done", 0, True),
        ("git diff", 128, True),
    ],
)
def test_a_part_that_is_missing_matters_where_something_may_have_failed_in_it(
    store: Store, command: str, exit_code: int, hedges: bool
) -> None:
    ran(store, b"Tests 3 passed\n", exit_code=exit_code, command=command, partial="it was cut")
    assert bool(verdict_of(store).incomplete) is hedges


# the same numbers everywhere

SESSIONS = ("agent-1", "agent-2", "terminal-7")
PROJECTS = ("/one", "/two")
OUTPUTS = st.tuples(
    st.sampled_from(SESSIONS),
    st.sampled_from(PROJECTS),
    st.sampled_from((0, 0, 1, 2)),
    st.sampled_from((BROKEN, b"fine\n", b"", b"ERROR: three\n")),
    st.sampled_from(("", "", "it was cut")),
)
DEED = st.one_of(
    st.tuples(st.just("run"), OUTPUTS),
    st.tuples(st.just("show"), st.tuples(st.integers(0, 9), st.sampled_from(SESSIONS), st.integers(1, 23))),
    st.tuples(st.just("cut"), st.tuples(st.integers(0, 9), st.sampled_from(SESSIONS), st.integers(1, 3))),
    st.tuples(st.just("claim"), st.sampled_from(SESSIONS[:2])),
    st.tuples(st.just("say"), st.sampled_from(SESSIONS[:2])),
    st.tuples(st.just("evict"), st.integers(0, 9)),
    st.tuples(st.just("remove"), st.integers(0, 9)),
    st.tuples(st.just("import"), OUTPUTS),
    st.tuples(st.just("alter"), st.integers(0, 9)),
    st.tuples(st.just("begin"), st.tuples(st.sampled_from(SESSIONS), st.sampled_from(PROJECTS))),
    st.tuples(st.just("end"), st.sampled_from((0, 1))),
    st.tuples(st.just("judge"), st.none()),
)
DEEDS = st.lists(DEED, max_size=14)


FRENCH = "Tous les tests passent maintenant, et je ne vois plus aucune erreur dans le projet que vous avez ouvert."

COUNTED = ("ran", "failed", "failures", "unseen", "cut", "untold", "lost", "altered", "gone", "lines")


def session_of(name: str) -> Session:
    is_person = name.startswith("terminal")
    return Session(name, "shell" if is_person else "claude-code", "", "terminal" if is_person else "", "/one", 1.0)


def do(store: Store, deed: str, what: Any, made: list[Buffer], running: list[Recording]) -> None:
    if deed == "begin":
        running.append(store.begin("cmd", "make", what[1], what[0]))
        running[-1].register()
        running[-1].append("out", BROKEN)
    elif deed == "end":
        if running:
            made.append(running.pop().seal(exit_code=what))
    elif deed in ("run", "import"):
        session, project, code, out, partial = what
        fields: dict[str, Any] = {"partial": partial}
        if deed == "import":
            fields |= {"artifact": f"cmd-{len(made)}.txt"}
        made.append(ran(store, out, exit_code=code, session=session, cwd=project, **fields))
        if deed == "import":
            store.index.place({made[-1].name: 1_000.0 - len(made)})
    elif deed == "claim":
        append_events(store.root, session_of(what), [AgentMessage(time.time(), "All tests pass; the build is clean.")])
    elif deed == "say":
        append_events(store.root, session_of(what), [AgentMessage(time.time(), FRENCH)])
    elif deed == "judge":
        verdict_of(store)
    elif made:
        at, *rest = what if isinstance(what, tuple) else (what,)
        buffer = store.index.buffer(made[at % len(made)].name)
        if buffer is None or buffer.state == "evicted":
            return
        if deed == "evict":
            evict(store, buffer)
        elif deed == "remove":
            store.remove(buffer, "removed")
        elif deed == "alter":
            path = Path(store.layout.stream(buffer.name, "out"))
            if path.exists():
                path.chmod(0o600)
                path.write_bytes(path.read_bytes() + b"ERROR: added\n")
        else:
            ran_it = {"verb": "run_command", "request": {"command": "make"}, "exit_code": buffer.exit_code}
            more = {**ran_it, "truncated": True} if deed == "cut" else {}
            last = min(rest[1], buffer.lines)
            show(store, buffer, min(1, last), last, session_of(rest[0]), **more)


def assert_filters_agree(store: Store) -> None:
    for text in (
        "!",
        "seen:<50",
        "seen:100",
        "seen:>0 session:agent-1",
        "is:failed",
        "! is:failed",
        "is:failed exit:2",
    ):
        wanted = BufferFilter(store, parsed(text).conditions)
        everything = [one for one, _ in store.listed(1_000)]
        assert {*wanted.names()} == {one.name for one in wanted.accepted(everything)}, text


def assert_same_everywhere(store: Store, scope: Scope) -> Verdict:
    verdict = verdict_of(store, scope)
    found = audited(store, scope).found
    counts = {kind: sum(one.kind == kind for one in found) for kind in (OVERLOOKED, CUT, UNTOLD, PARTIAL, ALTERED)}
    numbers = (verdict.unseen, verdict.cut, verdict.untold, verdict.lost, verdict.altered)
    assert tuple(counts.values()) == numbers
    assert len(found) == sum(numbers) + len(verdict.alarms) + len(verdict.broken)
    assert verdict.is_good <= (not found)
    session, since, project = scope
    brief = make_brief(store, session=session, since=since, project=project)
    assert brief.judged == verdict
    sections = {section.name: section.total for section in brief.sections}
    assert sections.get("missed", 0) == verdict.unseen
    assert sections.get("failed", 0) == verdict.failed
    assert as_data(brief)["verdict"] == verdict.mark + verdict.words
    assert gather(store, session=session, since=since, project=project).judged == verdict
    assert TotalsReader(store, session, project).step([]).verdict == verdict
    chooser = VerdictReader(store)
    chooser.scope = scope
    assert chooser.step(1) == verdict
    header = [part.text for part in verdict_parts(VerdictReader(store, scope).all())]
    assert " · ".join(header[: len(verdict.facts) or 1]) == verdict.mark + verdict.words
    assert_filters_agree(store)
    sessions = store.index.sessions()
    assert evidence_within(store, scope, sessions) == [evidence_of(store, one) for one in sessions]
    return verdict


@settings(max_examples=25, deadline=None)
@given(DEEDS)
def test_every_screen_has_the_numbers_of_the_verdict_whatever_happened(deeds: list[tuple[str, Any]]) -> None:
    with TemporaryDirectory() as root:
        check(os.path.join(root, "store"), deeds)


def commanded(root: str, *words: str) -> tuple[int, Any]:
    """The exit code of a command, and what it prints as JSON."""
    done = run_here(words, env={**os.environ, "SIGHTLINE_HOME": root}, cwd="/")
    return done.returncode, json.loads(done.stdout)


def assert_commands_agree(root: str, verdict: Verdict, *scope: str) -> None:
    numbers = {OVERLOOKED: "unseen", CUT: "cut", UNTOLD: "untold", PARTIAL: "lost", ALTERED: "altered"}
    code, audit = commanded(root, "audit", "--json", "--fail-on", ",".join(KINDS), *scope)
    assert {kind: audit["counts"][kind] for kind in numbers} == {
        kind: getattr(verdict, name) for kind, name in numbers.items()
    }
    assert code == int(verdict.has_findings)
    for words in (("brief", "--json"), ("timeline", "--json"), ("report", "--format", "json")):
        told = commanded(root, *words, *scope)[1]
        assert (told if words[0] == "brief" else told["totals"])[
            "counts" if words[0] == "brief" else "verdict"
        ] == verdict.counts, words
    code, told = commanded(root, "evidence", "--json", *(scope if scope[:1] == ("--session",) else ()))
    doubted = sum(one["verdicts"][word] for one in told["sessions"] for word in DOUBTED)
    alarms = [alarm for one in told["sessions"] for alarm in one["alarms"]]
    assert (code, doubted) == (int(bool(verdict.claims)), verdict.claims)
    assert sorted(alarm["kind"] for alarm in alarms) == sorted(one.kind for one in verdict.alarms)
    assert sum(one["messages"] for one in told["sessions"]) == verdict.messages
    unread = commanded(root, "brief", "--json", *scope)[1]["messages_not_read"]
    assert sum(unread.values()) == verdict.not_read


def check(root: str, deeds: list[tuple[str, Any]]) -> None:
    with Store(root) as store:
        made, running = list[Buffer](), list[Recording]()
        for deed, what in deeds:
            do(store, deed, what, made, running)
        everything = assert_same_everywhere(store, ALL)
        of_projects = [assert_same_everywhere(store, Scope(project=Project(project))) for project in PROJECTS]
        of_sessions = [assert_same_everywhere(store, Scope(name)) for name in SESSIONS]
        for parts in (of_projects, of_sessions):
            for field in COUNTED:
                assert sum(getattr(one, field) for one in parts) == getattr(everything, field), field
        assert sum(one.claims for one in of_sessions) == everything.claims
        assert_commands_agree(root, everything)
        listed = {one.session.name for one in list_sessions(store)}
        for name in [one for one in SESSIONS if one in listed][:1]:
            assert_commands_agree(root, verdict_of(store, Scope(name)), "--session", name)
        board = BoardReader(store)
        board.step(fresh=True)
        agents = board.step(fresh=False).agents
        assert not [one for one in agents if one.facts.session.name.startswith("terminal") and not one.verdict.ran]
        for one in agents:
            own = verdict_of(store, Scope(one.name))
            for field in (
                "captured",
                "ran",
                "failed",
                "failures",
                "unseen",
                "cut",
                "untold",
                "lost",
                "altered",
                "gone",
                "lines",
                "seen",
            ):
                assert getattr(one.verdict, field) == getattr(own, field), field
        for recording in running:
            made.append(recording.seal(exit_code=0))
        everything = verdict_of(store)
    os.remove(os.path.join(root, "index.sqlite"))
    with Store(root) as again:
        assert verdict_of(again) == everything


def test_an_exit_code_that_answers_is_no_failure_on_any_screen(store: Store) -> None:
    answered = [ran(store, b"", exit_code=1, command="grep absent file")]
    answered.append(ran(store, b"1c1\n< a\n---\n> b\n", exit_code=1, command="diff a b"))
    in_script = ran(store, b"", exit_code=1, command="sh check.sh")
    for buffer in (*answered, in_script):
        show(store, buffer, 1, 1, verb="run_command", exit_code=1)
    verdict = verdict_of(store)
    assert (verdict.ran, verdict.failed) == (3, 1)
    assert as_data(make_brief(store))["commands_failed"] == 1
    assert [one.buffer.name for one in calls_of(store) if one.buffer and one.failed] == [in_script.name]
    assert [state_of(store.index.buffer(one.name) or one) for one in answered] == ["ok", "ok"]
    assert [exit_code_words(one) for one in answered] == ["exit 1, no match", "exit 1, different"]
