"""The conformance suite of MCP's authors, over HTTP: what does not pass needs fixtures, or is not declared.

`README.md` beside this says how to run it, and lists what its scenarios need.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

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
        subprocess.run(
            [node_peers.node(), suite, "server", "--url", url, "--suite", "all", "-o", str(tmp_path / "out")],
            env=environment,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,  # it ends with 1 where a scenario fails
        )
    finally:
        server.terminate()
        server.communicate(timeout=SECONDS)
    failures: dict[str, list[str]] = {}
    for checks in (tmp_path / "out").glob("*/checks.json"):
        scenario = re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT.*$", r"\1", checks.parent.name)
        told = [one for one in json.loads(checks.read_text()) if one["status"] == "FAILURE"]
        failures[scenario] = [str(one.get("errorMessage")) for one in told]
    assert {scenario for scenario, told in failures.items() if not told} >= PASSING
    unexplained = {
        scenario: told
        for scenario, told in failures.items()
        if any(not (_FIXTURE.search(one) or (scenario in NOT_DECLARED and "Method not found" in one)) for one in told)
    }
    assert unexplained == {}
