"""The conformance suite of MCP's authors, over HTTP: what does not pass needs fixtures, or is not declared.

`README.md` beside this says how to run it, and lists what its scenarios need.
"""

import json
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests import node_peers

SUITE = "@modelcontextprotocol/conformance"
SECONDS = 200
PASSING = {
    *("server-initialize", "ping", "tools-list", "resources-list", "server-sse-polling", "server-sse-multiple-streams"),
    "dns-rebinding-protection",
}
NOT_DECLARED = {
    *("logging-set-level", "tools-call-with-logging", "prompts-list", "prompts-get-simple", "prompts-get-with-args"),
    *("prompts-get-embedded-resource", "prompts-get-with-image"),
}
"""They call methods of prompts and logging, which the server does not declare."""

_FIXTURE = re.compile(r"\btest_\w+|\btest://\S+|\bjson_schema_2020_12_tool\b")
"""Names of what a server under test is to have besides its own."""

pytestmark = [pytest.mark.peers_node, pytest.mark.xdist_group("conformance")]


def test_all_that_it_declares_conforms_as_far_as_no_fixture_is_needed(tmp_path: Path) -> None:
    suite = node_peers.program(SUITE)
    environment = {"PATH": node_peers.path(), "HOME": str(tmp_path), "SIGHTLINE_HOME": str(tmp_path / "store")}
    sightline = [sys.executable, "-m", "sightline.doors.cli.main"]
    subprocess.run([*sightline, "run", "-c", "seq 1 9"], env=environment, capture_output=True, check=True)
    server = subprocess.Popen(
        [*sightline, "mcp", "--http", "--no-token", "--port", "0"], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout
        (url,) = re.findall(r"http://\S+", server.stdout.readline())
        _run(suite, url, tmp_path, tmp_path / "out", environment)
    finally:
        server.terminate()
        server.communicate(timeout=SECONDS)
    failures = _failures(tmp_path / "out")
    assert {scenario for scenario, told in failures.items() if not told} >= PASSING
    unexplained = {
        scenario: told
        for scenario, told in failures.items()
        if any(not (_FIXTURE.search(one) or (scenario in NOT_DECLARED and "Method not found" in one)) for one in told)
    }
    assert unexplained == {}


def _run(suite: str, url: str, folder: Path, into: Path, environment: dict[str, str]) -> None:
    subprocess.run(
        [node_peers.node(), suite, "server", "--url", url, "--suite", "all", "-o", str(into)],
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,  # it ends with 1 where a scenario fails
    )


def _failures(folder: Path) -> dict[str, list[str]]:
    """What went wrong in each scenario; nothing in those that pass."""
    failures: dict[str, list[str]] = {}
    for checks in folder.glob("*/checks.json"):
        scenario = re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT.*$", r"\1", checks.parent.name)
        told = [one for one in json.loads(checks.read_text()) if one["status"] == "FAILURE"]
        failures[scenario] = [str(one.get("errorMessage")) for one in told]
    return failures


class _Bridge(BaseHTTPRequestHandler):
    """Gives each request over HTTP to a process as a line, since the suite speaks HTTP only, and the proxy does not."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server: Any = self.server
        with server.turn:
            server.process.stdin.write(json.dumps(message).encode() + b"\n")
            server.process.stdin.flush()
            answer: Any = None
            while "id" in message and "method" in message and (answer or {}).get("id") != message["id"]:
                answer = json.loads(server.process.stdout.readline())
        body = json.dumps(answer).encode() if answer else b""
        self.send_response(200 if answer else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_response(405)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _outcome(words: list[str], folder: Path) -> dict[str, list[str]]:
    """What the suite says of a server that is started so."""
    suite, environment = node_peers.program(SUITE), {"PATH": node_peers.path(), "HOME": str(folder)}
    folder.mkdir()
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Bridge)
    server.process, server.turn = process, threading.Lock()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        _run(suite, f"http://127.0.0.1:{server.server_port}/mcp", folder, folder / "out", environment)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        process.communicate(timeout=SECONDS)
    return _failures(folder / "out")


def test_a_server_behind_the_proxy_passes_what_it_passes_without_it(tmp_path: Path) -> None:
    fixtures = [sys.executable, str(Path(__file__).with_name("fixture_server.py"))]
    proxied = [sys.executable, "-m", "sightline.doors.cli.main", "proxy", "--", *fixtures]
    alone, behind = _outcome(fixtures, tmp_path / "alone"), _outcome(proxied, tmp_path / "behind")
    passing = {scenario for scenario, told in alone.items() if not told}
    assert {scenario for scenario, told in behind.items() if not told} == passing
    assert passing >= {"tools-call-simple-text", "tools-call-image", "tools-call-mixed-content", "resources-subscribe"}
    assert passing >= {"completion-complete", "resources-read-text", "resources-read-binary", "tools-call-error"}
