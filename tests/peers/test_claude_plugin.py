"""The plugin that we make, as Claude Code itself judges and uses it."""

import subprocess
from pathlib import Path

import pytest

from tests import node_peers
from tests.peers.harnesses import NOWHERE, Run
from tests.peers.installed import INSTALLED, play, sightline
from tests.peers.scripted_model import Step, Use

pytestmark = pytest.mark.peers_node

PACKAGE = "@anthropic-ai/claude-code"


@pytest.mark.parametrize("mode", ["record", "keep", "shape"])
def test_it_is_valid(tmp_path: Path, mode: str) -> None:
    sightline(tmp_path, "install", "claude-code", "--plugin", str(tmp_path / "plugin"), "--mode", mode)
    done = subprocess.run(
        [node_peers.program(PACKAGE), "plugin", "validate", "--strict", "--json", str(tmp_path / "plugin")],
        env={"PATH": node_peers.path(), "HOME": str(tmp_path), "HTTPS_PROXY": NOWHERE, "HTTP_PROXY": NOWHERE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_server_and_its_hooks_work(tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    sightline(tmp_path, "install", "claude-code", "--plugin", str(plugin))
    one = INSTALLED["claude-code"]
    prepare = one.harness.prepare

    def with_plugin(run: Run) -> tuple[list[str], dict[str, str]]:
        arguments, environment = prepare(run)
        return ["--plugin-dir", str(plugin), *arguments], environment

    allowed = {"permissions": {"allow": ["Bash(echo:*)", "mcp__plugin_sightline_sightline"]}}
    one = one._replace(
        harness=one.harness._replace(prepare=with_plugin),
        rules=lambda run: run.change(".claude/settings.json", allowed),
    )
    steps: list[Step] = [
        lambda _: one.shell("echo short é"),
        lambda _: Use("mcp__plugin_sightline_sightline__run_command", {"command": "echo two é"}, ours=False),
    ]
    outcome = play(one, "plugin", tmp_path, steps, results=2)
    assert not outcome.mishaps
    assert [text.rstrip("\n") for text in outcome.streams.values()] == ["two é", "short é"]
    assert [view.text.rstrip("\n") for view in outcome.views] == ["short é", '{"exit_code":0}\ntwo é']
