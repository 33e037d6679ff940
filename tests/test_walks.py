"""How many modules a call passes on its way: those that stand on the stack once it is there."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.hooks.event import answer_to
from sightline.disk.buffer_writer import StreamWriter
from sightline.doors.mcp.stdio import StdioServer
from sightline.doors.tools.service import Service
from sightline.doors.tools.tools import Options
from sightline.verbs import list_outputs


@pytest.fixture(autouse=True)
def _store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, closing_stores: None) -> None:
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "a store"))


def _noting(walked: Callable[..., Any], passed: list[str]) -> Callable[..., Any]:
    """What notes which of our modules stand on the stack when it is called."""

    def noting(*given: Any, **named: Any) -> Any:
        frame = sys._getframe(1)
        while frame is not None:
            if (name := frame.f_globals.get("__name__", "")).startswith("sightline.") and name not in passed:
                passed.append(name)
            frame = frame.f_back  # type: ignore[assignment]
        return walked(*given, **named)

    return noting


def test_a_call_passes_four_modules_between_its_line_and_the_verb(monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[str] = []
    monkeypatch.setattr(list_outputs, "list_outputs", _noting(list_outputs.list_outputs, passed))
    source, client = os.pipe()
    answers, sink = os.pipe()
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_outputs", "arguments": {}}}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    for message in ({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}, call):
        os.write(client, json.dumps(message).encode() + b"\n")
    os.close(client)
    server = StdioServer(Service(Options()), source, sink)
    server.serve(lambda _: None)
    server.close(wait=True)
    os.close(sink)
    with open(answers, "rb") as told:
        assert b'"id":2' in told.read().replace(b" ", b"")
    passed.remove("sightline.doors.tools.worker_threads")  # nobody reads it on the way, no more than threading
    assert 0 < len(passed) + len({"sightline.doors.tools.protocol"}) <= 4, passed  # which read it before


@pytest.mark.parametrize(
    "given",
    [
        {"tool_name": "Bash", "tool_input": {"command": "echo"}, "tool_response": {"stdout": "x\n" * 9, "stderr": ""}},
        {"tool_name": "mcp__a__b", "tool_input": {}, "tool_response": [{"type": "text", "text": "x"}]},
    ],
    ids=["a command", "another tool"],
)
def test_an_event_passes_eight_modules_before_the_disk(monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]) -> None:
    passed: list[str] = []
    monkeypatch.setattr(StreamWriter, "append", _noting(StreamWriter.append, passed))
    data = {"session_id": "s", "cwd": "/", "tool_use_id": "use", **given}
    answer_to(["claude-code", "PostToolUse", "--mode", "keep"], json.dumps(data).encode())
    assert 0 < len(passed) <= 8, passed
