"""The MCP server: first answer, memory at rest and calls, beside the official SDK's, FastMCP's and a bare one."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from benchmarks.measure import SIGHTLINE, Row, interleaved, median, mib, ms, run

_BARE = """
import json, subprocess, sys

def run(command):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return f"{done.returncode}\\n{done.stdout}{done.stderr}"

def read(path, first, last):
    with open(path) as file:
        return "".join(file.readlines()[first - 1 : last])

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    result = {}
    if request["method"] == "initialize":
        server = {"name": "bare", "version": "0"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": server}
    elif request["method"] == "tools/call":
        tool = {"run": run, "read": read}[request["params"]["name"]]
        result = {"content": [{"type": "text", "text": tool(**request["params"]["arguments"])}]}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""
_FRAMEWORK = """
import subprocess
from {module} import {name}

server = {name}("framework")

@server.tool()
def run(command: str) -> str:
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return f"{{done.returncode}}\\n{{done.stdout}}{{done.stderr}}"

@server.tool()
def read(path: str, first: int, last: int) -> str:
    with open(path) as file:
        return "".join(file.readlines()[first - 1 : last])

server.run({options})
"""
_OPENING = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}},
}
_LINES = 5000
_AIMS_MS = {"read a page": 1.0, "run true": 2.6}
_AT_ONCE = 32
_AT_ONCE_AIM_MS = round(1000 / 600, 2)
_Calls = dict[str, dict[str, Any]]


class _Contender(NamedTuple):
    """A server, and its own way of being asked for the same two things."""

    command: Sequence[str]
    calls: _Calls


