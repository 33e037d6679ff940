"""The audit at the shared place: by what hosts found themselves, and by what is examined here where they did not."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline.base.project import Project
from sightline.base.records import Buffer, Session, Shown
from sightline.log import retention
from sightline.log.sessions import current_session
from sightline.log.views import Shows, record_view
from sightline.settings.config import Settings
from sightline.settings.plugins import own_rules
from sightline.shape.segments import Segment
from sightline.store import Store
from tests.store.fleet.conftest import Hosts, keep_in

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.audit import findings
from sightline.audit.brief import make_brief
from sightline.audit.buffer_failures import not_judged
from sightline.audit.finding_kinds import CUT, KINDS, OVERLOOKED, PARTIAL, UNTOLD
from sightline.audit.findings import Finding, audited, audited_by_hosts
from sightline.audit.report.phrases import none_missed
from sightline.audit.report.report import gather
from sightline.audit.timeline import calls_of, captured_by
from sightline.audit.verdict import VerdictReader
from sightline.base.project import ALL, Scope
from sightline.fleet.database import FleetUnreachable
from sightline.fleet.objects import Objects
from sightline.fleet.reader import told_facts
from sightline.fleet.reader.store import SharedStore

FAILED = b"collected 2 items\n" + b"x = 1\n" * 40 + b"FAILED tests/test_a.py::test_it - assert 1 == 2\n1 failed\n"
RULES = '[ours]\nprograms = ["ours"]\nmarks = [["BROKEN"]]\n[[ours.failure]]\nhas = ["BROKEN"]\nline = "^BROKEN"\n'


def tell(
    store: Store,
    session: str | Session,
    buffer: Buffer,
    lines: tuple[int, int] = (1, 2),
    name: str = "",
    *,
    cut: bool = True,
) -> None:
    """Log that an agent was shown these lines of an output, maybe of another host."""
    shown = (Shown(name or buffer.name, "out", *lines),)
    shows = Shows("run_command", {"command": buffer.command}, refs=(name or buffer.name,), shown=shown)
    told = shows._replace(lines_total=buffer.lines, exit_code=buffer.exit_code, truncated=cut, parts=())
    who = current_session(name=session) if isinstance(session, str) else session
    record_view(store, who, told, (Segment("some lines of it\n"),))


def sessions_of(place: SharedStore) -> list[str]:
    return [one.name for one in place.index.sessions()]


def everything_in(
    place: SharedStore, since: float, session: str | None, project: Project | None
) -> tuple[list[Finding], list[str], int, int]:
    """What such an audit finds in a part: findings, what is gone, how much is not judged, and how much is there."""
    done = audited(place, Scope(session, since, project))
    return done.found, done.gone, done.not_judged, done.captured


def everything(place: SharedStore) -> tuple[list[Finding], list[str], int]:
    """What an audit finds that fetches and examines all: findings, what is gone, and how much is not judged."""
    place.bring_up_to_date(0.0)
    return everything_in(place, 0.0, None, None)[:3]


def add_rules(store: Store) -> None:
    """Have a person's own rules in a store."""
    folder = Path(own_rules(store.root))
    folder.mkdir()
    (folder / "ours.toml").write_text(RULES)


def in_order(found: list[Finding]) -> list[Finding]:
    return sorted(found)


@pytest.fixture
def other(hosts: Hosts, tmp_path: Path) -> Iterator[SharedStore]:
    """The same place, for another reader, who examines everything."""
    with (
        Store(str(tmp_path / "other"), Settings()) as store,
        SharedStore(store, hosts.fleet.grant("dora", "team:red"), patience=0) as place,
    ):
        yield place


