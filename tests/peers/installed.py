"""Harnesses into which `sightline install` has gone, with a person's own rules, and what their own shell tools gave."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sightline.base.records import Buffer
from sightline.harnesses.base import MODES
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.store import Store
from tests.peers.harnesses import HARNESSES, Harness, Run, run_harness
from tests.peers.scripted_model import Json, ScriptedModel, Seen, Step, Use

WHOLE = "".join(f"line {number} of a text\n" for number in range(1, 6001)) + "error: no é luck\n"
"""What the project's build prints before it fails with 3: more than any harness shows."""

NOTE = "mind this line, please"
_SIGHTLINE = [sys.executable, "-m", "sightline.doors.cli.main"]
_VOLATILE = re.compile(
    r"Chunk ID: \w+|Wall time: [\d.]+|PGID: \d+|(?<=saved to: )\S+|(?<=output see: )\S+|/\S*/project\b|tool_\w+"
)


class Installed(NamedTuple):
    """A harness as people have it.

    Attributes:
        harness: which.
        tool: its shell tool.
        arguments: what that is called with, for a command.
        rules: writes the person's rules: `touch` is forbidden, `mkdir` and what the script needs allowed.
        text: what of a result is the output, or the view in its place.
        told: what of a result hooks are told.
    """

    harness: Harness
    tool: str
    arguments: Callable[[str], Json]
    rules: Callable[[Run], None]
    text: Callable[[Seen], str]
    told: Callable[[Seen], str]

    def shell(self, command: str) -> Use:
        """Running a command with its own tool."""
        return Use(self.tool, self.arguments(command), ours=False)


def _claude_rules(run: Run) -> None:
    allowed = ["Bash(./build:*)", "Bash(echo:*)", "Bash(mkdir:*)", "mcp__sightline"]
    run.change(".claude/settings.json", {"permissions": {"allow": allowed, "deny": ["Bash(touch:*)"]}})


def _codex_rules(run: Run) -> None:
    run.settings(".codex/rules/default.rules", 'prefix_rule(pattern=["touch"], decision="forbidden")\n')


def _gemini_rules(run: Run) -> None:
    rule = '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "touch"\ndecision = "deny"\npriority = 999\n'
    run.settings(".gemini/policies/own.toml", rule)


def _opencode_rules(run: Run) -> None:
    run.change(".config/opencode/opencode.json", {"permission": {"bash": {"*": "allow", "touch *": "deny"}}})


def _described(command: str) -> Json:
    return {"command": command, "description": "a step"}


def _block(seen: Seen) -> str:
    return "".join(seen.blocks)


def _claude_text(seen: Seen) -> str:
    return _block(seen).removeprefix("Exit code 3\n")


def _codex_text(seen: Seen) -> str:
    return _block(seen).partition("Output:\n")[2] or _block(seen)


def _gemini_text(seen: Seen) -> str:
    return str(json.loads(_block(seen))["error"]) if seen.failed else _block(seen)


_BY_NAME = {harness.name: harness for harness in HARNESSES}
INSTALLED = {
    one.harness.name: one
    for one in (
        Installed(_BY_NAME["claude-code"], "Bash", _described, _claude_rules, _claude_text, _block),
        Installed(
            _BY_NAME["codex"], "exec_command", lambda command: {"cmd": command}, _codex_rules, _codex_text, _block
        ),
        Installed(_BY_NAME["gemini"], "run_shell_command", _described, _gemini_rules, _gemini_text, _block),
        Installed(_BY_NAME["opencode"], "bash", _described, _opencode_rules, _block, _block),
    )
}


class Looked(NamedTuple):
    """A view of the log.

    Attributes:
        request: the request.
        text: exactly what it says was shown.
    """

    request: Json
    text: str


class Outcome(NamedTuple):
    """What came of a script.

    Attributes:
        seen: the results, as the model was sent them.
        asked: its requests.
        made: what lies in the project's folder.
        buffers: what is in the store, by command; nothing where nothing was installed.
        streams: what each of them holds.
        views: the log, oldest first.
        mishaps: the store's log of hooks.
    """

    seen: list[Seen]
    asked: list[Json]
    made: set[str]
    buffers: dict[str, Buffer]
    streams: dict[str, str]
    views: list[Looked]
    mishaps: str

    def shown(self, place: int) -> str:
        """A result, without what differs from run to run."""
        return _VOLATILE.sub("…", "\n".join(self.seen[place].blocks))


def play(one: Installed, mode: str, home: Path, steps: list[Step], results: int, root: Path | None = None) -> Outcome:
    """Install, and have the harness run a script.

    Args:
        one: the harness.
        mode: the mode; empty for without us, another word where hooks come from elsewhere.
        home: a home that nobody has used.
        steps: the script.
        results: of how many results it is.
        root: of the store, where it was named when we were installed; the harness itself is not told.
    """

    def install(run: Run) -> None:
        build = run.project / "build"
        build.write_text("#!/bin/sh\nseq -f 'line %g of a text' 1 6000\necho 'error: no é luck'\nexit 3\n")
        build.chmod(0o755)
        one.rules(run)
        if mode in MODES:
            sightline(home, "install", one.harness.name, "--mode", mode, root=root)

    store = root or home / ".local" / "state" / "sightline"  # where it is if nobody says anything
    with ScriptedModel(one.harness.dialect(), steps, one.tool) as model:
        said = run_harness(one.harness, Run(home, store, model, [], install=install))
        assert not model.failures, (model.failures, said[-2000:])
        assert len(model.seen) == results, said[-2000:]
    made = {path.name for path in (home / "project").iterdir()}
    if not mode:
        return Outcome(model.seen, model.asked, made, {}, {}, [], "")
    with Store(str(store)) as opened:
        buffers = {listed.buffer.command: listed.buffer for listed in opened.listed(50)}
        streams = {command: _stream(opened, buffer) for command, buffer in buffers.items()}
        views = [
            Looked(json.loads(listed.view.request), view_text(opened, listed))
            for listed in reversed(list_views(opened))
        ]
    log = store / "hooks.log"
    return Outcome(model.seen, model.asked, made, buffers, streams, views, log.read_text() if log.exists() else "")


def _stream(store: Store, buffer: Buffer) -> str:
    return "".join(
        Path(store.layout.stream(buffer.name, stream)).read_bytes().decode(errors="replace")
        for stream in sorted(buffer.streams)
    )


def sightline(home: Path, *words: str, root: Path | None = None) -> str:
    """Call the command line as the person whose home this is; what it printed."""
    return subprocess.run(
        [*_SIGHTLINE, *words],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            **({"SIGHTLINE_HOME": str(root)} if root else {}),
        },
        cwd=home,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
