"""Servers end when a signal says so, also where Python lets no exception pass."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = [sys.executable, "-m", "sightline.doors.cli.main"]

_LOST = """
import os, signal, sys, threading

class Finalizer:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)
        for _ in range(1000): pass

"""

_STDIO = (
    _LOST
    + """
from sightline.doors.mcp.signals import EndAsked, raise_signals
wait = raise_signals()
Finalizer()
silent, _ = os.pipe()
try:
    wait(silent)
except EndAsked:
    print("ended")
"""
)

_RAISED = """
import os, signal, threading
from sightline.doors.mcp.signals import EndAsked, raise_signals
wait = raise_signals()
silent, _ = os.pipe()
try:
    threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGHUP)).start()
    wait(silent)
except EndAsked:
    print("ended")
"""

_TWICE = """
import os, signal
from sightline.doors.mcp.signals import EndAsked, raise_signals
wait = raise_signals()
both = (signal.SIGTERM, signal.SIGHUP)
silent, _ = os.pipe()
signal.pthread_sigmask(signal.SIG_BLOCK, both)
for number in both:
    os.kill(os.getpid(), number)
try:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
    wait(silent)
except EndAsked:
    print("ended")
for _ in range(1000):
    pass
"""

_IGNORED = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from sightline.doors.mcp.signals import raise_signals
wait = raise_signals()
os.kill(os.getpid(), signal.SIGHUP)
source, sink = os.pipe()
os.close(sink)
wait(source)
print("goes on")
"""

_HTTP = (
    _LOST
    + """
from sightline.doors.mcp import http
from sightline.doors.tools.tools import Options
http.print = lambda *told, **how: (print(*told, **how), Finalizer())
print("ended", http.serve_http(Options(), host="127.0.0.1", port=0, with_token=False))
"""
)


def _environment(tmp_path: Path) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "SIGHTLINE_HOME": str(tmp_path / "a store")}


def _ended(tmp_path: Path, program: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=_environment(tmp_path), cwd=tmp_path, capture_output=True, text=True, timeout=60)


def _last_line(tmp_path: Path, program: str) -> str:
    done = _ended(tmp_path, program)
    return done.stdout.splitlines()[-1] if done.stdout else done.stderr


def test_a_signal_ends_the_wait_for_a_request(tmp_path: Path) -> None:
    assert _last_line(tmp_path, _RAISED) == "ended"


def test_a_signal_whose_exception_a_finalizer_swallows_ends_the_wait_for_the_next_request(tmp_path: Path) -> None:
    assert _last_line(tmp_path, _STDIO) == "ended"


def test_of_two_signals_at_once_only_one_is_raised(tmp_path: Path) -> None:
    done = _ended(tmp_path, _TWICE)
    assert (done.stdout, done.stderr, done.returncode) == ("ended\n", "", 0)


def test_signals_that_go_on_coming_change_nothing(tmp_path: Path) -> None:
    """Also while the interpreter ends, and takes its handlers away."""
    source, sink = os.pipe()
    with subprocess.Popen(
        [*PROGRAM, "mcp"], stdin=source, stdout=subprocess.PIPE, env=_environment(tmp_path)
    ) as server:
        os.close(source)
        os.write(sink, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        assert server.stdout
        assert server.stdout.readline()
        while server.poll() is None:
            server.terminate()
        assert server.returncode == 0
    os.close(sink)


def test_a_signal_that_was_ignored_before_stays_so(tmp_path: Path) -> None:
    assert _last_line(tmp_path, _IGNORED) == "goes on"


def test_a_signal_in_a_finalizer_before_the_http_server_runs_ends_it(tmp_path: Path) -> None:
    assert _last_line(tmp_path, _HTTP) == "ended 0"