@pytest.fixture
def many(hosts: Hosts) -> Hosts:
    """Outputs of each kind that an audit tells apart, on two hosts, one of which reads one of the other's."""
    a, b = hosts.stores["a"], hosts.stores["b"]
    for store in (a, b):
        seen, unseen = (keep_in(store, FAILED, command=f"pytest {n}", exit_code=1) for n in "xy")
        tell(store, "agent", seen, (1, seen.lines), cut=False)
        tell(store, "agent", unseen)
        tell(store, "agent", keep_in(store, FAILED, command="pytest | tee log"))
        keep_in(store, b"all is well\n" * 9, command="make well")
        keep_in(store, b"error: as another wrote it\n", command="cat log")
        keep_in(store, b"nobody saw how it ended\n", command="make late", exit_code=3)
        again = keep_in(store, b"fine\n" * 99, command="make again", exit_code=2)
        tell(store, "agent", again)
        tell(store, "agent", again, (3, 99))
        gone = keep_in(store, FAILED, command="make gone", exit_code=1)
        tell(store, "agent", gone)
        recording = store.begin("cmd", "make part", "/", "agent")
        recording.register()
        recording.append("out", b"as far as it came\n")
        recording.seal(exit_code=1, partial="the harness cut it")
    for store, cwd in ((a, "/shop"), (b, "/")):
        shopper = Session("shopper", "", "", "", cwd, time.time())
        checked = keep_in(store, FAILED, command="pytest shop", exit_code=1, session="shopper", cwd=cwd)
        tell(store, shopper, checked, (1, checked.lines), cut=False)
        record_view(store, shopper, Shows("query", {"pipeline": "echo"}), (Segment("nothing\n"),))
        recording = store.begin("tool", "search", cwd, "shopper")
        recording.register()
        recording.append("out", b"as found\n" * 99)
        tell(store, shopper, recording.seal(exit_code=None))
        tell(store, "agent", keep_in(store, FAILED, command="make shop", exit_code=2, session="shopper", cwd="/shop"))
        for name in ("shopper", "agent"):
            keep_in(store, FAILED, command=f"pytest unseen by {name}", exit_code=1, session=name, cwd="/shop")
    hosts.ship("a")
    elsewhere = keep_in(a, FAILED, command="pytest elsewhere", exit_code=1)
    hosts.ship("a")
    tell(b, "reader", elsewhere, (40, 44), f"{hosts.names['a']}/{elsewhere.name}")
    for name, store in (("a", a), ("b", b)):
        retention.remove(store, [one for one in store.index.of_session("s") if one.command == "make gone"])
        hosts.ship(name)
    return hosts


