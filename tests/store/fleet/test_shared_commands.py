"""Commands with ``--store``: they read what many hosts shipped, and what they show is logged on this machine first."""

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.settings.config import FleetSettings, Settings
from sightline.store import Store
from sightline.verbs.list_outputs import find_buffers
from sightline.verbs.requests import ListRequest
from tests.fork_server import ForkServer
from tests.store.doors.mcp.conftest import McpClient
from tests.store.fleet.conftest import Hosts, keep_in, ship, show

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.audit.buffer_coverage import coverage_of
from sightline.doors.cli.main import main
from sightline.doors.cli.views import gone_of
from sightline.fleet.reader.store import SharedStore

Run = Callable[..., tuple[int, str, str]]
FAILED = b"collected 2 items\n" + b"x = 1\n" * 400 + b"FAILED tests/test_a.py::test_it - assert 1 == 2\n1 failed\n"


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, hosts: Hosts) -> Run:
    """Runs a command on the reader's machine, where the environment says what is read: exit code, output, errors."""
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "reader"))
    monkeypatch.setenv("SIGHTLINE_SESSION", "reader-session")
    monkeypatch.setenv("SIGHTLINE_STORE", hosts.fleet.grant("carl", "team:red"))

    def ran(*words: str) -> tuple[int, str, str]:
        try:
            code = main(words)
        except SystemExit as left:
            code = int(str(left.code))
        return code, *capfd.readouterr()

    return ran


def test_list_narrows_by_host_failure_and_age(hosts: Hosts, run: Run) -> None:
    keep_in(hosts.stores["a"], FAILED, command="pytest", exit_code=1)
    hosts.ship("a")
    code, out, _ = run("list")
    assert (code, len(out.splitlines())) == (0, 3)
    assert out.splitlines()[0].startswith(f"{hosts.names['a']}/@cmd_")
    assert [row["command"] for row in json.loads(run("list", "--failed", "--since", "1d", "--json")[1])] == ["pytest"]
    assert "make b" in (only := run("list", "--host", f"{hosts.names['b'][:-2]}*")[1])
    assert "make a" not in only
    assert "nothing matches" in run("list", "--host", "ci-*")[1]
    assert [row["command"] for row in json.loads(run("list", "--match", "pytest exit:1", "--json")[1])] == ["pytest"]


@pytest.mark.parametrize(
    "match",
    ["crgtst", "cargo tset", "^cargo", "test$ !make", "nightly", "scribe", "crgtst exit:1", "cargo tset exit:1"],
)
def test_a_text_finds_in_a_new_mirror_what_it_finds_on_the_host(hosts: Hosts, run: Run, match: str) -> None:
    store = hosts.stores["a"]
    keep_in(store, b"1\n", command="cargo test", exit_code=1)
    keep_in(store, b"1\n", command="cargo build", label="nightly")
    keep_in(store, b"1\n", command="ls", session="scribe")
    for command in ("./crgtst", "nightly", "scribe", "cat cargo/tset"):  # found by its words, so that nobody looks on
        keep_in(store, b"1\n", command=command, exit_code=1)
    for number in range(9):
        keep_in(store, b"1\n", command=f"make part-{number}")
    hosts.ship("a")
    expected = [buffer.name for buffer in find_buffers(store, ListRequest(match=match))]
    rows = json.loads(run("list", "--host", hosts.names["a"], "--match", match, "--json")[1])
    assert expected
    assert [row["ref"].rpartition("@")[2] for row in rows] == expected


