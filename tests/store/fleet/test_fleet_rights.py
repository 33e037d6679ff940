"""A host adds only its own, a reader sees only what it was given, and no text of theirs is ever a statement."""

from collections.abc import Iterator
from typing import Any

import pytest

psycopg = pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.base.errors import UsageError
from sightline.base.records import storable
from sightline.fleet.address import SecretInAddress, database_address, objects_address
from sightline.fleet.administration import add_host, grant, revoke
from sightline.fleet.database import FleetRefused, connected
from sightline.fleet.janitor import Janitor
from sightline.fleet.maintenance import maintain
from sightline.fleet.objects import Objects, host_prefix
from sightline.fleet.schema import PARTITIONED
from sightline.fleet.shipper import Shipper
from sightline.log.sessions import current_session
from sightline.log.views import Shows, record_view
from sightline.settings.config import FleetSettings
from sightline.shape.segments import Segment
from sightline.store import Store
from tests.store.fleet import servers
from tests.store.fleet.conftest import Fleet, keep_in

HOSTILE = (
    "'; DROP TABLE sightline.buffers; --",
    '"; DROP SCHEMA sightline CASCADE; --',
    "$$; DELETE FROM sightline.hosts; $$",
    "%s %(host)s {0} \\'; SELECT pg_sleep(60); --",
    "nul \0 and half a pair \udcff",
    "*') OR true --",
)
TABLES = ("packs", "buffers", "changes", "sessions", "entries")
FOUND = ("judgements", "alarms", "facts")  # which a host replaces
ROWS = {
    "packs": "(host, sha256, day, bytes, raw_bytes) VALUES (%s, decode(repeat('ab', 32), 'hex'), now(), 1, 1)",
    "buffers": "(host, seq, name, created, kind, state, session, command, cwd, label, failed, partial, bytes, lines,"
    " record, packs, frames, redacted)"
    " VALUES (%s, 1, 'cmd_0000', now(), 'cmd', 'sealed', 's', 'c', '/', '', false, '', 0, 0, '{}', '{}', '{}', 0)",
    "changes": "(host, seq, name, created, digest, record) VALUES (%s, 1, 'cmd_0000', now(), 'd', '{}')",
    "sessions": "(host, name, started, record) VALUES (%s, 's', now(), '{}')",
    "entries": "(host, seq, session, number, time, kind, refs, record, prev, hash, redacted, pack, frame_offset,"
    " frame_bytes, line_offset, line_bytes)"
    " VALUES (%s, 1, 's', 1, now(), 'view', '{}', '{}', '', '', 0, decode(repeat('ab', 32), 'hex'), 0, 0, 0, 0)",
    "judgements": "(host, created, name, rules, why_not, failures) VALUES (%s, now(), 'cmd_0000', 'r', '', '[]')",
    "facts": "(host, created, name, rules, flags, failures, unseen, lines, seen, again, place)"
    " VALUES (%s, now(), 'cmd_0000', 'r', 0, 0, 0, 0, 0, 0, '{}')",
    "alarms": "(host, session, number, rules, record) VALUES (%s, 's', 1, 'r', '[]')",
}


def ship(store: Store) -> None:
    with Shipper(store) as shipper:
        shipper.drain()
        shipper.judge()


@pytest.fixture
def two_teams(fleet: Fleet) -> dict[str, FleetSettings]:
    """Two hosts of two teams, each with a buffer."""
    hosts = {
        name: fleet.add_host(name, team, owner) for name, team, owner in (("a", "red", "ann"), ("b", "blue", "bo"))
    }
    for name, settings in hosts.items():
        with fleet.store(name, settings) as store:
            kept = keep_in(store, f"output of {name}\n".encode(), command=f"make {name}")
            shows = Shows("run_command", {"command": "x"}, refs=(kept.name,))
            record_view(store, current_session(name="agent"), shows, (Segment("shown"),))
            ship(store)
    return hosts


@pytest.fixture
def as_host(two_teams: dict[str, FleetSettings]) -> Iterator[Any]:
    """A connection with the role of host a, as somebody who has taken that host over would have it."""
    with psycopg.connect(two_teams["a"].db, autocommit=True) as connection:
        yield connection


def number_of(fleet: Fleet, name: str) -> int:
    return int(fleet.rows("SELECT id FROM sightline.hosts WHERE name LIKE %s", name + "-%")[0][0])


