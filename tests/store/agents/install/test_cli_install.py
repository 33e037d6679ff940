"""``sightline install`` and ``uninstall`` as a person calls them: files found, changed, kept and brought back."""

import json
import os
import shlex
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.install import installation as installing
from sightline.agents.install import settings_file as files
from sightline.agents.install.errors import SettingsBusy, SettingsReadOnly
from sightline.agents.install.harness_settings import Where, installable, places_of, targets_of
from sightline.agents.install.installation_record import Record
from sightline.harnesses.claude_code import HARNESS
from tests.store.doors.test_cli_terminal import Terminal

IN_PROCESS = True

SETTINGS = (
    '{\n  // mine\n  "model": "opus",\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]},\n}\n'
)


def _tree(cli: Any) -> dict[str, bytes]:
    """Every file outside of the store."""
    return {
        str(path.relative_to(cli.folder)): path.read_bytes()
        for path in sorted(cli.folder.rglob("*"))
        if path.is_file() and cli.home not in path.parents
    }


def _write(cli: Any, name: str, text: str) -> Path:
    path = cli.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return Path(path)


@pytest.fixture
def settings(cli: Any) -> Path:
    """Settings of Claude Code that a person wrote."""
    return _write(cli, ".claude/settings.json", SETTINGS)


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("harness", installable())
def test_installing_twice_changes_nothing_and_uninstalling_leaves_nothing(cli: Any, harness: str, scope: str) -> None:
    cli.environment["HOME"] = str(cli.folder / "home" if scope == "project" else cli.folder)
    first = cli("install", harness, "--scope", scope)
    assert first.code == 0, first.err
    assert "+" in first.out
    tree = _tree(cli)
    assert tree
    again = cli("install", harness, "--scope", scope)
    assert again.out.endswith("everything is there already\n")
    assert _tree(cli) == tree
    assert cli("uninstall", harness, "--scope", scope).out.endswith("removed\n")
    assert not _tree(cli)
    assert [path for path in cli.folder.iterdir() if path != cli.home] == []
    assert cli("uninstall", harness, "--scope", scope).out.endswith("there was nothing to remove\n")


def test_what_was_there_stays_is_backed_up_and_comes_back_to_the_byte(cli: Any, settings: Path) -> None:
    settings.chmod(0o640)
    done = cli("install", "claude-code", "--json").data
    entry = next(file for file in done["files"] if file["path"] == str(settings))
    assert Path(entry["backup"]).read_text() == SETTINGS
    assert stat.S_IMODE(Path(entry["backup"]).stat().st_mode) == 0o600
    assert "// mine" in settings.read_text()
    assert "beep" in settings.read_text()
    assert stat.S_IMODE(settings.stat().st_mode) == 0o640
    cli("uninstall", "claude-code")
    assert settings.read_text() == SETTINGS
    assert stat.S_IMODE(settings.stat().st_mode) == 0o640


def test_modes_follow_each_other_and_the_way_back_is_the_same(cli: Any, settings: Path) -> None:
    for mode in ("record", "shape", "keep"):
        cli("install", "claude-code", "--mode", mode)
        assert settings.read_text().count(f"--mode {mode}") == settings.read_text().count("--mode ")
    assert cli("install", "claude-code").out.endswith("everything is there already\n"), "the mode stays"
    cli("uninstall", "claude-code")
    assert settings.read_text() == SETTINGS


def test_later_edits_survive_a_change_of_mode_and_the_uninstalling(cli: Any, settings: Path) -> None:
    cli("install", "claude-code")
    settings.write_text(settings.read_text().replace('"opus"', '"haiku" /* cheap */'))
    cli("install", "claude-code", "--mode", "shape")
    assert "--mode keep" not in settings.read_text()
    settings.write_text(settings.read_text().replace('"beep"', '"beep twice"'))
    cli("uninstall", "claude-code")
    assert settings.read_text() == SETTINGS.replace('"opus"', '"haiku" /* cheap */').replace('"beep"', '"beep twice"')


