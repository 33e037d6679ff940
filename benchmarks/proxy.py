"""The proxy: what a call costs through it, and how fast 10 MB come, beside the same server without it.

Two more pipes cost something by themselves, on a busy machine more than on a quiet one: a relay that copies bytes and
does nothing else tells how much.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.measure import SIGHTLINE, Row, mib, ms

_SERVER = r"""
import json, sys
LINE = "2026-01-02T03:04:05.678 INFO  worker-%d request %010d done in %d ms, 4096 bytes sent to client\n"
def text(size):
    return "".join([LINE % (n % 7, n, n % 97) for n in range(size // 90)])
large = {}
for line in sys.stdin:
    request = json.loads(line)
    size = request["params"]["arguments"]["size"]
    if size not in large:
        large[size] = json.dumps([{"type": "text", "text": text(size)}])
    answer = '{"result": {"content": %s}, "jsonrpc": "2.0", "id": %d}\n' % (large[size], request["id"])
    sys.stdout.write(answer)
    sys.stdout.flush()
"""
_RELAY = r"""
import os, subprocess, sys, threading
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
def up():
    while data := os.read(0, 65536):
        os.write(server.stdin.fileno(), data)
    server.stdin.close()
threading.Thread(target=up, daemon=True).start()
while data := os.read(server.stdout.fileno(), 65536):
    os.write(1, data)
"""
_LARGE_BYTES = 10_000_000
_BLOCK = 50  # calls in a row: a client that works on makes one after the other
_OVERHEAD_AIM_MS = 0.2
_TIME_AIM = 1.2


class _Client:
    """A client of the server: each line is parsed, as every client must."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, bufsize=0
        )
        assert self._process.stdin
        assert self._process.stdout
        self._write = self._process.stdin.write
        self._out = open(self._process.stdout.fileno(), "rb", closefd=False)  # noqa: SIM115
        self._count = 0

    def call(self, size: int) -> float:
        """Seconds from the request until the answer is read."""
        self._count += 1
        params = {"name": "lines", "arguments": {"size": size}}
        request = {"jsonrpc": "2.0", "id": self._count, "method": "tools/call", "params": params}
        line = json.dumps(request).encode() + b"\n"
        began = time.perf_counter()
        self._write(line)
        answer: dict[str, Any] = json.loads(self._out.readline())
        seconds = time.perf_counter() - began
        if answer.get("id") != self._count or "result" not in answer:
            raise RuntimeError(f"no answer: {str(answer)[:200]}")
        return seconds

    def close(self) -> None:
        """End it."""
        assert self._process.stdin
        self._process.stdin.close()
        self._out.close()
        self._process.wait()


def rows(folder: str, scale: float) -> list[Row]:
    """Small calls one after the other; then 10 MB, once kept and once passed on since another tool's are kept only."""
    environment = {**os.environ, "SIGHTLINE_HOME": os.path.join(folder, "store"), "SIGHTLINE_SESSION": "benchmark"}
    server = [sys.executable, "-c", _SERVER]
    clients = {
        "direct": _Client(server, environment),
        "keeping": _Client([*SIGHTLINE, "proxy", "--", *server], environment),
        "passing": _Client([*SIGHTLINE, "proxy", "--only", "none", "--", *server], environment),
        "relayed": _Client([sys.executable, "-c", _RELAY, *server], environment),
    }
    try:
        return [*_small(clients, max(int(3_000 * scale), 50)), *_large(clients, max(int(10 * scale), 3))]
    finally:
        for client in clients.values():
            client.close()


def _small(clients: dict[str, _Client], calls: int) -> list[Row]:
    found = _interleaved(clients, 100, calls, block=_BLOCK)
    direct, proxied, relayed = (statistics.median(found[name]) for name in ("direct", "keeping", "relayed"))
    over = (proxied - direct) * 1000
    floor = f"a bare relay {(relayed - direct) * 1000:.3f}, direct {ms(direct)}"
    return [Row("a small call, p50: overhead, ms", f"{over:.3f} ms", floor, over, _OVERHEAD_AIM_MS)]


def _large(clients: dict[str, _Client], calls: int) -> list[Row]:
    found = {name: statistics.median(times) for name, times in _interleaved(clients, _LARGE_BYTES, calls).items()}
    floor = f"direct {ms(found['direct'])}"
    return [
        Row(f"a result of {mib(_LARGE_BYTES)}, {name}", ms(found[which]), floor, found[which] / found["direct"], aim)
        for which, name, aim in (("keeping", "kept", _TIME_AIM), ("passing", "passed on", _TIME_AIM))
    ]


def _interleaved(clients: dict[str, _Client], size: int, calls: int, block: int = 1) -> dict[str, list[float]]:
    """Times of calls, blocks of them in turn; the first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in clients}
    for at in range(calls // block + 1):
        for name, client in clients.items():
            seconds = [client.call(size) for _ in range(block)]
            if at:
                times[name] += seconds
    return times