def test_a_host_adds_rows_of_its_own_and_of_no_other(fleet: Fleet, as_host: Any) -> None:
    for table in (*TABLES, *FOUND):
        insert = f"INSERT INTO sightline.{table} {ROWS[table]} ON CONFLICT DO NOTHING"
        as_host.execute(insert, (number_of(fleet, "a"),))
        before = fleet.rows(f"SELECT count(*) FROM sightline.{table} WHERE host = %s", number_of(fleet, "b"))
        for forged in (number_of(fleet, "b"), 999):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                as_host.execute(insert, (forged,))
        assert fleet.rows(f"SELECT count(*) FROM sightline.{table} WHERE host = %s", number_of(fleet, "b")) == before


def test_a_host_reads_changes_and_removes_nothing(as_host: Any) -> None:
    for table in (*TABLES, "members", "grants", *(f"{table}_rest" for table in PARTITIONED)):
        for does in ("SELECT * FROM", "DELETE FROM", "TRUNCATE", "DROP TABLE"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                as_host.execute(f"{does} sightline.{table}")


def test_a_host_replaces_what_it_found_itself_alone(fleet: Fleet, as_host: Any) -> None:
    for table in FOUND:
        before = fleet.rows(f"SELECT count(*) FROM sightline.{table} WHERE host = %s", number_of(fleet, "b"))
        assert before != [(0,)]
        assert as_host.execute(f"SELECT DISTINCT host FROM sightline.{table}").fetchall() == [(number_of(fleet, "a"),)]
        as_host.execute(f"DELETE FROM sightline.{table}")
        assert fleet.rows(f"SELECT count(*) FROM sightline.{table} WHERE host = %s", number_of(fleet, "b")) == before
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            as_host.execute(f"UPDATE sightline.{table} SET rules = 'x'")


def test_a_host_sees_and_moves_its_own_cursor_alone(fleet: Fleet, as_host: Any) -> None:
    assert as_host.execute("SELECT count(*) FROM sightline.hosts").fetchone() == (1,)
    assert as_host.execute("UPDATE sightline.hosts SET shipped_seq = 0, shipped_mark = ''").rowcount == 1
    assert fleet.rows("SELECT shipped_seq FROM sightline.hosts WHERE id = %s", number_of(fleet, "b"))[0][0] > 0
    for column in ("role = 'owner'", "team = 'blue'", "name = 'b'", "store = gen_random_uuid()", "id = DEFAULT"):
        with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.GeneratedAlways)):
            as_host.execute(f"UPDATE sightline.hosts SET {column}")