@pytest.mark.parametrize("mode", ["keep", "shape"])
@pytest.mark.parametrize(
    "around",
    [
        *("{home} nice {line}", "{home} ionice -c 3 nice -n 5 {line}", "env {home} {line}", "{home} timeout 9 {line}"),
        *("sh -c {quoted}", "nice sh -c {quoted}", "{home} bash -lc {inner}"),
    ],
)
def test_uninstalling_removes_hooks_that_a_person_has_put_behind_another_program(
    around: str, mode: str, cli: Any, settings: Path
) -> None:
    own = {"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}}
    settings.write_text(json.dumps(own))
    cli("install", "claude-code", "--mode", mode)
    told = json.loads(settings.read_text())
    wrapped = 0
    for group in (group for groups in told["hooks"].values() for group in groups):
        for hook in group["hooks"]:
            home = f"SIGHTLINE_HOME={shlex.quote(str(cli.home))}"
            if (line := hook["command"].removeprefix(f"{home} ")) != hook["command"]:
                words = {"quoted": shlex.quote(hook["command"]), "inner": shlex.quote(line)}
                hook["command"] = around.format(home=home, line=line, **words)
                wrapped += 1
    assert wrapped == sum(mode in hook.modes for hook in HARNESS.hooks)
    settings.write_text(json.dumps(told))
    cli("uninstall", "claude-code")
    assert json.loads(settings.read_text()) == own
    assert [path for path in settings.parent.iterdir() if path != settings] == []


def test_uninstalling_works_where_the_store_has_forgotten(cli: Any, settings: Path) -> None:
    cli("install", "claude-code")
    ran = cli("uninstall", "claude-code", SIGHTLINE_HOME=str(cli.folder / "a store too"))
    assert ran.code == 0
    assert "sightline" not in settings.read_text()
    assert "beep" in settings.read_text()


def test_a_dry_run_shows_all_and_writes_nothing(cli: Any, settings: Path) -> None:
    ran = cli("install", "claude-code", "--dry-run")
    assert ran.code == 0
    assert "+++ ~/.claude/settings.json" in ran.out
    assert "this would be installed" in ran.out
    assert _tree(cli) == {".claude/settings.json": SETTINGS.encode()}
    assert not cli.home.exists()


def test_the_server_is_started_by_this_interpreter_and_told_of_this_store(cli: Any) -> None:
    cli("install", "codex")
    (server,) = tomllib.loads((cli.folder / ".codex/config.toml").read_text())["mcp_servers"].values()
    assert server["command"] == sys.executable
    assert server["required"] is True
    assert server["env"] == {"SIGHTLINE_HOME": str(cli.home)}
    commands = [
        hook["command"]
        for groups in json.loads((cli.folder / ".codex/hooks.json").read_text())["hooks"].values()
        for group in groups
        for hook in group["hooks"]
    ]
    assert commands
    assert all(
        command.startswith(f"SIGHTLINE_HOME='{cli.home}' {shlex.quote(sys.executable)} ") for command in commands
    )


def test_other_places_that_harnesses_are_told_of_are_used(cli: Any) -> None:
    elsewhere = str(cli.folder / "else")
    cli("install", "claude-code", CLAUDE_CONFIG_DIR=elsewhere)
    cli("install", "codex", CODEX_HOME=elsewhere)
    assert set(_tree(cli)) == {
        f"else/{name}" for name in (".claude.json", "settings.json", "sightline-capture", "config.toml", "hooks.json")
    }


def test_links_stay_and_what_they_point_to_is_changed(cli: Any) -> None:
    dotfiles = _write(cli, "dotfiles/settings.json", SETTINGS)
    link = cli.folder / ".claude" / "settings.json"
    link.parent.mkdir()
    link.symlink_to("../dotfiles/settings.json")
    cli("install", "claude-code")
    assert link.is_symlink()
    assert "PostToolUse" in dotfiles.read_text()
    cli("uninstall", "claude-code")
    assert link.is_symlink()
    assert dotfiles.read_text() == SETTINGS


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (".claude.json", '{"mcpServers": {', ".claude.json is not JSON: line 1, column 17"),
        (".claude/settings.json", '{"hooks": []}', "settings.json: hooks is no object"),
        (".claude.json", "[]", ".claude.json: the whole is no object"),
    ],
)
def test_settings_that_are_no_settings_are_named_and_nothing_is_written(
    cli: Any, name: str, text: str, told: str
) -> None:
    _write(cli, name, text)
    ran = cli("install", "claude-code")
    assert ran.code == 1
    assert told in ran.err
    assert "nothing was changed" in ran.err
    assert _tree(cli) == {name: text.encode()}