def test_list_and_grep_say_how_many_titles_a_text_was_compared_with(
    hosts: Hosts, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.fleet.reader.store.NEWEST", 4)
    monkeypatch.setattr("sightline.fleet.reader.rows._TITLES_AT_ONCE", 2)
    store, host = hosts.stores["a"], hosts.names["a"]
    keep_in(store, b"1\n", command="cargo test")
    for number in range(2):
        keep_in(store, b"1\n", command=f"make part-{number}")
    hosts.ship("a")
    code, out, _ = run("list", "--host", host, "--match", "crgtst")
    assert (code, "cargo test" in out, "compared with" in out) == (0, True, False)  # it has four outputs
    keep_in(store, b"1\n", command="make part-2")
    keep_in(store, b"1\n", command="make part-3")
    hosts.ship("a")
    told = "compared with the newest 4 outputs; older ones are found by words of their commands"
    assert told in (found := run("list", "--host", host, "--match", "cargo")[1])
    assert "cargo test" in found
    assert told in run("grep", "--host", host, "--match", "part", "1")[1]
    assert (
        "compared with the newest 4 outputs; older ones are left out"
        in run("list", "--host", host, "--match", "^make")[1]
    )
    assert told in run("list", "--host", host, "--match", "part", "--json")[2]


def test_show_and_query_are_as_of_a_local_output_and_logged_here(hosts: Hosts, run: Run, tmp_path: Path) -> None:
    kept = keep_in(hosts.stores["a"], b"".join(b"line %d\n" % n for n in range(5000)), command="make all")
    hosts.ship("a")
    ref = hosts.ref("a", kept)
    code, out, _ = run("show", ref, "--lines", "42-44")
    assert (code, out.splitlines()[-3:]) == (0, ["line 41", "line 42", "line 43"])
    code, out, _ = run("query", f"grep -c 99 {ref}")
    assert (code, out.strip()) == (0, "95")
    code, out, _ = run("show", ref, "--search", "line 77$")
    assert "line 77" in out
    assert f"{ref}:" in run("show", ref)[1] or ref in run("show", ref)[1]
    with Store(str(tmp_path / "reader"), Settings()) as local:
        views = list_views(local, session="reader-session")
        assert gone_of(local.index.buffer, views[0].view) == []
        assert {view.view.refs for view in views} == {(f"{hosts.names['a']}/{kept.name}",)}
        assert all(view_text(local, view) for view in views)


def test_what_an_agent_is_shown_there_counts_for_all(hosts: Hosts, run: Run, tmp_path: Path) -> None:
    kept = keep_in(hosts.stores["a"], FAILED, command="pytest", exit_code=1)
    other = keep_in(hosts.stores["a"], FAILED.replace(b"test_it", b"test_more"), command="pytest more", exit_code=1)
    for one in (kept, other):
        show(hosts.stores["a"], "agent", one)
    hosts.ship("a")
    code, out, _ = run("audit", "--since", "1d", "--fail-on", "overlooked-failure")
    assert (code, "examined here" in out) == (1, False)
    assert {hosts.ref("a", kept), hosts.ref("a", other)} == {
        word.partition(":")[0] for word in out.split() if "@cmd" in word
    }
    run("show", hosts.ref("a", kept), "--lines", "395-404")
    settings = hosts.fleet.add_host("d", "red")
    with Store(str(tmp_path / "reader"), Settings(fleet=settings)) as reader:
        ship(reader)
    code, out, _ = run("audit", "--since", "1d")
    assert hosts.ref("a", kept) not in out
    assert hosts.ref("a", other) in out
    with (
        Store(str(tmp_path / "third"), Settings()) as third,
        SharedStore(third, hosts.fleet.grant("dora", "team:red")) as place,
    ):
        coverage = coverage_of(place, place.resolve(hosts.ref("a", kept)).buffer)
        assert [one.view.session.partition("/")[2] for one in coverage.contributions] == ["agent", "reader-session"]


def test_every_command_that_reads_takes_it(hosts: Hosts, run: Run) -> None:
    kept = keep_in(hosts.stores["a"], FAILED, command="pytest", exit_code=1)
    show(hosts.stores["a"], "agent", kept)
    hosts.ship("a")
    ref, session = hosts.ref("a", kept), f"{hosts.names['a']}/agent"
    for words, text in (
        (("timeline",), "pytest"),
        (("sessions",), session),
        (("sessions", session), ref),
        (("coverage", ref), ref),
        (("brief",), ref),
        (("report", "--format", "md"), ref),
        (("views",), f"{session}:1"),
        (("views", "show", f"{session}:1"), "what it was shown"),
        (("path", ref), "/shared/"),
        (("diff", ref, f"{ref}.err"), "-x = 1"),
    ):
        code, out, err = run(*words)
        assert text in out, (words, code, out, err)


def test_the_same_command_on_two_hosts_is_compared_without_what_is_theirs_alone(hosts: Hosts, run: Run) -> None:
    refs = []
    for host, folder, verdict in (("a", "/home/ann/shop", "1 failed"), ("b", "/builds/4711/shop", "all passed")):
        out = f"rootdir: {folder}\n{folder}/a.py:3: note\n{verdict} in 0.0{ord(host)}s\n".encode()
        kept = keep_in(hosts.stores[host], out, command="pytest -q", cwd=folder)
        hosts.ship(host)
        refs.append(hosts.ref(host, kept))
    code, out, _ = run("diff", *refs)
    assert (code, out.count("\n-"), out.count("\n+")) == (1, 1, 1), out
    assert "failed" in out
    assert "rootdir" not in out
    assert "--no-volatile compares all" in out
    assert "rootdir: /builds/4711/shop" in run("diff", "--no-volatile", *refs)[1]


def test_grep_narrows_first_and_says_what_it_looked_through(hosts: Hosts, run: Run, tmp_path: Path) -> None:
    kept = keep_in(hosts.stores["a"], b"ok\n" * 70_000 + b"Connection REFUSED by db\n" + b"ok\n" * 9, command="make db")
    long = keep_in(hosts.stores["b"], b"refused " + b"x" * 3000 + b"\n", b"refused too", command="make db")
    hosts.ship("a")
    hosts.ship("b")
    code, out, _ = run("grep", "refused")
    assert (code, "looked through 4 of 4 outputs of 2 hosts" in out) == (0, True), out
    assert f"{hosts.ref('a', kept)}:70001: Connection REFUSED by db\n" in out
    assert f"{hosts.ref('b', long)}:1: refused xxx" in out
    assert f"{hosts.ref('b', long)}.err:1: refused too\n" in out
    code, out, _ = run("grep", "REFUSED", "--host", f"{hosts.names['a']}", "--since", "1d")
    assert ("looked through 2 of 2 outputs of 1 host," in out, out.count("REFUSED")) == (True, 1)
    assert run("grep", "no(such")[0] == 1
    assert "truncated" in run("grep", "ok", "--limit", "3")[1]
    with Store(str(tmp_path / "reader"), Settings()) as local:
        view = next(one.view for one in list_views(local) if one.view.verb == "grep" and len(one.view.refs) == 2)
        assert {(one.buffer.rpartition("/")[2], one.stream, one.first) for one in view.shown} == {
            (kept.name, "out", 70_001),
            (long.name, "err", 1),
        }


def test_lines_that_a_host_withheld_are_no_broken_log(hosts: Hosts, run: Run) -> None:
    settings = hosts.stores["a"].settings.fleet
    with hosts.fleet.store("withheld", settings, ship_off=("/hidden",)) as store:
        show(store, "agent", keep_in(store, b"1\n", cwd="/hidden/x"))
        show(store, "agent", keep_in(store, b"2\n"))
        ship(store)
    code, out, _ = run("audit", "--fail-on", "broken-log")
    assert (code, "broken" in out) == (0, False), out


def test_an_agent_asks_over_mcp_about_another_machines_run(
    hosts: Hosts, run: Run, fork_server: ForkServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = keep_in(hosts.stores["b"], FAILED, command="pytest", exit_code=1)
    hosts.ship("b")
    ref, url = hosts.ref("b", kept), hosts.fleet.grant("carl", "team:red")
    keys = {name: value for name, value in os.environ.items() if name.startswith("AWS_") or name == "PGPASSFILE"}
    with contextlib.ExitStack() as ended:
        client = McpClient(fork_server, tmp_path, "--store", url, **keys)
        assert client.process.stdout
        ended.callback(client.process.stdout.close)
        ended.callback(client.end)
        assert [tool["name"] for tool in client.request("tools/list")["tools"]] == [
            "read_output",
            "query",
            "list_outputs",
        ]
        assert ref in client.call("list_outputs", match="is:failed")[1]
        _, body = client.call("read_output", ref=ref)
        assert "FAILED tests/test_a.py::test_it" in body
        assert client.call("query", pipeline=f"grep -c FAILED {ref}")[1].strip() == "1"
        uris = [one["uri"] for one in client.request("resources/list")["resources"]]
        assert f"sightline://buffers/{ref}" in uris
        home = client.home
    with Store(str(home), Settings()) as store:
        assert {view.view.refs for view in list_views(store)} >= {(f"{hosts.names['b']}/{kept.name}",)}


def test_what_the_settings_name_is_read_where_that_is_asked_for(hosts: Hosts, run: Run, tmp_path: Path) -> None:
    url = hosts.fleet.grant("carl", "team:red")
    (tmp_path / "reader").mkdir(exist_ok=True)
    code, _, err = run("list", "--store", "fleet")
    assert (code, "[fleet] store" in err) == (2, True)
    (tmp_path / "reader/config.toml").write_text(f'[fleet]\nstore = "{url}"\n')
    assert "make a" in run("list", "--store", "fleet")[1]


def test_next_calls_say_what_is_read(hosts: Hosts, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = keep_in(hosts.stores["a"], b"".join(b"line %d\n" % n for n in range(5000)))
    hosts.ship("a")
    url = hosts.fleet.grant("carl", "team:red")
    monkeypatch.delenv("SIGHTLINE_STORE")
    out = run("query", "--store", url, f"grep line {hosts.ref('a', kept)}")[1]
    assert f"sightline query --store '{url}' " in out


def test_a_place_that_is_none_is_told_in_a_sentence(run: Run) -> None:
    for url, code, text in (
        ("postgresql://carl@127.0.0.1:1/db", 1, "--offline"),
        ("postgresql://carl:hunter2@h/db", 2, "PGPASSFILE"),
        ("somewhere", 2, "postgresql://"),
    ):
        for words in (("list",), ("show", "host7/@cmd_0000aa"), ("audit",)):
            found, out, err = run(*words, "--store", url)
            assert (found, text in err) == (code, True), (url, words, err)
            assert "hunter2" not in out + err


def test_offline_reads_what_is_here_and_says_what_is_not(hosts: Hosts, run: Run) -> None:
    keep_in(hosts.stores["a"], FAILED, command="pytest", exit_code=1)
    ship(hosts.stores["a"], judges=False)
    assert run("sessions")[0] == 0
    hosts.fleet.rows("DROP SCHEMA sightline CASCADE")
    assert "make a" in run("list", "--offline")[1]
    assert "5 of the outputs and logs could not be read" in run("timeline", "--offline")[1]
    told = run("audit", "--offline")[1]
    assert "only what was read here before was looked at (offline, as of" in told
    assert "could not be read, so nothing is known of them: 5 of" in told
    for kind in ("overlooked-failure", "stale-check", "broken-log"):
        assert run("audit", "--offline", "--fail-on", kind)[0] == 1, f"nobody knows whether there is a {kind}"
    assert "nothing could be read" in run("brief", "--offline")[1]
    code, _, err = run("list")
    assert (code, "no fleet" in err) == (1, True)


def test_output_of_a_host_can_do_nothing_to_a_terminal(hosts: Hosts, run: Run) -> None:
    kept = keep_in(
        hosts.stores["a"],
        b"\x1b]0;owned\x07\x1b[2Jtext\n",
        command="echo '\x1b]0;owned\x07 \u202e'",
        label="\x1b[31mred",
    )
    hosts.ship("a")
    for words in (("list",), ("show", hosts.ref("a", kept)), ("timeline",), ("brief",), ("audit",)):
        assert "\x1b" not in "".join(run(*words)[1:]), words


def test_settings_of_a_host_are_no_reader(hosts: Hosts, run: Run) -> None:
    settings: FleetSettings = hosts.stores["a"].settings.fleet
    code, _, err = run("list", "--store", settings.db)
    assert (code, "refuse" in err) == (1, True), err
