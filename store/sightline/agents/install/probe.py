"""Tries what is installed: starts and calls the MCP server, and runs the hooks, as the settings say.

They get no more environment than the harness that passes on the least of it: where programs and the
person's home are.
"""

import os
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping

from sightline.agents.hooks.error_log import last_errors
from sightline.agents.install.own_entries import ServerEntry, hook_environment, hook_of, without_assignments
from sightline.harnesses import known
from sightline.harnesses.base import RECORD, START
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.settings.plugins import Plugins, known_harnesses, write_plugins

PATIENCE_SECONDS = 15
_ENDING_SECONDS = 2
SESSION = "doctor"
"""The session in which the call to the server is logged."""

_SPARING = ("HOME", "PATH", "LANG", "TERM", "TMPDIR", "USER")


class Probe(NamedTuple):
    """How a try went.

    Attributes:
        wrong: what went wrong; empty if nothing did.
        seconds: how long it took.
    """

    wrong: str
    seconds: float


def probe_server(server: ServerEntry) -> Probe:
    """Start the server and ask it to list one output; it logs the call in the session ``doctor``."""
    begun = time.monotonic()
    environment = {**_environment(), **server.environment, "SIGHTLINE_SESSION": SESSION}
    calls = (
        {"id": 1, "method": "initialize", "params": _INITIALIZE},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "list_outputs", "arguments": {"limit": 1}}},
    )
    try:
        process = subprocess.Popen(
            server.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
    except OSError as error:
        return Probe(f"{server.words[0]} cannot be started: {error.strerror}", 0.0)
    with process:
        try:
            probe = Probe(_called(process, calls, begun + PATIENCE_SECONDS), time.monotonic() - begun)
        finally:
            _end(process)
    return probe


_INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "sightline-doctor", "version": "1"},
}


def _called(process: "subprocess.Popen[bytes]", calls: tuple[dict[str, Any], ...], deadline: float) -> str:
    """What is wrong with the answer to the last call; empty if nothing is."""
    try:
        for call in calls:
            _ask(process, dumps({"jsonrpc": "2.0", **call}).encode() + b"\n")
    except BrokenPipeError:
        pass  # it has ended, and what it wrote last says why
    for line in _lines(process, deadline):
        try:
            answer = loads(line)
        except ValueError:
            return f"it says what is no JSON: {line[:80]!r}"
        if answer.get("id") == calls[-1]["id"]:
            result = answer.get("result") or {}
            return "" if "content" in result and not result.get("isError") else f"it answers {line[:200].decode()}"
    if process.poll() is None and time.monotonic() >= deadline:
        return f"no answer within {PATIENCE_SECONDS} s"
    return f"it ended: {_last_words(process)}"


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Wait for the server to end, as it should when its client has gone, and kill it if it does not."""
    try:
        if process.stdin:
            process.stdin.close()
        process.wait(_ENDING_SECONDS)
    except BrokenPipeError:
        pass  # it has ended
    except subprocess.TimeoutExpired:
        process.kill()


def _ask(process: "subprocess.Popen[bytes]", data: bytes) -> None:
    if process.stdin:
        process.stdin.write(data)
        process.stdin.flush()


def _lines(process: "subprocess.Popen[bytes]", deadline: float) -> Any:
    """The lines that it writes, until it ends or time is up."""
    rest = b""
    while process.stdout and (left := deadline - time.monotonic()) > 0:
        if not select.select([process.stdout], [], [], left)[0]:
            return
        data = os.read(process.stdout.fileno(), 1 << 16)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        yield from lines


def _last_words(process: "subprocess.Popen[bytes]") -> str:
    said = process.stderr.read().decode(errors="replace").strip() if process.stderr else ""
    code = process.wait()
    return said.splitlines()[-1][:200] if said else f"exit code {code}"


def probe_hooks(harness: str, hooks: tuple[tuple[str, str], ...]) -> list[tuple[str, Probe]]:
    """Run each hook with an event of its kind, on a temporary store.

    Args:
        harness: whose hooks.
        hooks: the event and the command line of each.

    Returns:
        Each event, with the result of its hook.
    """
    with tempfile.TemporaryDirectory(prefix="sightline-doctor-") as folder:
        return [(event, _probe_hook(harness, event, command, folder)) for event, command in hooks]


def _probe_hook(harness: str, event: str, command: str, folder: str) -> Probe:
    begun = time.monotonic()
    root = os.path.join(folder, event)
    if added := known_harnesses():  # a hook knows the harness of another package by what its store says of it
        os.mkdir(root, 0o700)
        write_plugins(root, Plugins(harnesses=dict(added)))
    told = {**hook_environment(command), "SIGHTLINE_HOME": root}
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", without_assignments(command)],
            input=dumps(_event(event, folder)).encode(),
            capture_output=True,
            env={**_environment(), **told},
            cwd=folder,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Probe(f"no answer within {PATIENCE_SECONDS} s", PATIENCE_SECONDS)
    line = hook_of({"command": command})
    speaks = known()[harness].when(event) == START and line is not None and line.mode != RECORD
    wrong = _wrong_with(done, speaks) or " ".join(last_errors(root, 1))
    return Probe(wrong, time.monotonic() - begun)


def _event(event: str, folder: str) -> dict[str, Any]:
    """The part of an event that all harnesses write alike."""
    return {"session_id": "doctor", "hook_event_name": event, "cwd": folder, "source": "startup", "tool_calls": []}


def _wrong_with(done: "subprocess.CompletedProcess[bytes]", speaks: bool) -> str:
    """What is wrong with a hook's answer. A hook that fails is silent, so one that should have answered must do so."""
    said = done.stdout.decode(errors="replace").strip()
    if done.returncode or done.stderr:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        return words[-1][:200] if words else f"exit code {done.returncode}"
    if not said:
        return "it says nothing" if speaks else ""
    try:
        return "" if isinstance(loads(said), dict) else f"it says {said[:80]!r}"
    except ValueError:
        return f"it says what is no JSON: {said[:80]!r}"


def _environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    return {name: environment[name] for name in _SPARING if name in environment}