def test_a_host_gets_no_further(as_host: Any) -> None:
    for statement in (
        "SELECT sightline.granted()",
        "SELECT * FROM sightline.find_buffers()",
        "SET ROLE sightline_reader",
        "SET SESSION AUTHORIZATION owner",
        "SELECT * FROM pg_authid",
        "CREATE TABLE sightline.mine ()",
        "CREATE FUNCTION sightline.is_own(text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        "ALTER TABLE sightline.buffers DISABLE ROW LEVEL SECURITY",
        "INSERT INTO sightline.watches (host, name, until) VALUES (1, 'cmd_0000', now())",
        "INSERT INTO sightline.remarks (host, ref, session, text) VALUES (1, '@cmd_0000', '', 'x')",
        "INSERT INTO sightline.grants VALUES (session_user, 'team', 'blue')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            as_host.execute(statement)


def test_a_role_that_is_no_host_enters_nothing(fleet: Fleet, two_teams: dict[str, FleetSettings]) -> None:
    settings = two_teams["a"]._replace(db=fleet.grant("carl", "red"))
    with fleet.store("c", settings) as store, pytest.raises(FleetRefused):
        keep_in(store, b"x\n")
        ship(store)


def test_a_host_that_says_it_is_anothers_store_gets_a_host_of_its_own(fleet: Fleet, as_host: Any) -> None:
    (stolen,) = fleet.rows("SELECT store FROM sightline.hosts WHERE id = %s", number_of(fleet, "b"))[0]
    (given,) = as_host.execute("SELECT sightline.enter(%s, %s)", (stolen, "b")).fetchone()
    assert given != number_of(fleet, "b")
    assert fleet.rows("SELECT team FROM sightline.hosts WHERE id = %s", given) == [("red",)]


def test_a_reader_sees_what_it_was_given_and_no_hint_of_more(fleet: Fleet, two_teams: dict[str, FleetSettings]) -> None:
    with psycopg.connect(fleet.grant("carl", "red"), autocommit=True) as reader:
        for table in ("hosts", *TABLES, *FOUND):
            key = "id" if table == "hosts" else "host"
            seen = reader.execute(f"SELECT DISTINCT {key} FROM sightline.{table}").fetchall()
            assert seen in ([], [(number_of(fleet, "a"),)]), table
        found = reader.execute("SELECT command FROM sightline.find_buffers()").fetchall()
        assert found == [("make a",)]
        for words in (["make"], ["make b"], ["b"], ["%"], ["_"]):
            rows = reader.execute("SELECT command FROM sightline.find_buffers(%s)", (words,)).fetchall()
            assert rows == ([("make a",)] if words == ["make"] else [])
        for hosts in ("b-*", "%", "_*", "\\*"):
            assert reader.execute("SELECT * FROM sightline.find_buffers(hosts => %s)", (hosts,)).fetchall() == []
        assert len(reader.execute("SELECT * FROM sightline.find_buffers(hosts => 'a-*')").fetchall()) == 1


def test_neither_plans_nor_costs_tell_a_reader_what_another_team_ran(
    fleet: Fleet, two_teams: dict[str, FleetSettings]
) -> None:
    fleet.rows(
        "INSERT INTO sightline.buffers (host, seq, name, created, kind, state, session, command, cwd, label, failed,"
        " partial, bytes, lines, record, packs, frames, redacted, team) SELECT %s, 100 + g, 'cmd_' || g, now(), 'cmd',"
        " 'sealed', 's', md5(g::text) || CASE g WHEN 7 THEN ' --token=secretxyz' ELSE '' END, '/', '', false, '', 0, 0,"
        " '{}', '{}', '{}', 0, 'blue' FROM generate_series(1, 5000) AS g",
        number_of(fleet, "b"),
    )
    fleet.rows("VACUUM ANALYZE sightline.buffers")
    with psycopg.connect(fleet.grant("carl", "red"), autocommit=True) as reader:

        def blocks_read(word: str) -> int:
            plan = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM sightline.find_buffers(ARRAY[%s])"
            return min(
                int(reader.execute(plan, (word,)).fetchall()[0][0][0]["Plan"]["Shared Hit Blocks"]) for _ in range(4)
            )

        assert blocks_read("token=secretxyz") == blocks_read("token=secretxqz")
        for statement in (
            "EXPLAIN SELECT FROM sightline.buffers WHERE command < 'm'",
            "EXPLAIN SELECT FROM sightline.buffers WHERE command = 'make b'",
            "EXPLAIN SELECT FROM sightline.buffers WHERE cwd < 'm'",
            "SELECT sightline.word_keys('blue', 'x')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(statement)
    with psycopg.connect(fleet.grant("dora", "blue"), autocommit=True) as other:
        find = "SELECT command FROM sightline.find_buffers(%s)"
        for words in (["TOKEN=secretxyz"], ["etxy"], ["--", "oken"], ["z"] * 2 + ["secr"]):
            found = other.execute(find, (words,)).fetchall()
            assert [command.split()[-1] for (command,) in found] == ["--token=secretxyz"], words
        assert len(other.execute(find, (["a"],)).fetchall()) == 100


def test_a_grant_to_an_owners_hosts_is_no_grant_to_the_team(fleet: Fleet, two_teams: dict[str, FleetSettings]) -> None:
    fleet.add_host("d", "red", "dee")
    with psycopg.connect(fleet.grant("carl", "owner:dee")) as reader:
        assert reader.execute("SELECT count(*) FROM sightline.buffers").fetchone() == (0,)


def test_a_grant_is_taken_back(fleet: Fleet, two_teams: dict[str, FleetSettings]) -> None:
    url = fleet.grant("carl", "red")
    with connected(fleet.address) as connection:
        revoke(connection, database_address(url).user, "red")
    with psycopg.connect(url) as reader:
        assert reader.execute("SELECT count(*) FROM sightline.buffers").fetchone() == (0,)


def test_taking_back_what_was_never_granted_says_so(fleet: Fleet, two_teams: dict[str, FleetSettings]) -> None:
    with connected(fleet.address) as connection, pytest.raises(UsageError, match="ann had no grant for the team red"):
        revoke(connection, "ann", "red")


@pytest.mark.parametrize("is_host", [True, False])
def test_no_host_or_reader_can_hold_up_the_owners_work(
    fleet: Fleet, two_teams: dict[str, FleetSettings], is_host: bool
) -> None:
    url = str(two_teams["a"].db) if is_host else fleet.grant("carl", "red")
    with psycopg.connect(url, autocommit=True) as other:
        for statement in (
            "LOCK TABLE sightline.fleet IN ROW SHARE MODE",
            "LOCK TABLE sightline.fleet IN SHARE UPDATE EXCLUSIVE MODE",
            "SELECT FROM sightline.fleet FOR KEY SHARE",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), other.transaction():
                other.execute(statement)
        for number in range(0x516870, 0x516880):
            other.execute("SELECT pg_advisory_lock(%s)", (number,))
        with other.transaction():
            other.execute("LOCK TABLE sightline.fleet IN ACCESS SHARE MODE")  # reading takes this one
            with connected(fleet.address) as connection:
                connection.execute("SET lock_timeout = '2s'")
                maintain(connection)
                Janitor(connection, Objects(fleet.objects_address)).tidy()


def test_a_reader_gets_no_further(fleet: Fleet, two_teams: dict[str, FleetSettings]) -> None:
    statements = [
        *(f"INSERT INTO sightline.{table} {ROWS[table].replace('%s', '1')}" for table in (*TABLES, *FOUND)),
        *(f"DELETE FROM sightline.{table}" for table in (*TABLES, *FOUND, "hosts", "members", "fleet")),
        "UPDATE sightline.hosts SET shipped_seq = 0",
        "SELECT role FROM sightline.hosts",
        "SELECT * FROM sightline.members",
        "SELECT * FROM sightline.grants",
        "SELECT sightline.enter(gen_random_uuid(), '')",
        "SELECT * FROM sightline.buffers_rest",
        "SET ROLE sightline_host",
    ]
    with psycopg.connect(fleet.grant("carl", "red"), autocommit=True) as reader:
        for statement in statements:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(statement)


def test_a_search_runs_with_the_owners_rights_and_with_names_of_ours_alone(
    fleet: Fleet, two_teams: dict[str, FleetSettings]
) -> None:
    with psycopg.connect(fleet.grant("carl", "red"), autocommit=True) as reader:
        reader.execute(
            "CREATE TEMPORARY TABLE grants AS SELECT session_user AS reader, 'team' AS kind, 'blue' AS scope"
        )
        reader.execute("CREATE TEMPORARY TABLE hosts (id integer)")
        reader.execute("SET search_path = pg_temp, sightline")
        assert reader.execute("SELECT command FROM sightline.find_buffers()").fetchall() == [("make a",)]


def test_watches_and_remarks_reach_the_hosts_that_a_reader_may_see(fleet: Fleet, as_host: Any) -> None:
    own, foreign = number_of(fleet, "a"), number_of(fleet, "b")
    with psycopg.connect(fleet.grant("carl", "red"), autocommit=True) as reader:
        watch = "INSERT INTO sightline.watches (host, name, until) VALUES (%s, 'cmd_0000', now() + '1 minute')"
        remark = "INSERT INTO sightline.remarks (host, ref, session, text) VALUES (%s, '@cmd_0000:1', '*', %s)"
        reader.execute(watch, (own,))
        reader.execute(remark, (own, HOSTILE[0]))
        for statement, values in ((watch, (foreign,)), (remark, (foreign, "x"))):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(statement, values)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute(
                "INSERT INTO sightline.remarks (host, reader, ref, session, text) VALUES (%s, 'owner', '', '', '')",
                (own,),
            )
    with psycopg.connect(fleet.grant("dora", "blue"), autocommit=True) as other:
        assert other.execute("SELECT * FROM sightline.remarks").fetchall() == []
        assert other.execute("DELETE FROM sightline.watches").rowcount == 0
    assert as_host.execute("SELECT text FROM sightline.remarks").fetchall() == [(HOSTILE[0],)]
    assert as_host.execute("SELECT count(*) FROM sightline.watches").fetchone() == (1,)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_is_never_a_statement(fleet: Fleet, text: str) -> None:
    settings = fleet.add_host("h", kind="ci")._replace(host=text)
    with fleet.store("one", settings) as store:
        kept = keep_in(store, b"fine\n", command=text, cwd="/" + text, session="s", label=text, note=text)
        store.amend(kept.name, label=storable(text) + " again")
        shows = Shows(storable(text), {text: text}, refs=(kept.name,))
        record_view(store, current_session(name="agent", client=storable(text)), shows, (Segment(text),))
        ship(store)
        store.amend(kept.name, label=storable(text))
        ship(store)
    as_shipped = text.replace("\0", "\\x00").replace("\udcff", "\\xff")
    assert fleet.rows("SELECT command, cwd FROM sightline.buffers") == [(as_shipped, "/" + as_shipped)]
    assert fleet.rows("SELECT record ->> 'label' FROM sightline.changes") == [(as_shipped,)]
    assert fleet.rows("SELECT record ->> 'verb' FROM sightline.entries WHERE kind = 'view'") == [(as_shipped,)]
    assert fleet.rows("SELECT record ->> 'client' FROM sightline.sessions") == [(as_shipped,)]
    (name,) = fleet.rows("SELECT name FROM sightline.hosts")[0]
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    with psycopg.connect(fleet.grant("carl", "alpha")) as reader:
        if "\0" not in text:
            find = "SELECT count(*) FROM sightline.find_buffers(%s, %s)"
            assert reader.execute(find, ([as_shipped], "*")).fetchone() == (1,)
            assert reader.execute(find, ([], as_shipped)).fetchone() == (int(text.startswith("*")) * 0,)


def test_a_name_that_is_none_makes_no_role(fleet: Fleet) -> None:
    with connected(fleet.address) as connection:
        for name in (*HOSTILE, "", "Upper", "a" * 41, "-x", "sp ace", "ünicode"):
            with pytest.raises(UsageError):
                add_host(connection, name, team="alpha", owner="ann", kind="host", password=True)
            with pytest.raises(UsageError):
                add_host(connection, "fine", team=name, owner="ann", kind="host", password=True)
            with pytest.raises(UsageError):
                grant(connection, name + "\0", "alpha")


def test_a_host_puts_objects_below_its_own_prefix_alone(
    shared: tuple[servers.Postgres, servers.ObjectStore], fleet: Fleet
) -> None:
    address = objects_address(f"s3://{servers.BUCKET}/fleet?endpoint={shared[1].endpoint}")
    fleet.use_key(servers.HOST_KEY)
    as_host = Objects(address, retries=0)
    own = host_prefix("alpha", "host1")
    assert as_host.put(f"{own}s/packs/2026-01-01/{fleet.id}", b"x")
    assert not as_host.put(f"{own}s/packs/2026-01-01/{fleet.id}", b"y")
    for foreign in (host_prefix("alpha", "host2"), host_prefix("alpha", "host10"), host_prefix("beta", "host1"), ""):
        with pytest.raises(FleetRefused):
            as_host.put(f"{foreign}stolen", b"x")
    with pytest.raises(FleetRefused):
        as_host.get(f"{own}s/packs/2026-01-01/{fleet.id}")
    with pytest.raises(FleetRefused):
        list(as_host.list("t/"))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:hunter2@host/db",
        "postgresql://user@host/db?password=hunter2",
        "postgresql://user@host/db?sslpassword=hunter2",
        "host=h dbname=d password=hunter2",
        "s3://AKIA:hunter2@bucket/prefix",
        "s3://bucket/prefix?secret_access_key=hunter2",
        "s3://bucket?endpoint=https://key:hunter2@host",
    ],
)
def test_an_address_with_a_secret_is_refused_and_not_repeated(url: str) -> None:
    read = objects_address if url.startswith("s3") else database_address
    with pytest.raises(UsageError) as refused:
        read(url)
    assert "hunter2" not in refused.value.message + refused.value.hint
    assert isinstance(refused.value, SecretInAddress) or "endpoint" in refused.value.message


def test_beyond_this_machine_everything_is_encrypted() -> None:
    assert database_address("postgresql://u@db.example/d").parameters["sslmode"] == "require"
    assert "sslmode" not in database_address("postgresql://u@127.0.0.1/d").parameters
    given = database_address("postgresql://u@db.example/d?sslmode=verify-full")
    assert given.parameters["sslmode"] == "verify-full"
    with pytest.raises(UsageError, match="not encrypted"):
        objects_address("s3://bucket/prefix?endpoint=http://store.example")


def test_no_password_is_in_the_servers_log(fleet: Fleet) -> None:
    fleet.rows("ALTER ROLE owner SET log_statement = 'all'")
    try:
        fleet.add_host("logged")
    finally:
        fleet.rows("ALTER ROLE owner RESET log_statement")
    secret = fleet.passwords.read_text().splitlines()[-1].rpartition(":")[2]
    log = (fleet.postgres.server.folder / "log").read_text()
    assert "CREATE ROLE" in log
    assert secret not in log
