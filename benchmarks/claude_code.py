"""Claude Code: what a command costs more with our hooks, from the model's call to the request with its result.

With ``SIGHTLINE_PEERS`` (see ``tests/peers/README.md``) the real program runs, offline, and asks a scripted model.
Without it, the processes that it would start for a kept command run one after the other, beside the command alone.
"""

import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import Row
from sightline.agents.hooks import capture_script
from sightline.agents.hooks.command_line import hook_words
from tests import node_peers
from tests.peers.harnesses import Run, run_harness
from tests.peers.installed import INSTALLED, sightline
from tests.peers.scripted_model import Json, ScriptedModel

_AIM = 100  # milliseconds of wall time
_AFTER_THE_FIRST = 2  # calls that are not counted: a session's first ones are slower
COMMANDS = {"100 lines at once": "seq 1 {}", "100 lines after 0.2 s": "sh -c 'sleep 0.2; seq 1 {}'"}
"""What is run; the number makes each another command, for a model that repeats itself is stopped."""


class Session(NamedTuple):
    """What the commands of a session took: each in seconds of wall time, and all together in those of processors."""

    walls: list[float]
    cpu: float


def rows(folder: str, scale: float) -> list[Row]:
    """Each command with the hooks of a mode, beside the same without us."""
    count, rounds = max(6, int(20 * scale)), max(1, int(3 * scale))
    is_there = (node_peers.MODULES / "@anthropic-ai/claude-code").is_dir()
    modes = ("", "record", "keep") if is_there else ("", "keep")
    how = "" if is_there else " by its processes alone"
    found: list[Row] = []
    for name, command in COMMANDS.items():
        sessions: dict[str, list[Session]] = {mode: [] for mode in modes}
        for _ in range(rounds):
            for mode in modes:
                with tempfile.TemporaryDirectory(dir=folder) as home:
                    commands = [command.format(100 + number) for number in range(count)]
                    run = _in_claude_code if is_there else _as_processes
                    sessions[mode].append(run(Path(home), mode, commands))
        found += [_row(f"{name}{how}, {mode}", sessions[mode], sessions[""], count) for mode in modes if mode]
    return found


def _row(what: str, with_us: list[Session], alone: list[Session], count: int) -> Row:
    ours, others = (sorted(wall for session in runs for wall in session.walls) for runs in (with_us, alone))
    more, least = statistics.median(ours) - statistics.median(others), ours[0] - others[0]
    cpu = (min(session.cpu for session in with_us) - min(session.cpu for session in alone)) / count
    told = (
        f"least {least * 1000:.0f} ms, processors {cpu * 1000:.0f} ms; alone {statistics.median(others) * 1000:.0f} ms"
    )
    return Row(f"{what}: more, ms", f"{more * 1000:,.0f} ms", told, more * 1000, _AIM if "keep" in what else None)


class _TimedModel(ScriptedModel):
    """Also remembers when each request of the agent came, and when it was answered."""

    def __init__(self, *words: Any) -> None:
        super().__init__(*words)
        self.times: list[tuple[float, float]] = []

    def answer(self, body: Json, *, streamed: bool) -> bytes:
        came, before = time.perf_counter(), len(self.asked)
        said = super().answer(body, streamed=streamed)
        if len(self.asked) > before:
            self.times.append((came, time.perf_counter()))
        return said


def _in_claude_code(home: Path, mode: str, commands: list[str]) -> Session:
    one = INSTALLED["claude-code"]

    def install(run: Run) -> None:
        run.change(".claude/settings.json", {"permissions": {"allow": ["Bash(seq:*)", "Bash(sh:*)"]}})
        if mode:
            sightline(home, "install", one.harness.name, "--mode", mode)

    steps = [lambda _, command=command: one.shell(command) for command in commands]
    with _TimedModel(one.harness.dialect(), steps, one.tool) as model:
        before = _cpu_of_children()
        said = run_harness(one.harness, Run(home, home / "store", model, [], install=install))
        cpu = _cpu_of_children() - before
    if len(model.seen) != len(commands):
        raise RuntimeError(f"Claude Code ran {len(model.seen)} of {len(commands)} commands: {said[-500:]}")
    walls = [later[0] - earlier[1] for earlier, later in zip(model.times, model.times[1:], strict=False)]
    return Session(walls[_AFTER_THE_FIRST:], cpu)


def _as_processes(home: Path, mode: str, commands: list[str]) -> Session:
    environment = {**os.environ, "SIGHTLINE_HOME": str(home / "store"), "SHELL": "/bin/bash"}
    script = home / capture_script.FILE
    script.write_text(capture_script.script())
    script.chmod(0o700)

    def given(words: list[str], event: Json) -> bytes:
        return subprocess.run(
            words, input=json.dumps(event).encode(), env=environment, stdout=subprocess.PIPE, check=True
        ).stdout

    def event(name: str, more: Json) -> bytes:
        through = str(script) if name == "PreToolUse" else ""
        return given(hook_words("claude-code", name, mode, through), {"session_id": "one", "cwd": str(home), **more})

    walls, before = [], _cpu_of_children()
    for number, command in enumerate(commands):
        use = {"tool_name": "Bash", "tool_use_id": f"toolu_{number}", "tool_input": {"command": command}}
        began = time.perf_counter()
        if mode:
            command = json.loads(event("PreToolUse", use))["hookSpecificOutput"]["updatedInput"]["command"]
        text = given(["/bin/bash", "-c", command], {}).decode().rstrip()
        if mode:
            event("PostToolUse", {**use, "tool_response": {"stdout": text, "stderr": ""}})
            event("PostToolBatch", {"tool_calls": [{**use, "tool_response": text}]})
        walls.append(time.perf_counter() - began)
    return Session(walls[_AFTER_THE_FIRST:], _cpu_of_children() - before)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