def test_settings_in_another_encoding_are_left_alone(cli: Any, settings: Path) -> None:
    settings.write_bytes('{"a": "é"}'.encode("latin-1"))
    ran = cli("install", "claude-code")
    assert ran.code == 1
    assert "is not UTF-8" in ran.err
    assert settings.read_bytes() == '{"a": "é"}'.encode("latin-1")


@pytest.mark.parametrize("kind", ["folder", "loop", "fifo"])
def test_what_is_no_file_is_told(cli: Any, kind: str) -> None:
    path = cli.folder / ".claude.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(".claude.json")
    else:
        os.mkfifo(path)
    ran = cli("install", "claude-code")
    assert ran.code == 1
    assert str(path) in ran.err
    assert not (cli.folder / ".claude").exists()


def test_read_only_settings_are_not_written(cli: Any, settings: Path) -> None:
    settings.chmod(0o444)
    ran = cli("install", "claude-code")
    assert ran.code == 1
    assert "is read-only" in ran.err
    assert "--dry-run" in ran.err
    assert _tree(cli) == {".claude/settings.json": SETTINGS.encode()}
    assert cli("install", "claude-code", "--dry-run").code == 1


def _targets(folder: Path) -> tuple[list[Any], Record]:
    places = places_of(HARNESS, "user", Where(str(folder), str(folder), {}))
    return targets_of(HARNESS, "keep", places, ""), Record(str(folder / "root"), "claude-code-user", places.all)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    (tmp_path / ".claude.json").write_text("{}")
    return tmp_path


