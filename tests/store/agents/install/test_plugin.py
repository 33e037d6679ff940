"""The plugin for Claude Code: a folder that says the same as the settings would."""

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from sightline.harnesses.base import MODES
from sightline.harnesses.claude_code import HARNESS


def _json(path: Path) -> Any:
    return json.loads(path.read_text())


@pytest.mark.parametrize("mode", MODES)
def test_it_has_the_server_and_the_hooks_of_its_mode(cli: Any, mode: str) -> None:
    folder = cli.folder / "a plugin"
    assert cli("install", "claude-code", "--plugin", str(folder), "--mode", mode).code == 0
    cli("install", "claude-code", "--mode", mode)
    assert _json(folder / ".mcp.json")["mcpServers"] == _json(cli.folder / ".claude.json")["mcpServers"]
    hooks = json.dumps(_json(cli.folder / ".claude/settings.json")["hooks"])
    script = str(cli.folder / ".claude" / "sightline-capture")
    moved = hooks.replace(shlex.quote(script), shlex.quote(str(folder / "sightline-capture")))
    assert _json(folder / "hooks/hooks.json")["hooks"] == json.loads(moved)
    assert os.access(folder / "sightline-capture", os.X_OK) == os.access(script, os.X_OK) == (mode == "shape")
    manifest = _json(folder / ".claude-plugin/plugin.json")
    assert manifest["name"] == "sightline"
    assert f"mcp__plugin_{manifest['name']}_sightline__" in HARNESS.own
    assert len((folder / "README.md").read_text().split()) > 40


def test_only_a_mode_that_rewrites_commands_needs_rules_which_a_plugin_cannot_bring_along(cli: Any) -> None:
    ran = cli("install", "claude-code", "--plugin", "p")
    assert "mode keep" in ran.out
    assert "PreToolUse" not in (cli.folder / "p/hooks/hooks.json").read_text()
    assert "/permissions" not in ran.out + (cli.folder / "p/README.md").read_text()
    again = cli("install", "claude-code", "--plugin", "p", "--mode", "shape")
    assert "add it in /permissions: Bash(" in again.out
    assert "pipefail" in (cli.folder / "p/README.md").read_text()


def test_made_again_it_changes_nothing(cli: Any) -> None:
    cli("install", "claude-code", "--plugin", "p")
    assert not any(file["changed"] for file in cli("install", "claude-code", "--plugin", "p", "--json").data["files"])


def test_a_folder_with_something_else_in_it_is_not_touched(cli: Any) -> None:
    (cli.folder / "notes.txt").write_text("mine")
    ran = cli("install", "claude-code", "--plugin", str(cli.folder))
    assert ran.code == 1
    assert "holds something that is not ours" in ran.err
    assert [path.name for path in cli.folder.iterdir() if path != cli.home] == ["notes.txt"]


def test_a_dry_run_makes_nothing(cli: Any) -> None:
    assert "+++ ~/p/README.md" in cli("install", "claude-code", "--plugin", "p", "--dry-run").out
    assert not (cli.folder / "p").exists()
