"""The commands as a person has them: from an empty database to a verified fleet, and nothing secret on the way."""

import datetime
import io
import json
import os
import plistlib
import re
import shutil
import stat
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.base.distribution import version
from sightline.doors.cli.main import main
from sightline.doors.fleet.ship import unit_text
from sightline.fleet.address import database_address
from sightline.fleet.invitation import invitation_of
from sightline.settings.config import FleetSettings
from tests.store.fleet import servers
from tests.store.fleet.conftest import Fleet, keep_in, ship

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs a command: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "home"))

    def ran(*words: str) -> tuple[int, str, str]:
        try:
            code = main(words)
        except SystemExit as left:
            code = int(str(left.code))
        return code, *capfd.readouterr()

    return ran


def test_a_right_is_taken_back_where_the_readers_password_file_lies(fleet: Fleet, run: Run, tmp_path: Path) -> None:
    db, reader = str(fleet.address), f"ann_{fleet.id}"
    fleet.add_host("one", "red")
    assert run("fleet", "grant", reader, "red", "--db", db)[0] == 0
    assert (tmp_path / f"{reader}.pgpass").exists()
    assert run("fleet", "grant", reader, "red", "--revoke", "--db", db)[:2] == (
        0,
        f"{reader} no longer reads what the team red has\n",
    )
    assert fleet.rows("SELECT count(*) FROM sightline.grants WHERE reader = %s", reader) == [(0,)]
    code, _, err = run("fleet", "grant", reader, "red", "--revoke", "--db", db)
    assert (code, f"{reader} had no grant for the team red" in err) == (2, True)


def test_what_goes_when_is_listed_by_day_and_host(fleet: Fleet, run: Run) -> None:
    with fleet.store("one", fleet.add_host("one")) as store:
        pinned = keep_in(store, b"y" * 5000)
        keep_in(store, b"x" * 2048)
        ship(store)
        store.amend(pinned.name, pinned=True)
        name = ship(store)
    db = str(fleet.address)
    code, out, _ = run("fleet", "retention", "--db", db)
    day = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=31)
    assert (code, out.splitlines()[0]) == (0, "kept for 30 days; `fleet maintain` then removes")
    assert out.splitlines()[1].split(maxsplit=3) == [
        *("on", str(day), name),
        "1 output, 2.0 KiB; 1 pinned output stay, 4.9 KiB",
    ]
    code, out, _ = run("fleet", "retention", "3d", "--dry-run", "--json", "--db", db)
    told = json.loads(out)
    assert (told["retention_days"], told["going"][0]["outputs"], told["going"][0]["pinned"]) == (3, 1, 1)
    assert run("fleet", "retention", "--db", db)[1].startswith("kept for 30 days")


def test_status_shows_a_reader_the_hosts_that_it_may_read(fleet: Fleet, run: Run) -> None:
    for name, team in (("one", "red"), ("two", "blue")):
        with fleet.store(name, fleet.add_host(name, team)) as store:
            keep_in(store, b"x\n")
            ship(store)
    fleet.add_host("three", "red")
    code, out, _ = run("--store", fleet.grant("ann", "red"), "fleet", "status")
    assert (code, "red/ann" in out, "blue" in out, "three" in out) == (0, True, False, False)
    assert "1 output, all shipped" in out