def test_an_edit_at_the_same_moment_wins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claude Code writes this file itself, again and again."""
    check = files.check_writable

    def meanwhile(found: files.SettingsFile) -> None:
        check(found)
        (folder / ".claude.json").write_text('{"their": 1}')

    monkeypatch.setattr(installing, "check_writable", meanwhile)
    with pytest.raises(SettingsBusy, match="changed by someone else"):
        installing.install(*_targets(folder))
    assert (folder / ".claude.json").read_text() == '{"their": 1}'
    assert not list(folder.rglob("*.tmp"))


def test_where_one_file_cannot_be_written_the_others_are_taken_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def full(source: str, target: str) -> None:
        if target.endswith("settings.json"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(SettingsReadOnly, match="No space left"):
        installing.install(*_targets(folder))
    assert (folder / ".claude.json").read_text() == "{}"
    assert not list(folder.rglob("*.tmp"))
    monkeypatch.undo()
    installing.uninstall(*_targets(folder))
    assert (folder / ".claude.json").read_text() == "{}"


def test_a_folder_whose_settings_are_the_person_s_own_is_no_project(cli: Any) -> None:
    ran = cli("install", "claude-code", "--scope", "project")
    assert ran.code == 2
    assert "leave --scope out" in ran.err
    assert not _tree(cli)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("install", "emacs"), "claude-code, cline, codex"),
        (("install", "codex", "--mode", "all"), "record, keep, shape"),
        (("uninstall", "codex", "--scope", "team"), "user, project"),
        (("install", "codex", "--plugin", "x"), "--plugin can only be used with claude-code"),
    ],
)
def test_a_wrong_word_is_told_with_those_that_are_right(cli: Any, words: tuple[str, ...], told: str) -> None:
    ran = cli(*words)
    assert ran.code == 2
    assert told in ran.err.replace("'", "")


@pytest.mark.parametrize("harness", installable())
def test_whatever_the_umask_nothing_is_made_that_others_may_write_to(cli: Any, harness: str) -> None:
    cli.environment["SIGHTLINE_HOME"] = str(cli.folder / "state" / "deep" / "sightline")
    before = os.umask(0)
    try:
        assert cli("install", harness).code == 0
        assert cli("run", "-c", "true").code == 0
    finally:
        os.umask(before)
    made = [path for path in cli.folder.rglob("*") if not path.is_symlink()]
    assert made
    assert [path for path in made if path.stat().st_mode & 0o022] == []


def test_a_persons_own_rule_stays_even_where_it_is_not_known_any_more_what_was_installed(cli: Any) -> None:
    rules = ["Bash(set -o pipefail)", "Bash(sightline:*)", "Bash(sightline capture:*)"]
    settings = _write(cli, ".claude/settings.json", json.dumps({"permissions": {"allow": rules}}))
    assert cli("install", "claude-code", "--mode", "keep").code == 0
    for record in (cli.home / "installed").rglob("record.json"):
        record.unlink()
    assert cli("uninstall", "claude-code").code == 0
    assert json.loads(settings.read_text())["permissions"]["allow"] == rules


@pytest.fixture
def machine(cli: Any) -> Any:
    """The programs of two harnesses, and the settings of a third; the folder of a fourth tells nothing."""
    for name in ("codex", "opencode"):
        program = _write(cli, f"bin/{name}", "#!/bin/sh\necho 1.2.3\n")
        program.chmod(0o755)
    _write(cli, ".cursor/mcp.json", '{"mcpServers": {}}\n')
    (cli.folder / ".claude").mkdir()
    cli.environment["PATH"] = f"{cli.folder / 'bin'}:/usr/bin:/bin"
    return cli


def test_without_a_name_and_with_yes_every_harness_found_gets_ours_and_loses_it_to_the_byte(machine: Any) -> None:
    before = _tree(machine)
    ran = machine("install", "--yes")
    assert ran.code == 0, ran.err
    for title in ("Codex, user, mode keep", "opencode, user, mode keep", "Cursor, user, mode keep"):
        assert f"{title}: installed" in ran.out
    assert "Claude Code" not in ran.out
    assert ran.out.count("`sightline doctor` tries it") == 1
    for name in ("codex", "opencode", "cursor"):
        assert machine("uninstall", name).code == 0
    assert _tree(machine) == before


def test_without_a_name_it_asks_about_each_after_showing_its_change(machine: Any) -> None:
    terminal = Terminal(machine, "install")
    terminal.until("install for Codex 1.2.3, found by ~/bin/codex? [y/N] ")
    assert "~/.codex/config.toml" in terminal.text
    terminal.press(b"\n")
    terminal.until("install for Cursor, found by ~/.cursor/mcp.json? [y/N] ")
    terminal.press(b"y\n")
    terminal.until("install for opencode 1.2.3, found by ~/bin/opencode? [y/N] ")
    terminal.press(b"n\n")
    terminal.until("hide secrets of known formats")
    terminal.press(b"n\n")
    assert terminal.end() == 0
    assert "Cursor, user, mode keep: installed" in terminal.text
    assert not (machine.folder / ".codex").exists()
    assert not (machine.folder / ".config").exists()
    assert "sightline" in (machine.folder / ".cursor/mcp.json").read_text()


def test_where_nobody_can_be_asked_it_lists_what_it_found_and_changes_nothing(machine: Any) -> None:
    before = _tree(machine)
    ran = machine("install")
    assert ran.code == 2
    assert ran.err.splitlines() == [
        "Codex 1.2.3, found by ~/bin/codex",
        "Cursor, found by ~/.cursor/mcp.json",
        "opencode 1.2.3, found by ~/bin/opencode",
        "to install for all of them: `sightline install --yes`, or name one",
    ]
    assert _tree(machine) == before
    assert machine("install", "--dry-run").out.count("this would be installed") == 3
    assert _tree(machine) == before


def test_settings_of_one_harness_that_cannot_be_changed_keep_no_other_from_being_changed(machine: Any) -> None:
    _write(machine, ".codex/config.toml", "= broken")
    ran = machine("install", "--yes", "--json")
    assert ran.code == 1
    assert "config.toml is not TOML" in ran.err
    assert [one["harness"] for one in ran.data] == ["cursor", "opencode"]


def test_without_a_name_and_any_harness_that_is_told(cli: Any) -> None:
    ran = cli("install", "--yes", PATH="/nowhere")
    assert (ran.code, ran.out) == (0, "")
    assert "no harness was found on this machine: name one of claude-code, cline, codex" in ran.err
    assert not _tree(cli)


@pytest.mark.parametrize(
    ("words", "told"), [(("--json",), "add --yes or --dry-run"), (("--plugin", "x"), "needs a name")]
)
def test_without_a_name_what_needs_one_is_refused(machine: Any, words: tuple[str, ...], told: str) -> None:
    ran = machine("install", *words)
    assert ran.code == 2
    assert told in ran.err
