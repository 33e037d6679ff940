"""A watch on a fleet: what goes wrong on any host is taken once, without texts of outputs, and as figures."""

import json
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.base.errors import UsageError
from sightline.doors.cli.main import main
from sightline.fleet.alert_delivery import NotDelivered, post, web_address
from sightline.fleet.alerts import LAGS, SILENT, Alert, Bounds, alerts_of_hosts
from sightline.fleet.host_list import HostRow
from sightline.fleet.metrics import METRICS, otlp_request, points_of, prometheus_text
from sightline.fleet.reader.store import SharedStore
from sightline.fleet.watch import Watch
from tests.store.fleet.conftest import Hosts, keep_in
from tests.store.fleet.servers import free_port
from tests.store.fleet.test_host_findings import tell

FAILED = b"collected 1 item\nFAILED tests/test_shop.py::test_pay - assert 3 == 4\n1 failed in 0.1s\n"
MINUTE = 60.0


class Taken:
    """Takes alerts, or refuses them while `refuses`."""

    def __init__(self) -> None:
        self.alerts: list[Alert] = []
        self.refuses = False

    def __call__(self, alert: Alert) -> None:
        if self.refuses:
            raise NotDelivered("nobody is there", "it is tried again")
        self.alerts.append(alert)


@pytest.fixture
def taken() -> Taken:
    return Taken()


def watch(place: SharedStore, taken: Callable[[Alert], None], **how: Any) -> Watch:
    return Watch(place, taken, **{"bounds": Bounds(), "since": 0.0, "page": "https://look.example/"} | how)


def fail_unseen(hosts: Hosts, name: str = "a") -> str:
    """Ship a failure of which a reply has shown another line only, and return its ref at the shared place."""
    store = hosts.stores[name]
    kept = keep_in(store, FAILED, command="pytest -q", exit_code=1)
    tell(store, "agent", kept, (1, 1))
    hosts.ship(name)
    return hosts.ref(name, kept)


def test_a_failure_that_nobody_saw_is_sent_once_with_a_link_and_without_its_text(
    hosts: Hosts, place: SharedStore, taken: Taken
) -> None:
    looks = watch(place, taken)
    assert looks.look(settled=0).sent == []
    ref = fail_unseen(hosts)
    assert looks.look(settled=0).sent == taken.alerts
    assert looks.look(settled=0).sent == []
    (alert,) = taken.alerts
    assert (alert.kind, alert.host, alert.command, alert.quote) == (
        "overlooked-failure",
        hosts.names["a"],
        "pytest -q",
        "",
    )
    assert alert.ref == f"{ref}:2-2"
    assert alert.link == f"https://look.example/o/{ref.replace('@', '')}#L2"
    assert "test_pay" not in json.dumps(alert._asdict())
    assert watch(place, taken).look(settled=0).sent == []  # after a restart


def test_texts_are_sent_where_that_is_asked_for(hosts: Hosts, place: SharedStore, taken: Taken) -> None:
    fail_unseen(hosts)
    watch(place, taken, quotes=True).look(settled=0)
    assert "test_pay" in taken.alerts[0].quote


def test_what_a_reader_may_not_read_is_not_sent(hosts: Hosts, place: SharedStore, taken: Taken) -> None:
    fail_unseen(hosts, "c")
    watch(place, taken).look(settled=0)
    assert taken.alerts == []


def test_what_came_before_the_watch_is_not_sent(hosts: Hosts, place: SharedStore, taken: Taken) -> None:
    fail_unseen(hosts)
    watch(place, taken, since=time.time() + MINUTE).look(settled=0)
    assert taken.alerts == []


def test_what_nobody_took_is_sent_again(hosts: Hosts, place: SharedStore, taken: Taken) -> None:
    fail_unseen(hosts)
    looks, taken.refuses = watch(place, taken), True
    assert looks.look(settled=0).failed == ["nobody is there"]
    taken.refuses = False
    assert len(looks.look(settled=0).sent) == 1