@pytest.fixture
def no_service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home of its own, and no manager of services: where a unit would lie."""
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setattr("shutil.which", lambda _: None)
    return tmp_path / "person"


def invite(run: Run, fleet: Fleet, name: str, *more: str) -> str:
    """The line for a host, whose database is that of the test."""
    code, out, err = run("fleet", "add-host", name, "--team", "red", "--db", str(fleet.address), *more)
    assert (code, out.count("\n")) == (0, 1), err
    assert "good for an hour" in err
    return out


def join(run: Run, monkeypatch: pytest.MonkeyPatch, line: str, *more: str) -> tuple[int, str, str]:
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO(line))
        patch.setattr("os.isatty", lambda _: False)
        patch.delenv("PGPASSFILE", raising=False)
        return run("fleet", "join", *more)


def test_a_host_joins_by_one_line_and_ships(
    fleet: Fleet, run: Run, tmp_path: Path, no_service: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "key.env"
    key.write_text(f"AWS_ACCESS_KEY_ID={servers.ADMIN_KEY}\nexport AWS_SECRET_ACCESS_KEY='{servers.KEY_SECRET}'\n")
    line = invite(run, fleet, f"h-{fleet.id}", "--key-file", str(key))
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    (tmp_path / "home").mkdir()
    (tmp_path / "home/config.toml").write_text("# mine\nmax_buffers = 77\n")
    code, out, err = join(run, monkeypatch, f"some words before it\n{line}")
    assert (code, out.startswith("joined postgresql://")) == (0, True), err
    assert invitation_of(line).password not in out + err
    made = (tmp_path / "home/config.toml").read_text()
    assert made.startswith("# mine\nmax_buffers = 77\n")
    assert tomllib.loads(made)["fleet"]["db"] == invitation_of(line).db
    for secret in ("password", "key.env"):
        assert stat.S_IMODE((tmp_path / "home/fleet" / secret).stat().st_mode) == 0o600
    unit = no_service / ".config/systemd/user/sightline-ship.service"
    assert "ship" in unit.read_text()
    assert "was not started" in out
    assert run("run", "--", "echo", "hello")[0] == 0
    assert run("ship")[0] == 0
    assert fleet.rows("SELECT count(*) FROM sightline.buffers") == [(1,)]
    code, _, err = join(run, monkeypatch, line)
    assert (code, "refused the connection" in err) == (1, True)
    assert run("ship")[0] == 0


def test_a_new_line_for_a_host_ends_its_old_password(
    fleet: Fleet, run: Run, no_service: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"h-{fleet.id}"
    first = invite(run, fleet, name)
    assert join(run, monkeypatch, first)[0] == 0
    assert run("ship")[0] == 0
    again = invite(run, fleet, name, "--again")
    code, _, err = run("ship")
    assert (code, "refused the connection" in err) == (1, True)
    assert join(run, monkeypatch, again, "--no-service")[0] == 0
    assert run("ship")[0] == 0


def test_a_line_is_good_for_an_hour(fleet: Fleet, run: Run, no_service: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = invite(run, fleet, f"h-{fleet.id}")
    role = database_address(invitation_of(line).db).user
    fleet.rows("UPDATE sightline.invitations SET until = now() - interval '1 second' WHERE role = %s", role)
    code, _, err = join(run, monkeypatch, line)
    assert (code, "no invitation that is still good" in err) == (1, True)
    assert fleet.rows(
        "SELECT rolvaliduntil < now() + interval '61 minutes' FROM pg_roles WHERE rolname = %s", role
    ) == [(True,)]


@pytest.mark.parametrize("line", ["", "hello", "sightline-join:", "sightline-join:!!", "sightline-join:eyJkYiI6IDF9"])
def test_what_is_no_line_of_a_fleet_is_refused_without_being_repeated(
    run: Run, monkeypatch: pytest.MonkeyPatch, no_service: Path, line: str
) -> None:
    code, out, err = join(run, monkeypatch, line)
    assert (code, out, "is not a line of" in err) == (2, "", True)
    assert "eyJ" not in err


def test_a_store_that_ships_elsewhere_is_left_alone(
    fleet: Fleet, run: Run, tmp_path: Path, no_service: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = invite(run, fleet, f"h-{fleet.id}")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/config.toml").write_text('[fleet]\ndb = "postgresql://me@other.example/fleet"\n')
    code, _, err = join(run, monkeypatch, line)
    assert (code, "ships to postgresql://me@other.example/fleet already" in err) == (2, True)
    assert fleet.rows("SELECT count(*) FROM sightline.invitations") == [(1,)]


def test_from_an_empty_database_to_a_verified_fleet(fleet: Fleet, run: Run, tmp_path: Path) -> None:
    fleet.rows("DROP SCHEMA sightline CASCADE")
    db, name = str(fleet.address), f"build-{fleet.id}"
    code, out, err = run("fleet", "status", "--db", db)
    assert (code, "fleet init" in err) == (1, True)
    code, out, _ = run("fleet", "init", "--db", db, "--objects", str(fleet.objects_address), "--retention", "14d")
    assert code == 0
    assert '"Days": 22' in out
    code, out, _ = run("fleet", "add-host", name, "--team", "red", "--db", db, "--passfile", f"sightline_{name}.pgpass")
    assert code == 0
    settings = tomllib.loads(re.search(r"(?s)\[fleet\].*?\n\n", out)[0])["fleet"]  # type: ignore[index]
    assert f"fleet/{fleet.id}/t/red/h/{name}/*" in out
    passfile = tmp_path / f"sightline_{name}.pgpass"
    assert stat.S_IMODE(passfile.stat().st_mode) == 0o600
    line = passfile.read_text()
    assert line.rpartition(":")[2].strip() not in out
    with fleet.passwords.open("a") as file:
        file.write(line)
    (tmp_path / "home").mkdir()
    (tmp_path / "home/config.toml").write_text(f'[fleet]\ndb = "{settings["db"]}"\nobjects = "{settings["objects"]}"\n')
    assert run("run", "--", "echo", "hello")[0] == 0
    code, out, _ = run("ship", "--status")
    assert out.splitlines()[1].startswith("behind by 1 output and 1 other item, ")
    assert "behind by 1 output and" in run("doctor")[1]
    code, out, _ = run("ship", "--drain")
    assert (code, "all is shipped" in out) == (0, True)
    code, out, _ = run("ship", "--status", "--json")
    assert json.loads(out)["items"] == 0
    code, out, _ = run("fleet", "verify", "--contents", "--db", db)
    assert (code, out.splitlines()[-1].startswith("1 host: 1 output, ")) == (0, True), out
    code, out, _ = run("fleet", "status", "--json", "--db", db)
    assert json.loads(out)["hosts"][0]["name"] == name
    assert run("fleet", "add-host", f"other-{fleet.id}", "--team", "red", "--db", db)[0] == 0
    _, shipped, silent = run("fleet", "status", "--db", db)[1].splitlines()
    assert f"{name}  " in shipped
    assert "  1 output, all shipped, heard of " in shipped
    assert not {"version", "secrets"} & set(shipped.replace(",", " ").split())
    first = json.loads(out)["hosts"][0]
    assert (first["version"], first["redacts"]) == (version(), False)
    with fleet.store("other", fleet.add_host("redacting")._replace(redact_known=True)) as other:
        keep_in(other, b"x\n")
        ship(other)
    assert "; does not hide known secrets, as others do\n" in run("fleet", "status", "--db", db)[1]
    for told, mark in (
        ({"version": "0.1.9", "redacts": True}, f"; version 0.1.9 (this one is {version()})"),
        ({"version": 7, "redacts": "no"}, "; its version is not known"),
    ):
        fleet.rows("UPDATE sightline.hosts SET behind = behind || %s::jsonb", json.dumps(told))
        assert [line.endswith(mark) for line in run("fleet", "status", "--db", db)[1].splitlines()[1:3]] == [True] * 2
    assert silent.split() == [f"other-{fleet.id}", "host", f"red/other-{fleet.id}", "never", "heard", "of"]
    code, out, _ = run("fleet", "grant", f"r_{fleet.id}", "red", "--db", db)
    assert "s3:GetObject" in out
    assert (tmp_path / f"r_{fleet.id}.pgpass").exists()
    code, out, _ = run("fleet", "retention", "30d", "--db", db)
    assert '"Days": 38' in out
    assert run("fleet", "maintain", "--db", db)[0] == 0


def test_a_problem_is_an_exit_code(fleet: Fleet, run: Run) -> None:
    with fleet.store("home", fleet.add_host("host1")) as store:
        keep_in(store, b"x\n")
        (Path(store.root) / "config.toml").write_text(
            f'[fleet]\ndb = "{store.settings.fleet.db}"\nobjects = "{store.settings.fleet.objects}"\n'
        )
    assert run("ship")[0] == 0
    fleet.rows("UPDATE sightline.packs SET bytes = bytes + 1")
    code, out, _ = run("fleet", "verify", "--db", str(fleet.address))
    assert (code, "problem: host1" in out) == (1, True)


@pytest.mark.parametrize(
    "words",
    [
        ("fleet", "init", "--db", "postgresql://o:hunter2@h/d", "--objects", "s3://b"),
        ("fleet", "init", "--db", "postgresql://o@127.0.0.1:1/d", "--objects", "s3://k:hunter2@b"),
        ("fleet", "verify", "--db", "postgresql://o@h/d?password=hunter2"),
    ],
)
def test_a_secret_in_a_command_line_is_refused_with_the_hint(run: Run, words: tuple[str, ...]) -> None:
    code, out, err = run(*words)
    assert code == 2
    assert "hunter2" not in out + err
    assert "PGPASSFILE" in err or "AWS_ACCESS_KEY_ID" in err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("ship",), "no fleet is set"),
        (("ship", "--drain", "--follow"), "not allowed with"),
        (("fleet", "burn"), "unrecognized arguments"),
        (("fleet", "init"), "no database is named"),
        (("fleet", "retention", "0d", "--db", "{db}"), "'0d' is no number of days, such as 30d"),
        (("fleet", "add-host", "x", "--kind", "pet", "--db", "{db}"), "invalid choice"),
    ],
)
def test_what_cannot_be_done_says_what_can(fleet: Fleet, run: Run, words: tuple[str, ...], text: str) -> None:
    code, _, err = run(*(word.format(db=fleet.address) for word in words))
    assert (code, text in err) == (2, True), err


def test_a_password_command_gives_the_password(fleet: Fleet, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = fleet.add_host("host1")
    line = fleet.passwords.read_text().splitlines()[-1]
    monkeypatch.setenv("PGPASSFILE", os.devnull)
    command = f"sed -n 's/.*://p' <<'END'\n{line}\nEND"
    with fleet.store("home", settings._replace(password_command=command)) as store:
        from sightline.fleet.shipper import Shipper

        keep_in(store, b"x\n")
        with Shipper(store) as shipper:
            shipper.drain()
    assert fleet.rows("SELECT count(*) FROM sightline.buffers") == [(1,)]


def test_many_stores_of_ci_ship_under_one_role(fleet: Fleet) -> None:
    from sightline.fleet.shipper import Shipper

    settings: FleetSettings = fleet.add_host("ci", kind="ci")
    for job in ("Run 7 / Tests", "run-7-lint", "run-7-lint"):
        with fleet.store(
            f"job-{len(fleet.rows('SELECT 1 FROM sightline.hosts'))}", settings._replace(host=job)
        ) as store:
            keep_in(store, b"x\n")
            with Shipper(store) as shipper:
                shipper.drain()
    names = [
        row[0].replace(f"ci-{fleet.id}-", "") for row in fleet.rows("SELECT name FROM sightline.hosts ORDER BY id")
    ]
    assert names == ["run-7-tests", "run-7-lint", "run-7-lint-2"]


def test_units_run_the_shipper_and_hold_no_secret() -> None:
    systemd = unit_text('/home/o"dd/100%$HOME', "linux")
    assert 'Environment="SIGHTLINE_HOME=/home/o\\"dd/100%%$HOME"' in systemd, "$ means nothing there"
    assert '"ship" "--follow"' in systemd
    launchd = plistlib.loads(unit_text("/Users/a<b", "darwin").encode())
    assert launchd["ProgramArguments"][-2:] == ["ship", "--follow"]
    assert launchd["EnvironmentVariables"] == {"SIGHTLINE_HOME": "/Users/a<b"}


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    file = tmp_path / "sightline-ship.service"
    file.write_text(unit_text(str(tmp_path / "a b%"), "linux"))
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    ran = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(file)], env=environment, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (0, "")
