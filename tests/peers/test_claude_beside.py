"""Claude Code beside a hook of the person's own, which changes, refuses, asks or allows: outcomes are as without us."""

import re
from pathlib import Path

import pytest

from tests.peers.harnesses import Run
from tests.peers.installed import INSTALLED, Outcome, play
from tests.peers.scripted_model import Step, Use

pytestmark = [pytest.mark.peers_node, pytest.mark.xdist_group("claude-code")]

ONE = INSTALLED["claude-code"]
HOOK = """
import json, sys, time
given = json.load(sys.stdin)
command = given["tool_input"]["command"]
time.sleep({delay})
said = {{}}
if "rm " in command:
    said = {{"updatedInput": {{**given["tool_input"], "command": command.replace("rm ", "echo kept ")}}}}
for word in ("deny", "ask", "allow"):
    if "please " + word in command:
        said = {{"permissionDecision": word, "permissionDecisionReason": "so it is"}}
if said:
    print(json.dumps({{"hookSpecificOutput": {{"hookEventName": "PreToolUse", **said}}}}))
"""
COMMANDS = (
    *("rm a; seq 3", "rm b && sh -c 'seq 1 20000; exit 3'", "echo please deny", "echo please ask"),
    *("mkdir please allow; seq 1 20000; exit 3", "for i in 1 2 3; do echo rm it; done | tail -2", "touch x"),
)
WHOLE = "".join(f"{number}\n" for number in range(1, 20_001))


def _play(mode: str, delay: float, scope: str, home: Path) -> Outcome:
    def rules(run: Run) -> None:
        (run.home / "hook.py").write_text(HOOK.format(delay=delay))
        hook = {"type": "command", "command": f"python3 {run.home / 'hook.py'}"}
        run.change(f"{scope}.claude/settings.json", {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}})
        allowed = ["Bash(echo:*)", "Bash(seq:*)", "Bash(sh:*)"]
        run.change(".claude/settings.json", {"permissions": {"allow": allowed, "deny": ["Bash(touch:*)"]}})

    home.mkdir()
    steps: list[Step] = [
        lambda _, command=command: Use("Bash", {"description": "a step", "command": command}, ours=False)
        for command in COMMANDS
    ]
    return play(ONE._replace(rules=rules), mode, home, steps, results=len(COMMANDS))


@pytest.mark.parametrize("scope", ["", "project/"], ids=["user", "project"])
@pytest.mark.parametrize("delay", [0, 0.02, 0.3, 1.5])
def test_what_a_persons_own_hook_decides_is_what_happens(delay: float, scope: str, tmp_path: Path) -> None:
    alone, kept = (_play(mode, delay, scope, tmp_path / (mode or "alone")) for mode in ("", "keep"))
    numbers = re.compile(r"\b\d{4,}\b|/\S*/project")
    shown = [[numbers.sub("", one.shown(place)) for place in range(len(COMMANDS))] for one in (alone, kept)]
    assert shown[1] == shown[0]
    assert shown[1][0] == "kept a\n1\n2\n3"
    assert kept.made == alone.made
    assert kept.streams["echo kept b && sh -c 'seq 1 20000; exit 3'"] == f"kept b\n{WHOLE}"
    assert not any(buffer.partial for buffer in kept.buffers.values())
    assert kept.mishaps == ""
