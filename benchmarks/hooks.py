"""Hooks: what an event of a harness costs, from start to end of the hook's process, beside one that does nothing."""

import fcntl
import glob
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.measure import Ran, Row, interleaved, median, ms, run
from sightline.agents.hooks.command_line import hook_words
from sightline.harnesses.base import AFTER
from sightline.settings.config import HOOKS

_AIM, _RECORDING_AIM = 2.2, 2.6
_EVIDENCE_AIM = 2.0  # milliseconds that it costs a hook to record what evidence rests on
_MESSAGE = "All 12 tests pass now, and lint is clean. I changed the sum in cart.py so that discounts count once. " * 10
_OUTPUT = "".join(f"tests/test_{number}.py ........ [{number}%]\n" for number in range(100))
_COMMAND: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "cd build && make -j4"}}


def rows(folder: str, scale: float) -> list[Row]:
    """Each event of Claude Code, warm, against ``python -c pass``."""
    environment = {**os.environ, "SIGHTLINE_HOME": os.path.join(folder, "store"), "SHELL": "/bin/bash"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    talking, silent = (
        {**environment, "SIGHTLINE_HOME": _store(folder, name, f"[evidence]\nmessages = {kept}\n")}
        for name, kept in (("talking", "true"), ("silent", "false"))
    )
    uses = iter(range(1_000_000))
    last = ""

    def event(name: str, environment: dict[str, str] = environment, **given: Any) -> Ran:
        nonlocal last
        if name != "PostToolBatch":
            last = f"toolu_{next(uses)}"
        calls = [{**one, "tool_use_id": last} for one in given.pop("calls", ())]
        data = {"session_id": "benchmark", "cwd": folder, "tool_use_id": last, "tool_calls": calls, **given}
        words = hook_words("claude-code", name, "keep")
        began = time.perf_counter()
        done = subprocess.run(words, input=json.dumps(data).encode(), env=environment, stdout=subprocess.PIPE)
        seconds = time.perf_counter() - began
        if done.returncode or (name == "PreToolUse") != (b"updatedInput" in done.stdout):
            raise RuntimeError(f"{name}: {done}")
        return Ran(seconds, 0)

    def until_kept(**given: Any) -> Ran:
        """With the second process, which goes on where nobody waits and holds a lock until it ends."""
        began = time.perf_counter()
        event("PostToolUse", **given)
        for lock in glob.glob(os.path.join(folder, "store", HOOKS, f"*.{AFTER}")):
            with open(lock) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
        return Ran(time.perf_counter() - began, 0)

    result = {"stdout": _OUTPUT, "stderr": ""}
    change = {"file_path": f"{folder}/cart.py", "old_string": "b = 2\n" * 5, "new_string": "b = 3\n" * 5}
    edit = {"filePath": change["file_path"], "userModified": False}
    edited: dict[str, Any] = {"tool_input": change, "tool_response": edit}
    said: dict[str, Any] = {"last_assistant_message": _MESSAGE, "stop_hook_active": False}
    mcp: dict[str, Any] = {"tool_name": "mcp__maps__find", "tool_input": {"place": "here"}}
    cases: dict[str, tuple[Callable[[], Ran], float | None]] = {
        "before a command": (
            lambda: event("PreToolUse", **{**_COMMAND, "tool_input": {"command": "make -j4 # all of it"}}),
            _AIM,
        ),
        "after a command": (lambda: event("PostToolUse", **_COMMAND, tool_response=result), _RECORDING_AIM),
        "after a command, until it is kept": (lambda: until_kept(**_COMMAND, tool_response=result), None),
        "what the model was shown": (
            lambda: event("PostToolBatch", calls=[{**_COMMAND, "tool_response": _OUTPUT}]),
            _RECORDING_AIM,
        ),
        "after an MCP tool": (
            lambda: event("PostToolUse", **mcp, tool_response=[{"type": "text", "text": _OUTPUT}]),
            _AIM,
        ),
        "a session's start": (lambda: event("SessionStart", source="startup"), _AIM),
        "a turn's end, its message kept": (lambda: event("Stop", talking, **said), None),
        "a turn's end, no message kept": (lambda: event("Stop", silent, **said), None),
        "after an edit": (lambda: event("PostToolUse", tool_name="Edit", **edited), None),
    }
    found = interleaved(
        max(5, int(40 * scale)),
        floor=lambda: run([sys.executable, "-c", "pass"], environment),
        **{name: call for name, (call, _) in cases.items()},
    )
    floor = median(found.pop("floor"))
    event("Stop", **said)  # waits for what goes on apart
    if os.path.exists(log := os.path.join(folder, "store", "hooks.log")):
        with open(log) as file:
            raise RuntimeError(file.read())
    made = [
        Row(name, ms(median(runs)), f"python -c pass {ms(floor)}", median(runs) / floor, cases[name][1])
        for name, runs in found.items()
    ]
    kept, silent_turn = found["a turn's end, its message kept"], found["a turn's end, no message kept"]
    more = statistics.median(one.seconds - other.seconds for one, other in zip(kept, silent_turn, strict=True))
    floor_told = f"without it {ms(median(silent_turn))}"
    made.append(Row("what an agent says, recorded: more, ms", ms(more), floor_told, more * 1000, _EVIDENCE_AIM))
    return made


def _store(folder: str, name: str, settings: str) -> str:
    """Make the folder of a store with settings of its own; its path."""
    path = os.path.join(folder, name)
    os.mkdir(path, 0o700)
    with open(os.path.join(path, "config.toml"), "w") as file:
        file.write(settings)
    return path
