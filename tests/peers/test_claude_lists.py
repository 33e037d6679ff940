"""Lists of commands in Claude Code: what it decides of each, and what its model is shown, is as without us.

`README.md` beside this says how to run these, and what was seen.
"""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.peers.harnesses import Run
from tests.peers.installed import INSTALLED, Outcome, play
from tests.peers.scripted_model import Json, Step, Use
from tests.store.agents.hooks.test_lists import FILES, REWRITTEN

pytestmark = [pytest.mark.peers_node, pytest.mark.xdist_group("claude-code")]

ONE = INSTALLED["claude-code"]
COMMANDS = (
    *(command for command in REWRITTEN if "sleep 5" not in command),
    *("cd sub && touch x", "ls && rm a.txt", "rm -rf sub; ls", "cat a.txt && touch x", "./fail.sh 0 && mkdir z"),
    *("cd /etc && ls", "cd .. && ./project/fail.sh 3", "cat a.txt > ../x; ls", "cp a.txt /tmp/x && ls", "sudo ls; ls"),
    *("git status && git diff", "git log; git push", "curl http://127.0.0.1:9 && ls", "find . -delete; ls"),
    *("set -o pipefail; ls", "set -o pipefail && ./fail.sh 3", "set -euo pipefail; cat a.txt"),
    *('A=1; sh -c "echo $A"', "A=x && ./run.sh $A", "chmod +x run.sh && ./run.sh", "sed -i s/a/b/ a.txt && cat a.txt"),
)
_ASKS = re.compile(
    r"requires? (?:explicit |manual )?approval|needs approval|was blocked|can't be checked|confirmation|for security"
    r"|haven't granted it yet",
    re.I,
)
_DENIED = re.compile(r"has been denied|Permission to use Bash with command|was denied|denied by")

RULES: dict[str, tuple[Json, tuple[str, ...]]] = {
    "no rules": ({"deny": ["Bash(cat missing)"]}, ()),
    "programs by prefix": (
        {
            "allow": [f"Bash({name}:*)" for name in ("cat", "./fail.sh", "sh", "export", "seq", "source", "mkdir")],
            "deny": [f"Bash({name}:*)" for name in ("touch", "rm", "env", "./both.sh")],
            "ask": ["Bash(mkdir:*)"],
        },
        (),
    ),
    "whole commands": (
        {"allow": ["Bash(./fail.sh 3)", "Bash(./run.sh)", "Bash(cd sub)"], "deny": ["Bash(./fail.sh 2)"]},
        (),
    ),
    "edits accepted": (
        {"allow": ["Bash(./fail.sh:*)", "Bash(cat:*)"], "deny": ["Bash(ls:*)"], "ask": ["Bash(./run.sh:*)"]},
        ("--permission-mode", "acceptEdits"),
    ),
}

PLANNED = (
    *("set -o pipefail; ls", "ls && cat a.txt", "set -o pipefail && cat a.txt", "./fail.sh 3; ls", "cat a.txt > x; ls"),
    *(
        "touch x",
        "mkdir x && ls",
        "cd sub && ls",
        "./run.sh",
        "cat missing || ls",
        "git status; git diff",
        "ls; rm a.txt",
    ),
)
"""Of these few may run while a plan is made."""

SHARES = 4
"""A run has so many seconds, and on a busy machine each command may take half of one."""


def _played(commands: Sequence[str], rules: Json, flags: tuple[str, ...], mode: str, home: Path, shell: str) -> Outcome:
    def prepare(run: Run) -> tuple[list[str], dict[str, str]]:
        arguments, environment = ONE.harness.prepare(run)
        return [*arguments, *flags], {**environment, "SHELL": shell}

    def settings(run: Run) -> None:
        run.change(".claude/settings.json", {"permissions": rules})
        for name, text in FILES.items():
            path = run.project / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)

    home.mkdir()
    one = ONE._replace(rules=settings, harness=ONE.harness._replace(prepare=prepare))
    steps: list[Step] = [
        lambda _, command=command: Use("Bash", {"description": "a step", "command": command}, ours=False)
        for command in commands
    ]
    return play(one, mode, home, steps, results=len(commands))


def _decided(text: str) -> str:
    """What was decided, by what the model is shown; of what ran, that itself."""
    if _DENIED.search(text[:300]) and "requires approval" not in text[:300]:
        return "denied"
    return "asked" if _ASKS.search(text[:700]) else text


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("rules", RULES)
def test_rules_and_modes_decide_as_they_did_and_what_ran_is_shown_as_it_was(
    rules: str, share: int, tmp_path: Path
) -> None:
    _decides_alike(COMMANDS[share::SHARES], *RULES[rules], tmp_path)


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh")
@pytest.mark.parametrize("share", range(SHARES))
def test_in_zsh_they_decide_as_they_did_and_what_ran_is_shown_as_it_was(share: int, tmp_path: Path) -> None:
    _decides_alike(COMMANDS[share::SHARES], *RULES["programs by prefix"], tmp_path, str(shutil.which("zsh")))


def test_a_plan_runs_what_it_did(tmp_path: Path) -> None:
    """Claude Code ends a session that is refused several commands in a row, so each has a harmless one behind it."""
    rules: Json = {"allow": ["Bash(cat:*)", "Bash(./fail.sh:*)"], "deny": ["Bash(touch:*)"], "ask": ["Bash(./run.sh)"]}
    _decides_alike(
        [one for command in PLANNED for one in (command, "pwd")], rules, ("--permission-mode", "plan"), tmp_path
    )


def _decides_alike(
    commands: Sequence[str], rules: Json, flags: tuple[str, ...], tmp_path: Path, shell: str = "/bin/bash"
) -> None:
    alone, kept = (_played(commands, rules, flags, mode, tmp_path / (mode or "alone"), shell) for mode in ("", "keep"))
    decided, again = ([_decided(one.shown(place)) for place in range(len(commands))] for one in (alone, kept))
    assert dict(zip(commands, again, strict=True)) == dict(zip(commands, decided, strict=True))
    assert "asked" in decided
    assert kept.mishaps == ""
    assert not any(buffer.partial for buffer in kept.buffers.values())
