"""What a fleet's requests cost, by host and team: from rows that hosts ship, where they may ship what was said."""

import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from sightline.agents.past_sessions.importer import Importer
from sightline.harnesses.formats import find_sources
from sightline.store import Store
from tests.store.audit.usage_kit import Requests
from tests.store.fleet.conftest import Fleet, ship
from tests.store.harnesses.past_kit import Rollout

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.doors.cli.main import main
from sightline.fleet.database import connected
from sightline.fleet.janitor import Janitor
from sightline.fleet.objects import Objects
from sightline.log.retention import remove_session
from sightline.log.session_list import find_session

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def stores(fleet: Fleet, tmp_path: Path) -> Iterator[dict[str, Store]]:
    """Three hosts of two teams, of which one does not ship what was said; each made a request of 1,000 tokens, or 2."""
    made = dict[str, Store]()
    for number, (name, team, messages) in enumerate((("a", "red", True), ("b", "red", True), ("c", "blue", False)), 1):
        made[name] = fleet.store(name, fleet.add_host(name, team)._replace(messages=messages))
        session = Requests(f"session-{name}")
        for _ in range(number):
            session.reply("x" * 100, written=1_000_000, output=0)
        session.imported(made[name], tmp_path / name)
    yield made
    for store in made.values():
        store.close()


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fleet: Fleet) -> Run:
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "reader"))

    def ran(reader: str, *words: str) -> tuple[int, str, str]:
        monkeypatch.setenv("SIGHTLINE_STORE", reader)
        try:
            code = main(words)
        except SystemExit as left:
            code = int(str(left.code))
        return code, *capfd.readouterr()

    return ran


def test_costs_of_a_fleet_stand_by_host_and_team_and_hold_what_may_be_shipped(
    stores: dict[str, Store], fleet: Fleet, run: Run
) -> None:
    names = {name: ship(store) for name, store in stores.items()}
    reader = fleet.grant("carl", "team:red")
    data = json.loads(run(reader, "cost", "--by", "host", "--json")[1])
    dollars = {row["host"]: (row["requests"], row["dollars"]) for row in data["rows"]}
    assert dollars == {names["b"]: (2, 12.5), names["a"]: (1, 6.25)}
    fleet.grant("carl", "team:blue")  # whose host does not ship what was said
    (team,) = json.loads(run(reader, "cost", "--by", "team", "--json")[1])["rows"]
    assert (team["team"], team["requests"], team["dollars"]) == ("red", 3, 18.75)
    (harness,) = json.loads(run(reader, "cost", "--by", "harness", "--json")[1])["rows"]
    assert (harness["harness"], harness["cache_write"]) == ("claude-code", 3_000_000)
    (day,) = json.loads(run(reader, "cost", "--json")[1])["rows"]
    assert day["day"].startswith("2026-01-0")
    code, _, error = run(reader, "cost", "--by", "output")
    assert (code, "on the machine" in error) == (2, True)
    assert "host" in run("", "cost", "--by", "host")[2]


def test_what_a_host_has_removed_is_in_no_sum_of_the_fleet(stores: dict[str, Store], fleet: Fleet, run: Run) -> None:
    store = stores["a"]
    name = ship(store)
    reader = fleet.grant("carl", "team:red")
    assert name in run(reader, "cost", "--by", "host")[1]
    remove_session(store, find_session(store, "claude-code-session-a").session)
    ship(store)
    assert name not in run(reader, "cost", "--by", "host")[1]
    numbers = (
        "SELECT count(*) FROM sightline.entries WHERE kind = 'usage' AND record -> 'request' -> 'model' IS NOT NULL"
    )
    assert fleet.rows(numbers) == [(1,)]
    with connected(fleet.address) as connection:
        Janitor(connection, Objects(fleet.objects_address)).tidy(date.today())
    assert fleet.rows(numbers) == [(0,)]


def test_a_request_that_was_shipped_while_it_was_written_counts_once_with_its_last_numbers(
    stores: dict[str, Store], fleet: Fleet, run: Run, tmp_path: Path
) -> None:
    store = stores["a"]
    begun = Requests("again").reply(written=10, output=1, stop=None)
    begun.imported(store, tmp_path / "begun")
    name = ship(store)
    reader = fleet.grant("carl", "team:red")
    assert "≥ 1" in run(reader, "cost", "--by", "host")[1]
    Requests("again").reply(written=10, output=500).imported(store, tmp_path / "ended")
    ship(store)
    (row,) = [
        one for one in json.loads(run(reader, "cost", "--by", "host", "--json")[1])["rows"] if one["host"] == name
    ]
    assert (row["requests"], row["output"], row["at_least"]) == (2, 500, 0)


def test_sessions_of_a_fleet_form_trees_on_their_host(
    stores: dict[str, Store], fleet: Fleet, run: Run, tmp_path: Path
) -> None:
    fork = Rollout("00000002-0000-0000-0000-000000000000", forked_from_id="00000001-0000-0000-0000-000000000000")
    parent = Rollout("00000001-0000-0000-0000-000000000000").ran("call_1", "make")
    for one in (parent, fork.ran("call_2", "make test")):
        Importer(stores["a"]).run(find_sources(str(one.write(tmp_path))))
    host = ship(stores["a"])
    reader = fleet.grant("carl", "team:red")
    rows = {row["name"]: row for row in json.loads(run(reader, "sessions", "--tree", "--json")[1])}
    above, below = f"{host}/codex-{parent.session}", f"{host}/codex-{fork.session}"
    assert (rows[above]["depth"], rows[below]["depth"]) == (0, 1)
    assert (rows[below]["origin"]["how"], rows[below]["origin"]["parent"]) == ("fork", above)
    assert rows[f"{host}/claude-code-session-a"]["cost"]["dollars"] == 6.25
    assert run(reader, "sessions", "--tree", "--offline")[0] == 0
