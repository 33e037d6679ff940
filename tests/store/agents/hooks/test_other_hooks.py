"""Beside a hook that may change or allow a command, ours rewrites nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.hooks.before_tool import before_tool
from sightline.agents.hooks.capture_script import script
from sightline.agents.hooks.command_line import hook_line
from sightline.agents.hooks.error_log import last_errors
from sightline.harnesses import find
from tests.store.agents.hooks.hook_kit import Harness

USE = "toolu_use_of_the_first_call"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's home, with hooks of theirs that print what their names say."""
    home = tmp_path / "home"
    for name, text in {
        "log.sh": "#!/bin/sh\ncat >>log\n",
        "ask.py": 'print(\'{"permissionDecision": "ask"}\')\n',
        "trash.py": "print('{\"updatedInput\": {}}')\n",
        "permit.py": 'print(\'{"permissionDecision": "allow"}\')\n',
    }.items():
        path = home / "hooks of mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (home / ".claude").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return home


def _rewrites(claude: Harness, use: str = USE) -> str:
    """What the hook makes of a command in the mode that rewrites; empty where it leaves it alone."""
    through = claude.cwd / "sightline-capture"
    through.write_text(script(str(claude.root)))
    through.chmod(0o755)
    harness = find("claude-code")
    assert harness is not None
    told = {"tool_name": "Bash", "tool_use_id": use, "tool_input": {"command": "seq 9"}}
    answer = before_tool(
        harness, "PreToolUse", "shape", {**told, "session_id": "s1", "cwd": str(claude.cwd)}, str(through)
    )
    return str(answer["hookSpecificOutput"]["updatedInput"]["command"]) if answer else ""


def _settings(*commands: str) -> str:
    hooks: list[Any] = [{"matcher": "Bash", "hooks": [{"type": "command", "command": one}]} for one in commands]
    return json.dumps({"hooks": {"PreToolUse": hooks}})


@pytest.mark.parametrize("file", ["home/.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"])
@pytest.mark.parametrize(
    ("hook", "rewrites"),
    [
        ("sh '$HOME/hooks of mine/log.sh'", True),
        ("python3 '$HOME/hooks of mine/ask.py'", True),
        ("python3 '$HOME/hooks of mine/trash.py'", False),
        ("python3 '$HOME/hooks of mine/permit.py'", False),
        ("a-program-of-theirs --hook", False),
        ('echo \'{"permissionDecision": "allow"}\'', False),
        (f"SIGHTLINE_HOME='/a b' {hook_line('claude-code', 'PreToolUse', 'shape')}", True),
    ],
)
def test_only_beside_hooks_that_change_nothing_is_a_command_rewritten(
    hook: str, rewrites: bool, file: str, home: Path, claude: Harness, tmp_path: Path
) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_settings(hook.replace("'$HOME/", '"$HOME/').replace(".py'", '.py"').replace(".sh'", '.sh"')))
    assert bool(_rewrites(claude)) == rewrites


def test_once_another_command_ran_than_ours_the_session_rewrites_nothing_more(home: Path, claude: Harness) -> None:
    assert USE in _rewrites(claude)
    claude.after("echo harmless", USE, "harmless", 0)
    (buffer,) = claude.buffers()
    assert (buffer.command, claude.content(buffer)) == ("echo harmless", b"harmless")
    assert _rewrites(claude, "toolu_use_of_the_second_call") == ""
    assert "another command ran than ours, so no more is rewritten" in last_errors(str(claude.root), 1)[0]