class _Server:
    """One running server, spoken to by lines."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        began = time.perf_counter()
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._number = 0
        self._ask(_OPENING)
        self.first_answer_seconds = time.perf_counter() - began
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        self._send(message)
        assert self._process.stdout
        while line := self._process.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == message["id"]:
                return answer
        raise RuntimeError(f"{self._process.args!r} has ended")

    def call(self, params: dict[str, Any]) -> tuple[float, str]:
        """Call a tool: seconds, and the text of the answer."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params}
        began = time.perf_counter()
        answer = self._ask(message)
        seconds = time.perf_counter() - began
        if "result" not in answer or answer["result"].get("isError"):
            raise RuntimeError(str(answer)[:500])
        return seconds, "".join(block["text"] for block in answer["result"]["content"])

    def call_at_once(self, params: dict[str, Any]) -> float:
        """Call a tool many times without waiting for answers between: seconds for each."""
        numbers = range(self._number + 1, self._number + 1 + _AT_ONCE)
        self._number = numbers[-1]
        lines = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params} for number in numbers]
        data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        assert self._process.stdin
        assert self._process.stdout
        began = time.perf_counter()
        self._process.stdin.write(data)
        self._process.stdin.flush()
        answered = {json.loads(self._process.stdout.readline())["id"] for _ in numbers}
        seconds = (time.perf_counter() - began) / _AT_ONCE
        if answered != set(numbers):
            raise RuntimeError(f"not all of {numbers} were answered")
        return seconds

    def resident_bytes(self) -> int:
        """What it holds of memory now."""
        told = subprocess.run(["ps", "-o", "rss=", "-p", str(self._process.pid)], capture_output=True, check=True)
        return int(told.stdout) * 1024

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def rows(folder: str, scale: float) -> list[Row]:
    """Start and memory of each, then the calls of each in turn."""
    environment = {**os.environ, "SIGHTLINE_HOME": os.path.join(folder, "store"), "SIGHTLINE_SESSION": "bench"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    contenders = _contenders(folder)
    return [
        *_starts(contenders, environment, max(5, int(20 * scale))),
        *_call_rows(contenders, environment, max(20, int(300 * scale))),
    ]


def _contenders(folder: str) -> dict[str, _Contender]:
    path = os.path.join(folder, "lines")
    with open(path, "w") as file:
        file.writelines(f"line {n}\n" for n in range(1, _LINES + 1))
    theirs: _Calls = {
        "run true": {"name": "run", "arguments": {"command": "true"}},
        "read a page": {"name": "read", "arguments": {"path": path, "first": 2001, "last": 2200}},
    }
    ours: _Calls = {
        "run true": {"name": "run_command", "arguments": {"command": "true"}},
        "read a page": {"name": "read_file", "arguments": {"path": path, "start_line": 2001, "end_line": 2200}},
    }
    found = {
        "sightline mcp": _Contender([*SIGHTLINE, "mcp"], ours),
        "bare server": _Contender([sys.executable, "-c", _BARE], theirs),
    }
    for label, module, name, options in (
        ("official SDK", "mcp.server.mcpserver", "MCPServer", ""),
        ("FastMCP", "fastmcp", "FastMCP", "show_banner=False"),
    ):
        if find_spec(module.partition(".")[0]) is None:
            print(f"  ({label} is not installed: left out)")
            continue
        program = _FRAMEWORK.format(module=module, name=name, options=options)
        found[label] = _Contender([sys.executable, "-c", program], theirs)
    return found


def _starts(contenders: dict[str, _Contender], environment: Mapping[str, str], rounds: int) -> list[Row]:
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    resident: dict[str, list[int]] = {name: [] for name in contenders}

    def floor() -> Any:
        for name, contender in contenders.items():
            server = _Server(contender.command, environment)
            seconds[name].append(server.first_answer_seconds)
            resident[name].append(server.resident_bytes())
            server.close()
        return run([sys.executable, "-c", "pass"], environment)

    least = median(interleaved(rounds, floor=floor)["floor"])
    firsts = {name: statistics.median(values[1:]) for name, values in seconds.items()}
    memories = {name: statistics.median(values[1:]) for name, values in resident.items()}
    return [
        *(
            Row(
                f"{name}: first answer",
                ms(first),
                f"python -c pass {ms(least)}",
                first / least,
                3.0 if "sightline" in name else None,
            )
            for name, first in firsts.items()
        ),
        *(
            Row(f"{name}: at rest, MiB", mib(size), "", size / (1 << 20), 25.0 if "sightline" in name else None)
            for name, size in memories.items()
        ),
    ]


def _call_rows(contenders: dict[str, _Contender], environment: Mapping[str, str], rounds: int) -> list[Row]:
    servers = {name: _Server(contender.command, environment) for name, contender in contenders.items()}
    made: list[Row] = []
    for what in contenders["bare server"].calls:
        found: dict[str, list[float]] = {name: [] for name in contenders}
        for at in range(rounds + 10):
            for name, server in servers.items():
                seconds, _ = server.call(contenders[name].calls[what])
                if at >= 10:
                    found[name].append(seconds)
        for quantile, share in (("p50", 0.5), ("p99", 0.99)):
            figures = {name: sorted(values)[int(len(values) * share)] for name, values in found.items()}
            floor = figures["bare server"]
            for name, figure in figures.items():
                label = f"{name}: {what}, {quantile}"
                made.append(Row(label, ms(figure), f"bare server {ms(floor)}", figure / floor, None))
            if quantile == "p50" and what in _AIMS_MS:
                ours = figures["sightline mcp"]
                made.append(Row(f"sightline mcp: {what}, ms", ms(ours), "", ours * 1000, _AIMS_MS[what]))
    made.append(_at_once(servers["sightline mcp"], contenders["sightline mcp"].calls["read a page"], rounds))
    made.append(_after_calls(servers["sightline mcp"]))
    for server in servers.values():
        server.close()
    return made


def _at_once(server: _Server, call: dict[str, Any], rounds: int) -> Row:
    each = statistics.median(server.call_at_once(call) for _ in range(max(3, rounds // 10)))
    what = f"sightline mcp: a page, {_AT_ONCE} asked for at once, ms"
    return Row(what, ms(each), f"{1 / each:.0f} a second", each * 1000, _AT_ONCE_AIM_MS)


def _after_calls(server: _Server) -> Row:
    for _ in range(3):
        server.call({"name": "query", "arguments": {"pipeline": "wc -l @last"}})
        server.call({"name": "list_outputs", "arguments": {}})
    size = server.resident_bytes()
    return Row("sightline mcp: at rest after all these calls, MiB", mib(size), "", size / (1 << 20), 25.0)