def test_an_audit_by_what_hosts_found_is_the_audit_of_everything(
    many: Hosts, place: SharedStore, other: SharedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, gone, unjudged = everything(other)
    assert {one.kind for one in found} >= {OVERLOOKED, CUT, PARTIAL, UNTOLD}
    for at_once in (500, 1):
        monkeypatch.setattr(findings, "_AT_ONCE", at_once)
        done = audited_by_hosts(place, ALL)
        assert done is not None
        assert in_order(done.found) == in_order(found)
        assert (sorted(done.gone), done.not_judged) == (sorted(gone), unjudged)
        assert (done.examined_here, done.running) == (0, 0)
    assert [KINDS.keys() >= {one.kind} for one in done.found].count(True) == len(found)


def test_an_audit_of_a_part_is_that_of_everything_in_it(many: Hosts, place: SharedStore, other: SharedStore) -> None:
    other.bring_up_to_date(0.0)
    later = sorted(one.created for one in captured_by(other, sessions_of(other)))[12]
    for session in (None, *sessions_of(other)):
        for project in (None, Project("/"), Project("/shop"), Project("/shop", (), many.names["b"]), Project("/none")):
            for since in (0.0, later):
                found, gone, unjudged, there = everything_in(other, since, session, project)
                done = audited_by_hosts(place, Scope(session, since, project))
                assert done is not None
                assert in_order(done.found) == in_order(found), (session, project, since)
                assert (sorted(done.gone), done.not_judged, done.captured) == (sorted(gone), unjudged, there)


def test_an_audit_of_a_part_takes_in_no_other_outputs_and_calls(many: Hosts, place: SharedStore) -> None:
    session = f"{many.names['b']}/shopper"
    assert audited_by_hosts(place, Scope(session[:-2])) is not None
    assert {one.buffer.session for one in place.listed(99)} == {session}
    about = {view.view.refs for view in place.index.views()}
    assert about <= {(one.buffer.name,) for one in place.listed(99)} | {()}
    assert audited_by_hosts(place, Scope(project=Project("/shop"))) is not None
    others = [one.buffer for one in place.listed(99) if one.buffer.session != session]
    assert {one.command for one in others if one.cwd != "/shop"} == {"pytest elsewhere"}  # shown to another host


def test_a_large_output_that_several_hosts_were_shown_a_part_of_is_audited_once(
    hosts: Hosts, place: SharedStore
) -> None:
    kept = keep_in(hosts.stores["b"], os.urandom(1 << 20).hex().encode(), exit_code=1)
    since = time.time()
    for name in "ab":
        tell(hosts.stores[name], "agent", kept, name=f"{hosts.names['b']}/{kept.name}" if name == "a" else "")
        hosts.ship(name)
    for _ in range(2):
        found = place.to_examine(since)
        assert found is not None
        assert found.cut == [f"{hosts.names['b']}/{kept.name}"]
        assert audited_by_hosts(place, Scope(since=since)) is not None


def test_a_session_that_is_no_name_there_is_looked_for_in_all(many: Hosts, place: SharedStore) -> None:
    keep_in(many.stores["a"], b"it is not shown\n", session="agentless")
    many.ship("a")
    for text in ("shopper", f"{many.names['a']}/none", f"{many.names['a']}/agen", "none/agent"):
        assert audited_by_hosts(place, Scope(text)) is None


def test_what_its_host_has_not_judged_is_examined_here(hosts: Hosts, place: SharedStore) -> None:
    kept = keep_in(hosts.stores["a"], FAILED, command="pytest | tee log")
    hosts.ship("a", judges=False)
    done = audited_by_hosts(place, ALL)
    assert done is not None
    assert [one.ref.partition(":")[0] for one in done.found if one.kind == OVERLOOKED] == [hosts.ref("a", kept)]
    assert done.examined_here == 1
    hosts.ship("a")
    done = audited_by_hosts(place, ALL)
    assert done is not None
    assert (len([one for one in done.found if one.kind == OVERLOOKED]), done.examined_here) == (1, 0)


def test_what_cannot_be_read_is_not_said_to_be_without_a_failure(
    hosts: Hosts, place: SharedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = keep_in(hosts.stores["a"], FAILED, command="pytest -q", exit_code=1)
    tell(hosts.stores["a"], "agent", kept)
    hosts.ship("a", judges=False)

    def away(*_: object) -> bytes:
        raise FleetUnreachable("the object store does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(Objects, "get", away)
        patch.setattr(Objects, "get_range", away)
        done = audited_by_hosts(place, ALL)
        assert done is not None
        assert (OVERLOOKED in {one.kind for one in done.found}, done.unread) == (False, 1)
        assert (make_brief(place).verdict, len(make_brief(place).judged.unread)) == ("! 1 doubt", 1)
        assert "in what could be read" in none_missed(gather(place))
    done = audited_by_hosts(place, ALL)
    assert done is not None
    assert (OVERLOOKED in {one.kind for one in done.found}, done.unread) == (True, 0)


def test_a_reader_with_other_rules_examines_by_them(hosts: Hosts, place: SharedStore) -> None:
    kept = keep_in(hosts.stores["a"], b"fine\nBROKEN it is\n", command="ours | tee log")
    hosts.ship("a")
    done = audited_by_hosts(place, ALL)
    assert done is not None
    assert not [one for one in done.found if one.kind == OVERLOOKED]
    add_rules(place.local)
    with Store(place.local.root, Settings()) as local, SharedStore(local, place.address, patience=0) as again:
        done = audited_by_hosts(again, ALL)
        assert done is not None
        assert [one.ref.partition(":")[0] for one in done.found if one.kind == OVERLOOKED] == [hosts.ref("a", kept)]
        assert done.examined_here == 3


@pytest.mark.parametrize(
    "failures",
    [
        [["", "", 5, [["out", 1, 1, [[1, 1]], []]]]],
        [["x", "", "y", []]],
        [["x", "", "y", [["out", 1, 1, [], []]]]],
        [["x", "", "y", [["out", "1", 1, [[1, 1]], []]]]],
        ["x"],
        {"no": "list"},
    ],
)
def test_what_a_host_says_in_a_wrong_form_is_examined_here(hosts: Hosts, place: SharedStore, failures: object) -> None:
    keep_in(hosts.stores["a"], FAILED, command="pytest", exit_code=1)
    hosts.ship("a")
    hosts.fleet.rows("UPDATE sightline.judgements SET failures = %s::jsonb", json.dumps(failures))
    done = audited_by_hosts(place, ALL)
    assert done is not None
    assert [one.text for one in done.found if one.kind == OVERLOOKED] == ["tests/test_a.py::test_it"]


def test_an_exit_code_that_came_later_is_judged_by(hosts: Hosts, place: SharedStore, other: SharedStore) -> None:
    store = hosts.stores["a"]
    kept = keep_in(store, b"error: it does not work\n", command="cat log; make", exit_code=0)
    hosts.ship("a", judges=False)
    store.index.put_buffer(kept._replace(exit_code=1))
    hosts.ship("a")
    done = audited_by_hosts(place, ALL)
    assert done is not None
    assert in_order(done.found) == in_order(everything(other)[0])


def test_alarms_of_a_session_come_from_its_host_until_its_log_goes_on(
    hosts: Hosts, place: SharedStore, other: SharedStore
) -> None:
    store = hosts.stores["a"]
    failing = keep_in(store, FAILED, command="pytest", exit_code=1, session="agent")
    tell(store, "agent", failing, (1, failing.lines), cut=False)
    hosts.ship("a")
    [(number, record)] = hosts.fleet.rows("SELECT number, record FROM sightline.alarms WHERE record <> '[]'")
    assert [row[0] for row in record] == ["failing-check"]
    done = audited_by_hosts(place, ALL)
    assert done is not None
    assert [one.kind for one in done.found] == ["failing-check"]
    assert in_order(done.found) == in_order(everything(other)[0])
    well = keep_in(store, b"2 passed\n", command="pytest", session="agent")
    tell(store, "agent", well, (1, 1), cut=False)
    hosts.ship("a", judges=False)
    assert hosts.fleet.rows("SELECT number FROM sightline.alarms WHERE record <> '[]'") == [(number,)]
    done = audited_by_hosts(place, ALL)
    assert done is not None
    assert done.found == []
    hosts.ship("a")
    assert hosts.fleet.rows("SELECT count(*) FROM sightline.alarms WHERE record <> '[]'") == [(0,)]


def test_a_verdict_on_what_hosts_have_judged_needs_no_byte_of_it(hosts: Hosts, place: SharedStore) -> None:
    """As in the inspector, which knows how many failures nobody saw before it has fetched anything."""
    for host in ("a", "b"):
        for number in range(3):
            keep_in(hosts.stores[host], FAILED, command=f"pytest {number}", exit_code=1)
        hosts.ship(host)
    place.bring_up_to_date(0.0)
    objects = Objects(hosts.fleet.objects_address)
    for found in list(objects.list("t/")):
        objects.delete(found.key)
    verdict = VerdictReader(place).step(60.0)
    assert (verdict.is_done, verdict.failures, verdict.unseen) == (True, 6, 6)


def test_an_audit_since_a_time_is_about_what_began_or_was_shown_since(
    many: Hosts, place: SharedStore, other: SharedStore
) -> None:
    other.bring_up_to_date(0.0)
    times = sorted(
        [call.view.time for call in calls_of(other)] + [one.created for one in captured_by(other, sessions_of(other))]
    )
    for since in times[:: max(len(times) // 5, 1)]:
        captured = captured_by(other, sessions_of(other), since)
        done = audited_by_hosts(place, Scope(since=since))
        assert done is not None
        assert in_order(done.found) == in_order(audited(other, Scope(since=since)).found)
        assert (done.captured, done.not_judged) == (len(captured), not_judged(captured))


def test_new_calls_of_a_helper_put_the_alarms_of_its_session_in_question(
    hosts: Hosts, place: SharedStore, other: SharedStore
) -> None:
    store = hosts.stores["a"]
    owner, helper = (
        Session(name, "claude-code", "the-id", "", "/", time.time()) for name in ("claude-code-x", "claude-code-x-help")
    )
    failing = keep_in(store, FAILED, command="pytest", exit_code=1, session=owner.name)
    tell(store, owner, failing, (1, failing.lines), cut=False)
    hosts.ship("a")
    done = audited_by_hosts(place, ALL)
    assert done is not None
    assert [one.kind for one in done.found] == ["failing-check"]
    for output, exit_code, found in ((b"2 passed\n", 0, []), (FAILED, 1, ["failing-check"])):
        again = keep_in(store, output, command="pytest", session=helper.name, exit_code=exit_code)
        tell(store, helper, again, (1, again.lines), cut=False)
        for judges in (False, True):
            hosts.ship("a", judges=judges)
            done = audited_by_hosts(place, ALL)
            assert done is not None
            assert in_order(done.found) == in_order(everything(other)[0])
            assert [one.kind for one in done.found] == found


def test_alarms_that_a_host_says_in_a_wrong_form_are_found_here(hosts: Hosts, place: SharedStore) -> None:
    store = hosts.stores["a"]
    failing = keep_in(store, FAILED, command="pytest", exit_code=1, session="agent")
    tell(store, "agent", failing, (1, failing.lines), cut=False)
    hosts.ship("a")
    for record in ([["failing-check", 1, "", "", []]], [["no-such-kind", "", "", "", []]], [7], {}):
        hosts.fleet.rows("UPDATE sightline.alarms SET record = %s::jsonb", json.dumps(record))
        done = audited_by_hosts(place, ALL)
        assert done is not None
        if record:
            assert [one.kind for one in done.found] == ["failing-check"]


def test_what_was_purged_is_not_told_of(hosts: Hosts, place: SharedStore) -> None:
    store = hosts.stores["a"]
    kept = keep_in(store, FAILED, command="pytest", exit_code=1)
    hosts.ship("a")
    assert hosts.fleet.rows("SELECT count(*) FROM sightline.judgements WHERE failures <> '[]'") == [(1,)]
    assert audited_by_hosts(place, ALL) is not None
    retention.remove(store, [kept], purge=True)
    hosts.ship("a")
    assert hosts.fleet.rows("SELECT count(*) FROM sightline.judgements WHERE name = %s", kept.name) == [(0,)]
    done = audited_by_hosts(place, ALL)
    assert done is not None
    assert not [one for one in done.found if one.kind == OVERLOOKED]


def test_secrets_that_are_hidden_there_are_hidden_in_what_is_told(hosts: Hosts) -> None:
    store = hosts.stores["a"]
    token = "gh" + "p_" + "a1B2c3D4" * 4 + "e5F6"
    with Store(store.root, store.settings._replace(fleet=store.settings.fleet._replace(redact_known=True))) as hiding:
        hosts.stores["a"] = hiding
        keep_in(hiding, f"FAILED tests/test_a.py::test_it - got {token}\n".encode(), command="pytest", exit_code=1)
        hosts.ship("a")
        [(told,)] = hosts.fleet.rows("SELECT failures::text FROM sightline.judgements WHERE failures <> '[]'")
        assert "test_it" in told
        assert token not in told
        hosts.stores["a"] = store


def test_a_host_of_before_is_shipped_and_judged_when_its_rules_change(hosts: Hosts) -> None:
    keep_in(hosts.stores["a"], FAILED, command="pytest", exit_code=1)
    hosts.ship("a")
    hosts.fleet.rows("DELETE FROM sightline.judgements")
    hosts.ship("a")
    assert hosts.fleet.rows("SELECT count(*) FROM sightline.judgements") == [(0,)]
    add_rules(hosts.stores["a"])
    with Store(hosts.stores["a"].root, hosts.stores["a"].settings) as anew:
        hosts.stores["a"].close()
        hosts.stores["a"] = anew
        hosts.ship("a")
    assert hosts.fleet.rows("SELECT count(*) FROM sightline.judgements") == [(2,)]


def test_a_verdict_is_about_everything_however_far_the_mirror_reaches(hosts: Hosts, place: SharedStore) -> None:
    for number in range(3):
        keep_in(hosts.stores["a"], FAILED, command=f"make {number}", exit_code=1)
    hosts.ship("a")
    later = time.time() + 60.0
    place.bring_up_to_date(later)
    known = VerdictReader(place).all()
    assert (known.captured, known.failed, known.unseen, known.read_since) == (5, 3, 3, 0.0)
    assert place.listed(99) == []  # nothing had to be looked at for that
    assert VerdictReader(place, Scope(since=later)).all().captured == 0
    place.bring_up_to_date(0.0)
    assert VerdictReader(place).all() == known


def test_a_verdict_offline_says_since_when_the_fleet_was_read(hosts: Hosts, place: SharedStore) -> None:
    later = time.time() + 60.0
    place.bring_up_to_date(later)
    place.offline = True
    known = VerdictReader(place).all()
    assert (known.read_since, known.is_sure) == (later, False)
    assert any("was not asked" in sentence for sentence in known.unknown)
    assert VerdictReader(place, Scope(since=later)).all().read_since == 0.0


def test_a_verdict_says_how_many_outputs_no_host_has_judged_by_the_rules_of_the_reader(
    hosts: Hosts, place: SharedStore, other: SharedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        keep_in(hosts.stores["a"], FAILED, command=f"make {number}", exit_code=1)
    hosts.ship("a")
    hosts.fleet.rows("DELETE FROM sightline.facts WHERE name IN (SELECT name FROM sightline.facts LIMIT 2)")
    later = time.time() + 60.0
    place.bring_up_to_date(later)
    with monkeypatch.context() as patch:
        patch.setattr(told_facts, "MOST_HERE", 1)
        known = VerdictReader(place).all()
        assert (known.captured, known.unexamined, known.is_sure) == (5, 2, False)
        assert "2 not judged" in known.left_out
        assert any(sentence.startswith("2 outputs not judged by their hosts") for sentence in known.unknown)
    other.bring_up_to_date(later)
    known = VerdictReader(other).all()  # so few are judged by the reader
    assert (known.captured, known.unexamined, known.failed, known.unseen) == (5, 0, 3, 3)


def test_an_output_that_another_host_was_shown_counts_as_seen_however_far_the_mirror_reaches(
    hosts: Hosts, place: SharedStore
) -> None:
    kept = keep_in(hosts.stores["a"], FAILED, command="pytest", exit_code=1)
    hosts.ship("a")
    tell(hosts.stores["b"], "agent", kept, (1, kept.lines), f"{hosts.names['a']}/{kept.name}", cut=False)
    hosts.ship("b")
    place.bring_up_to_date(time.time() + 60.0)
    known = VerdictReader(place).all()
    assert (known.captured, known.failed, known.failures, known.unseen) == (3, 1, 1, 0)


def test_what_a_host_judges_anew_is_told_anew(hosts: Hosts, place: SharedStore) -> None:
    store = hosts.stores["a"]
    kept, gone = (keep_in(store, FAILED, command=f"pytest {name}", exit_code=1) for name in "xy")
    hosts.ship("a")
    place.bring_up_to_date(time.time() + 60.0)
    reader = VerdictReader(place)
    assert (reader.all().captured, reader.all().unseen) == (4, 2)
    tell(store, "agent", kept, (1, kept.lines), cut=False)
    retention.remove(store, [gone])
    hosts.ship("a")
    assert (reader.all().captured, reader.all().unseen) == (3, 0)
    told = "SELECT max(told) FROM sightline.facts"
    [before] = hosts.fleet.rows(told)
    hosts.ship("a")
    assert hosts.fleet.rows(told) == [before]
    assert hosts.fleet.rows("SELECT count(*) FROM sightline.facts WHERE name = %s", gone.name) == [(0,)]


def test_a_fleet_whose_tables_have_no_facts_yet_is_shipped_to_and_read_as_far_as_the_mirror_reaches(
    hosts: Hosts, place: SharedStore
) -> None:
    hosts.fleet.rows("DROP TABLE sightline.facts")
    hosts.fleet.rows("ALTER TABLE sightline.alarms DROP COLUMN messages, DROP COLUMN not_read")
    hosts.fleet.rows("UPDATE sightline.fleet SET version = 5")
    later = time.time()
    store = hosts.stores["a"]
    tell(store, "agent", keep_in(store, FAILED, command="pytest", exit_code=1, session="agent"))
    hosts.ship("a")
    place.bring_up_to_date(later)
    known = VerdictReader(place).all()
    assert (known.captured, known.unseen, known.read_since, known.is_sure) == (1, 1, later, False)
    done = audited_by_hosts(place, ALL)
    assert done is not None
    assert {one.kind for one in done.found} >= {OVERLOOKED, "failing-check"}
