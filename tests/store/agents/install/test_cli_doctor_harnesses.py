"""``sightline doctor`` tries what is installed in harnesses, and says what it found."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.install.harness_health import program_of
from sightline.agents.install.probe import probe_hooks
from sightline.harnesses import known
from sightline.settings.plugins import Plugins, write_plugins

IN_PROCESS = True


def _told(cli: Any, about: str, **environment: str) -> list[tuple[str, str]]:
    """Level and text of each finding about a harness."""
    path = f"{cli.folder / 'bin'}:/usr/bin:/bin"
    findings = cli("doctor", "--json", PATH=path, **environment).data
    return [(one["level"], one["text"]) for one in findings if about in one["text"]]


def _program(folder: Path, name: str, says: str) -> Path:
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def test_what_is_installed_is_tried_and_told_with_mode_scope_and_version(cli: Any) -> None:
    tried = known()["claude-code"].seen
    _program(cli.folder, "claude", f"{tried} (Claude Code)")
    cli.environment["HOME"] = str(cli.folder / "home")
    cli("install", "claude-code", "--mode", "shape")
    cli("install", "claude-code", "--scope", "project", "--mode", "record")
    told = _told(cli, "Claude Code")
    assert told[0] == ("ok", f"Claude Code {tried}, user: installed, mode shape")
    assert ("ok", f"Claude Code {tried}, this folder: installed, mode record") in told
    assert sum("the MCP server answered" in text for _, text in told) == 2
    assert sum("hooks answered" in text for _, text in told) == 2
    assert {level for level, _ in told} == {"ok"}


@pytest.mark.parametrize(("version", "told"), [("99.0.1", "newer"), ("0.9.1", "older")])
def test_a_version_that_is_newer_or_older_than_the_tried_one_is_told(cli: Any, version: str, told: str) -> None:
    _program(cli.folder, "claude", version)
    cli("install", "claude-code")
    tried = known()["claude-code"].seen
    text = f"Claude Code {version} is {told} than {tried}, with which Sightline was tried; what it gives may differ"
    assert ("note", text) in _told(cli, "Claude Code")


def test_the_probe_call_came_through_to_this_store_and_the_hooks_left_nothing(cli: Any) -> None:
    cli("install", "codex")
    assert not [text for level, text in _told(cli, "Codex") if level == "problem"]
    sessions = cli("sessions", "--json").data
    assert [session["name"] for session in sessions] == ["doctor"]
    assert cli("list", "--json").data == []


def test_the_hook_of_opencode_s_plugin_is_tried(cli: Any) -> None:
    cli("install", "opencode", "--mode", "shape")
    plugin = cli.folder / ".config/opencode/plugins/sightline.js"
    told = _told(cli, "opencode, user")
    assert told[0][1].startswith("opencode, user: installed, mode shape")
    assert any("hooks answered a probe call" in text for _, text in told)
    plugin.write_text(plugin.read_text().replace("/python", "/no-python"))
    assert any("hooks did not answer" in text for level, text in _told(cli, "opencode, user") if level == "problem")


@pytest.mark.parametrize("name", [".mcp.json", ".claude/settings.json"])
def test_what_a_folder_would_start_is_not_tried_unless_it_is_what_we_write(cli: Any, name: str) -> None:
    """Else looking into somebody's repository would run what they like."""
    cli.environment["HOME"] = str(cli.folder / "home")
    cli("install", "claude-code", "--scope", "project")
    program = _program(cli.folder, "evil", "")
    program.write_text(f"#!/bin/sh\ntouch '{cli.folder}/ran'\n")
    path = cli.folder / name
    path.write_text(path.read_text().replace(sys.executable, str(program)))
    told = _told(cli, "Claude Code, this folder")
    assert (
        "note",
        "Claude Code, this folder: not tried, since it would start what this version of us has not written",
    ) in told
    assert not (cli.folder / "ran").exists()


