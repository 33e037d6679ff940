"""What the tests of children, versions, watches and closed terminals share: processes and who is left of them."""

import fcntl
import json
import os
import pty
import select
import subprocess
import sys
import termios
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sightline.capture.child import shell_argv
from sightline.capture.command import Captured, CommandCapture
from sightline.store import Store, Target

PROGRAM = [sys.executable, "-m", "sightline.doors.cli.main"]
PATIENCE_SECONDS = 30.0

Until = Callable[[Callable[[], object]], None]


def run(store: Store, command: str, **options: Any) -> Captured:
    """Capture a shell's command."""
    return CommandCapture(store, shell_argv(command), command=command, session="s", **options).run()


def stopped_at(store: Store, command: str, word: bytes, **options: Any) -> Captured:
    """Capture a shell's command until it has written a word; then it is told to end."""
    seen = bytearray()

    def echo(_: str, data: memoryview) -> None:
        seen.extend(data)
        if word in seen:
            capture.stop()

    capture = CommandCapture(store, shell_argv(command), command=command, session="s", echo=echo, **options)
    return capture.run()


def read(store: Store, captured: Captured, stream: str = "out") -> bytes:
    """What a stream of a capture holds."""
    assert captured.buffer is not None
    return Path(store.path(Target(captured.buffer, stream))).read_bytes()


def in_group(group: int) -> list[int]:
    """Processes of a group that have not ended."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            state, _, own = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(own) == group and state not in ("Z", "X"):
            found.append(int(name))
    return found


def lives(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def children_of(pid: int) -> set[int]:
    """Processes that a process has started, and that have not ended."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            state, parent = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == pid and state not in ("Z", "X"):
            found.add(int(name))
    return found


def no_thread(*_: object) -> None:
    """In the place of what starts a thread: what it does where a user has no process left."""
    raise RuntimeError("can't start new thread")


class Server:
    """``sightline mcp`` as a client has it; one call at a time."""

    def __init__(self, folder: Path, *words: str) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "SIGHTLINE_HOME": str(folder / "root")}
        self.process = subprocess.Popen(
            [*PROGRAM, "mcp", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env=environment,
        )
        self._last = 0
        told = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a-client", "version": "1"}}
        self.ask("initialize", told)

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request."""
        assert self.process.stdin
        assert self.process.stdout
        self._last += 1
        request = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def call(self, tool: str, **arguments: Any) -> tuple[dict[str, Any], str]:
        """Fields and body of a tool's reply."""
        content = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]["content"]
        return json.loads(content[0]["text"]), "".join(block["text"] for block in content[1:])

    def close(self) -> int:
        """End the input; the exit code."""
        self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode


class Pty:
    """A program on a terminal of its own, whose screen nobody draws; it is read all the time, as a terminal does."""

    def __init__(self, words: list[str], environment: dict[str, str]) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, b"\x30\x00\xa0\x00" + bytes(4))
        self.process = subprocess.Popen(
            words,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.text = ""
        self._leaving, self._left = os.pipe()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            ready, _, _ = select.select([self.master, self._leaving], [], [])
            if self._leaving in ready:
                return
            try:
                data = os.read(self.master, 1 << 16)
            except OSError:  # the program has ended
                return
            self.text += data.decode(errors="replace")

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self.master, keys.encode())

    def close(self) -> None:
        """Close the terminal, as its window is closed; once more does nothing."""
        if self.master < 0:
            return
        os.write(self._left, b".")
        self._reader.join()
        for fd in (self.master, self._leaving, self._left):
            os.close(fd)
        self.master = -1