def test_a_failure_that_the_next_reply_shows_is_not_sent(
    hosts: Hosts, place: SharedStore, taken: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    looks = watch(place, taken, bounds=Bounds(silent=1e9))
    store = hosts.stores["a"]
    kept = keep_in(store, FAILED, command="pytest -q", exit_code=1)
    tell(store, "agent", kept, (1, 1))
    hosts.ship("a")
    assert len(looks.look().alerts) == 1
    tell(store, "agent", kept, (1, kept.lines), cut=False)
    hosts.ship("a")
    now += 2 * MINUTE
    assert (looks.look().sent, taken.alerts) == ([], [])


def test_a_host_that_fell_silent_or_lags_is_sent_until_it_is_heard_again() -> None:
    now = 1_800_000_000.0
    row = HostRow("a", "red", "ann", "host", seen=now - 7_200, silent_seconds=7_200.0)
    (silent,) = alerts_of_hosts([row], Bounds(), now)
    assert (silent.kind, silent.host) == (SILENT, "a")
    assert silent.key == alerts_of_hosts([row._replace(silent_seconds=9_000.0)], Bounds(), now + 1_800)[0].key
    assert silent.key != alerts_of_hosts([row._replace(seen=now - 4_000)], Bounds(), now)[0].key
    assert alerts_of_hosts([row._replace(kind="ci")], Bounds(), now) == []
    assert alerts_of_hosts([row._replace(silent_seconds=60.0)], Bounds(), now) == []
    assert alerts_of_hosts([HostRow("new", "red", "ann", "host")], Bounds(), now) == []
    lagging = row._replace(silent_seconds=1.0, items=3, oldest=now - 1_000)
    assert [one.kind for one in alerts_of_hosts([lagging], Bounds(), now)] == [LAGS]
    assert alerts_of_hosts([lagging._replace(oldest=now - 10)], Bounds(), now) == []


def test_figures_of_each_host_are_offered_to_collectors(hosts: Hosts, place: SharedStore, taken: Taken) -> None:
    fail_unseen(hosts)
    points = watch(place, taken).look(settled=0).points
    text = prometheus_text(points)
    name = re.escape(hosts.names["a"])
    assert re.search(rf'^sightline_unseen_failures{{host="{name}",team="red"}} 1$', text, re.MULTILINE)
    assert re.search(rf'^sightline_outputs{{host="{name}",team="red"}} 2$', text, re.MULTILINE)
    assert re.search(rf'^sightline_failed_outputs{{host="{name}",team="red"}} 1$', text, re.MULTILINE)
    assert 'team="blue"' not in text
    assert text.count("# TYPE") == len(METRICS)
    sent = otlp_request(points, 1.5)["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
    assert [one["name"].replace(".", "_") for one in sent] == [one.name for one in METRICS]
    assert sent[0]["gauge"]["dataPoints"][0]["timeUnixNano"] == "1500000000"


def test_labels_are_escaped() -> None:
    row = HostRow('a"\\\n', "red", "ann", "host", seen=1.0, silent_seconds=1.0)
    assert (
        prometheus_text(points_of([row], [], 2.0)).splitlines()[2].startswith(r'sightline_outputs{host="a\"\\\n",team')
    )


@pytest.mark.parametrize("url", ["http://chat.example/x", "ftp://chat.example", "https://me:pw@chat.example/", "chat"])
def test_an_address_that_would_leak_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("192.0.2.1", 0))])
    with pytest.raises(UsageError):
        web_address(url)


@contextmanager
def receiving(status: int = 200) -> Iterator[tuple[str, list[tuple[str, dict[str, Any], str]]]]:
    """A server that takes posts: its URL, and what it was sent as (path, body, authorization)."""
    got: list[tuple[str, dict[str, Any], str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, json.loads(body), self.headers.get("Authorization", "")))
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", got
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("status", [302, 404, 500])
def test_only_an_answer_of_success_counts_as_sent_and_nothing_is_followed(status: int) -> None:
    with receiving(status) as (url, got), pytest.raises(NotDelivered, match=str(status)):
        post(f"{url}/hook", {"kind": "x"})
    assert [path for path, *_ in got] == ["/hook"]


def test_a_watch_as_a_service_tells_a_webhook_and_answers_a_collector(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: Callable[[Callable[[], object]], None]
) -> None:
    reader = hosts.fleet.grant("carl", "team:red")
    fail_unseen(hosts)
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "watch"))
    monkeypatch.setenv("SIGHTLINE_WEBHOOK_TOKEN", "let me in")
    with receiving() as (url, got):
        monkeypatch.setenv("SIGHTLINE_WEBHOOK", f"{url}/hooks/x")
        assert main(["fleet", "watch", "--store", reader, "--since", "1d", "--once"]) == 0
        ((path, body, authorization),) = got
        assert (path, body["kind"], authorization) == ("/hooks/x", "overlooked-failure", "Bearer let me in")
        port = free_port()
        words = ["fleet", "watch", "--store", reader, "--metrics", f"127.0.0.1:{port}", "--every", "0.1", "--otlp", url]
        service = subprocess.Popen([sys.executable, "-m", "sightline.doors.cli.main", *words])
        try:
            until(lambda: any(path == "/v1/metrics" for path, *_ in got))
            until(lambda: answers(port))
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
                assert b"sightline_unseen_failures{" in answer.read()
            foreign = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Host": "evil.example"})
            with pytest.raises(urllib.error.HTTPError, match="421"):
                urllib.request.urlopen(foreign)
        finally:
            service.send_signal(signal.SIGTERM)
            assert service.wait(30) == 0
    assert [path for path, *_ in got if path == "/hooks/x"] == ["/hooks/x"]


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics"):
            return True
    except OSError:
        return False


def test_a_command_gets_the_alert_on_its_standard_input_alone(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = hosts.fleet.grant("carl", "team:red")
    fail_unseen(hosts)
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "watch"))
    keep = tmp_path / "keep.py"
    keep.write_text("import json, sys; json.dump([sys.argv[1:], json.load(sys.stdin)], open(sys.argv[1], 'w'))")
    got = tmp_path / "got $(touch x).json"
    words = ["fleet", "watch", "--store", reader, "--since", "1d", "--once"]
    assert main([*words, "--command", f"{sys.executable} {keep} '{got}'"]) == 0
    given, alert = json.loads(got.read_text())
    assert (given, alert["command"]) == ([str(got)], "pytest -q")


def test_a_watch_needs_a_fleet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path))
    assert main(["fleet", "watch", "--once"]) == 2
    assert "no fleet is named" in capfd.readouterr().err


def test_the_dashboard_shows_each_figure_and_no_other() -> None:
    board = json.loads((Path(__file__).parents[3] / "docs/fleet/grafana.json").read_text())
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    assert set(re.findall(r"sightline_\w+", " ".join(asked))) == {one.name for one in METRICS}
    assert all('{host=~"$host",team=~"$team"}' in one for one in asked)
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    for panel in board["panels"]:  # as Grafana's schema of dashboards demands, version 39
        assert panel.keys() >= {"id", "type", "title", "gridPos", "datasource", "targets", "fieldConfig", "options"}
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
    assert [one["name"] for one in board["templating"]["list"]] == ["source", "team", "host"]