@pytest.mark.parametrize(
    ("harness", "path", "more", "told"),
    [
        ("claude-code", ".claude/settings.json", {"disableAllHooks": True}, "turned off by disableAllHooks"),
        ("gemini", ".gemini/settings.json", {"hooksConfig": {"enabled": False}}, "turned off by hooksConfig.enabled"),
    ],
)
def test_hooks_that_are_turned_off_altogether_are_a_problem(
    cli: Any, harness: str, path: str, more: dict[str, Any], told: str
) -> None:
    (cli.folder / path).parent.mkdir()
    (cli.folder / path).write_text(json.dumps(more))
    cli("install", harness)
    assert [level for level, text in _told(cli, told)] == ["problem"]


def test_harnesses_that_do_not_know_of_us_are_told_with_what_to_do(cli: Any) -> None:
    _program(cli.folder, "codex", "codex-cli 0.169.0")
    assert _told(cli, "Codex") == [
        ("note", "harnesses that are here and do not know of Sightline: Codex 0.169.0 (`sightline install codex`)")
    ]


def test_a_harness_that_is_gone_is_noted(cli: Any) -> None:
    cli("install", "vscode")
    told = _told(cli, "VS Code")
    assert told[0] == ("note", "VS Code, user: installed, no hooks; the program is not on the PATH")
    assert told[1][0] == "ok"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["/no/such/sightline", "mcp"], "/no/such/sightline cannot be started: No such file"),
        (
            ["PYTHON", "-m", "sightline.doors.cli.main", "mcp", "--root", "/no/such/folder"],
            "name a folder that exists",
        ),
    ],
)
def test_a_server_that_does_not_start_is_a_problem(cli: Any, words: list[str], told: str) -> None:
    cli("install", "vscode")
    path = cli.folder / ".config/Code/User/mcp.json"
    settings = json.loads(path.read_text())
    server = settings["servers"]["sightline"]
    server["command"], *server["args"] = [server["command"] if word == "PYTHON" else word for word in words]
    path.write_text(json.dumps(settings))
    found = _told(cli, "VS Code")
    assert any(level == "problem" and told in text for level, text in found)
    assert cli("doctor").code == 1


def test_hooks_of_an_interpreter_that_is_gone_are_a_problem(cli: Any) -> None:
    cli("install", "claude-code")
    path = cli.folder / ".claude/settings.json"
    path.write_text(path.read_text().replace("/python", "/no-python"))
    problems = [text for level, text in _told(cli, "Claude Code") if level == "problem"]
    assert any("hooks did not answer a probe call" in text for text in problems)
    assert any(
        "not as it was installed: " in text and "`sightline install claude-code` mends" in text for text in problems
    )
    cli("install", "claude-code")
    assert not [text for level, text in _told(cli, "Claude Code") if level == "problem"]


def test_settings_that_cannot_be_read_are_a_problem_and_the_others_are_still_tried(cli: Any) -> None:
    (cli.folder / ".claude.json").write_text("{")
    cli("install", "cursor")
    assert [level for level, _ in _told(cli, "Claude Code")] == ["problem"]
    assert any("the MCP server answered" in text for _, text in _told(cli, "Cursor"))


def test_the_version_of_a_packaged_program_is_told_by_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Starting it would take seconds."""
    package = tmp_path / "node_modules" / "@google" / "gemini-cli"
    (package / "bundle").mkdir(parents=True)
    (package / "package.json").write_text('{"version": "0.61.0", "bin": {"gemini": "bundle/gemini.js"}}')
    program = package / "bundle" / "gemini.js"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    (tmp_path / "gemini").symlink_to(program)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin")
    assert program_of(known()["gemini"]).version == "0.61.0"


@pytest.mark.parametrize("said", ["no number here", ""])
def test_a_program_that_does_not_tell_its_version_is_found_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    path = _program(tmp_path, "codex", said)
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}/usr/bin:/bin")
    assert program_of(known()["codex"]) == (str(path), "")


def test_a_hook_is_tried_with_what_the_store_knows_of_other_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path))
    write_plugins(str(tmp_path), Plugins(harnesses={"other": "package.module:HARNESS"}))
    ((_, tried),) = probe_hooks(
        "claude-code", (("PostToolUse", 'grep -q package.module "$SIGHTLINE_HOME/plugins.json"'),)
    )
    assert tried.wrong == ""
